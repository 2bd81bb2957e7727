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
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from grader.batch.discover import Student
from grader.batch.grades import Grade, by_student
from grader.errors import UsageError, nearest
from grader.report.build import PLACES
from grader.report.gradebook import cell
from grader.report.messages.catalogue import current_language
from grader.report.model import titled
from grader.report.summary import amount, counted, unread, worth

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


class _Row:
    """One line of a CSV by its headings; the first of two that are alike counts."""

    def __init__(self, headings: Sequence[str], cells: Sequence[str]) -> None:
        self._places = {name: place for place, name in reversed(list(enumerate(headings)))}
        self.cells = [*cells, *[""] * (len(headings) - len(cells))]

    def get(self, name: str) -> str:
        """Return a cell; an empty one for a column that is not there."""
        return self.cells[self._places[name]] if name in self._places else ""

    def put(self, name: str, text: str) -> None:
        """Write a cell, if there is such a column."""
        if name in self._places:
            self.cells[self._places[name]] = text


_Match = Callable[[_Row, Student], bool]


@dataclass(frozen=True, slots=True)
class Exported:
    """A file made of grades.

    Attributes:
        text: Its content.
        filled: Number of students whose grade is in it.
        open: Student or submission → why there is no final grade to write.
        absent: Who was graded and is not in the instructor's file.
        changed: Student, what stood in the file, what stands there now.
        zeros: Who handed in nothing and has a 0 for that.
        blank: Who handed in nothing and keeps what stands there.
    """

    text: str
    filled: int
    open: Mapping[str, str] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    changed: tuple[tuple[str, str, str], ...] = ()
    zeros: tuple[str, ...] = ()
    blank: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Missing:
    """Who handed in nothing, and what they get.

    Attributes:
        students: As the roster says.
        zero: They get a 0, where nothing stands yet; otherwise their cells stay.
    """

    students: Sequence[Student] = ()
    zero: bool = False


_NOBODY = Missing()


def nbgrader(
    grades: Sequence[Grade], assignment: str, due: str = "", missing: Missing = _NOBODY
) -> Exported:
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
    for student, grade in _everyone(grades):
        moment = grade.submission.created_at
        penalty = 0.0 if grade.penalty is None else grade.penalty
        raw = grade.score
        values = (
            assignment, due, moment.isoformat(" ") if moment else "", *_person(student),
            _points(raw), "" if raw is None else amount(raw * penalty),
            _points(grade.final), amount(grade.report.max_score),
        )  # fmt: skip
        writer.writerow(dict(zip(_NBGRADER, map(cell, values), strict=True)))
    names = tuple(map(_label, missing.students))
    most = amount(grades[0].report.max_score) if grades else ""
    for student in missing.students if missing.zero else ():
        row = (assignment, due, "", *_person(student), "0", "0", "0", most)
        writer.writerow(dict(zip(_NBGRADER, map(cell, row), strict=True)))
    count = sum(grade.final is not None for _, grade in _everyone(grades))
    done = Exported(out.getvalue(), count, _open(grades))
    return replace(done, zeros=names) if missing.zero else replace(done, blank=names)


def _person(student: Student) -> tuple[str, str, str, str]:
    first, _, last = student.name.rpartition(" ")
    return student.id, last, first, student.email


def canvas(
    grades: Sequence[Grade],
    own: Path,
    column: str,
    points: Points = Points.RAW,
    missing: Missing = _NOBODY,
) -> Exported:
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
    table = _Table(own, _CANVAS_STUDENT)
    heading = _heading(own, table.headings, column)
    matches: tuple[_Match, ...] = (
        lambda row, student: _same(row.get("ID"), student.platform_id, student.id),
        lambda row, student: _same(row.get("SIS User ID"), student.id),
        lambda row, student: _same(row.get("SIS Login ID"), student.email, student.id),
        lambda row, student: _same(row.get("Student"), student.name),
    )
    most = [row.get(heading) for row in table.rows if row.get("Student").strip() == _CANVAS_MOST]
    scale = _Scale(points, f"{own}: the column “{heading}”", most)
    done = table.fill(
        grades, matches, heading, lambda row, grade: row.put(heading, scale.final(grade))
    )
    return table.with_missing(done, missing, matches, heading)


def moodle(
    grades: Sequence[Grade], own: Path, points: Points = Points.RAW, missing: Missing = _NOBODY
) -> Exported:
    """Return Moodle's grading worksheet with ``Grade`` and ``Feedback comments`` filled.

    Args:
        grades: Of the class.
        own: The instructor's worksheet.
        points: What is written for a grade.
        missing: Who handed in nothing.

    Raises:
        UsageError: It is no such worksheet, or its grades are worth something else.
    """
    table = _Table(own, ("Identifier", _MOODLE_GRADE))
    matches: tuple[_Match, ...] = (
        lambda row, student: _same(
            row.get("Identifier").removeprefix("Participant "), student.platform_id, student.id
        ),
        lambda row, student: _same(row.get("Email address"), student.email),
        lambda row, student: _same(row.get("ID number"), student.id),
        lambda row, student: _same(row.get("Full name"), student.name),
    )

    # Its versions differ in how they write this heading.
    names = [name for name in table.headings if name.casefold() == _MOODLE_MOST]
    most = [row.get(name) for row in table.rows for name in names]
    scale = _Scale(points, f"{own}: “{_MOODLE_GRADE}”", most)

    def fill(row: _Row, grade: Grade) -> None:
        row.put(_MOODLE_GRADE, scale.final(grade))
        # A text that begins like a formula would be run by the spreadsheet that opens the file.
        row.put(_MOODLE_FEEDBACK, cell(_feedback(grade)))

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


