"""A batch's journal in terms of grading: how the batch was begun, who is done, what they earned.

Gradebook, exports and pages are all made from the journal, never from each other.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from grader.batch.discover import ClassSubmission, Student
from grader.batch.graded import GradedSubmission, entry_of, graded_of
from grader.batch.grades import Grade, LatePolicy, about, grade_of, lateness, submission_of, who
from grader.batch.roster import Roster, RosterStudent
from grader.batch.schedule import write
from grader.errors import UsageError, nearest
from grader.report.gradebook import write_gradebook
from grader.run.capabilities import DeviceChoice
from grader.store.journal import (
    JOURNAL_FILE,
    DamagedError,
    Journal,
    create,
    open_journal,
)

# Not the seed: who goes on takes the batch's own, so that all get the same inputs.
_MUST_AGREE = ("assignment", "digest", "device", "questions", "isolation", "clock")
GpuChoice = Literal["none", "real"]
"""Whether a course has a GPU to grade with."""
_WORDS = {
    "assignment": "another assignment",
    "digest": "another state of the assignment: its files have changed since",
    "device": "another --device",
    "questions": "other --questions",
    "isolation": "another --isolation",
    "clock": "another --clock",
}


class BatchSettings(BaseModel):
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
        late: What lateness costs; no difference to what is graded. Nor is what follows it here.
        roster: Who is in the course.
        absent: Who of these handed in nothing.
        language: Of pages and messages; the machine's where None.
        released: As ``--released``: how much students' pages show.
        gpu: ``none``: what only a real GPU can settle is out of the maximum. It counts otherwise.
        total: Submissions of the class; 0 where an earlier version did not say.
        begun_at: When the batch was begun or last gone on with.
        watched: The folder whose arrivals are graded, as it was typed; empty for a class as it is.
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
    roster: Roster | None = None
    absent: tuple[RosterStudent, ...] = ()
    language: str | None = None
    released: str | None = None
    gpu: GpuChoice | None = None
    total: int = 0
    begun_at: dt.datetime | None = None
    watched: str = ""
    plan: dict[str, str] = {}
    grader_version: str


def begin(out: Path, setup: BatchSettings) -> Journal:
    """Begin the journal of a batch; that of an earlier batch in the folder is replaced."""
    return create(out / JOURNAL_FILE, setup.model_dump(mode="json"))


def setup_of(journal: Journal, out: Path) -> BatchSettings:
    """Return what a batch was begun with.

    Raises:
        UsageError: The journal does not say.
    """
    try:
        return BatchSettings.model_validate(journal.header())
    except ValidationError as error:
        raise DamagedError(
            f"{out / JOURNAL_FILE}: does not say how the batch was begun; grade again into "
            "another --out"
        ) from error


def read_setup(out: Path) -> BatchSettings:
    """Return what a batch was begun with.

    Raises:
        UsageError: No batch was begun there, or another ``grader`` is at work there.
    """
    with open_journal(out / JOURNAL_FILE) as journal:
        return setup_of(journal, out)


def refuse_differences(begun: BatchSettings, now: BatchSettings) -> None:
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


GRADED_AT = "graded_at"
_BEGIN = "paths_begin"
"""Where relative paths of a submission begin, as seen from the batch's folder.

