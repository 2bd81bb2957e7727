"""What costs points stands where students read, and breaking the point of a question costs half."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from faults import no_faults

from grader.assignment.load import load_assignment
from grader.assignment.types import Assignment, Question
from grader.checks.base import Check
from grader.checks.ops import AllowedOps, ForbiddenOps

ROOT = Path(__file__).parents[3]
WORDS = {
    "loops": "loop",
    "vectorised": "speed",
    "speedup": "speed",
    "peak_memory": "memory|entries",
    "device_memory": "memory",
    "unmodified": r"stays? as|unchanged|left alone|leaves? (it|them)|not change|kept",
    "returns_input": "in place|itself",
    "view_of": "views?|shar",
    "not_view_of": "new|cop(y|ies)|of its own",
    "dtype": "dtype|float32|float64|int64",
    "type": r"-> .*(int|float|list|tuple|dict|bool)|``(int|float)``",
    "max_calls": "at most|one ",
    "allowed_ops": "only|one Python number",
    "ran_on": "GPU|cuda|device",
    "placement": "GPU|cuda|device",
    "transfers": "GPU|cuda|device|moved|cop(y|ies)",
    "overlap": "while|same time|side by side|overlap",
}
"""What a text says that announces a check of some kind."""

FOR_ALL = ("unmodified", "dtype", "placement", "transfers", "ran_on", "type")
"""Kinds that may be announced for all functions at once."""

HALF = {
    ("pytorch101", "count_tensor_elements"): "no_numel",
    ("pytorch101", "batched_matrix_multiply_loop"): "loop",
    ("pytorch101", "batched_matrix_multiply_noloop"): "no_loops",
    ("pytorch101", "normalize_columns"): "no_mean_or_std",
    ("pytorch101", "mm_on_gpu"): "on_gpu",
    ("pytorch101", "challenge_mean_tensors"): "no_loops",
    ("pytorch101", "challenge_get_uniques"): "no_unique",
    ("knn", "compute_distances_two_loops"): "two_loops",
    ("knn", "compute_distances_one_loop"): "one_loop",
    ("knn", "compute_distances_no_loops"): "no_loops",
    ("tensors", "gradient_by_hand"): "by_hand",
    ("linear_classifier", "svm_loss_vectorized"): "no_loops",
    ("linear_classifier", "softmax_loss_vectorized"): "no_loops",
    ("attention", "attend"): "no_loops",
}
"""The rule that a question is about."""


@cache
def assignments() -> dict[str, Assignment]:
    files = sorted(ROOT.glob("assignments/*/assignment.yml"))
    return {path.parent.name: load_assignment(path) for path in files}


@cache
def texts(assignment: str) -> tuple[str, dict[str, str]]:
    """Return what is said of all functions, and of each."""
    source = (ROOT / "reference" / assignment / f"{assignment}.py").read_text(encoding="utf-8")
    module = ast.parse(source)
    handout = ROOT / "assignments" / assignment / "handout.md"
    shared = (ast.get_docstring(module) or "") + handout.read_text(encoding="utf-8")
    return shared, {
        node.name: "\n".join(_said(node))
        for node in module.body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    }


def _said(node: ast.FunctionDef | ast.ClassDef) -> Iterator[str]:
    yield ast.get_docstring(node) or ""
    if isinstance(node, ast.FunctionDef):
        yield f"-> {ast.unparse(node.returns) if node.returns else ''}"
    for inner in node.body:
        if isinstance(inner, (ast.FunctionDef, ast.ClassDef)):
            yield from _said(inner)


def rules() -> dict[str, tuple[str, Question, Check]]:
    return {
        f"{name}.{question.id}.{check.id}": (name, question, check)
        for name, assignment in assignments().items()
        for question in assignment.questions
        for check in question.checks
        if check.points
    }


def unannounced(rule: tuple[str, Question, Check]) -> Iterator[str]:
    assignment, question, check = rule
    shared, by_name = texts(assignment)
    own = [by_name[name] for name in question.names]
    said = "\n".join([shared if check.kind in FOR_ALL else "", *own])
    if check.kind in WORDS and not re.search(WORDS[check.kind], said, re.IGNORECASE):
        yield f"no text says “{WORDS[check.kind]}”"
    if isinstance(check, ForbiddenOps):
        forbidden = {name.strip("*_.") for name in (*check.ops, *check.calls)}
        if not any(re.search(rf"\b{re.escape(name)}", said) for name in forbidden):
            yield f"no text names one of {', '.join(sorted(forbidden))}"
    if isinstance(check, AllowedOps) and check.kind not in WORDS:
        yield f"WORDS lacks the kind {check.kind}"


def test_every_rule_that_costs_points_is_announced() -> None:
    assert len(rules()) > 400
    no_faults(rules(), unannounced, "say it in the docstring of the reference or in the handout")


def cheap(rule: tuple[tuple[str, str], str]) -> Iterator[str]:
    (assignment, name), broken = rule
    (question,) = (each for each in assignments()[assignment].questions if each.id == name)
    lost = {broken}
    for check in (*question.checks, *question.checks):  # what requires it may stand above it
        if lost.intersection(check.requires or ()):
            lost.add(check.id)
    price = sum(check.points for check in question.checks if check.id in lost)
    if 2 * price < question.points:
        yield f"breaking it costs {price:g} of {question.points:g} points"
    shared, by_name = texts(assignment)
    if "half of" not in shared + by_name[name]:
        yield "no text says “half of”"


def test_breaking_what_a_question_is_about_costs_half() -> None:
    named = {f"{'.'.join(place)}.{rule}": (place, rule) for place, rule in HALF.items()}
    no_faults(named, cheap, "let `requires:` name the rule, or change HALF")
