"""What every exporter says of a report as a whole, in the same words."""

from __future__ import annotations

from grader.report.model import CheckResult, QuestionResult, Report, ReportStatus
from grader.sandbox.base import Tier
from grader.verdict import Visibility


def amount(points: float) -> str:
    """Return points without needless decimals, such as ``2.5``, ``10`` or ``0.3333``."""
    return f"{points:.4f}".rstrip("0").rstrip(".")


def notices(report: Report) -> list[str]:
    """Return the sentences that belong on top of a report, the gravest first."""
    pending = f"{amount(report.pending)} of {amount(report.max_score)} points are pending"
    lines: list[str] = []
    if report.status is ReportStatus.INCOMPLETE:
        lines.append(f"Incomplete: {pending}.")
        lines.append("The grader itself failed in places. No points are lost; it has to run again.")
    elif report.status is ReportStatus.PENDING:
        lines.append(f"Not final: {pending}. The score may still rise.")
    if not report.official:
        lines.append("Isolation tier none: self-check only, not an official score.")
    unwalled = [run for run in report.merged if run.isolation is Tier.NONE]
    if report.official and unwalled:
        checks = ", ".join(name for run in unwalled for name in run.checks)
        lines.append(f"Graded without walls, as was accepted when merging: {checks}.")
    return [*lines, *report.submission.notes]


def visible(question: QuestionResult) -> tuple[CheckResult, ...]:
    """Return the checks that a student may know of now, where no platform hides the others."""
    if question.visibility is not Visibility.VISIBLE:
        return ()
    return tuple(check for check in question.checks if check.visibility is Visibility.VISIBLE)
