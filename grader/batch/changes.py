"""What became of reports when a batch was gone over again, and reports made of two. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.report.build import report_status
from grader.report.merge import sums
from grader.report.model import CheckResult, MergedInfo, QuestionResult, Report


@dataclass(frozen=True, slots=True)
class Change:
    """A check whose outcome is another than before.

    Attributes:
        hand_in: Name.
        question: Id.
        check: Id.
        before: Absent where the check is new.
        after: Absent where it is gone.
    """

    hand_in: str
    question: str
    check: str
    before: CheckResult | None
    after: CheckResult | None


def differences(name: str, before: Report, after: Report) -> list[Change]:
    """Return the checks that ended otherwise: another status, code or score."""
    old, new = _checks(before), _checks(after)
    return [
        Change(name, *key, old.get(key), new.get(key))
        for key in dict.fromkeys([*old, *new])
        if _outcome(old.get(key)) != _outcome(new.get(key))
    ]


def with_questions(before: Report, after: Report, questions: Sequence[str]) -> Report:
    """Return a report with the results of some questions from a later one."""
    new = {question.id: question for question in after.questions}
    merged = tuple(new[q.id] if q.id in questions else q for q in before.questions)
    return before.model_copy(
        update={
            "questions": merged,
            "status": report_status(merged),
            "merged": without_merged(before, questions),
            **sums(before.max_score, merged),
        }
    )


def without_merged(report: Report, questions: Sequence[str]) -> tuple[MergedInfo, ...]:
    """Return what was merged into a report, but for the checks of some questions."""
    gone = tuple(f"{name}." for name in questions)
    left = (
        info.model_copy(
            update={"checks": tuple(name for name in info.checks if not name.startswith(gone))}
        )
        for info in report.merged
    )
    return tuple(info for info in left if info.checks)


def _checks(report: Report) -> dict[tuple[str, str], CheckResult]:
    questions: Sequence[QuestionResult] = report.questions
    return {(q.id, check.id): check for q in questions for check in q.checks}


def _outcome(check: CheckResult | None) -> tuple[object, ...] | None:
    if check is None:
        return None
    return check.status, check.code, check.score, check.pending, check.max_score
