"""One batch from its beginning to its gradebook, with the journal as the one truth."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from grader.batch.carried import carry
from grader.batch.discover import HandIn
from grader.batch.grades import Grade, lateness, who
from grader.batch.late import LatePolicy
from grader.batch.ledger import (
    Done,
    Setup,
    begin,
    decisions_of,
    done_so_far,
    keep_policy,
    policy_of,
    record,
    refuse_differences,
    setup_of,
    with_decided,
)
from grader.batch.schedule import Graded, grade_all
from grader.batch.work import Workers, write
from grader.errors import UsageError
from grader.report.csv_file import write_gradebook
from grader.report.model import Report, ReportStatus
from grader.store.journal import JOURNAL_FILE, Journal, NotBegunError, open_journal


def write_grades(grades: Sequence[Grade], out: Path) -> Path:
    """Write ``gradebook.csv`` and return its path.

    Raises:
        InfrastructureError: The disk is full or broken.
    """
    reports = [grade.report for grade in grades]
    return write_gradebook(reports, out, who(grades), lateness(grades))


def write_decided(out: Path) -> None:
    """Write the reports on which people decided something again, from the journal.

    Raises:
        InfrastructureError: The disk is full or broken.
    """
    with open_journal(out / JOURNAL_FILE) as journal:
        names = decisions_of(journal)
        ours = (done for done in done_so_far(journal) if done.hand_in.name in names)
        for done in with_decided(journal, ours):
            write(done.report, out)


class ClassRun:
    """A batch in its folder; a context manager that holds the journal.

    Args:
        out: Folder of the reports.
        resume: Go on with the batch that was begun there, if there is one.

    Raises:
        UsageError: Its journal is damaged, or another ``grader`` is at work there.
    """

    def __init__(self, out: Path, resume: bool) -> None:
        self.out = out
        self._journal: Journal | None = None
        if resume:
            # Whoever was killed before anything was begun goes on like everybody else.
            with suppress(NotBegunError):
                self._journal = open_journal(out / JOURNAL_FILE)
        self._begun = setup_of(self._journal, out) if self._journal else None
        self._done: dict[str, Graded] = {}
        self._names: set[str] = set()

    def __enter__(self) -> ClassRun:
        return self

    def __exit__(self, *_: object) -> None:
        if self._journal is not None:
            self._journal.close()

    @property
    def goes_on(self) -> bool:
        """Whether there was a batch to go on with."""
        return self._begun is not None

    @property
    def seed(self) -> int | None:
        """The seed that the batch was begun with; None for a new one."""
        return self._begun.seed if self._begun else None

    def begin(self, setup: Setup) -> None:
        """Begin the journal, or see that the batch goes on as it was begun.

        A policy on lateness changes no report, so a batch may go on under another one.

        Raises:
            UsageError: It was begun otherwise.
        """
        if self._begun is None:
            self._journal = begin(self.out, setup)
        else:
            refuse_differences(self._begun, setup)
            if setup.late:
                keep_policy(self._open(), self.out, setup.late)

    def grade(
        self,
        workers: Workers,
        hand_ins: Sequence[HandIn],
        awaits_clock: Callable[[Report], bool],
    ) -> Generator[Graded, None, None]:
        """Start grading; return an iterator over what is done, each written down before it comes.

        What an earlier run has graded comes too. What the grader itself failed at does not count
        as graded.
        """
        journal = self._open()
        known = {hand_in.name: hand_in for hand_in in hand_ins}
        before = {
            done.hand_in.name: Graded(
                known[done.hand_in.name],
                done.report,
                done.digest,
                journal.kept(done.hand_in.name),
                done.timed,
            )
            for done in done_so_far(journal)
            if done.hand_in.name in known and done.report.status is not ReportStatus.INCOMPLETE
        }
        self._names = set(known)
        results = grade_all(workers, hand_ins, awaits_clock, before)
        return self._recorded(journal, results, before)

    def _recorded(
        self,
        journal: Journal,
        results: Generator[Graded, None, None],
        before: dict[str, Graded],
    ) -> Generator[Graded, None, None]:
        try:
            for answer in results:
                graded = answer
                earlier = before.get(graded.hand_in.name)
                if earlier is not None and earlier.digest == graded.digest:
                    # Timed anew: what was merged from another machine stays. And the files may be
                    # gone, or half of a pair written, when it was killed.
                    graded = replace(graded, report=carry(earlier.report, graded.report))
                    write(graded.report, self.out)
                done = Done(graded.hand_in, graded.report, graded.digest, graded.timed)
                record(journal, done, graded.kept)
                yield graded
        finally:
            results.close()

    def graded(self) -> list[Done]:
        """Return everybody in the class who is graded so far, by name, as people decided."""
        journal = self._open()
        ours = (done for done in done_so_far(journal) if done.hand_in.name in self._names)
        return list(with_decided(journal, ours))

    @property
    def late(self) -> LatePolicy | None:
        """What lateness costs, as the batch remembers."""
        return policy_of(self._open(), self.out)

    def reports(self) -> list[Report]:
        """Return their reports."""
        return [done.report for done in self.graded()]

    def _open(self) -> Journal:
        if self._journal is None:
            raise UsageError(f"{self.out}: no batch was begun there")
        return self._journal