From there, so that submissions are found again where a course is moved as a whole, and nothing
tells whose machine it was.
"""


def record(journal: Journal, graded: GradedSubmission, moment: str = "") -> None:
    """Write down that a submission is graded, with what was observed of it.

    Args:
        journal: Of the batch.
        graded: What is done.
        moment: When it was graded, if that was not now.

    Raises:
        InfrastructureError: The disk is full or broken.
    """
    known = {
        **about(graded.submission),
        GRADED_AT: moment or _now(),
        _BEGIN: _begin_of_paths(journal.folder),
    }
    journal.record(entry_of(graded, known))


def revise(journal: Journal, graded: GradedSubmission) -> None:
    """Write down what is said of a submission now, on this machine and on others; nothing ran.

    Raises:
        InfrastructureError: The disk is full or broken.
    """
    journal.revise(entry_of(graded, {}))


def _now() -> str:
    return dt.datetime.now(dt.timezone.utc).isoformat()


def graded_so_far(
    journal: Journal, names: Iterable[str] | None = None
) -> Iterator[GradedSubmission]:
    """Yield the submissions that are graded, by name, without what was observed of them.

    Args:
        journal: Of the batch.
        names: These alone: a class that grows is not read again for each that arrives.

    Raises:
        DamagedError: One cannot be read.
    """
    header = journal.header()
    # Absent in journals of earlier versions, null in a batch without a roster.
    roster = Roster.model_validate(header.get("roster") or {})
    no_gpu = header.get("gpu") == "none"
    for entry in journal.entries(names):
        submission = submission_of(entry.name, entry.about)
        # Earlier versions did not say: they meant the folder in which one works.
        if begin_at := entry.about.get(_BEGIN):
            submission = _seen_from_here(submission, journal.folder, begin_at)
        yield graded_of(entry, roster.named(submission), no_gpu)


def _begin_of_paths(out: Path) -> str:
    try:
        return os.path.relpath(Path.cwd(), out.resolve())
    except ValueError:  # on another drive of Windows
        return str(Path.cwd())


def _seen_from_here(submission: ClassSubmission, out: Path, begin_at: str) -> ClassSubmission:
    """Return a submission with paths that hold in the folder in which one works now."""
    base = Path(os.path.normpath(out.resolve() / begin_at))
    if base == Path.cwd():
        return submission

    def seen(path: Path) -> Path:
        # Where the batch's folder alone was moved, it is as earlier versions meant it.
        there = base / path
        return path if path.exists() and not there.exists() else there

    where = submission.path
    if isinstance(where, Mapping):
        return replace(submission, path={name: seen(Path(each)) for name, each in where.items()})
    return replace(submission, path=seen(Path(where)))


def policy_of(journal: Journal, out: Path, given: LatePolicy | None = None) -> LatePolicy | None:
    """Return what lateness costs in a batch: what is given, or else what the batch remembers."""
    return given or setup_of(journal, out).late


REMEMBERED = (
    "late", "roster", "absent", "language", "released", "gpu", "total", "begun_at", "watched",
)  # fmt: skip
"""What makes no difference to what is graded, so that another word on it may come later."""


def keep(journal: Journal, out: Path, **remembered: object) -> None:
    """Have a batch remember something else from now on.

    Args:
        journal: Of the batch.
        out: Its folder.
        **remembered: Some of ``REMEMBERED``; what is None stays as it was.
    """
    setup = setup_of(journal, out)
    update = {name: value for name, value in remembered.items() if value is not None}
    now = setup.model_copy(update=update)
    if now != setup:
        journal.replace_header(now.model_dump(mode="json"))


def absent_of(journal: Journal, out: Path) -> tuple[Student, ...]:
    """Return who is in the course and handed in nothing."""
    return tuple(each.student() for each in setup_of(journal, out).absent)


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
            ours = [done.submission for done in graded_so_far(journal)]
            given.refuse_strangers(ours, absent_of(journal, out))
        return setup_of(journal, out).late


def read_grades(out: Path, policy: LatePolicy | None = None) -> list[Grade]:
    """Return the grades of a class, by name.

    Args:
        out: ``--out`` of the batch.
        policy: What lateness costs; as the batch remembers where None.

    Raises:
        UsageError: No batch was begun there, or another ``grader`` is at work there.
    """
    with open_journal(out / JOURNAL_FILE) as journal:
        return grades_of(list(graded_so_far(journal)), policy_of(journal, out, policy))


def read_absent(out: Path) -> tuple[Student, ...]:
    """Return who is in the course and handed in nothing.

    Raises:
        UsageError: No batch was begun there, or another ``grader`` is at work there.
    """
    with open_journal(out / JOURNAL_FILE) as journal:
        return absent_of(journal, out)


def renew_gradebook(out: Path, policy: LatePolicy | None = None) -> Path:
    """Write ``gradebook.csv`` from the journal and return its path.

    Args:
        out: ``--out`` of the batch.
        policy: What lateness costs from now on; as the batch remembers where None.

    Raises:
        UsageError: No batch was begun there, or another ``grader`` is at work there.
        InfrastructureError: The disk is full or broken.
    """
    grades = read_grades(out, policy)
    with open_journal(out / JOURNAL_FILE) as journal:
        keep(journal, out, late=policy)
        absent = absent_of(journal, out)
    return write_grades(grades, out, absent)


def grades_of(graded: Sequence[GradedSubmission], policy: LatePolicy | None) -> list[Grade]:
    """Return the grades of submissions under a policy."""
    return [grade_of(each.submission, each.report, policy) for each in graded]


def write_grades(grades: Sequence[Grade], out: Path, absent: Sequence[Student] = ()) -> Path:
    """Write ``gradebook.csv`` and return its path.

    Args:
        grades: Of the class.
        out: ``--out`` of the batch.
        absent: Who handed in nothing.

    Raises:
        InfrastructureError: The disk is full or broken.
    """
    reports = [grade.report for grade in grades]
    return write_gradebook(reports, out, who(grades, absent), lateness(grades))


def count_gpu(out: Path, gpu: GpuChoice) -> list[tuple[GradedSubmission, GradedSubmission]]:
    """Have points that wait for a GPU count, or not, from now on; nothing runs, nothing is lost.

    All reports and the gradebook are written again.

    Args:
        out: ``--out`` of the batch.
        gpu: ``none`` takes them out of the maximum, ``real`` brings them back.

    Returns:
        Each submission as it counted before, and as it counts now.

    Raises:
        UsageError: No batch was begun there, or another ``grader`` is at work there.
        InfrastructureError: The disk is full or broken.
    """
    with open_journal(out / JOURNAL_FILE) as journal:
        before = list(graded_so_far(journal))
        # Before the reports: killed in between, the same command completes them.
        keep(journal, out, gpu=gpu)
        after = list(graded_so_far(journal))
    for graded in after:
        write(graded.report, out)
    renew_gradebook(out)
    return list(zip(before, after, strict=True))


def write_decided(out: Path) -> None:
    """Write the reports on which people decided or said something again, from the journal.

    Raises:
        InfrastructureError: The disk is full or broken.
    """
    with open_journal(out / JOURNAL_FILE) as journal:
        for graded in graded_so_far(journal, {**journal.decided(), **journal.commented()}):
            write(graded.report, out)


def one_of(out: Path, everybody: Mapping[str, GradedSubmission], student: str) -> GradedSubmission:
    """Return the submission of a name, or of a student's address, number or name.

    Raises:
        UsageError: There is none, or several students share that name.
    """
    wanted = student.strip().casefold()
    if wanted in (known := {name.casefold(): done for name, done in everybody.items()}):
        return known[wanted]
    found = [done for done in everybody.values() if wanted in _names(done.submission)]
    # Two students of one name: points, or a run, for the wrong one would change a grade.
    if len(found) != 1:
        if found:
            names = ", ".join(done.submission.name for done in found)
            raise UsageError(
                f"{out}: several submissions of “{student}”: {names}; name one of them"
            )
        raise UsageError(f"{out}: no submission of “{student}”{nearest(student, everybody)}")
    return found[0]


def _names(submission: ClassSubmission) -> set[str]:
    parts: Iterable[str] = (
        text for each in submission.students for text in (each.email, each.id, each.name)
    )
    return {text.casefold() for text in parts if text}
