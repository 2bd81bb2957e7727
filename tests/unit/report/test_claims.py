"""Which points of a reference rest on its process's word, and which wait for such a word."""

from __future__ import annotations

from collections.abc import Callable

from grader.assignment.types import Assignment
from grader.authoring.lint import claims_in, held_by_claims, resting_on_claims
from grader.report.model import Report
from grader.verdict import Basis, Verdict, passed

Build = Callable[[dict[str, dict[str, Verdict]]], Report]


def _requiring(assignment: Assignment) -> Assignment:
    """Let the shape require the arguments, and values the shape."""
    data = assignment.model_dump(by_alias=True)
    values, shape, _ = data["questions"][0]["checks"]
    values["requires"], shape["requires"] = ["shape"], ["inputs"]
    return Assignment.model_validate(data)


def test_what_requires_a_claim_is_counted_beside_it(assignment: Assignment, build: Build) -> None:
    alone = {"values": passed(), "shape": passed(), "inputs": passed(Basis.CLAIM)}
    more = {"values": passed(), "secret": passed()}
    report = build({"multiply": alone, "normalize": more, "on_gpu": {"values": passed()}})
    claims, total = claims_in(report)
    assert (list(claims), total) == (["multiply.inputs"], 15)
    assert not held_by_claims(report, assignment)
    assert len([*resting_on_claims(report, assignment)]) == 1
    # The first by way of the second.
    held = held_by_claims(report, _requiring(assignment))
    assert list(held) == ["multiply.values", "multiply.shape"]
    _, sentence = resting_on_claims(report, _requiring(assignment))
    assert sentence.startswith("4 points more wait for one of these")
    assert sentence.endswith("multiply.values (3), multiply.shape (1)")
