"""The pages of a class, or of one submission, written beside the reports."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from urllib.parse import quote

from grader.batch.discover import QUESTIONS_FOLDER, SIMILARITY_FOLDER, Student
from grader.batch.grades import Grade, LatePolicy
from grader.batch.ledger import absent_of, graded_so_far, grades_of, policy_of, setup_of
from grader.report.gradebook import GRADEBOOK_FILE
from grader.report.gradescope import write_results
from grader.report.html.class_page import ClassRow, class_page, class_view
from grader.report.html.question_page import question_page, question_views
from grader.report.html.render import INDEX_FILE, STAFF_FILE, STUDENT_FILE, Labels
from grader.report.html.submission_page import (
    Links,
    SubmissionFiles,
    asked_in,
    read_pictures,
    staff_page,
    student_page,
)
from grader.report.messages.language import current_language
from grader.report.model import Report
from grader.report.view import ReleaseStage
from grader.store.files import write_atomic
from grader.store.journal import JOURNAL_FILE, open_journal
from grader.submission import SubmittedFile, read_again
from grader.submission.reader import Where
from grader.text import inert

SIMILARITY_FILE = f"{SIMILARITY_FOLDER}/{INDEX_FILE}"
_MAX_PEOPLE = 200
_FEW = 100
"""Submissions whose pages are written here: starting other processes takes about as long."""
_ENGLISH = Labels()


@dataclass(frozen=True, slots=True)
class Look:
    """How pages are made.

    Attributes:
        labels: Language.
        release: How much students may see by now.
        asked: Question → what was asked.
        students: Folder that students' pages go to as well, ``NAME.html``, to hand them back.
        absent: Who handed in nothing; the class page names them.
    """

    labels: Labels = _ENGLISH
    release: ReleaseStage = ReleaseStage.NOW
    asked: Mapping[str, str] = field(default_factory=dict)
    students: Path | None = None
    absent: tuple[Student, ...] = ()


def labels_of(language: str | None = None) -> Labels:
    """Return the labels of a language; where none is named, of the machine's."""
    return Labels(language or current_language())


def read_class(
    folder: Path, language: str | None = None, policy: LatePolicy | None = None
) -> tuple[list[Grade], Look]:
    """Return the grades of a batch, and how its pages are made.

    Args:
        folder: ``--out`` of the batch.
        language: Of the pages; as the batch remembers where None, else the machine's.
        policy: What lateness costs; as the batch remembers where None.

    Raises:
        UsageError: No batch was begun there, or another ``grader`` is at work there.
    """
    with open_journal(folder / JOURNAL_FILE) as journal:
        setup = setup_of(journal, folder)
        release = ReleaseStage(setup.released or ReleaseStage.NOW)
        look = look_of(labels_of(language or setup.language), setup.file, release)
        look = replace(look, absent=absent_of(journal, folder))
        done = list(graded_so_far(journal))
        return grades_of(done, policy_of(journal, folder, policy)), look


def look_of(labels: Labels, file: str, release: ReleaseStage = ReleaseStage.NOW) -> Look:
    """Return how the pages of an assignment are made.

    Args:
        labels: Language.
        file: Its ``assignment.yml``; what students start from lies in the same tree.
        release: How much students may see by now.
    """
    folder = Path(file).parent
    return Look(labels, release, asked_in(folder.parent.parent / "starter" / folder.name))


def write_class(
    grades: Sequence[Grade], out: Path, look: Look, step: Callable[[], None] = lambda: None
) -> Path:
    """Write ``index.html``, a page for each question and two for each submission.

    Returns the path of the first. What lateness costs goes into each ``results.json``, too.

    Args:
        grades: Of the class, at least one.
        out: ``--out`` of the batch.
        look: Language and release.
        step: Called after each submission.

    Raises:
        UsageError: A folder cannot be made or written.
        InfrastructureError: The disk is full or broken.
    """
    names = [grade.report.submission.id for grade in grades]
    write = partial(_write_graded, out, look)
    for grade, _ in zip(grades, _side_by_side(write, grades, list(_links(names))), strict=True):
        # What lateness costs may be known, or another, only since the report was written. Here, as
        # other processes do not know this one's language.
        if grade.late is not None:
            write_results(grade.report, out / grade.report.submission.id, grade.late)
        step()
    rows = [_row(grade) for grade in grades]
    policy = any(grade.policy for grade in grades)
    view = class_view(rows, look.labels, policy, list(_beside(out, look.labels)))
    view = replace(view, absent=tuple(inert(_called(each), _MAX_PEOPLE) for each in look.absent))
    path = out / INDEX_FILE
    write_atomic(path, class_page(view, look.labels).encode())
    for each in question_views(view, look.asked):
        page = question_page(each, view, look.labels)
        write_atomic(out / QUESTIONS_FOLDER / f"{each.line.id}.html", page.encode())
    return path


