"""A report with everything taken out that its student may not know.

A student's page is made from what comes out of here and from nothing else, so no template has to
decide what to hide. The seed goes too: hidden inputs could be drawn from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from grader.report.build import question_status, report_status
from grader.report.model import CheckResult, QuestionResult, Report, Timing
from grader.report.points import PLACES
from grader.verdict import Visibility


class Release(str, Enum):
    """How much has been released; what is ``hidden`` never is."""

    NOW = "visible"
    DUE = "after_due_date"
    PUBLISHED = "after_published"


_SHOWN = {
    Release.NOW: {Visibility.VISIBLE},
    Release.DUE: {Visibility.VISIBLE, Visibility.AFTER_DUE_DATE},
    Release.PUBLISHED: {
        Visibility.VISIBLE,
        Visibility.AFTER_DUE_DATE,
        Visibility.AFTER_PUBLISHED,
    },
}


def for_student(report: Report, release: Release = Release.NOW) -> Report:
    """Return what a student may know of a report.

    Until grades are published the points are those of the shown checks: a sum over all would give
    away what became of the others. Afterwards they are the whole, as on Gradescope.

    Args:
        report: For staff.
        release: What has been released.
    """
    questions = tuple(filter(None, (_question(each, release) for each in report.questions)))
    whole = release is Release.PUBLISHED
    environment = report.environment.model_copy(update={"seed": 0})
    points = {} if whole else _sums(questions)
    return report.model_copy(
        update={
            "questions": questions,
            "environment": environment,
            "timing": Timing(),
            "merged": (),
            "status": report_status(questions),
            **points,
        }
    )


def withheld(report: Report, release: Release) -> dict[str, int]:
    """Return how many checks of each shown question are not shown; under ``""``, of all."""
    by_question = {
        question.id: sum(not _shown(check, release) for check in question.checks)
        for question in report.questions
    }
    return {**by_question, "": sum(by_question.values())}


def _question(question: QuestionResult, release: Release) -> QuestionResult | None:
    checks = tuple(_check(check) for check in question.checks if _shown(check, release))
    if not checks:
        return None
    if release is Release.PUBLISHED:
        return question.model_copy(update={"checks": checks})
    # The question's own status would tell of the others.
    points = _sums(checks)
    return question.model_copy(
        update={"checks": checks, "status": question_status(checks, **points), **points}
    )


def _shown(check: CheckResult, release: Release) -> bool:
    return check.visibility in _SHOWN[release]


def _check(check: CheckResult) -> CheckResult:
    return check.model_copy(
        update={
            "message": check.student_message,
            "message_id": None,
            "params": {},
            "case": None,
            "evidence": {},
            "witnesses": (),
        }
    )


def _sums(parts: Iterable[CheckResult | QuestionResult]) -> dict[str, float]:
    known = list(parts)
    return {
        name: round(sum(getattr(part, name) for part in known), PLACES)
        for name in ("score", "max_score", "pending")
    }
