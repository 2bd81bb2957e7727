"""A report's messages said again in another language, from their ids and parameters."""

from __future__ import annotations

from grader.report.model import CheckResult, QuestionResult, Report
from grader.report.words import ENGLISH, Words
from grader.verdict import Message, Verdict


def translated(report: Report, words: Words) -> Report:
    """Return a report whose messages are in ``words``; reports are written in English."""
    if words is ENGLISH:
        return report
    return report.model_copy(
        update={"questions": tuple(_question(each, words) for each in report.questions)}
    )


def _question(question: QuestionResult, words: Words) -> QuestionResult:
    return question.model_copy(
        update={"checks": tuple(_check(check, words) for check in question.checks)}
    )


def _check(check: CheckResult, words: Words) -> CheckResult:
    verdict = Verdict(
        check.status,
        check.code,
        check.owner,
        # Made harmless when the report was built; of the same shapes.
        message=Message(check.message_id, check.params) if check.message_id else None,  # type: ignore[arg-type]
        case=check.case,
        hidden=check.hidden,
    )
    return check.model_copy(
        update={
            "message": words.for_staff(verdict),
            "student_message": words.for_student(verdict),
        }
    )
