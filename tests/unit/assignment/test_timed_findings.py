"""What must hold for a question that is timed, each with its words."""

from __future__ import annotations

from typing import Any

import pytest

from grader.assignment.rules import timed_findings
from grader.assignment.types import Question

CASE = {"id": "many", "dims": {"B": 512}, "args": {"x": {"randn": ["B", 2]}, "k": 3}}
FAST = {"id": "fast", "kind": "vectorised", "points": 1, "cases": ["many"]}
TIMED = {"case": "many", "loop": "g"}
SAME = {"id": "same", "kind": "exact", "points": 1}
SHAPE = {"id": "shape", "kind": "shape", "points": 1}


def found(case: dict[str, Any], check: dict[str, Any], **fields: Any) -> list[str]:
    content = {
        "id": "f", "title": "F", "points": 1, "cases": [{**CASE, **case}],
        "checks": [{**FAST, **check}, SHAPE], "timed": TIMED, **fields,
    }  # fmt: skip
    question = Question.model_validate(content)
    return [text for _, text in timed_findings(question, ())]


def test_a_question_that_can_be_timed() -> None:
    assert found({}, {}) == []
    assert found({}, {}, timed=TIMED, checks=[SHAPE]) == []
    assert found({"repeats": 2}, {}, timed={**TIMED, "dims": {"B": 2048}}) == []
    assert found({"generate": "g", "args": {}}, {}) == []
    assert found({}, {}, timed={**TIMED, "values": "same"}, checks=[SAME]) == []


@pytest.mark.parametrize(
    ("case", "check", "fields", "words"),
    [
        ({}, {}, {"timed": None}, "needs the question's “timed”"),
        ({}, {"cases": None}, {}, "judges what is timed: [many]"),
        ({}, {}, {"timed": {"case": "mayn", "loop": "g"}}, "did you mean “many”"),
        ({"scenario": "s"}, {}, {}, "it has a scenario"),
        ({}, {}, {"timed": {**TIMED, "dims": {"N": 64}}}, "has no size “N”; it has B"),
        ({}, {}, {"timed": {**TIMED, "values": "shapes"}}, "did you mean “shape”"),
        ({}, {}, {"timed": {**TIMED, "values": "shape"}}, "found a check of kind shape"),
        (
            {},
            {},
            {"timed": {**TIMED, "values": "same", "atol": 1}, "checks": [SAME]},
            "found both “values” and a tolerance",
        ),
        ({"args": {"x": {"permutation": "B"}}}, {}, {}, "“x” is a permutation"),
        ({"args": {"x": {"zeros": ["B"]}}}, {}, {}, "neither a drawn tensor nor a number"),
        ({"args": {"x": [{"randn": ["B"]}]}}, {}, {}, "neither a drawn tensor nor a number"),
        ({"args": {"x": 3}}, {}, {}, "nothing in it is drawn"),
    ],
)
def test_what_keeps_it_from_being_timed(
    case: dict[str, Any], check: dict[str, Any], fields: dict[str, Any], words: str
) -> None:
    assert any(words in text for text in found(case, check, **fields)), found(case, check, **fields)
