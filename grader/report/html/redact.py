"""A report with everything taken out that its student may not know.

A student's page is made from what comes out of here and from nothing else, so no template has to
decide what to hide. The seed goes too: hidden inputs could be drawn from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from grader.report.build import PLACES, question_status, report_status
from grader.report.merge import sums
from grader.report.model import CheckResult, QuestionResult, Report, Timing
from grader.verdict import Visibility


class ReleaseStage(str, Enum):
    """How much has been released; what is ``hidden`` never is."""

    NOW = "visible"
    DUE = "after_due_date"
    PUBLISHED = "after_published"


_SHOWN = {
    ReleaseStage.NOW: {Visibility.VISIBLE},
    ReleaseStage.DUE: {Visibility.VISIBLE, Visibility.AFTER_DUE_DATE},
    ReleaseStage.PUBLISHED: {
        Visibility.VISIBLE,
        Visibility.AFTER_DUE_DATE,
        Visibility.AFTER_PUBLISHED,
    },
}


def for_student(report: Report, release: ReleaseStage = ReleaseStage.NOW) -> Report:
    """Return what a student may know of a report.

    Until grades are published the points are those of the shown checks: a sum over all would give
    away what became of the others. Afterwards they are the whole, as on Gradescope.
    """
    questions = tuple(filter(None, (_question(each, release) for each in report.questions)))
    whole = release is ReleaseStage.PUBLISHED
    # Whoever knows the seed can draw the hidden inputs.
    environment = report.environment.model_copy(update={"seed": 0})
    points = {} if whole else _sums(questions)
    return report.model_copy(
        update={
            "questions": questions,
            "environment": environment,
            # Time on hidden cases could carry what the submission saw in them.
            "timing": Timing(),
            "merged": (),
            "status": report_status(questions),
            **points,
        }
    )


def withheld(report: Report, release: ReleaseStage) -> dict[str, int]:
    """Return how many checks of each shown question are not shown; under ``""``, of all."""
    by_question = {
        question.id: sum(not _shown(check, release) for check in question.checks)
        for question in report.questions
    }
    return {**by_question, "": sum(by_question.values())}


def _question(question: QuestionResult, release: ReleaseStage) -> QuestionResult | None:
    checks = tuple(_check(check) for check in question.checks if _shown(check, release))
    if not checks:
        return None
    if release is ReleaseStage.PUBLISHED:
        return question.model_copy(update={"checks": checks})
    # The question's own status would tell of the others.
    points = _sums(checks)
    return question.model_copy(
        update={"checks": checks, "status": question_status(checks, **points), **points}
    )


def _shown(check: CheckResult, release: ReleaseStage) -> bool:
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
    worth = round(sum(part.max_score for part in known if not part.bonus), PLACES)
    return sums(worth, known)
