"""Grades into the files that learning platforms import.

Canvas and Moodle overwrite whatever a file names, so grades go into the instructor's own export:
every other cell is written back as it was read, and a student without a final grade keeps what
stands there.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from html import escape
from pathlib import Path

from grader.batch.course import canvas_column
from grader.batch.discover import Student
from grader.batch.grades import Grade
from grader.batch.ledger import read_absent
from grader.batch.lms_csv import (
    ExportResult,
    Match,
    Missing,
    Row,
    Table,
    everyone,
    label,
    open_of,
    same,
)
from grader.errors import UsageError, nearest
from grader.report.build import PLACES
from grader.report.comments import comment_text
from grader.report.gradebook import cell
from grader.report.messages.catalogue import current
from grader.report.summary import amount, counted, worth
from grader.report.view import Audience, ReleaseStage, view_of

_NBGRADER = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
    "raw_score", "late_submission_penalty", "score", "max_score",
)  # fmt: skip
_NUMBER = r"\d+(\.\d+)?"
_CANVAS_STUDENT = ("Student", "ID")
_CANVAS_MOST = "Points Possible"
_MOODLE_GRADE, _MOODLE_FEEDBACK, _MOODLE_MOST = "Grade", "Feedback comments", "maximum grade"


class Points(str, Enum):
    """What is written for a grade.

    Attributes:
        RAW: The points, into a column that is worth as many.
        SCALED: The points, on the scale of the column.
        PERCENT: Of what the assignment is worth.
    """

    RAW = "raw"
    SCALED = "scaled"
    PERCENT = "percent"


_NOBODY = Missing()


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What ``grader export`` was asked for a table of a class.

    Attributes:
        folder: ``--out`` of the batch.
        own: The instructor's export of the gradebook (``--into``).
        column: Heading of the assignment in it.
        points: What is written for a grade.
        zero: Who handed in nothing gets a 0; as is usual for the table where None.
        due: When it was due.
    """

    folder: Path
    own: Path | None = None
    column: str = ""
    points: Points = Points.RAW
    zero: bool | None = None
    due: str = ""

    def missing(self, *, zero: bool) -> Missing:
        """Return who handed in nothing, and whether they get a 0; ``zero`` where nobody said."""
        return Missing(read_absent(self.folder), zero if self.zero is None else self.zero)

    def own_table(self, kind: str) -> Path:
        """Return the instructor's file.

        Raises:
            UsageError: None was named.
        """
        if self.own is None:
            raise UsageError(
                f"export {kind} needs --into FILE, your own export of the gradebook: an import "
                "overwrites what it names, so grades go into a copy of that and nowhere else"
            )
        return self.own


