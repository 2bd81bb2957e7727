"""Reports of a course that has no GPU: points that wait for one are out of the maximum. Pure.

It is laid over a report when that is shown, as people's decisions are. The journal keeps what the
grader said, so that it comes back as it was when the course has a GPU.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from grader.assignment.types import Assignment
from grader.checks.speed import only_on_device
from grader.report.build import PLACES, report_status
from grader.report.messages.catalogue import ENGLISH
from grader.report.model import CheckResult, QuestionResult, Report
from grader.report.summary import amount
from grader.report.sums import sums, with_checks
from grader.verdict import Basis, Code, Message, Status


def without_gpu(report: Report) -> Report:
    """Return a report whose maximum holds no check that only a real GPU can settle.

    The same of a report that is so already.
    """
    if not any(_counts(check) for _, check in report.checks()):
        return report
    questions = tuple(_question(question) for question in report.questions)
    maximum = _less(report.max_score, report.questions, questions)
    return report.model_copy(
        update={
            "questions": questions,
            "status": report_status(questions),
            **sums(maximum, questions),
        }
    )


def points_without_gpu(assignment: Assignment) -> float:
    """Return what an assignment is worth where nothing counts that only a real GPU can settle."""
    gone = (
        check.points
        for question in assignment.questions
        if not question.bonus
        for check in question.listed
        if not check.bonus and check.id in only_on_device(question.checks)
    )
    return round(assignment.points - math.fsum(gone), PLACES)


def _counts(check: CheckResult) -> bool:
    return check.needs_gpu and check.code is not Code.NOT_COUNTED


def _question(question: QuestionResult) -> QuestionResult:
    checks = [_uncounted(check) if _counts(check) else check for check in question.checks]
    maximum = _less(question.max_score, question.checks, checks)
    return with_checks(question.model_copy(update={"max_score": maximum}), checks)


def _less(
    maximum: float,
    before: Sequence[CheckResult | QuestionResult],
    after: Sequence[CheckResult | QuestionResult],
) -> float:
    """Return a maximum without what its parts are worth less; a bonus is in no maximum."""
    gone = (
        old.max_score - new.max_score
        for old, new in zip(before, after, strict=True)
        if not old.bonus
    )
    return max(0.0, round(maximum - math.fsum(gone), PLACES))


def _uncounted(check: CheckResult) -> CheckResult:
    message = Message("not_counted", {"points": amount(check.max_score)})
    sentence = ENGLISH.render(message)
    return check.model_copy(
        update={
            "status": Status.SKIPPED,
            "code": Code.NOT_COUNTED,
            "owner": None,
            "basis": Basis.FACT,
            "score": 0.0,
            "max_score": 0.0,
            "pending": 0.0,
            "uncounted": check.max_score,
            "message": sentence,
            "student_message": sentence,
            "message_id": message.id,
            "params": dict(message.params),
            "case": None,
            "hidden": False,
            "evidence": {},
            "witnesses": (),
        }
    )
