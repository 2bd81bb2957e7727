"""One line a hand-in: what a gradebook of any kind is made of."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from grader.batch.decisions import awaited
from grader.batch.discover import HandIn, Student
from grader.batch.late import LatePolicy
from grader.report.model import Report, ReportStatus
from grader.report.points import PLACES
from grader.report.summary import amount, counted
from grader.verdict import Code, Status


class Pending(str, Enum):
    """What counts of points that wait for a machine, on the word of whoever gives the grades."""

    ASK = "ask"
    ZERO = "zero"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Grade:
    """What a hand-in earned.

    Attributes:
        hand_in: Whose, and from when.
        report: What its work is worth.
        days_late: None where nobody knows.
        penalty: Share of the score that lateness and attempts take; None where a person has to say.
        policy: There is one.
        pending: What counts of points that wait for a machine.
    """

    hand_in: HandIn
    report: Report
    days_late: float | None = None
    penalty: float | None = 0.0
    policy: bool = False
    pending: Pending = Pending.ASK

    @property
    def score(self) -> float | None:
        """Points before lateness; None where the report is incomplete."""
        if self.report.status is ReportStatus.INCOMPLETE:
            return None
        given = _settled(self.report) if self.pending is Pending.FULL else 0.0
        return round(self.report.score + given, PLACES)

    @property
    def open(self) -> float:
        """Pending points that nobody has decided on."""
        settled = 0.0 if self.pending is Pending.ASK else _settled(self.report)
        return max(0.0, round(self.report.pending - settled, PLACES))

    @property
    def settleable(self) -> float:
        """Pending points that are theirs to decide on who give the grades."""
        return _settled(self.report)

    @property
    def final(self) -> float | None:
        """Points that count; None where something is still open: it is not a grade yet."""
        if self.score is None or self.open or self.penalty is None:
            return None
        return round(self.score * (1 - self.penalty), PLACES)

    @property
    def why_open(self) -> str:
        """Why there is no final grade, in words; empty where there is one."""
        reasons = []
        if self.score is None:
            reasons.append("incomplete: the grader failed in places")
        elif self.open:
            reasons.append(f"{counted(self.open, 'point')} pending{_for_a_person(self.report)}")
        if self.penalty is None:
            reasons.append("late or not is unknown")
        return "; ".join(reasons)


def _for_a_person(report: Report) -> str:
    """Return how many of the pending points a person has to decide on, in words."""
    points = sum(check.pending for _, check in awaited(report))
    return f", {amount(points)} of them for a person to decide (`grader review`)" if points else ""


def _settled(report: Report) -> float:
    """Return the pending points that a word may settle.

    Those that wait for a machine: a GPU, the clock, a package. Not those that wait for a person,
    who has to look, nor those of a question that was left out.
    """
    return sum(
        check.pending
        for question in report.questions
        for check in question.checks
        if check.status is Status.DEFERRED and check.code is not Code.NEEDS_REVIEW
    )


def grade_of(hand_in: HandIn, report: Report, policy: LatePolicy | None) -> Grade:
    """Return the grade of a hand-in under a policy on lateness, if there is one."""
    if policy is None:
        return Grade(hand_in, report)
    lateness = policy.lateness(hand_in)
    return Grade(hand_in, report, lateness.days, lateness.penalty, policy=True)


def who(grades: Sequence[Grade]) -> list[dict[str, str]]:
    """Return the gradebook's columns on whose each hand-in is; none where no platform says."""
    if not any(grade.hand_in.students for grade in grades):
        return []
    return [
        {
            heading: "; ".join(getattr(student, field) for student in grade.hand_in.students)
            for heading, field in (("name", "name"), ("email", "email"), ("student_id", "id"))
        }
        for grade in grades
    ]


def lateness(grades: Sequence[Grade]) -> list[dict[str, str]]:
    """Return the gradebook's columns on lateness; none without a policy."""
    if not any(grade.policy for grade in grades):
        return []
    return [
        {
            "created_at": _text(grade.hand_in.created_at and grade.hand_in.created_at.isoformat()),
            "attempts": _text(grade.hand_in.attempts),
            "days_late": _text(grade.days_late and amount(max(0.0, grade.days_late))),
            "penalty": "" if grade.penalty is None else amount(grade.penalty),
            "final": "" if grade.final is None else amount(grade.final),
        }
        for grade in grades
    ]


def _text(value: object) -> str:
    return str(value) if value else ""


def about(hand_in: HandIn) -> dict[str, Any]:
    """Return what is known of a hand-in beside its files, as plain JSON."""
    return {
        "students": [asdict(student) for student in hand_in.students],
        "created_at": hand_in.created_at.isoformat() if hand_in.created_at else None,
        "late": hand_in.late,
        "attempts": hand_in.attempts,
        "path": {name: str(path) for name, path in hand_in.path.items()}
        if isinstance(hand_in.path, Mapping)
        else str(hand_in.path),
    }


def hand_in_of(name: str, known: Mapping[str, Any]) -> HandIn:
    """Return the hand-in that ``about`` described."""
    where = known["path"]
    moment = known["created_at"]
    return HandIn(
        name,
        {each: Path(path) for each, path in where.items()}
        if isinstance(where, Mapping)
        else Path(where),
        tuple(Student(**each) for each in known["students"]),
        dt.datetime.fromisoformat(moment) if moment else None,
        known["late"],
        known.get("attempts"),
    )


def by_student(grades: Iterable[Grade]) -> list[tuple[Student, Grade]]:
    """Return one pair a student: each member of a group has the group's grade."""
    return [(student, grade) for grade in grades for student in grade.hand_in.students]
