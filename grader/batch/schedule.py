"""In what order a class is graded, and what a worker does with one submission.

Each content runs once; what is timed comes last and alone. Work and answers are plain values. A
worker writes the reports of a submission itself; whoever gave the work out keeps the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Protocol

from grader.batch.discover import ClassSubmission
from grader.batch.graded import GradedSubmission
from grader.errors import UsageError
from grader.grading import Grader
from grader.report.build import submission_info
from grader.report.gradescope import write_results
from grader.report.model import Report, write_report
from grader.report.pictures import write_pictures
from grader.submission import read_for
from grader.submission.submission import IntakeError
from grader.verdict import Code


class WorkKind(Enum):
    """What is to be done."""

    READ = "read"
    GRADE = "grade"
    COPY = "copy"


@dataclass(frozen=True, slots=True)
class WorkItem:
    """One thing to do.

    Attributes:
        clock: Time it too (grade).
        first: A submission with the same files, without what was observed of it (copy).
        digest: Over the files, where they have been read.
    """

    kind: WorkKind
    submission: ClassSubmission
    clock: bool = False
    first: GradedSubmission | None = None
    digest: str = ""


Answer = str | GradedSubmission
"""What came of work: of reading, the digest, empty where the files cannot be graded as they are."""


class Workers(Protocol):
    """Does work, side by side; the one interface of local processes and of a cluster."""

    def submit(self, work: WorkItem) -> Future[Answer]:
        """Take on work; it is begun in the order in which it was given."""

    def close(self, finished: bool) -> None:
        """End all workers; where not ``finished``, without waiting for what they are at."""


@dataclass(frozen=True, slots=True)
class StayingWorkers:
    """Workers that outlast a round of work; whoever made them ends them."""

    workers: Workers

    def submit(self, work: WorkItem) -> Future[Answer]:
        """See ``Workers.submit``."""
        return self.workers.submit(work)

    def close(self, finished: bool) -> None:
        """Leave them for the next round."""


def perform(grader: Grader, work: WorkItem, out: Path) -> Answer:
    """Do one thing, in a worker.

    Args:
        grader: Prepared, with the worker's own sandbox.
        work: What.
        out: Reports go to ``out/<name>/``.
    """
    submission = work.submission
    if work.kind is WorkKind.READ:
        return _digest(grader, submission)
    if work.first is not None:
        graded = _copied(grader, submission, work.first)
    else:
        graded = grade_one(grader, submission, work.clock)
    write(graded.report, out)
    return graded


def grade_one(grader: Grader, submission: ClassSubmission, clock: bool = True) -> GradedSubmission:
    """Run one submission; nothing is written.

    Args:
        grader: Prepared.
        submission: Which.
        clock: Time it, too.
    """
    try:
        examined = grader.examine(submission.path, submission.name, clock=clock)
    except UsageError as error:
        # One folder that may not be read is no reason to stop grading a class.
        examined = grader.not_read(submission.name, str(error))
    return GradedSubmission.of(
        submission,
        examined.report,
        no_gpu=grader.options.without_gpu,
        observations=grader.answers.pack(examined.runs) if examined.runs else None,
    )


def without_run(grader: Grader, work: WorkItem, report: Report, out: Path) -> GradedSubmission:
    """Write the report on a submission whose worker failed, and return it."""
    graded = GradedSubmission.of(
        work.submission, report, digest=work.digest, no_gpu=grader.options.without_gpu
    )
    write(graded.report, out)
    return graded


def write(report: Report, out: Path) -> None:
    """Write all files of a report into the submission's own folder."""
    folder = out / report.submission.id
    write_report(report, folder)
    write_results(report, folder)
    write_pictures(report, folder)


def _digest(grader: Grader, submission: ClassSubmission) -> str:
    try:
        return read_for(grader.assignment, submission.path).digest
    except (IntakeError, UsageError):
        return ""


def _copied(
    grader: Grader, submission: ClassSubmission, first: GradedSubmission
) -> GradedSubmission:
    own = submission_info(read_for(grader.assignment, submission.path, submission.name))
    run = first.run.model_copy(update={"submission": own})
    # Whatever people decided or said, they did on the first one's.
    return replace(
        first.with_run(run),
        submission=submission,
        digest=own.digest,
        decisions=(),
        comments=(),
    )


def grade_all(
    workers: Workers,
    submissions: Sequence[ClassSubmission],
    awaits_clock: Callable[[Report], bool],
    done: Mapping[str, GradedSubmission] | None = None,
    once: bool = True,
) -> Generator[GradedSubmission, None, None]:
    """Start grading, and return an iterator over what is done, in the order in which it is.

    Identical submissions run once. What has to be timed comes last, one submission at a time with
    nothing else beside it: each is then graded again as a whole, and comes a second time. So does
    one whose sandbox failed, at the very end.

    Args:
        workers: Do the work; ended when the iterator is.
        submissions: What to grade.
        awaits_clock: Returns whether a report made without the clock has to be timed.
        done: By name, what an earlier run has graded; of a submission that has changed since, it
            does not count.
        once: Run identical submissions once; else each for itself.

    Raises:
        InfrastructureError: While iterating: no worker can begin. What was graded stays.
    """
    schedule = _Schedule(workers, awaits_clock, done or {}, once)
    # Here, not when the caller begins to iterate: the first work forks the local workers.
    schedule.begin(submissions)
    return _closing(workers, schedule.results())


