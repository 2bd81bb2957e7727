"""An instructor's own CSV and the grades that go into it.

It is written back as it was read, but for the cells of these grades.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.batch.discover import Student
from grader.batch.grades import Grade
from grader.errors import UsageError
from grader.report.summary import amount


class Row:
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


@dataclass(frozen=True, slots=True)
class ExportResult:
    """A file made of grades.

    Attributes:
        text: Its content.
        filled: Number of students whose grade is in it.
        open: Student or submission → why there is no final grade to write.
        absent: Who was graded and is not in the instructor's file.
        unclear: Who fits several rows of it, or a row that somebody else fits: with the rows.
        changed: Student, what stood in the file, what stands there now.
        zeros: Who handed in nothing and has a 0 for that.
        blank: Who handed in nothing and stays without a grade.
        kept: Who handed in nothing and keeps what stands there.
    """

    text: str
    filled: int
    open: Mapping[str, str] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    unclear: tuple[str, ...] = ()
    changed: tuple[tuple[str, str, str], ...] = ()
    zeros: tuple[str, ...] = ()
    blank: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Missing:
    """Who handed in nothing, and what they get.

    Attributes:
        students: As the roster says.
        zero: They get a 0, where nothing stands yet; otherwise their cells stay.
    """

    students: Sequence[Student] = ()
    zero: bool = False


Match = Callable[[Row, Student], bool]
"""Tells whether a row is a student's."""


class Table:
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
        self.rows = [Row(self.headings, row) for row in rows[1:]]
        self._graded: set[int] = set()

    def fill(
        self,
        grades: Sequence[Grade],
        matches: Sequence[Match],
        column: str,
        write: Callable[[Row, Grade], None],
    ) -> ExportResult:
        """Write each final grade into its student's row.

        Args:
            grades: Of the class.
            matches: How a row and a student are compared, best first.
            column: Whose cells are said to have changed.
            write: Puts a grade into a row.
        """
        filled, absent, unclear, changed = 0, [], [], []
        everybody = everyone(grades)
        fits = [self._fitting(student, matches) for student, _ in everybody]
        for (student, grade), (level, rows) in zip(everybody, fits, strict=True):
            if not rows:
                absent.append(_called(student, grade))
                continue
            self._graded |= set(map(id, rows))
            (row, *more), rivals = rows, [place for place, own in fits if own == rows]
            # Two students of one name: in a guess, one would get the other's grade.
            if more or min(rivals) < level or rivals.count(level) > 1:
                unclear.append(self._with_rows(student, rows))
            # An open grade leaves the cell as it was: the platform has no word for “pending”.
            elif grade.final is not None:
                before = row.get(column)
                write(row, grade)
                filled += 1
                if before != row.get(column):
                    changed.append((_called(student, grade), before, row.get(column)))
        told = open_of(grades), tuple(absent), tuple(unclear), tuple(changed)
        return ExportResult(self.text(), filled, *told)

    def with_missing(
        self, done: ExportResult, missing: Missing, matches: Sequence[Match], column: str
    ) -> ExportResult:
        """Return what was made with a 0 for who handed in nothing, if that is asked for.

        What stands in a cell stays: "EX" for who is excused, points that were given by hand. So
        does the cell of whoever was graded: a roster may know them by another number than the
        platform, and count them as missing.
        """
        zeros, blank, kept, absent, unclear, changed = [], [], [], [], [], []
        for student in missing.students:
            _, rows = self._fitting(student, matches)
            if not rows:
                absent.append(label(student))
                continue
            if any(id(row) in self._graded for row in rows):
                continue
            found, *more = rows
            if more:
                unclear.append(self._with_rows(student, rows))
            elif found.get(column).strip():
                kept.append(label(student))
            elif missing.zero:
                found.put(column, amount(0.0))
                zeros.append(label(student))
                changed.append((label(student), "", amount(0.0)))
            else:
                blank.append(label(student))
        return replace(
            done,
            text=self.text(),
            absent=(*done.absent, *absent),
            unclear=(*done.unclear, *unclear),
            changed=(*done.changed, *changed),
            zeros=tuple(zeros),
            blank=tuple(blank),
            kept=tuple(kept),
        )

    def _fitting(self, student: Student, matches: Sequence[Match]) -> tuple[int, list[Row]]:
        """Return a student's row, and by which comparison it was found.

        Several rows where no comparison tells one from the others.
        """
        several: tuple[int, list[Row]] = (len(matches), [])
        for level, match in enumerate(matches):
            rows = [row for row in self.rows if match(row, student)]
            # Of two rows that fit neither is taken, as it may be another student's; the next column
            # may tell them apart.
            if len(rows) == 1:
                return level, rows
            if rows and not several[1]:
                several = level, rows
        return several

    def _with_rows(self, student: Student, rows: Sequence[Row]) -> str:
        """Return whom nobody can tell apart, with rows as a spreadsheet numbers them."""
        numbers = {id(row): str(number) for number, row in enumerate(self.rows, 2)}
        known = dict.fromkeys((student.name, student.email, student.id))
        person = " ".join(filter(None, known))
        places = ", ".join(numbers[id(row)] for row in rows)
        return f"{person} (row {places})"

    def text(self) -> str:
        """Return the file as it is to be written."""
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator=self._newline)
        writer.writerow(self.headings)
        writer.writerows(row.cells for row in self.rows)
        return self._bom + out.getvalue()


def same(value: str, *known: str) -> bool:
    """Tell whether a cell is one of these texts, but for case and blanks around it."""
    return bool(value) and value.strip().casefold() in {
        name.strip().casefold() for name in known if name
    }


def everyone(grades: Sequence[Grade]) -> list[tuple[Student, Grade]]:
    """Return one pair a student; where the platform named nobody, by the submission's name."""
    nameless = [grade for grade in grades if not grade.submission.students]
    # Each member of a group has the group's grade.
    named = [(student, grade) for grade in grades for student in grade.submission.students]
    return named + [
        (Student(grade.submission.name, id=grade.submission.name), grade) for grade in nameless
    ]


def open_of(grades: Sequence[Grade]) -> dict[str, str]:
    """Return the submissions without a final grade → why."""
    return {grade.submission.name: grade.why_open for grade in grades if grade.final is None}


def _called(student: Student, grade: Grade) -> str:
    return label(student) or grade.submission.name


def label(student: Student) -> str:
    """Return what a student is called in a list."""
    return student.name or student.email or student.id
