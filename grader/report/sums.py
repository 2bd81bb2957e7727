"""Points of a whole, a question or a report, from those of its parts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from grader.report.build import PLACES, question_status, report_status
from grader.report.model import CheckResult, QuestionResult, Report, above


def sums(maximum: float, parts: Sequence[CheckResult | QuestionResult]) -> dict[str, float]:
    """Return the points of a whole from those of its parts, which were rounded."""
    # From what is lost: scores of thirds were rounded one by one, and would not add up to one.
    most = maximum + above(parts)
    pending = min(round(math.fsum(part.pending for part in parts), PLACES), most)
    lost = math.fsum(
        max(0.0, part.max_score + part.above - part.score - part.pending) for part in parts
    )
    earned = max(0.0, round(most - lost - pending, PLACES))
    return {"score": earned, "pending": pending, "max_score": maximum}


def with_checks(question: QuestionResult, checks: Sequence[CheckResult]) -> QuestionResult:
    """Return a question with these results of its checks, and the points that follow."""
    if tuple(checks) == question.checks:
        return question
    points = sums(question.max_score, checks)
    status = question_status(checks, **points)
    return question.model_copy(update={"checks": tuple(checks), "status": status, **points})


def with_results(report: Report, questions: Sequence[QuestionResult], **more: object) -> Report:
    """Return a report with these results of its questions, and the points that follow.

    Args:
        report: Its maximum stays.
        questions: All that it has.
        more: Further fields that change with them.
    """
    points = sums(report.max_score, questions)
    status = report_status(questions)
    return report.model_copy(
        update={"questions": tuple(questions), "status": status, **points, **more}
    )