def _closing(
    workers: Workers, results: Generator[GradedSubmission, None, None]
) -> Generator[GradedSubmission, None, None]:
    finished = False
    try:
        yield from results
        finished = True
    finally:
        workers.close(finished)


_MOST_IN_VAIN = 3


def _sandbox_failed(report: Report) -> bool:
    return any(check.code is Code.SANDBOX_FAILED for _, check in report.checks())


class _Schedule:
    """What is under way, and who waits for whom."""

    def __init__(
        self,
        workers: Workers,
        awaits_clock: Callable[[Report], bool],
        done: Mapping[str, GradedSubmission],
        once: bool,
    ) -> None:
        self._workers = workers
        self._awaits_clock = awaits_clock
        self._done = done
        self._once = once
        self._under_way: dict[Future[Answer], WorkItem] = {}
        # Whoever is like one that is done need not be run, whatever became of that one's files.
        self._firsts: dict[str, GradedSubmission | None] = {
            before.digest: replace(before) for before in done.values() if before.digest
        }
        self._alike: dict[str, list[ClassSubmission]] = {}

    def begin(self, submissions: Sequence[ClassSubmission]) -> None:
        for submission in submissions:
            self._submit(WorkItem(WorkKind.READ, submission))

    def results(self) -> Generator[GradedSubmission, None, None]:
        awaiting: dict[str, tuple[ClassSubmission, str]] = {}
        starved: dict[str, tuple[ClassSubmission, str]] = {}
        for graded in self._settle():
            first = (graded.submission, graded.digest)
            once = graded.digest if self._once and graded.digest else first[0].name
            if not graded.timed:
                awaiting.setdefault(once, first)
            if _sandbox_failed(graded.run):
                starved.setdefault(once, first)
            yield graded
        for submission, digest in awaiting.values():
            # One at a time, and nothing beside it: a second submission on the machine would be in
            # the first one's time.
            self._submit(WorkItem(WorkKind.GRADE, submission, clock=True, digest=digest))
            yield from self._settle()
        yield from self._once_more([starved[name] for name in starved if name not in awaiting])

    def _once_more(
        self, failed: Sequence[tuple[ClassSubmission, str]]
    ) -> Generator[GradedSubmission, None, None]:
        """Run those again whose sandbox failed, alone: the machine may have been too busy.

        Where several in a row fail again, the machine is at fault, and the others are left.
        """
        in_vain = 0
        for submission, digest in failed:
            self._submit(WorkItem(WorkKind.GRADE, submission, clock=True, digest=digest))
            again = list(self._settle())
            yield from again
            in_vain = in_vain + 1 if any(_sandbox_failed(each.run) for each in again) else 0
            if in_vain == _MOST_IN_VAIN:
                return

    def _settle(self) -> Generator[GradedSubmission, None, None]:
        while self._under_way:
            finished, _ = wait(self._under_way, return_when=FIRST_COMPLETED)
            # In the order of submission: a set has none, and a failure must not overtake results.
            for future in [each for each in self._under_way if each in finished]:
                work = self._under_way.pop(future)
                answer = future.result()
                if isinstance(answer, str):
                    yield from self._read(work.submission, answer if self._once else "")
                else:
                    yield self._graded(work, answer)

    def _submit(self, work: WorkItem) -> None:
        self._under_way[self._workers.submit(work)] = work

    def _read(
        self, submission: ClassSubmission, digest: str
    ) -> Generator[GradedSubmission, None, None]:
        before = self._done.get(submission.name)
        known = bool(digest) and digest in self._firsts
        if digest:
            self._alike.setdefault(digest, []).append(submission)
        if before is not None and digest and before.digest == digest:
            yield before
        # Known even while the first one still runs: two identical files that arrive together run
        # once.
        elif known:
            self._copy(self._firsts[digest], [submission])
        else:
            self._firsts[digest] = None
            self._submit(WorkItem(WorkKind.GRADE, submission, digest=digest))

    def _graded(self, work: WorkItem, answer: GradedSubmission) -> GradedSubmission:
        if work.kind is WorkKind.COPY:
            first = self._firsts.get(answer.digest)
            return replace(answer, observations=first.observations if first else None)
        graded = replace(answer, timed=work.clock or not self._awaits_clock(answer.run))
        if self._once and answer.digest:
            # Another one than is handed on: its report is not to stay in memory.
            self._firsts[answer.digest] = first = replace(graded)
            # Those that came while it ran; later ones find it in “firsts”.
            alike = self._alike.get(answer.digest, [])
            self._copy(first, [other for other in alike if other != work.submission])
        return graded

    def _copy(self, first: GradedSubmission | None, submissions: Sequence[ClassSubmission]) -> None:
        """Give others the report of one that they are like, once it is there."""
        if first is not None:
            known = replace(first, observations=None)
            for submission in submissions:
                self._submit(WorkItem(WorkKind.COPY, submission, first=known, digest=first.digest))
