"""What a worker is asked to do with one hand-in, and what it answers: plain values.

A worker writes the reports of a hand-in itself; whoever gave the work out keeps the journal.
"""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol

from grader.batch.discover import HandIn
from grader.errors import UsageError
from grader.report.build import submission_info
from grader.report.gradescope import write_results
from grader.report.json_file import write_report
from grader.report.model import Report
from grader.report.pictures import write_pictures
from grader.run.grade import Examined, Grader
from grader.run.kept import pack_runs
from grader.submission import read_submission
from grader.submission.submission import IntakeError


class Kind(Enum):
    """What is to be done."""

    READ = "read"
    GRADE = "grade"
    COPY = "copy"


@dataclass(frozen=True, slots=True)
class Work:
    """One thing to do.

    Attributes:
        clock: Time it too (grade).
        report: That of a hand-in with the same files, as JSON (copy).
        digest: Over the files, where they have been read.
    """

    kind: Kind
    hand_in: HandIn
    clock: bool = False
    report: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of it.

    Attributes:
        digest: Over the files; empty where they cannot be graded as they are.
        report: As JSON; empty where the work was only to read.
        kept: What was observed, for judging again.
    """

    digest: str = ""
    report: str = ""
    kept: bytes | None = None


class Workers(Protocol):
    """Does work, side by side; the one interface of local processes and of a cluster."""

    def submit(self, work: Work) -> Future[Answer]:
        """Take on work; it is begun in the order in which it was given."""

    def close(self, finished: bool) -> None:
        """End all workers; where not ``finished``, without waiting for what they are at."""


def perform(grader: Grader, work: Work, out: Path) -> Answer:
    """Do one thing, in a worker.

    Args:
        grader: Prepared, with the worker's own sandbox.
        work: What.
        out: Reports go to ``out/<name>/``.
    """
    hand_in = work.hand_in
    if work.kind is Kind.READ:
        return Answer(_digest(grader, hand_in))
    if work.kind is Kind.COPY:
        return _copied(grader, work, out)
    try:
        examined = grader.examine(hand_in.path, hand_in.name, clock=work.clock)
    except UsageError as error:
        # One folder that may not be read is no reason to stop grading a class.
        examined = grader.not_read(hand_in.name, str(error))
    write(examined.report, out)
    report = examined.report.model_dump_json()
    return Answer(examined.report.submission.digest, report, _kept(grader, examined))


def write(report: Report, out: Path) -> None:
    """Write all files of a report into the hand-in's own folder."""
    folder = out / report.submission.id
    write_report(report, folder)
    write_results(report, folder)
    write_pictures(report, folder)


def _kept(grader: Grader, examined: Examined) -> bytes | None:
    return pack_runs(examined.runs, grader.reference_runs) if examined.runs else None


def _digest(grader: Grader, hand_in: HandIn) -> str:
    try:
        return read_submission(hand_in.path, grader.assignment.hand_in).digest
    except (IntakeError, UsageError):
        return ""


def _copied(grader: Grader, work: Work, out: Path) -> Answer:
    hand_in = work.hand_in
    first = Report.model_validate_json(work.report)
    wanted, asked = grader.assignment.hand_in, grader.assignment.functions
    own = submission_info(read_submission(hand_in.path, wanted, name=hand_in.name, asked=asked))
    report = first.model_copy(update={"submission": own})
    write(report, out)
    return Answer(own.digest, report.model_dump_json())