def write_one(report: Report, folder: Path, look: Look) -> Path:
    """Write the two pages of a report that belongs to no class; return that for staff.

    Where its submission lies is written nowhere, so there are no lines of it.

    Raises:
        UsageError: The folder cannot be made or written.
        InfrastructureError: The disk is full or broken.
    """
    files = _files_of(report, None, folder, look)
    _write_pair(report, files, folder, look, Links(student=STUDENT_FILE))
    return folder / STAFF_FILE


def _side_by_side(
    write: Callable[[Grade, Links], None], grades: Sequence[Grade], links: Sequence[Links]
) -> Iterator[None]:
    """Write the pages of each submission; those of a large class on all cores."""
    if len(grades) <= _FEW:
        yield from map(write, grades, links)
        return
    # Not forked: threads run here by now, a progress display's for one.
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(mp_context=fresh, initializer=_leave_interrupts) as pool:
        yield from pool.map(write, grades, links, chunksize=16)


def _leave_interrupts() -> None:
    # Ctrl-C reaches all processes of the terminal; the parent alone is to answer it, and ends
    # these.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _write_graded(out: Path, look: Look, grade: Grade, links: Links) -> None:
    folder = out / grade.report.submission.id
    files = _files_of(grade.report, grade.submission.path, folder, look)
    _write_pair(grade.report, replace(files, late=grade.late), folder, look, links)


def _files_of(report: Report, where: Where | None, folder: Path, look: Look) -> SubmissionFiles:
    return SubmissionFiles(submitted(report, where), read_pictures(folder, report), look.asked)


def _write_pair(
    report: Report, files: SubmissionFiles, folder: Path, look: Look, links: Links
) -> None:
    page = student_page(report, look.labels, files, look.release).encode()
    write_atomic(folder / STAFF_FILE, staff_page(report, look.labels, files, links).encode())
    write_atomic(folder / STUDENT_FILE, page)
    if look.students is not None:
        write_atomic(look.students / f"{report.submission.id}.html", page)


def submitted(report: Report, where: Where | None) -> tuple[SubmittedFile, ...]:
    """Return the code that was graded, read again; nothing where it is gone.

    Args:
        report: On it.
        where: It lay; None where nobody knows.
    """
    names = [file.path for file in report.submission.files]
    found = None if where is None else read_again(where, names)
    return found.files if found else ()  # gone: everything else is still worth a page


def _links(names: Sequence[str]) -> Iterator[Links]:
    def neighbour(place: int) -> tuple[str, str] | None:
        # Quoted: a student's name may hold “#” or “?”, which would cut the link off there.
        known = 0 <= place < len(names)
        return (f"../{quote(names[place])}/{STAFF_FILE}", names[place]) if known else None

    for place in range(len(names)):
        yield Links(f"../{INDEX_FILE}", neighbour(place - 1), neighbour(place + 1), STUDENT_FILE)


def _row(grade: Grade) -> ClassRow:
    name = quote(grade.report.submission.id)
    return ClassRow(
        grade.report,
        f"{name}/{STAFF_FILE}",
        f"{name}/{STUDENT_FILE}",
        inert("; ".join(map(_called, grade.submission.students)), _MAX_PEOPLE),
        max(0.0, grade.days_late or 0.0),
        grade.final,
    )


def _called(student: Student) -> str:
    return " ".join(filter(None, (student.name, student.email, student.id)))


def _beside(out: Path, labels: Labels) -> Iterator[tuple[str, str]]:
    for file, label in ((GRADEBOOK_FILE, "gradebook"), (SIMILARITY_FILE, "similarity")):
        if (out / file).is_file():
            yield file, labels(label)
