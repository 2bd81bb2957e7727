"""Who is in a course, from a CSV: names and numbers for tables, and who handed in nothing.

Schools and platforms write such lists in many ways: with commas, semicolons or tabs, with or
without a BOM, under headings of their own. What a heading means is looked up here; a file in which
nobody could be recognised is refused, with its line.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from grader.batch.discover import ClassSubmission, Student
from grader.errors import UsageError
from grader.report.summary import few
from grader.text import inert

_HEADINGS: Mapping[str, frozenset[str]] = {
    "id": frozenset({
        "id", "sid", "number", "student id", "student number", "student no", "id number",
        "matriculation number", "sis user id", "university id", "학번",
    }),
    "login": frozenset({"sis login id"}),
    "name": frozenset({"name", "full name", "student", "student name", "이름", "성명"}),
    "first": frozenset({"first name", "given name", "given names", "firstname"}),
    "last": frozenset({"last name", "surname", "family name", "lastname"}),
    "email": frozenset({"email", "e mail", "email address", "mail", "address", "이메일"}),
    "section": frozenset({"section", "group", "class", "lab", "tutorial", "분반"}),
}  # fmt: skip
"""What a column is → how it may be headed, once ``_`` and ``-`` are blanks and case is none."""
_LISTED = 8
_MAX_NAME = 60
_CANVAS = frozenset({"student", "id", "sis user id"})
"""Headings of Canvas' own gradebook. Its ``ID`` is the number that its downloads carry."""
_CANVAS_TEST = "student, test"


class RosterStudent(BaseModel):
    """Somebody in the course; an empty text is unknown.

    Attributes:
        name: Full name.
        email: Address.
        id: The school's number.
        section: Group or lab.
        platform_id: The platform's number, where the list has both.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = ""
    email: str = ""
    id: str = ""
    section: str = ""
    platform_id: str = ""

    def student(self) -> Student:
        """Return them as somebody who is graded."""
        return Student(self.name, self.email, self.id, self.section, self.platform_id)

    @property
    def about(self) -> tuple[str, str, str]:
        """What tells them from others."""
        return self.name, self.email, self.id

    def names(self) -> set[str]:
        """Return what a submission of theirs may be called."""
        mailbox = self.email.partition("@")[0]
        return {text.casefold() for text in (self.id, self.email, mailbox, self.name) if text}


class Roster(BaseModel):
    """Everybody in a course.

    Attributes:
        students: In the order of the file.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    students: tuple[RosterStudent, ...] = ()

    def named(self, submission: ClassSubmission) -> ClassSubmission:
        """Return a submission with the names and numbers of the roster.

        Where the platform names nobody, the submission's own name tells whose it is.
        """
        if submission.students:
            students = tuple(self._completed(student) for student in submission.students)
            return replace(submission, students=students)
        (owners,) = self._owners(submission)
        # Two students of one name: a guess would give one of them the other's grade.
        if len(owners) != 1:
            return submission
        return replace(submission, students=(owners[0].student(),))

    def absent(self, submissions: Iterable[ClassSubmission]) -> tuple[RosterStudent, ...]:
        """Return who handed in nothing, in the order of the file.

        Of several whom a submission fits nobody is counted as absent: one of them is not.
        """
        there = {own for each in submissions for owners in self._owners(each) for own in owners}
        return tuple(each for each in self.students if each not in there)

    def strangers(self, submissions: Iterable[ClassSubmission]) -> tuple[str, ...]:
        """Return the submissions of nobody on the roster."""
        return tuple(each.name for each in submissions if not any(self._owners(each)))

    def remarks(self, submissions: Sequence[ClassSubmission]) -> list[str]:
        """Return a sentence each on who is on no line of the roster, and who on several."""
        lines: list[str] = []
        if not self.students:
            return lines
        if strangers := self.strangers(submissions):
            lines.append(f"On no line of the roster: {few(strangers)}. Graded like the others.")
        for each in submissions:
            for owners in self._owners(each):
                if len(owners) > 1:
                    who = "; ".join(" ".join(filter(None, own.about)) for own in owners)
                    lines.append(
                        f"Several students of the roster fit {inert(each.name, _MAX_NAME)}: {who}. "
                        "Graded like the others, under none of these numbers. None of them counts "
                        "as absent."
                    )
        return lines

    def _owners(self, submission: ClassSubmission) -> list[Sequence[RosterStudent]]:
        """Return who on the roster each student of a submission may be."""
        if submission.students:
            return [self._fitting(student) for student in submission.students]
        name = submission.name.casefold()
        return [[each for each in self.students if name in each.names()]]

    def _completed(self, student: Student) -> Student:
        fitting = self._fitting(student)
        if len(fitting) != 1:  # nobody on the roster, or one of several
            return student
        (own,) = fitting
        return Student(
            own.name or student.name,
            own.email or student.email,
            own.id or student.id,
            own.section,
            # The platform finds its students by its own number when grades go back, not by the
            # school's.
            student.platform_id or student.id,
        )

    def _fitting(self, student: Student) -> Sequence[RosterStudent]:
        """Return who on the roster a student is: by address, else by number, else by name.

        In this order, as a platform's numbers may be others than the school's. Several where
        nothing tells them apart.
        """
        several: Sequence[RosterStudent] = ()
        known: tuple[tuple[str, Callable[[RosterStudent], set[str]]], ...] = (
            (student.email, lambda each: {each.email}),
            (student.platform_id or student.id, lambda each: {each.platform_id}),
            (student.id, lambda each: {each.id}),
            (student.name, lambda each: {each.name}),
            # Canvas writes names without blanks into its downloads, the last name first.
            ("" if student.email else student.name, lambda each: _in_one_word(each.name)),
        )
        for text, names in known:
            wanted = text.casefold()
            same = [
                each
                for each in self.students
                if wanted and wanted in map(str.casefold, names(each))
            ]
            # Of two who share it nobody is taken, for the same reason; the next field may tell them
            # apart.
            if len(same) == 1:
                return same
            several = several or same
        return several


