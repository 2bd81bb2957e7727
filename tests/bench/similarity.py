"""A class with copies planted in it: how many are found, and how many innocents beside them.

``python tests/bench/similarity.py --size 300 --copies 10``

An innocent hand-in is the starter with, for each question, one of the distinct solutions (right and
wrong) that the labelled submissions of ``pytorch101`` hold, drawn at random; no two are written by
one person, but any two may have drawn the same solution of a question. One in ten is a notebook.
A copy takes some of an innocent's functions, renames every variable, replaces all comments, breaks
lines otherwise and puts the functions in another order; the functions that it does not take are
drawn like an innocent's.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import resource
import sys
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
sys.path[:0] = [str(TESTS)]

from labels import submissions_of  # noqa: E402

from grader.batch.discover import discover  # noqa: E402
from grader.run.materials import load_materials  # noqa: E402
from grader.similarity.compare import compare  # noqa: E402
from grader.similarity.texts import Scripts, read_class, read_starter  # noqa: E402
from grader.similarity.tokens import tokenise  # noqa: E402

ASSIGNMENT = ROOT / "assignments/pytorch101/assignment.yml"
STARTER = ROOT / "starter/pytorch101/pytorch101.py"
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
_NOTEBOOKS = 10
_REMARKS = ("see the lecture", "checked by hand", "why does this work", "careful here", "done")

Solutions = dict[str, str]
"""Question → source of its function."""


@dataclass(frozen=True)
class Planted:
    """A copy and what it was made of."""

    copy: str
    original: str


@lru_cache(1)
def pool() -> dict[str, list[str]]:
    """Return the distinct solutions of each question in the labelled submissions, right ones first.

    Distinct as tokens: that two differ in names or layout only does not count.
    """
    questions = [question.id for question in load_materials(ASSIGNMENT).assignment.questions]
    found: dict[str, dict[str, str]] = {question: {} for question in questions}
    for submission in submissions_of("pytorch101", "accepted", "wrong", "faults", "showcase"):
        for name, text in _functions(submission.data).items():
            if name in found:
                found[name].setdefault(tokenise(text).document, text)
    return {question: list(solutions.values()) for question, solutions in found.items()}


def _functions(data: bytes) -> Solutions:
    try:
        text = data.decode()
        tree = ast.parse(text)
    except (SyntaxError, ValueError):  # a fault on purpose
        return {}
    return {
        node.name: ast.get_source_segment(text, node) or ""
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }


def innocent(draw: random.Random, skewed: bool) -> Solutions:
    """Return a hand-in that nobody copied.

    Args:
        draw: Source of chance.
        skewed: The first solution of a question is the usual one, the next half as usual, and so
            on; else all are as likely.
    """
    return {
        question: draw.choices(
            solutions,
            [1 / rank if skewed else 1 for rank in range(1, len(solutions) + 1)],
        )[0]
        for question, solutions in pool().items()
    }


def copied(original: Solutions, other: Solutions, share: float, draw: random.Random) -> Solutions:
    """Return a copy of a share of the functions, disguised; the rest is another's."""
    taken = draw.sample(sorted(original), round(share * len(original)))
    names = [*original]
    draw.shuffle(names)
    return {name: _disguised(original[name], draw) if name in taken else other[name]
            for name in names}  # fmt: skip


