"""What ``grader merge`` filled in a report stays, when the hand-in is judged or timed again.

What another machine saw is not kept here, so it cannot be judged anew; its verdicts are taken over
as long as the check is worth what it was.
"""

from __future__ import annotations

from grader.report.build import question_status, report_status
from grader.report.merge import sums, undecided
from grader.report.model import CheckResult, QuestionResult, Report


def carry(before: Report, after: Report) -> Report:
    """Return the later report with the checks that a merge had decided and that it leaves open.

    Args:
        before: With what was merged into it.
        after: Of the same files.
    """
    filled = {name for info in before.merged for name in info.checks}
    known = {
        (q.id, check.id): check
        for q in before.questions
        for check in q.checks
        if f"{q.id}.{check.id}" in filled and not undecided(check)
    }
    taken: set[str] = set()
    questions = tuple(_carry(question, known, taken) for question in after.questions)
    if not taken:
        return after
    merged = tuple(
        info.model_copy(update={"checks": tuple(name for name in info.checks if name in taken)})
        for info in before.merged
    )
    return after.model_copy(
        update={
            "questions": questions,
            "status": report_status(questions),
            "merged": tuple(info for info in merged if info.checks),
            **sums(after.max_score, questions),
        }
    )


def _carry(
    question: QuestionResult, known: dict[tuple[str, str], CheckResult], taken: set[str]
) -> QuestionResult:
    checks: list[CheckResult] = []
    for check in question.checks:
        earlier = known.get((question.id, check.id))
        if earlier and undecided(check) and earlier.max_score == check.max_score:
            taken.add(f"{question.id}.{check.id}")
            checks.append(earlier)
        else:
            checks.append(check)
    if tuple(checks) == question.checks:
        return question
    points = sums(question.max_score, checks)
    status = question_status(checks, points["score"], points["pending"], points["max_score"])
    return question.model_copy(update={"checks": tuple(checks), "status": status, **points})
