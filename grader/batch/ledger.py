"""A batch from its beginning to its gradebook, with the journal as the one truth.

The journal in a batch's own words: what it was begun with, who is done, what they earned.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from grader.batch.decisions import PersonDecision, carry, with_decisions
from grader.batch.discover import ClassSubmission
from grader.batch.grades import Grade, LatePolicy, about, grade_of, lateness, submission_of, who
from grader.batch.schedule import Graded, Workers, grade_all, write
from grader.errors import UsageError
from grader.report.export.gradebook import write_gradebook
from grader.report.messages.catalogue import current
from grader.report.model import Report, ReportStatus
from grader.run.capabilities import DeviceChoice
from grader.store.journal import (
    JOURNAL_FILE,
    DamagedError,
    Journal,
    JournalEntry,
    NotBegunError,
    create,
    open_journal,
)

_MUST_AGREE = ("assignment", "digest", "device", "questions", "isolation", "clock")
_WORDS = {
    "assignment": "another assignment",
    "digest": "another state of the assignment: its files have changed since",
    "device": "another --device",
    "questions": "other --questions",
    "isolation": "another --isolation",
    "clock": "another --clock",
}


class Setup(BaseModel):
    """What a batch was begun with; whoever goes on has to agree.

    Attributes:
        assignment: Id.
        file: Its ``assignment.yml``, to find it again.
        version: As the file says.
        digest: Over everything that grades depend on.
        seed: Of all drawn inputs.
        device: As ``--device``.
        questions: Ids that were asked for; all where empty.
        isolation: As ``--isolation``.
        clock: What is graded on its speed is timed.
        late: What lateness costs; no difference to what is graded.
        plan: Question → digest of its calls; a changed one cannot be judged again from what was
            seen.
        grader_version: Of this program.
    """

    model_config = ConfigDict(frozen=True)

    assignment: str
    file: str
    version: str
    digest: str
    seed: int
    device: DeviceChoice
    questions: tuple[str, ...]
    isolation: str
    clock: bool
    late: LatePolicy | None = None
    plan: dict[str, str] = {}
    grader_version: str


@dataclass(frozen=True, slots=True)
class Done:
    """A submission that is graded."""

    submission: ClassSubmission
    report: Report
    digest: str
    timed: bool


def begin(out: Path, setup: Setup) -> Journal:
    """Begin the journal of a batch; that of an earlier batch in the folder is replaced."""
    return create(out / JOURNAL_FILE, setup.model_dump(mode="json"))


def setup_of(journal: Journal, out: Path) -> Setup:
    """Return what a batch was begun with.

    Raises:
        UsageError: The journal does not say.
    """
    try:
        return Setup.model_validate(journal.header())
    except ValidationError as error:
        raise DamagedError(
            f"{out / JOURNAL_FILE}: does not say how the batch was begun; grade again into "
            "another --out"
        ) from error


def refuse_differences(begun: Setup, now: Setup) -> None:
    """Refuse to go on with a batch that was begun otherwise: half a class would be graded so.

    Raises:
        UsageError: Names every difference.
    """
    different = [_WORDS[name] for name in _MUST_AGREE if getattr(begun, name) != getattr(now, name)]
    if different:
        raise UsageError(
            f"--resume: this batch was begun with {'; '.join(different)}. Go on as it was begun, "
            "or grade again into another --out; after a change of the checks alone, "
            "`grader rejudge` runs nothing again"
        )


def record(journal: Journal, done: Done, kept: bytes | None) -> None:
    """Write down that a submission is graded.

    Raises:
        InfrastructureError: The disk is full or broken.
    """
    journal.record(
        JournalEntry(
            done.submission.name,
            done.digest,
            done.report.model_dump_json(),
            about(done.submission),
            done.timed,
            kept,
        )
    )


def done_so_far(journal: Journal) -> Iterator[Done]:
    """Yield the submissions that are graded, by name, with what the grader itself said."""
    for entry in journal.entries():
        report = Report.model_validate_json(entry.report)
        yield Done(submission_of(entry.name, entry.about), report, entry.digest, entry.timed)


def with_decided(journal: Journal, done: Iterable[Done]) -> Iterator[Done]:
    """Yield submissions with what people decided laid over what the grader said."""
    decisions, words = decisions_of(journal), current()
    for each in done:
        own = decisions.get(each.submission.name, ())
        yield replace(each, report=with_decisions(each.report, own, words)) if own else each


def decisions_of(journal: Journal) -> dict[str, list[PersonDecision]]:
    """Return what people decided: submission → its decisions.

    Raises:
        DamagedError: One cannot be read.
    """
    try:
        return {
            name: [PersonDecision.model_validate_json(item) for item in items]
            for name, items in journal.decided().items()
        }
    except ValidationError as error:
        raise DamagedError(f"{JOURNAL_FILE}: a decision in it cannot be read: {error}") from error


def policy_of(journal: Journal, out: Path, given: LatePolicy | None = None) -> LatePolicy | None:
    """Return what lateness costs in a batch: what is given, or else what the batch remembers."""
    return given or setup_of(journal, out).late


def keep_policy(journal: Journal, out: Path, policy: LatePolicy) -> None:
    """Have a batch remember what lateness costs from now on."""
    setup = setup_of(journal, out)
    if policy != setup.late:
        journal.replace_header(setup.model_copy(update={"late": policy}).model_dump(mode="json"))


def read_remembered(out: Path, given: LatePolicy | None = None) -> LatePolicy | None:
    """Return what lateness costs in a batch, as the batch remembers.

    Args:
        out: ``--out`` of the batch.
        given: A policy that is to count instead.

    Raises:
        UsageError: No batch was begun there, or another ``grader`` is at work there; or what is
            given extends the time of somebody who is not in the class.
    """
    with open_journal(out / JOURNAL_FILE) as journal:
        if given:
            given.refuse_strangers([done.submission for done in done_so_far(journal)])
        return setup_of(journal, out).late


def read_grades(out: Path, policy: LatePolicy | None = None, keep: bool = False) -> list[Grade]:
    """Return the grades of a class, by name.

    Args:
        out: ``--out`` of the batch.
        policy: What lateness costs; as the batch remembers where None.
        keep: The batch remembers this policy from now on.

    Raises:
        UsageError: No batch was begun there, or another ``grader`` is at work there.
    """
    with open_journal(out / JOURNAL_FILE) as journal:
        done = list(with_decided(journal, done_so_far(journal)))
        grades = grades_of(done, policy_of(journal, out, policy))
        if policy and keep:
            keep_policy(journal, out, policy)
        return grades


def grades_of(done: Sequence[Done], policy: LatePolicy | None) -> list[Grade]:
    """Return the grades of submissions under a policy."""
    return [grade_of(each.submission, each.report, policy) for each in done]


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
        ours = (done for done in done_so_far(journal) if done.submission.name in names)
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
        submissions: Sequence[ClassSubmission],
        awaits_clock: Callable[[Report], bool],
    ) -> Generator[Graded, None, None]:
        """Start grading; return an iterator over what is done, each written down before it comes.

        What an earlier run has graded comes too. What the grader itself failed at does not count
        as graded.
        """
        journal = self._open()
        known = {submission.name: submission for submission in submissions}
        before = {
            done.submission.name: Graded(
                known[done.submission.name],
                done.report,
                done.digest,
                journal.kept(done.submission.name),
                done.timed,
            )
            for done in done_so_far(journal)
            if done.submission.name in known and done.report.status is not ReportStatus.INCOMPLETE
        }
        self._names = set(known)
        results = grade_all(workers, submissions, awaits_clock, before)
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
                earlier = before.get(graded.submission.name)
                if earlier is not None and earlier.digest == graded.digest:
                    # Timed anew: what was merged from another machine stays. And the files may be
                    # gone, or half of a pair written, when it was killed.
                    graded = replace(graded, report=carry(earlier.report, graded.report))
                    write(graded.report, self.out)
                done = Done(graded.submission, graded.report, graded.digest, graded.timed)
                record(journal, done, graded.kept)
                yield graded
        finally:
            results.close()

    def graded(self) -> Iterator[Done]:
        """Yield everybody in the class who is graded so far, by name, as people decided."""
        journal = self._open()
        ours = (done for done in done_so_far(journal) if done.submission.name in self._names)
        return with_decided(journal, ours)

    @property
    def late(self) -> LatePolicy | None:
        """What lateness costs, as the batch remembers."""
        return policy_of(self._open(), self.out)

    def _open(self) -> Journal:
        if self._journal is None:
            raise UsageError(f"{self.out}: no batch was begun there")
        return self._journal