def nbgrader(
    grades: Sequence[Grade], assignment: str, due: str = "", missing: Missing = _NOBODY
) -> ExportResult:
    """Return nbgrader's CSV, one row a student; the score is empty where it is open.

    Args:
        grades: Of the class.
        assignment: Its name there.
        due: When it was due, for the column.
        missing: Who handed in nothing; nbgrader's own export has a 0 for them.
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, _NBGRADER, lineterminator="\n")
    writer.writeheader()
    for student, grade in everyone(grades):
        moment = grade.submission.created_at
        penalty = 0.0 if grade.penalty is None else grade.penalty
        raw = grade.score
        values = (
            assignment, due, moment.isoformat(" ") if moment else "", *_person(student),
            _points(raw), "" if raw is None else amount(raw * penalty),
            _points(grade.final), amount(grade.report.max_score),
        )  # fmt: skip
        writer.writerow(dict(zip(_NBGRADER, map(cell, values), strict=True)))
    names = tuple(map(label, missing.students))
    most = amount(grades[0].report.max_score) if grades else ""
    for student in missing.students if missing.zero else ():
        row = (assignment, due, "", *_person(student), "0", "0", "0", most)
        writer.writerow(dict(zip(_NBGRADER, map(cell, row), strict=True)))
    count = sum(grade.final is not None for _, grade in everyone(grades))
    done = ExportResult(out.getvalue(), count, open_of(grades))
    return replace(done, zeros=names) if missing.zero else replace(done, blank=names)


def _person(student: Student) -> tuple[str, str, str, str]:
    last, comma, first = (part.strip() for part in student.name.partition(","))
    if not comma:
        first, _, last = student.name.rpartition(" ")
    return student.id, last, first, student.email


def canvas(
    grades: Sequence[Grade],
    own: Path,
    column: str,
    points: Points = Points.RAW,
    missing: Missing = _NOBODY,
) -> ExportResult:
    """Return Canvas' export with one column filled.

    Args:
        grades: Of the class.
        own: The instructor's export of the gradebook.
        column: Heading of the assignment in it, such as ``A1 (12345)``, or the beginning of it.
        points: What is written for a grade.
        missing: Who handed in nothing.

    Raises:
        UsageError: It is no such export, has no such column, or one that is worth something else.
    """
    table = Table(own, _CANVAS_STUDENT)
    heading = _heading(own, table.headings, column)
    matches: tuple[Match, ...] = (
        lambda row, student: same(row.get("ID"), student.platform_id, student.id),
        lambda row, student: same(row.get("SIS User ID"), student.id),
        lambda row, student: same(row.get("SIS Login ID"), student.email, student.id),
        lambda row, student: same(row.get("Student"), student.name),
    )
    most = [row.get(heading) for row in table.rows if row.get("Student").strip() == _CANVAS_MOST]
    scale = _Scale(points, f"{own}: the column “{heading}”", most)
    done = table.fill(
        grades, matches, heading, lambda row, grade: row.put(heading, scale.final(grade))
    )
    return table.with_missing(done, missing, matches, heading)


def moodle(
    grades: Sequence[Grade], own: Path, points: Points = Points.RAW, missing: Missing = _NOBODY
) -> ExportResult:
    """Return Moodle's grading worksheet with ``Grade`` and ``Feedback comments`` filled.

    Args:
        grades: Of the class.
        own: The instructor's worksheet.
        points: What is written for a grade.
        missing: Who handed in nothing.

    Raises:
        UsageError: It is no such worksheet, or its grades are worth something else.
    """
    table = Table(own, ("Identifier", _MOODLE_GRADE))
    matches: tuple[Match, ...] = (
        lambda row, student: same(
            row.get("Identifier").removeprefix("Participant "), student.platform_id, student.id
        ),
        lambda row, student: same(row.get("Email address"), student.email),
        lambda row, student: same(row.get("ID number"), student.id),
        lambda row, student: same(row.get("Full name"), student.name),
    )

    # Its versions differ in how they write this heading.
    names = [name for name in table.headings if name.casefold() == _MOODLE_MOST]
    most = [row.get(name) for row in table.rows for name in names]
    scale = _Scale(points, f"{own}: “{_MOODLE_GRADE}”", most)

    def fill(row: Row, grade: Grade) -> None:
        row.put(_MOODLE_GRADE, scale.final(grade))
        # A text that begins like a formula would be run by the spreadsheet that opens the file.
        row.put(_MOODLE_FEEDBACK, cell(feedback_of(grade)))

    done = table.fill(grades, matches, _MOODLE_GRADE, fill)
    return table.with_missing(done, missing, matches, _MOODLE_GRADE)


class _Scale:
    """How points become what a column takes.

    Args:
        points: What is asked for.
        what: The file and its column, for messages.
        most: What the file says that the column is worth, in one cell or in each row.
    """

    def __init__(self, points: Points, what: str, most: Sequence[str]) -> None:
        self._points, self._what = points, what
        self._most = next(
            (float(text) for text in most if re.fullmatch(_NUMBER, text.strip())), None
        )
        if points is Points.SCALED and not self._most:
            raise UsageError(
                f"{what} does not say what it is worth, so nothing can be scaled to it"
            )

    def final(self, grade: Grade) -> str:
        """Return the cell of a final grade.

        Raises:
            UsageError: The column is worth something else than what is written.
        """
        assert grade.final is not None, grade
        worth = grade.report.max_score
        if self._points is Points.RAW:
            self._refuse_other(worth, "the assignment")
            return amount(grade.final)
        if self._points is Points.PERCENT:
            self._refuse_other(100.0, "a percentage")
        most = 100.0 if self._points is Points.PERCENT else self._most
        return amount(round(grade.final / worth * (most or 0.0), PLACES)) if worth else amount(0.0)

    def _refuse_other(self, worth: float, what: str) -> None:
        # The platform would take 43 of 60 points for 43 of 100.
        if self._most is not None and abs(self._most - worth) > 10**-PLACES:
            raise UsageError(
                f"{self._what} is worth {counted(self._most, 'point')}, {what} {amount(worth)}. "
                "Pass --points scaled, or change what the column is worth. Nothing was written"
            )


def _heading(path: Path, headings: Sequence[str], column: str) -> str:
    found = [name for name in headings if name == column] or [
        name for name in headings if name.startswith(f"{column} (")
    ]
    if len(found) != 1:
        what = "no column" if not found else f"{len(found)} columns"
        raise UsageError(f"{path}: has {what} “{column}”{nearest(column, headings)}")
    return found[0]


def _points(points: float | None) -> str:
    return "" if points is None else amount(points)


def feedback_of(grade: Grade) -> str:
    """Return what a student reads beside a final grade: questions with points, without hidden ones.

    A file that could not be run comes first, comments on lines last.
    """
    view = view_of(grade.report, Audience(released=ReleaseStage.PUBLISHED))
    parts = [
        f"{question.title}: {amount(question.score)}/{worth(question)}"
        for question in view.report.questions
    ]
    if grade.penalty:
        parts.append(f"late: −{amount(100 * grade.penalty)} %")
    points = "; ".join(parts)
    # Moodle takes this text for HTML: lines run together, and “a < b” would begin a tag.
    said = [
        f"• {escape(comment_text(each, current(), excerpt=False), quote=False)}"
        for each in view.report.comments
    ]
    return "\n".join([*([view.next_step] if view.one_message else []), points, *said])


def _nbgrader_table(grades: Sequence[Grade], options: ExportOptions) -> ExportResult:
    name = grades[0].report.assignment.id if grades else ""
    # As nbgrader's own export. In Canvas and Moodle an empty cell is one that is not graded.
    return nbgrader(grades, name, options.due, options.missing(zero=True))


def _canvas_table(grades: Sequence[Grade], options: ExportOptions) -> ExportResult:
    own, name = options.own_table("canvas"), options.column or canvas_column(options.folder)
    if not name:
        raise UsageError(
            "export canvas needs --column, the assignment’s heading in the gradebook; course.yml "
            "may name it under columns"
        )
    return canvas(grades, own, name, options.points, options.missing(zero=False))


def _moodle_table(grades: Sequence[Grade], options: ExportOptions) -> ExportResult:
    own = options.own_table("moodle")
    return moodle(grades, own, options.points, options.missing(zero=False))


@dataclass(frozen=True, slots=True)
class Exporter:
    """Makes one kind of table for ``grader export``.

    Attributes:
        make: Makes it of the grades of a class. It raises a ``UsageError`` where an option is
            missing, or the instructor's file is not what it should be.
        takes: The options of the command that it heeds; the command refuses the others. Those on
            lateness, pending points and ``--dry-run`` are for every table.
    """

    make: Callable[[Sequence[Grade], ExportOptions], ExportResult]
    takes: tuple[str, ...] = ()


TABLES: Mapping[str, Exporter] = {
    "canvas": Exporter(_canvas_table, ("--into", "--column", "--points", "--missing")),
    "moodle": Exporter(_moodle_table, ("--into", "--points", "--missing")),
    "nbgrader": Exporter(_nbgrader_table, ("--missing",)),
}
"""What ``grader export`` calls it → what makes it."""
