"""What was said of questions of which nothing ran, said again of the checks that there are now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from grader.assignment.types import Question
from grader.report.model import CheckResult, Report
from grader.run.submitted import Verdicts, for_all
from grader.verdict import Message, Param, Status, Verdict

_OF_ALL = (Status.FAILED, Status.ERROR)


def as_before(questions: Iterable[Question], before: Report) -> dict[str, Verdicts]:
    """Return verdicts for the questions of which every check had one and the same.

    That is so where the hand-in could not be read, or the machine failed. Of other questions it is
    not known what to say.

    Args:
        questions: As they are asked now.
        before: The report from then.
    """
    known = {question.id: question.checks for question in before.questions}
    everything = [check for checks in known.values() for check in checks]
    told: dict[str, Verdicts] = {}
    for question in questions:
        verdict = _of_all(known.get(question.id, everything))
        if verdict is not None:
            told[question.id] = for_all(question, verdict)
    return told


def _of_all(checks: Iterable[CheckResult]) -> Verdict | None:
    """Return the verdict that all of some checks have; None where they differ."""
    told = [check for check in checks if check.status is not Status.SKIPPED]
    if not told or len({_told(check) for check in told}) > 1 or told[0].status not in _OF_ALL:
        return None
    first = told[0]
    message = Message(first.message_id, _params(first.params)) if first.message_id else None
    return Verdict(
        first.status, first.code, first.owner, 0.0, message, _params(first.evidence), first.basis
    )


def _told(check: CheckResult) -> tuple[object, ...]:
    return check.status, check.code, check.message_id, check.message


def _params(found: Mapping[str, object]) -> Mapping[str, Param]:
    # Written as JSON and read again: what a message's parameter may be, and nothing else.
    return cast("Mapping[str, Param]", found)
