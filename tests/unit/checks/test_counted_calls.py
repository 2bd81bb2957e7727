"""Calls that are counted: what they return, and work that the counts do not show."""

from __future__ import annotations

from typing import Any

import pytest
from observed import CASE, tensor

from grader.checks.judge import judge_case
from grader.checks.ops import ForbiddenOps
from grader.observation import Claims, Observation, Outcome
from grader.static_analysis.analyse import analyse
from grader.static_analysis.facts import EntryFacts
from grader.verdict import Code, Status
from grader.wire.values import Value

RULE = ForbiddenOps(id="by_hand", points=1, calls=("softmax",))
CLEAN = "import torch\n\ndef f(x):\n    return x.exp() / x.exp().sum()\n"


def facts(text: str) -> EntryFacts:
    return analyse(text.encode()).entries["f"]


def counted(value: Value, **changes: Any) -> Observation:
    content: dict[Any, Any] = {
        "events": 4, "lines": [4, 5, 6, 7], "capped": False, "calls": {"exp": 1},
        "escapes": {}, "ops": {"exp": 1}, "under": {"exp": ["exp"]}, "bare": 0,
        "greatest": 64, **changes,
    }  # fmt: skip
    own = Observation(Outcome.COMPLETED, claims=Claims(value, probes={"counting": content}))
    return Observation(Outcome.COMPLETED, claims=Claims(1), counted={"": own}, source=facts(CLEAN))


RIGHT = counted(tensor([0.1, 0.2, 0.7]))


def said(seen: Observation, reference: Observation = RIGHT) -> tuple[Code, str]:
    verdict = judge_case(RULE, CASE, reference, seen, "f")
    assert (verdict.status is Status.DEFERRED) is (verdict.code is Code.NEEDS_REVIEW)
    return verdict.code, verdict.message.id if verdict.message else ""


@pytest.mark.parametrize(
    "value",
    [
        tensor([0.1, 0.2, 0.7]),
        tensor([0.1, 0.2, 0.7001], "float64"),
        tensor([[0.1], [0.2], [0.7]]),  # whether a shape is right is for others to say
        tensor([0.1, 0.9, 0.7]),  # one may differ
    ],
)
def test_about_the_same_result_is_the_same_work(value: Value) -> None:
    assert said(counted(value)) == (Code.OK, "")


@pytest.mark.parametrize(
    "value", [None, 0.0, tensor([0.0, 0.0, 0.0]), tensor([0.1, 0.2]), [tensor([0.1, 0.2, 0.7])]]
)
def test_a_function_that_does_other_work_to_be_counted_is_for_a_person(value: Value) -> None:
    assert said(counted(value)) == (Code.NEEDS_REVIEW, "counted_otherwise")


def test_a_public_case_without_the_result_says_nothing_of_it() -> None:
    assert said(counted(tensor([0.0])), counted(None)) == (Code.OK, "")
