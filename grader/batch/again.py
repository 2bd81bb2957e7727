"""A batch gone over again: judged anew without running anything, or run anew in part.

All of it rests on the journal: the seed, the options and the place of every hand-in are in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from grader.batch.carried import carry
from grader.batch.ledger import Done, Setup, done_so_far, record, setup_of
from grader.batch.work import Kind, Work, perform, write
from grader.errors import UsageError, nearest
from grader.report.build import report_status
from grader.report.merge import sums
from grader.report.model import CheckResult, MergedInfo, QuestionResult, Report
from grader.run.grade import Grader, Options
from grader.run.kept import unpack_runs
from grader.run.plan import plan_digests
from grader.store.journal import JOURNAL_FILE, Journal, open_journal

Prepare = Callable[[Setup, Options], AbstractContextManager[Grader]]
"""Gives a grader that has run the reference, for what a batch was begun with."""


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


@dataclass(frozen=True, slots=True)
class Again:
    """What going over a batch again came to.

    Attributes:
        changes: Every check that ended otherwise.
        reports: All reports as they are now, by name.
        untouched: Hand-in → why it could not be gone over.
    """

    changes: tuple[Change, ...]
    reports: tuple[Report, ...]
    untouched: dict[str, str]


@contextmanager
def reopened(out: Path) -> Iterator[tuple[Journal, Setup]]:
    """Open a batch that was begun earlier.

    Raises:
        UsageError: There is none.
    """
    with open_journal(out / JOURNAL_FILE) as journal:
        yield journal, setup_of(journal, out)


def rejudge(out: Path, prepare: Prepare, dry_run: bool = False) -> Again:
    """Judge everything that was observed under the assignment as it is now.

    No hand-in runs; the reference does, for the same inputs as before.

    Args:
        out: ``--out`` of the batch.
        prepare: Makes the grader.
        dry_run: Only tell what would change.

    Raises:
        UsageError: There is no batch, or a question is now asked with other calls, of which
            nothing was observed.
    """
    with reopened(out) as (journal, setup), prepare(setup, options_of(setup)) as grader:
        _refuse_other_calls(setup, grader)
        changes: list[Change] = []
        reports: list[Report] = []
        untouched: dict[str, str] = {}
        for done in list(done_so_far(journal)):
            name, kept = done.hand_in.name, journal.kept(done.hand_in.name)
            after = done.report
            if kept is None:
                untouched[name] = "nothing of it ran"
            else:
                runs = unpack_runs(kept, grader.reference_runs)
                after = carry(done.report, grader.judge_again(runs, done.report))
            changes += differences(name, done.report, after)
            reports.append(after)
            if not dry_run and after != done.report:
                write(after, out)
                record(journal, Done(done.hand_in, after, done.digest, done.timed), kept)
        if not dry_run:
            header = setup.model_copy(
                update={"digest": grader.materials.digest, "version": grader.assignment.version}
            )
            journal.replace_header(header.model_dump(mode="json"))
    return Again(tuple(changes), tuple(reports), untouched)


def regrade(out: Path, prepare: Prepare, names: Sequence[str], questions: Sequence[str]) -> Again:
    """Run hand-ins again, or some questions of them, with the batch's own seed.

    Args:
        out: ``--out`` of the batch.
        prepare: Makes the grader.
        names: Hand-ins; all where empty.
        questions: Ids; all that the batch has where empty. The others' results stay.

    Raises:
        UsageError: There is no batch or no such hand-in.
    """
    with reopened(out) as (journal, setup):
        everybody = {done.hand_in.name: done for done in done_so_far(journal)}
        for name in names:
            if name not in everybody:
                raise UsageError(f"{out}: no hand-in “{name}” there{nearest(name, everybody)}")
        changes: list[Change] = []
        with prepare(setup, options_of(setup, questions)) as grader:
            for name in names or list(everybody):
                before = everybody[name]
                everybody[name] = _run(journal, out, grader, before, questions)
                changes += differences(name, before.report, everybody[name].report)
    return Again(tuple(changes), tuple(done.report for done in everybody.values()), {})


def _run(
    journal: Journal, out: Path, grader: Grader, before: Done, questions: Sequence[str]
) -> Done:
    answer = perform(grader, Work(Kind.GRADE, before.hand_in), out)
    report, kept = Report.model_validate_json(answer.report), answer.kept
    if questions:
        report = with_questions(before.report, report, questions)
        # What was observed of the other questions is no part of this run.
        kept = journal.kept(before.hand_in.name)
        write(report, out)
    done = Done(before.hand_in, report, answer.digest, before.timed)
    record(journal, done, kept)
    return done


def replay(out: Path, name: str, prepare: Prepare, scratch: Path) -> tuple[Change, ...]:
    """Run one hand-in again and return what ended otherwise; nothing is written down.

    Args:
        out: ``--out`` of the batch.
        name: Of the hand-in.
        prepare: Makes the grader.
        scratch: An empty folder for the second report.

    Raises:
        UsageError: There is no such hand-in, or it is not there any more.
    """
    with reopened(out) as (journal, setup):
        everybody = {done.hand_in.name: done for done in done_so_far(journal)}
    if name not in everybody:
        raise UsageError(f"{out}: no hand-in “{name}” there{nearest(name, everybody)}")
    done = everybody[name]
    with prepare(setup, options_of(setup)) as grader:
        answer = perform(grader, Work(Kind.GRADE, done.hand_in), scratch)
    if answer.digest != done.digest:
        raise UsageError(
            f"{name}: what was handed in is not what was graded: its files have changed since, or "
            "are gone"
        )
    return tuple(differences(name, done.report, Report.model_validate_json(answer.report)))


def options_of(setup: Setup, questions: Sequence[str] = ()) -> Options:
    """Return the options that a batch was begun with."""
    return Options(setup.seed, setup.device, tuple(questions) or setup.questions)


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
            "merged": _without(before, questions),
            **sums(before.max_score, merged),
        }
    )


def _without(report: Report, questions: Sequence[str]) -> tuple[MergedInfo, ...]:
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


def _refuse_other_calls(setup: Setup, grader: Grader) -> None:
    now = plan_digests(grader.plan)
    other = [name for name, digest in now.items() if setup.plan.get(name) != digest]
    if other:
        raise UsageError(
            f"{', '.join(other)}: asked with other inputs or probes than when the class was "
            "graded, so there is nothing to judge; `grader regrade` runs these questions again"
        )
