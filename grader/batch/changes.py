"""What is not as it was: of an assignment since a class was graded, of reports judged anew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.assignment.types import Assignment
from grader.batch.graded import GradedSubmission
from grader.batch.grades import LatePolicy, grade_of
from grader.batch.ledger import BatchSettings
from grader.errors import UsageError
from grader.report.build import PLACES
from grader.report.model import CheckResult, Report
from grader.report.summary import amount, worth
from grader.report.sums import with_results


def what_changed(
    setup: BatchSettings, now: Assignment, asked: Sequence[str], report: Report
) -> tuple[str, ...]:
    """Return what is not as it was when a class was graded.

    Args:
        setup: What the class stands under.
        now: The assignment as it is.
        asked: Questions that are asked with other calls now.
        report: Any of the class.
    """
    return tuple(_changed(setup, now, asked, report)) or ("its files",)


def refuse_two_states(
    out: Path, names: Sequence[str], changed: Sequence[str], asked: Sequence[str]
) -> None:
    """Refuse to run some of a class under another state of the assignment than the others.

    Args:
        out: ``--out`` of the batch.
        names: The submissions that were to run.
        changed: As ``what_changed`` says.
        asked: Questions that are asked with other calls now.

    Raises:
        UsageError: Always.
    """
    first = (
        f"`grader regrade {out} --questions {','.join(asked)}` runs what is asked otherwise again "
        "for everybody, and judges the rest anew"
        if asked
        else f"`grader rejudge {out}` judges the whole class anew, and runs nothing"
    )
    raise UsageError(
        f"{out}: the assignment has changed since this class was graded: {'; '.join(changed)}. "
        f"{', '.join(names)} alone would stand under it beside rows of another scale. First bring "
        f"the class to one state: {first}. Then run {', '.join(names)} again; or grade the class "
        "anew with `grader batch`"
    )


def _changed(
    setup: BatchSettings, now: Assignment, asked: Sequence[str], report: Report
) -> Iterator[str]:
    if setup.version != now.version:
        yield f"version {setup.version} then, {now.version} now"
    then = {question.id: worth(question) for question in report.questions}
    for question in now.questions:
        points = amount(question.points) + (" bonus" if question.bonus else "")
        earlier = then.pop(question.id, None)
        if earlier is None:
            yield f"{question.id} is new"
        elif earlier != points:
            yield f"{question.id} is worth {points}, was {earlier}"
    if then:
        yield f"{', '.join(then)}: not asked any more"
    if asked:
        yield f"{', '.join(asked)}: asked with other inputs, probes, scenario or support files"


@dataclass(frozen=True, slots=True)
class Change:
    """A check whose outcome is another than before.

    Attributes:
        submission: Name.
        question: Id.
        check: Id.
        before: Absent where the check is new.
        after: Absent where it is gone.
    """

    submission: str
    question: str
    check: str
    before: CheckResult | None
    after: CheckResult | None


def differences(name: str, before: Report, after: Report) -> list[Change]:
    """Return the checks that ended otherwise: another status, code or score."""
    old, new = before.by_place(), after.by_place()
    return [
        Change(name, *key, old.get(key), new.get(key))
        for key in dict.fromkeys([*old, *new])
        if _outcome(old.get(key)) != _outcome(new.get(key))
    ]


@dataclass(frozen=True, slots=True)
class Total:
    """What a submission has in all, as people decided: its score, what is pending, and the most.

    Attributes:
        submission: Name.
        before: As it was.
        after: As it is now.
        finals: The grade, with lateness, before and after; None where something is open.
    """

    submission: str
    before: tuple[float, float, float]
    after: tuple[float, float, float]
    finals: tuple[float | None, float | None] = (None, None)

    @property
    def difference(self) -> float:
        """Points gained; below 0 those lost."""
        return round(self.after[0] - self.before[0], PLACES)


def total(
    before: GradedSubmission,
    after: GradedSubmission,
    policies: tuple[LatePolicy | None, LatePolicy | None] = (None, None),
) -> Total:
    """Return what a submission had and has in all.

    Args:
        before: As it was.
        after: As it is now.
        policies: What lateness costs then and now.
    """
    then, now = (
        grade_of(each.submission, each.report, policy).final
        for each, policy in zip((before, after), policies, strict=True)
    )
    return Total(before.name, counts_of(before.report), counts_of(after.report), (then, now))


def counts_of(report: Report) -> tuple[float, float, float]:
    """Return the score of a report, what is pending, and the most."""
    return report.score, report.pending, report.max_score


def with_questions(before: Report, after: Report, questions: Sequence[str]) -> Report:
    """Return a report with the results of some questions from a later one."""
    new = {question.id: question for question in after.questions}
    return with_results(before, [new[q.id] if q.id in questions else q for q in before.questions])


def _outcome(check: CheckResult | None) -> tuple[object, ...] | None:
    if check is None:
        return None
    return check.status, check.code, check.score, check.pending, check.max_score
