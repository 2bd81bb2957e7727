"""A class stands under one state of its assignment: what has changed in it since, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.assignment.types import Assignment
from grader.batch.ledger import Setup
from grader.errors import UsageError
from grader.report.model import Report
from grader.report.summary import amount


def what_changed(
    setup: Setup, now: Assignment, asked: Sequence[str], report: Report
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
        names: The hand-ins that were to run.
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


def _changed(setup: Setup, now: Assignment, asked: Sequence[str], report: Report) -> Iterator[str]:
    if setup.version != now.version:
        yield f"version {setup.version} then, {now.version} now"
    then = {question.id: question.max_score for question in report.questions}
    for question in now.questions:
        points, earlier = amount(question.points), then.pop(question.id, None)
        if earlier is None:
            yield f"{question.id} is new"
        elif amount(earlier) != points:
            yield f"{question.id} is worth {points}, was {amount(earlier)}"
    if then:
        yield f"{', '.join(then)}: not asked any more"
    if asked:
        yield f"{', '.join(asked)}: asked with other inputs or probes"
