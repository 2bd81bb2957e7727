"""Whatever public name or operator reaches a ruled operation, the rule decides; nobody looks."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import yaml
from faults import no_faults
from public_spellings import OPERATORS, dispatched, spellings, watched

from grader.checks.base import CaseInputs
from grader.checks.ops import AllowedOps, ForbiddenOps
from grader.verdict import Code, Status

ASSIGNMENTS = Path(__file__).parents[3] / "assignments"
COMPUTES_NOTHING = {"detach", "alias", "lift_fresh", "empty", "new_empty", "_local_scalar_dense"}
APART = ("from_dlpack", "chain_matmul")
"""The first shares storage and computes nothing; the second drops its ``out`` under a mode."""
Rule = ForbiddenOps | AllowedOps


@cache
def rules() -> tuple[tuple[str, Rule], ...]:
    kinds = {"forbidden_ops": ForbiddenOps, "allowed_ops": AllowedOps}
    found = []
    for path in sorted(ASSIGNMENTS.glob("*/assignment.yml")):
        for question in yaml.safe_load(path.read_text(encoding="utf-8"))["questions"]:
            for check in question["checks"]:
                if kind := kinds.get(check["kind"]):
                    named = {key: tuple(check[key]) for key in ("ops", "calls") if key in check}
                    found.append((question["id"], kind(id="ops", points=1, **named)))
    return tuple(found)


def matching(names: set[str], patterns: tuple[str, ...]) -> set[str]:
    """Return the names that a rule means; in place is the same."""
    return {
        name for name in names
        if any(fnmatchcase(each, item) for item in patterns for each in (name, name.rstrip("_")))
    }  # fmt: skip


def broken(rule: Rule, names: set[str]) -> set[str]:
    """Return the operations that break a rule, among those that were dispatched."""
    if isinstance(rule, ForbiddenOps):
        return matching(names, rule.ops)
    return names - matching(names, rule.ops) - COMPUTES_NOTHING


def undecided(bodies: dict[str, set[str]]) -> list[str]:
    """Return the texts that break a rule and are not told so."""
    found = []
    for body, names in bodies.items():
        hits = [(name, rule) for name, rule in rules() if broken(rule, names)]
        if not hits or any(name in body for name in APART):
            continue
        seen = watched(body)
        for question, rule in hits:
            verdict = rule.judge(CaseInputs("case", (), ()), seen, seen)
            if verdict.code is not Code.FORBIDDEN_CALL:
                found.append(f"{question}: {body}: {verdict.status.value}")
    return found


@pytest.mark.heavy
def test_every_public_spelling_of_a_ruled_operation_is_decided() -> None:
    assert len(spellings()) > 1500
    assert undecided(spellings()) == []


def test_an_operator_is_tried() -> None:
    no_faults(
        {body: body for body in OPERATORS},
        lambda body: [] if dispatched(body) else ["dispatches nothing"],
        "take it out of OPERATORS, or write it so that it reaches torch",
    )


def decided_otherwise(rule: ForbiddenOps) -> Iterator[str]:
    patterns = (*rule.ops, *rule.calls)
    for space, module in (("np", np), ("np.linalg", np.linalg)):
        for name in matching(set(dir(module)), patterns):
            for more in ("", ", x.numpy()", ", 1", ", 'ij->ji'"):
                body = f"return {space}.{name}(x.numpy(){more})"
                if dispatched(body) is not None:
                    seen = watched(body)
                    verdict = rule.judge(CaseInputs("case", (), ()), seen, seen)
                    if verdict.code is not Code.FORBIDDEN_CALL:
                        yield f"{body} is {verdict.code.value}"


def test_numpys_functions_of_a_forbidden_name_are_decided() -> None:
    forbidden = {
        f"{question} forbids {', '.join((*rule.ops, *rule.calls))}": rule
        for question, rule in rules()
        if isinstance(rule, ForbiddenOps)
    }
    no_faults(forbidden, decided_otherwise, "numpy's function of that name must be forbidden, too")


@pytest.mark.parametrize("body", ["list(x)", "a, b, c, d = x", "[row for row in x]", "sum(x)"])
def test_a_person_looks_at_rows_taken_by_iterating_where_that_is_not_allowed(body: str) -> None:
    seen = watched(body)
    for rule in (rule for _, rule in rules() if isinstance(rule, AllowedOps)):
        assert rule.judge(CaseInputs("case", (), ()), seen, seen).status is Status.DEFERRED


@pytest.mark.heavy
def test_a_name_that_a_rule_forbids_is_decided_whatever_it_dispatches() -> None:
    missed = []
    for space in ("x", "torch", "torch.linalg"):
        texts = {t: t.partition("(")[0].removeprefix("return ") for t in spellings()}
        for body, called in texts.items():
            home, _, name = called.rpartition(".")
            for question, rule in rules():
                calls = getattr(rule, "calls", ())
                if home == space and matching({name}, calls) and body.startswith("return "):
                    seen = watched(body)
                    verdict = rule.judge(CaseInputs("case", (), ()), seen, seen)
                    if verdict.code is not Code.FORBIDDEN_CALL:
                        missed.append((question, body))
    assert missed == []