class _Renamed(ast.NodeTransformer):
    """Gives every variable of a function another name."""

    def __init__(self, tree: ast.AST) -> None:
        bound = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        bound |= {
            node.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        self._names = {name: f"my_{number}_var" for number, name in enumerate(sorted(bound))}

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self._names[node.arg]
        node.annotation = None
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node


def _disguised(text: str, draw: random.Random) -> str:
    tree = ast.parse(text)
    lines = []
    for line in ast.unparse(_Renamed(tree).visit(tree)).split("\n"):
        lines.append(f"{line}  # {draw.choice(_REMARKS)}")
        if draw.random() < 0.3:
            lines.append("")
    return "\n".join(lines)


@lru_cache(1)
def _docstrings() -> Solutions:
    """Return the starter's docstrings by question."""
    return {
        node.name: ast.get_docstring(node, clean=False) or ""
        for node in ast.parse(STARTER.read_text()).body
        if isinstance(node, ast.FunctionDef)
    }


def _documented(text: str, question: str) -> str:
    """Return a function with the starter's docstring put back, as a student would have left it."""
    tree = ast.parse(text).body[0]
    assert isinstance(tree, ast.FunctionDef)
    if tree.body[0].lineno == tree.lineno or ast.get_docstring(tree):
        return text
    lines = text.split("\n")
    at = tree.body[0].lineno - 1
    return "\n".join([*lines[:at], f'    """{_docstrings()[question]}"""', *lines[at:]])


def write(path: Path, solutions: Solutions, notebook: bool) -> None:
    """Write a hand-in as a module, or as a notebook with a cell a function."""
    parts = ["import torch\nfrom torch import Tensor"]
    parts += [_documented(text, question) for question, text in solutions.items()]
    if not notebook:
        path.with_suffix(".py").write_text("\n\n\n".join(parts) + "\n")
        return
    cells = [
        {"cell_type": "code", "source": part, "metadata": {}, "outputs": [], "execution_count": 1}
        for part in parts
    ]
    content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
    path.with_suffix(".ipynb").write_text(json.dumps(content))


def build(folder: Path, size: int, copies: int, share: float, skewed: bool) -> list[Planted]:
    """Write a class; return the copies in it. The same class whenever the arguments are."""
    draw = random.Random(f"{size} {copies} {skewed}")
    innocents = [innocent(draw, skewed) for _ in range(size - copies)]
    others = [innocent(draw, skewed) for _ in range(copies)]
    planted = []
    for number, solutions in enumerate(innocents):
        write(folder / f"student_{number:03}", solutions, number % _NOTEBOOKS == 0)
    for number, source in enumerate(draw.sample(range(len(innocents)), copies)):
        taken = copied(innocents[source], others[number], share, draw)
        write(folder / f"copy_{number:03}", taken, number % 2 == 0)
        planted.append(Planted(f"copy_{number:03}", f"student_{source:03}"))
    return planted


@dataclass(frozen=True)
class Outcome:
    """What a comparison made of a class.

    Attributes:
        copies: Score of each copy with its original; 0 where it is below the least threshold.
        innocents: Scores of all other pairs from there on.
        seconds: Processor time.
    """

    copies: list[float]
    innocents: list[float]
    seconds: float


def measure(size: int, copies: int, share: float, skewed: bool) -> Outcome:
    """Build a class and compare it."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "class"
        folder.mkdir()
        planted = build(folder, size, copies, share, skewed)
        materials = load_materials(ASSIGNMENT)
        wanted = materials.assignment.hand_in
        begun = _processor()
        with Scripts() as scripts:
            given = read_starter(materials.starter, scripts)
            hand_ins = read_class(discover(folder, Path(made)).submissions, wanted, scripts)
            findings = compare(hand_ins.compared, given, THRESHOLDS[0])
        seconds = _processor() - begun
    scores = {frozenset((p.first.name, p.second.name)): p.score for p in findings.pairs}
    of_copies = [scores.pop(frozenset((each.copy, each.original)), 0.0) for each in planted]
    return Outcome(of_copies, list(scores.values()), seconds)


def row(outcome: Outcome, share: float, skewed: bool) -> str:
    """Return a line of the table."""
    cells = [
        f"{sum(s >= at for s in outcome.copies)} · {sum(s >= at for s in outcome.innocents)}"
        for at in THRESHOLDS
    ]
    return (
        f"| {'usual' if skewed else 'even'} | {share:.0%} | {' | '.join(cells)} "
        f"| {_least(outcome.copies)} | {max(outcome.innocents, default=0.0):.2f} "
        f"| {outcome.seconds:.0f} |"
    )


def _least(scores: list[float]) -> str:
    return f"{min(scores):.2f}" if min(scores) else f"< {THRESHOLDS[0]}"


def _processor() -> float:
    """Return the processor time of this process and of those that it has waited for, in seconds."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=300)
    parser.add_argument("--copies", type=int, default=10)
    parser.add_argument("--shares", type=float, nargs="+", default=[1.0, 0.75, 0.5, 0.25])
    given = parser.parse_args()
    heads = [f"≥ {at:.0%}" for at in THRESHOLDS]
    titles = ["solutions", "copied", *heads, "lowest copy", "highest other", "CPU s"]
    print(f"| {' | '.join(titles)} |")
    print("|---" * len(titles) + "|")
    for skewed in (False, True):
        for share in given.shares:
            outcome = measure(given.size, given.copies, share, skewed)
            print(row(outcome, share, skewed))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
