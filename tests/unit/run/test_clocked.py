"""Which questions are timed: what leaves a doubt, and nothing that the text settles."""

from __future__ import annotations

from typing import Any

import pytest

from grader.assignment.types import Question
from grader.run.plan import PlannedQuestion
from grader.run.timing.clocks import wants_screen, wants_timing
from grader.verdict import (
    Basis,
    Code,
    Message,
    Owner,
    Status,
    Verdict,
    Witness,
    deferred,
    failed,
    passed,
    review,
)

NO_LOOPS = {"id": "no_loops", "kind": "loops", "mode": "none", "points": 1}
FAST = {
    "id": "fast", "kind": "vectorised", "points": 1, "cases": ["many"], "requires": ["no_loops"],
}  # fmt: skip
CLEAR = Witness("source", "no_loop", Basis.FACT)
UNCLEAR = Witness("source", "unclear", Basis.FACT)
SKIPPED = Verdict(Status.SKIPPED, Code.REQUIREMENT_NOT_MET, Owner.STUDENT, 0.0)
NOT_TIMED = deferred(Code.NOT_TIMED, Message("clock_off"))


def planned(*checks: dict[str, Any], timed: bool = True) -> PlannedQuestion:
    content = {
        "id": "f", "title": "F", "points": 1, "checks": [NO_LOOPS, *checks],
        "cases": [{"id": "many", "dims": {"B": 3}, "args": {"x": {"randn": ["B"]}}}],
        **({"timed": {"case": "many", "loop": "g", "dims": {"B": 512}}} if timed else {}),
    }  # fmt: skip
    return PlannedQuestion(Question.model_validate(content), ())


def by_word(*witnesses: Witness) -> Verdict:
    verdict = passed(Basis.CLAIM)
    return Verdict(verdict.status, verdict.code, credit=1.0, witnesses=witnesses)


@pytest.mark.parametrize(
    ("verdict", "wanted"),
    [
        (by_word(CLEAR), False),
        (by_word(UNCLEAR), True),
        (review(Message("loops_grows", {})), True),
        # No log shows what the reference's does, so that the word of its process is not taken.
        (review(Message("unproved", {})), True),
        (failed(Code.LOOP_FOUND, Message("loop_found")), False),
        (SKIPPED, False),
    ],
)
def test_a_doubt_about_a_loop_is_worth_a_screen_and_no_more(verdict: Verdict, wanted: bool) -> None:
    verdicts = {"no_loops": verdict}
    assert wants_screen(planned(), verdicts) is wanted
    assert not wants_screen(planned(timed=False), verdicts)
    assert not wants_timing(planned(), verdicts)


@pytest.mark.parametrize(
    ("loops", "fast", "wanted"),
    [
        (by_word(CLEAR), NOT_TIMED, True),
        (by_word(CLEAR), passed(), False),
        (review(Message("loops_grows", {})), NOT_TIMED, True),
        (failed(Code.LOOP_FOUND, Message("loop_found")), NOT_TIMED, False),
    ],
)
def test_what_is_graded_on_its_speed_is_timed_with_care(
    loops: Verdict, fast: Verdict, wanted: bool
) -> None:
    question, verdicts = planned(FAST), {"no_loops": loops, "fast": fast}
    assert wants_timing(question, verdicts) is wanted
    assert wants_screen(question, verdicts) is wanted
