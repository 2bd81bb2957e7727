"""Which functions are timed, and their verdicts anew once they were.

Timing comes after everything else of a hand-in, and only for what the checks that it rests on let
through: it takes seconds, where all the rest of a hand-in takes half of one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from grader.checks.base import Check
from grader.checks.judge import required
from grader.checks.speed import speed_tests
from grader.observation import Timing
from grader.run.observe import QuestionRun
from grader.run.plan import PlannedQuestion
from grader.run.submitted import Verdicts, judge_question
from grader.verdict import Code, Status, Verdict


class Judged(Protocol):
    """A verdict, or what a report says of one."""

    @property
    def status(self) -> Status:
        """How the check ended."""

    @property
    def code(self) -> Code:
        """Why."""


@dataclass(frozen=True, slots=True)
class Clock:
    """One way of timing.

    Attributes:
        wants: Tells whether a question is to be timed, by its verdicts so far.
        measure: Times a question's function, given its name in the hand-in; None where that tells
            nothing.
    """

    wants: Callable[[PlannedQuestion, Verdicts], bool]
    measure: Callable[[PlannedQuestion, str], Timing | None]


def wants_timing(planned: PlannedQuestion, verdicts: Mapping[str, Judged]) -> bool:
    """Return whether a question's function is to be timed with care, after all else was judged.

    Only where speed is graded: a doubt about a loop alone is not worth seconds of a whole machine.

    Args:
        planned: The question.
        verdicts: Of its checks, by id, without times.
    """
    checks = planned.question.checks
    graded = [check for check, _ in speed_tests(checks, on_device=False)]
    if planned.question.timed is None or not graded:
        return False
    # The third witness is asked where the other two disagree.
    if any(verdicts[check.id].code is Code.NEEDS_REVIEW for check in _no_loops(planned)):
        return True
    for check in graded:
        if verdicts[check.id].code is Code.NOT_TIMED:
            rests_on = (verdicts[name] for name in required(check, checks))
            if all(item.status in (Status.PASSED, Status.PARTIAL) for item in rests_on):
                return True
    return False


def wants_screen(planned: PlannedQuestion, verdicts: Verdicts) -> bool:
    """Return whether a question's function is to be timed in passing.

    Besides what ``wants_timing`` says: where the text of the function leaves a doubt about a loop,
    and where the word of its process is not taken.

    Args:
        planned: The question.
        verdicts: Of its checks, by id, without times.
    """
    if planned.question.timed is None:
        return False
    doubts = (verdicts[check.id] for check in _no_loops(planned))
    return any(map(_doubtful, doubts)) or wants_timing(planned, verdicts)


def _no_loops(planned: PlannedQuestion) -> list[Check]:
    return [check for check in planned.question.checks if check.hears_time()]


def _doubtful(verdict: Verdict) -> bool:
    words = {(witness.name, witness.says) for witness in verdict.witnesses}
    unread = verdict.code is Code.OK and ("source", "unclear") in words
    return unread or verdict.code is Code.NEEDS_REVIEW


def judge_with_times(
    plan: Sequence[PlannedQuestion],
    reference: Mapping[str, QuestionRun],
    submission: Mapping[str, QuestionRun],
    judged: Mapping[str, Verdicts],
    clock: Clock,
) -> tuple[dict[str, Verdicts], dict[str, QuestionRun]]:
    """Return all verdicts and runs, those of questions that had to be timed made anew.

    Args:
        plan: What was called.
        reference: What the reference did, by question id.
        submission: What the submission did.
        judged: Verdicts without times.
        clock: Times them.
    """
    again, runs = dict(judged), dict(submission)
    for planned in plan:
        name = planned.question.id
        run = submission[name]
        if run.entry is not None and clock.wants(planned, judged[name]):
            timing = clock.measure(planned, run.entry)
            if timing is None:
                continue
            runs[name] = _with(run, timing)
            again[name] = judge_question(planned, reference[name], runs[name])
    return again, runs


def _with(run: QuestionRun, timing: Timing) -> QuestionRun:
    """Return a question's run with what came of timing in each of its observations."""
    seen = {
        key: replace(item, facts=replace(item.facts, timing=timing))
        for key, item in run.observations.items()
    }
    return replace(run, observations=seen)
