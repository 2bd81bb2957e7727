"""A batch at work in its folder: begun or gone on with, each answer written down first."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic

from grader.batch.discover import ClassSubmission
from grader.batch.graded import GradedSubmission
from grader.batch.ledger import (
    GRADED_AT,
    REMEMBERED,
    BatchSettings,
    GpuChoice,
    absent_of,
    begin,
    graded_so_far,
    grades_of,
    keep,
    policy_of,
    record,
    refuse_differences,
    setup_of,
    write_grades,
)
from grader.batch.roster import Roster
from grader.batch.schedule import Workers, grade_all, write
from grader.errors import UsageError
from grader.grading import Options
from grader.report.model import Report, ReportStatus
from grader.run.answers import KeptAnswers
from grader.store.journal import JOURNAL_FILE, Journal, NotBegunError, open_journal

_EVERY = 5.0
"""Seconds at least between two gradebooks of a class that is still growing …"""
_SHARE = 20
"""… and this many times as long as the last one took: it is made from the whole journal."""


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
        self._names: set[str] = set()
        self._ours: dict[str, ClassSubmission] | None = None
        # One that goes on may have been killed before its gradebook was written.
        self._behind = self.goes_on
        self._due = 0.0

    def __enter__(self) -> ClassRun:
        return self

    def __exit__(self, *_: object) -> None:
        if self._journal is not None:
            self._journal.close()

    @property
    def goes_on(self) -> bool:
        """Tell whether there was a batch to go on with."""
        return self._begun is not None

    @property
    def roster(self) -> Roster | None:
        """The course's roster as the batch remembers it; None for a new one."""
        return self._begun.roster if self._begun else None

    @property
    def total(self) -> int:
        """How many submissions the batch remembers, those included that have arrived since."""
        return setup_of(self._open(), self.out).total

    def options(self, chosen: Options, gpu: GpuChoice | None) -> Options:
        """Return the options under which the batch goes on: its own seed, and whether GPUs count.

        Args:
            chosen: What was chosen now; all of it holds for a new batch.
            gpu: What the course has, where that is said now.
        """
        begun = self._begun
        known = gpu or (begun.gpu if begun else None)
        seed = begun.seed if begun else chosen.seed
        return replace(chosen, seed=seed, without_gpu=known == "none")

    def begin(self, setup: BatchSettings, answers: KeptAnswers) -> None:
        """Begin the journal, or see that the batch goes on as it was begun.

        Lateness, a roster and the look of pages change no report: a batch may go on under others.

        Args:
            setup: How.
            answers: The reference's, which submissions are kept against from now on.

        Raises:
            UsageError: It was begun otherwise.
        """
        if self._begun is None:
            self._journal = begin(self.out, setup)
        else:
            refuse_differences(self._begun, setup)
            keep(self._open(), self.out, **{name: getattr(setup, name) for name in REMEMBERED})
        self._open().keep_answers(answers.key, answers.content)

    def grade(
        self,
        workers: Workers,
        submissions: Sequence[ClassSubmission],
        awaits_clock: Callable[[Report], bool],
    ) -> Generator[GradedSubmission, None, None]:
        """Start grading; return an iterator over what is done, each written down before it comes.

        What an earlier run has graded comes too. What the grader itself failed at does not count
        as graded.
        """
        journal = self._open()
        known = {submission.name: submission for submission in submissions}
        before = {
            done.name: replace(
                done, submission=known[done.name], observations=journal.kept(done.name)
            )
            for done in graded_so_far(journal, known)
            if done.said.status is not ReportStatus.INCOMPLETE
        }
        self._names |= set(known)
        results = grade_all(workers, submissions, awaits_clock, before)
        return self._recorded(journal, results, before)

    def _recorded(
        self,
        journal: Journal,
        results: Generator[GradedSubmission, None, None],
        before: dict[str, GradedSubmission],
    ) -> Generator[GradedSubmission, None, None]:
        moments = {each.name: each.about.get(GRADED_AT, "") for each in journal.entries(before)}
        try:
            for answer in results:
                graded, moment = answer, ""
                earlier = before.get(graded.name)
                if earlier is not None and earlier.digest == graded.digest:
                    # Timed anew: what other machines and people said stays. And the files may be
                    # gone, or half of a pair written, when it was killed.
                    graded = replace(
                        graded,
                        machines=earlier.machines,
                        decisions=earlier.decisions,
                        comments=earlier.comments,
                    )
                    moment = moments[graded.name]
                    write(graded.report, self.out)
                record(journal, graded, moment)
                self._behind = True
                yield graded
        finally:
            results.close()

    def graded(self) -> Iterator[GradedSubmission]:
        """Yield everybody in the class who is graded so far, by name, as people decided."""
        return (done for done in self.everybody() if done.name in self._names)

    def everybody(self) -> Iterator[GradedSubmission]:
        """Yield who is graded so far, also whose files are no longer in the folder."""
        return graded_so_far(self._open())

    def expect(self, arrived: Sequence[ClassSubmission]) -> list[str]:
        """Have the batch remember that the class has grown; return what the roster has to say."""
        journal = self._open()
        roster = setup_of(journal, self.out).roster or Roster()
        if self._ours is None:
            self._ours = {done.name: done.submission for done in graded_so_far(journal)}
        self._ours |= {submission.name: roster.named(submission) for submission in arrived}
        absent = roster.absent(self._ours.values())
        keep(journal, self.out, total=len(self._ours), absent=absent)
        return roster.remarks(arrived)

    def keep_up(self) -> None:
        """Take up what people decide, and write ``gradebook.csv``, but that every few seconds only.

        Raises:
            InfrastructureError: The disk is full or broken.
        """
        begun, journal = monotonic(), self._open()
        if concerned := journal.take_up():
            # What people decided meanwhile; the journal is this batch's until it ends.
            for graded in graded_so_far(journal, concerned):
                write(graded.report, self.out)
            self._behind = True
        if self._behind and begun >= self._due:
            self.write_gradebook(list(self.everybody()))
            ended = monotonic()
            self._due = ended + max(_EVERY, _SHARE * (ended - begun))

    def write_gradebook(self, graded: Sequence[GradedSubmission]) -> None:
        """Write ``gradebook.csv``, with what the batch remembers of lateness and of its roster.

        Raises:
            InfrastructureError: The disk is full or broken.
        """
        journal = self._open()
        grades = grades_of(graded, policy_of(journal, self.out))
        write_grades(grades, self.out, absent_of(journal, self.out))
        self._behind = False

    def _open(self) -> Journal:
        if self._journal is None:
            raise UsageError(f"{self.out}: no batch was begun there")
        return self._journal