class _Table:
    """An instructor's CSV, to be written back as it was read but for some cells."""

    def __init__(self, path: Path, needed: Sequence[str]) -> None:
        try:
            data = path.read_bytes()
            text = data.decode("utf-8-sig")
            # Strict: a file that is cut short within quotes would else be read, and written back,
            # without its last rows.
            rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        except OSError as error:
            raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
        except (UnicodeDecodeError, csv.Error) as error:
            raise UsageError(f"{path}: is no CSV in UTF-8: {error}") from error
        self.headings = rows[0] if rows else []
        missing = [name for name in needed if name not in self.headings]
        if missing:
            raise UsageError(
                f"{path}: has no column “{missing[0]}”, so it is not the export that was expected; "
                f"its columns: {', '.join(self.headings[:8]) or 'none'}"
            )
        # Written back as they were found: the file should differ from the platform's in its grades
        # alone.
        self._bom = "\ufeff" if data.startswith(b"\xef\xbb\xbf") else ""
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self.rows = [_Row(self.headings, row) for row in rows[1:]]

    def fill(
        self,
        grades: Sequence[Grade],
        matches: Sequence[_Match],
        column: str,
        write: Callable[[_Row, Grade], None],
    ) -> Exported:
        filled, absent, changed = 0, [], []
        for student, grade in _everyone(grades):
            found = self._find(student, matches)
            if found is None:
                absent.append(_called(student, grade))
            # An open grade leaves the cell as it was: the platform has no word for “pending”.
            elif grade.final is not None:
                before = found.get(column)
                write(found, grade)
                filled += 1
                if before != found.get(column):
                    changed.append((_called(student, grade), before, found.get(column)))
        return Exported(self._text(), filled, _open(grades), tuple(absent), tuple(changed))

    def with_missing(
        self, done: Exported, missing: Missing, matches: Sequence[_Match], column: str
    ) -> Exported:
        """Return what was made with a 0 for who handed in nothing, if that is asked for.

        What stands in a cell stays: "EX" for who is excused, points that were given by hand.
        """
        zeros, blank, absent, changed = [], [], [], []
        for student in missing.students:
            found = self._find(student, matches)
            if found is None:
                absent.append(_label(student))
            elif missing.zero and not found.get(column).strip():
                found.put(column, amount(0.0))
                zeros.append(_label(student))
                changed.append((_label(student), "", amount(0.0)))
            else:
                blank.append(_label(student))
        return replace(
            done,
            text=self._text(),
            absent=(*done.absent, *absent),
            changed=(*done.changed, *changed),
            zeros=tuple(zeros),
            blank=tuple(blank),
        )

    def _find(self, student: Student, matches: Sequence[_Match]) -> _Row | None:
        for match in matches:
            rows = [row for row in self.rows if match(row, student)]
            # Of two rows that fit neither is taken, as it may be another student's; the next column
            # may tell them apart.
            if len(rows) == 1:
                return rows[0]
        return None

    def _text(self) -> str:
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator=self._newline)
        writer.writerow(self.headings)
        writer.writerows(row.cells for row in self.rows)
        return self._bom + out.getvalue()


def _heading(path: Path, headings: Sequence[str], column: str) -> str:
    found = [name for name in headings if name == column] or [
        name for name in headings if name.startswith(f"{column} (")
    ]
    if len(found) != 1:
        what = "no column" if not found else f"{len(found)} columns"
        raise UsageError(f"{path}: has {what} “{column}”{nearest(column, headings)}")
    return found[0]


def _same(value: str, *known: str) -> bool:
    return bool(value) and value.strip().casefold() in {
        name.strip().casefold() for name in known if name
    }


def _everyone(grades: Sequence[Grade]) -> list[tuple[Student, Grade]]:
    """Return one pair a student; where the platform named nobody, by the submission's name."""
    nameless = [grade for grade in grades if not grade.submission.students]
    return by_student(grades) + [
        (Student(grade.submission.name, id=grade.submission.name), grade) for grade in nameless
    ]


def _open(grades: Sequence[Grade]) -> dict[str, str]:
    return {grade.submission.name: grade.why_open for grade in grades if grade.final is None}


def _called(student: Student, grade: Grade) -> str:
    return _label(student) or grade.submission.name


def _label(student: Student) -> str:
    return student.name or student.email or student.id


def _points(points: float | None) -> str:
    return "" if points is None else amount(points)


def _feedback(grade: Grade) -> str:
    parts = [
        f"{question.title}: {amount(question.score)}/{worth(question)}"
        for question in titled(grade.report, current_language()).questions
    ]
    if grade.penalty:
        parts.append(f"late: −{amount(100 * grade.penalty)} %")
    points, said = "; ".join(parts), unread(grade.report)
    return points if said is None else f"{said.student_message}\n{points}"
