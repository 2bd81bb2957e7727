"""What every exporter says of a report as a whole, in the same words."""

from __future__ import annotations

from grader.report.model import CheckResult, QuestionResult, Report, ReportStatus
from grader.sandbox.host.guests import Tier
from grader.verdict import Code, Status, Visibility

_NEVER_RAN = frozenset(
    {
        Code.MISSING_FILE, Code.BAD_SUBMISSION, Code.SYNTAX_ERROR, Code.IMPORT_FAILED,
        Code.MISSING_FUNCTION,
    }
)  # fmt: skip
_DECIDED = (Status.PASSED, Status.PARTIAL, Status.FAILED, Status.ERROR)


def amount(points: float) -> str:
    """Return points without needless decimals, such as ``2.5``, ``10`` or ``0.3333``."""
    return f"{points:.4f}".rstrip("0").rstrip(".")


def counted(number: float, what: str) -> str:
    """Return a number of things, such as ``1 hand-in`` or ``2.5 points``."""
    return f"{amount(number)} {what}" if number == 1 else f"{amount(number)} {what}s"


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


def unread(report: Report) -> CheckResult | None:
    """Return what is said at every check of a hand-in that could not be run; None if it could.

    That is one mistake in the hand-in as a whole. A code alone does not tell: a file that is
    missing may be one that a single function should have written.
    """
    checks = (check for question in report.questions for check in question.checks)
    decided = [check for check in checks if check.status in _DECIDED]
    alike = len({(check.status, check.code) for check in decided}) == 1
    if alike and decided[0].status is Status.FAILED and decided[0].code in _NEVER_RAN:
        return decided[0]
    return None


def visible(question: QuestionResult) -> tuple[CheckResult, ...]:
    """Return the checks that a student may know of now, where no platform hides the others."""
    if question.visibility is not Visibility.VISIBLE:
        return ()
    return tuple(check for check in question.checks if check.visibility is Visibility.VISIBLE)
