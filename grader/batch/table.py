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
from grader.batch.grades import Grade, by_student
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
class Exported:
    """A file made of grades.

    Attributes:
        text: Its content.
        filled: Number of students whose grade is in it.
        open: Student or submission → why there is no final grade to write.
        absent: Who was graded and is not in the instructor's file.
        changed: Student, what stood in the file, what stands there now.
        zeros: Who handed in nothing and has a 0 for that.
        blank: Who handed in nothing and stays without a grade.
        kept: Who handed in nothing and keeps what stands there.
    """

    text: str
    filled: int
    open: Mapping[str, str] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
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
    ) -> Exported:
        """Write each final grade into its student's row.

        Args:
            grades: Of the class.
            matches: How a row and a student are compared, best first.
            column: Whose cells are said to have changed.
            write: Puts a grade into a row.
        """
        filled, absent, changed = 0, [], []
        for student, grade in everyone(grades):
            found = self.find(student, matches)
            if found is None:
                absent.append(_called(student, grade))
                continue
            self._graded.add(id(found))
            # An open grade leaves the cell as it was: the platform has no word for “pending”.
            if grade.final is not None:
                before = found.get(column)
                write(found, grade)
                filled += 1
                if before != found.get(column):
                    changed.append((_called(student, grade), before, found.get(column)))
        return Exported(self.text(), filled, open_of(grades), tuple(absent), tuple(changed))

    def with_missing(
        self, done: Exported, missing: Missing, matches: Sequence[Match], column: str
    ) -> Exported:
        """Return what was made with a 0 for who handed in nothing, if that is asked for.

        What stands in a cell stays: "EX" for who is excused, points that were given by hand. So
        does the cell of whoever was graded: a roster may know them by another number than the
        platform, and count them as missing.
        """
        zeros, blank, kept, absent, changed = [], [], [], [], []
        for student in missing.students:
            found = self.find(student, matches)
            if found is None:
                absent.append(label(student))
            elif id(found) in self._graded:
                continue
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
            changed=(*done.changed, *changed),
            zeros=tuple(zeros),
            blank=tuple(blank),
            kept=tuple(kept),
        )

    def find(self, student: Student, matches: Sequence[Match]) -> Row | None:
        """Return a student's row; None where there is none, or several that fit equally well."""
        for match in matches:
            rows = [row for row in self.rows if match(row, student)]
            # Of two rows that fit neither is taken, as it may be another student's; the next column
            # may tell them apart.
            if len(rows) == 1:
                return rows[0]
        return None

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
    return by_student(grades) + [
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
