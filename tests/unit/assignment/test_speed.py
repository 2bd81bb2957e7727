"""What a check of kind ``speedup`` needs of its question."""

from __future__ import annotations

from typing import Any

import pytest

from grader.assignment.rules import question_findings
from grader.assignment.types import Question

CASE: dict[str, Any] = {"id": "large", "args": {"x": {"rand": [4, 4]}, "w": {"rand": [4, 4]}}}
VALUES = {"id": "precise", "kind": "product", "factors": ["x", "w"], "points": 1}
SPEED = {
    "id": "speed", "kind": "speedup", "points": 1, "cpu": "on_cpu", "values": "precise",
    "case": "large",
}  # fmt: skip


def found(changed: dict[str, Any] | None = None, *more: Any, **speed: Any) -> list[str]:
    question = Question.model_validate(
        {
            "id": "f", "title": "F", "points": 2 + sum(check["points"] for check in more),
            "cases": [{**CASE, **(changed or {})}],
            "checks": [VALUES, *more, {**SPEED, **speed}],
        }
    )  # fmt: skip
    return [f"{'.'.join(map(str, path))}: {text}" for path, text in question_findings(question, ())]


def test_a_whole_one() -> None:
    assert found() == []
    assert found(credit={"steps": [{"within": 1.5, "credit": 1}]}) == []


@pytest.mark.parametrize(
    ("case", "speed", "words"),
    [
        (None, {"case": "largest"}, "no case is called “largest”; did you mean “large”"),
        (None, {"cases": []}, "the case that is timed, “large”, is not among them"),
        (None, {"values": "precis"}, "did you mean “precise”"),
        (None, {"values": "speed"}, "no check is called “speed”"),
        ({"scenario": "go"}, {}, "cannot be timed: it has a generator or a scenario"),
        ({"args": {"x": {"ones": [2, 2]}, "w": {"ones": [2, 2]}}}, {}, "nothing in its “args”"),
    ],
)
def test_what_is_missing(case: Any, speed: dict[str, Any], words: str) -> None:
    assert any(words in line for line in found(case, **speed))


def test_a_rule_that_needs_more_than_the_result_cannot_judge_timed_calls() -> None:
    again = {"id": "same", "kind": "unmodified", "points": 1}
    assert any("needs more than" in line for line in found(None, again, values="same"))
    wide = {"id": "wide", "kind": "envelope", "points": 1}
    assert any("needs more than" in line for line in found(None, wide, values="wide"))


def test_threshold_and_credit_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="found both “threshold” and “credit”"):
        found(threshold=1.5, credit={"steps": [{"within": 1.5, "credit": 1}]})