def _in_one_word(name: str) -> set[str]:
    """Return a name without blanks and signs, whichever part of it stands first."""
    parts = ["".join(filter(str.isalnum, part)) for part in re.split(r"[\s,]+", name)]
    return {"".join(parts[place:] + parts[:place]) for place in range(len(parts))}


def read_roster(path: Path) -> Roster:
    """Return the roster in a CSV.

    Raises:
        UsageError: It cannot be read, has no column that tells people apart, or lists somebody
            twice; names the line.
    """
    try:
        # Excel begins a file with a byte-order mark, which would else be part of the first heading.
        text = path.read_bytes().decode("utf-8-sig")
        # And separates by semicolons wherever a comma is the decimal mark.
        delimiter = max(",;\t", key=text.partition("\n")[0].count)
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except OSError as error:
        raise UsageError(f"roster {path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{path}:{line}: is not UTF-8; save the file as “CSV UTF-8” and try again"
        ) from error
    except csv.Error as error:
        raise UsageError(f"{path}: is no CSV: {error}") from error
    places = _places(path, rows[0] if rows else [])
    students = [
        (line, _student(path, line, row, places))
        for line, row in enumerate(rows[1:], 2)
        if any(map(str.strip, row)) and not _is_no_student(row, places)
    ]
    _refuse_twins(path, students)
    return Roster(students=tuple(student for _, student in students))


def _places(path: Path, headings: Sequence[str]) -> dict[str, int]:
    """Return what is known of a student → its column; the first of two counts."""
    places: dict[str, int] = {}
    for place, heading in enumerate(headings):
        for field, known in _HEADINGS.items():
            if _plain(heading) in known:
                places.setdefault(field, place)
    if not {"id", "email"} & set(places):
        found = ", ".join(f"“{heading}”" for heading in headings[:_LISTED]) or "nothing"
        raise UsageError(
            f"{path}:1: no column is called “id” or “email”, so students cannot be told apart; "
            f"found {found}. The first line names the columns: id, name, email, section"
        )
    if {_plain(heading) for heading in headings} >= _CANVAS:
        numbers = {_plain(heading): place for place, heading in enumerate(headings)}
        places.update(id=numbers["sis user id"], platform_id=numbers["id"])
    return places


def _plain(heading: str) -> str:
    return " ".join(heading.replace("_", " ").replace("-", " ").casefold().split())


def _is_no_student(row: Sequence[str], places: Mapping[str, int]) -> bool:
    """Tell whether a line of Canvas' gradebook is about its columns, or its test student."""
    if "platform_id" not in places:
        return False
    name, number = (
        row[place].strip() if (place := places[field]) < len(row) else ""
        for field in ("name", "platform_id")
    )
    return not number or name.casefold() == _CANVAS_TEST


def _student(path: Path, line: int, row: Sequence[str], places: Mapping[str, int]) -> RosterStudent:
    def get(field: str) -> str:
        place = places.get(field, len(row))
        return row[place].strip() if place < len(row) else ""

    # Canvas' gradebook has no other addresses; some schools log in by them.
    email = get("email") or (get("login") if "@" in get("login") else "")
    number = get("id") or get("platform_id")
    if not number and not email:
        raise UsageError(f"{path}:{line}: has neither a number nor an address")
    return RosterStudent(
        name=get("name") or f"{get('first')} {get('last')}".strip(),
        email=email,
        id=number,
        section=get("section"),
        platform_id=get("platform_id"),
    )


def _refuse_twins(path: Path, students: Sequence[tuple[int, RosterStudent]]) -> None:
    seen: dict[str, int] = {}
    for line, student in students:
        for text in {student.id.casefold(), student.email.casefold()} - {""}:
            if text in seen:
                raise UsageError(f"{path}:{line}: “{text}” is already on line {seen[text]}")
            seen[text] = line
