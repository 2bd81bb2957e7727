"""A report in another language: it is made in English, and carries what that takes."""

from __future__ import annotations

from typing import TypeVar

from grader.report.messages.catalogue import ENGLISH, words_in
from grader.report.messages.words import Words
from grader.report.model import AssignmentInfo, CheckResult, QuestionResult, Report
from grader.verdict import Message, Verdict

_Titled = TypeVar("_Titled", AssignmentInfo, QuestionResult)


def in_language(report: Report, language: str) -> Report:
    """Return a report with the messages and titles of a language.

    A title that the author has not translated stays as it is.
    """
    words = words_in(language)
    report = titled(report, language)
    if words is ENGLISH:
        return report
    return report.model_copy(
        update={"questions": tuple(_question(each, words) for each in report.questions)}
    )


def titled(report: Report, language: str) -> Report:
    """Return a report with the titles of a language, and messages as they are."""
    named = tuple(_named(part, language) for part in report.questions)
    return report.model_copy(
        update={"assignment": _named(report.assignment, language), "questions": named}
    )


def _named(part: _Titled, language: str) -> _Titled:
    title = part.titles.get(language)
    return part.model_copy(update={"title": title}) if title else part


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
