"""One line a submission, as every gradebook has it: points, and what lateness costs.

A policy never touches a report: a report says what the work is worth, the gradebook what of that
counts. ::

    due: 2026-10-01T23:59:00+09:00
    grace_minutes: 10
    per_day: 0.1          # share of the score that each day begun takes
    most: 0.5             # the most that lateness takes
    closes: 2026-10-08T23:59:00+09:00    # what comes later earns nothing
    attempts: 10          # so many are free; only some platforms tell how many there were
    per_attempt: 0.05     # share of the score that each further one takes
    extensions:           # e-mail address, number or name of the submission → due instead
      mina@example.edu: 2026-10-03T23:59:00+09:00
"""

from __future__ import annotations

import datetime as dt
import math
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator

from grader.batch.decisions import awaited
from grader.batch.discover import ClassSubmission, Student
from grader.errors import UsageError
from grader.report.build import PLACES
from grader.report.lateness import LateCost
from grader.report.model import Report, ReportStatus
from grader.report.summary import amount, counted
from grader.verdict import Code, Status

_DAY = 24 * 3600
_Share = Annotated[float, Field(ge=0, le=1)]


class LatePolicy(BaseModel):
    """When a submission is due, and what coming later costs.

    Attributes:
        due: Deadline, with its time zone.
        grace_minutes: How much later is still in time; days are counted from ``due`` all the same.
        per_day: Share of the score that each day begun takes.
        most: The most that lateness takes, as a share.
        closes: What comes later than this earns nothing; an extension moves it along.
        attempts: How many are free; where the platform does not tell how many there were, all are.
        per_attempt: Share of the score that each further one takes.
        extensions: E-mail address, number or name of a submission → due instead.
        received: The same → when it came, whatever the platform tells.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    due: AwareDatetime
    grace_minutes: Annotated[float, Field(ge=0)] = 0.0
    per_day: _Share = 0.0
    most: _Share = 1.0
    closes: AwareDatetime | None = None
    attempts: Annotated[int, Field(ge=1)] | None = None
    per_attempt: _Share = 0.0
    extensions: dict[str, AwareDatetime] = {}
    received: dict[str, AwareDatetime] = {}

    @model_validator(mode="after")
    def _in_order(self) -> LatePolicy:
        if self.closes is not None and self.closes < self.due:
            raise ValueError(f"closes {self.closes} is before due {self.due}")
        for name, moment in self.extensions.items():
            if moment < self.due:
                raise ValueError(f"the extension of {name}, {moment}, is before due {self.due}")
        return self

    def __str__(self) -> str:
        parts = [f"due {self.due:%Y-%m-%d %H:%M %z}"]
        if self.per_day:
            parts.append(f"{self.per_day:.0%} a day, {self.most:.0%} at most")
        if self.closes:
            parts.append(f"closed {self.closes:%Y-%m-%d %H:%M %z}")
        if self.extensions:
            parts.append(counted(len(self.extensions), "extension"))
        return ", ".join(parts)

    def lateness(self, submission: ClassSubmission) -> Lateness:
        """Return how late a submission came, and what that and its attempts take."""
        late = self._lateness(submission)
        further = max(0, (submission.attempts or 0) - (self.attempts or sys.maxsize))
        if late.penalty is None or not further:
            return late
        return Lateness(late.days, min(1.0, late.penalty + further * self.per_attempt), further)

    def _lateness(self, submission: ClassSubmission) -> Lateness:
        """Return what the time alone takes; the kindest extension counts."""
        names = {submission.name.casefold()}
        for student in submission.students:
            # Not by name: two students may share one, and the deadline was moved for one of them.
            keys = (student.email, student.id, student.platform_id)
            names |= {key.casefold() for key in keys if key}
        came = max(_of_any(names, self.received), default=submission.created_at)
        if came is None:
            # Late by the platform's word, without a time: how much that takes, a person has to say.
            return Lateness(None, 0.0 if submission.late is False else None)
        due = max([self.due, *_of_any(names, self.extensions)])
        late = (came - due).total_seconds()
        if late <= self.grace_minutes * 60:
            return Lateness(0.0, 0.0)
        if self.closes and came > max(self.closes, due):
            return Lateness(late / _DAY, 1.0)
        return Lateness(late / _DAY, min(self.most, math.ceil(late / _DAY) * self.per_day))

    def refuse_strangers(
        self, submissions: Sequence[ClassSubmission], absent: Sequence[Student] = ()
    ) -> None:
        """Refuse dates for somebody who is not in the class: a name mistyped.

        Args:
            submissions: Of the class.
            absent: Who is on the roster and handed in nothing so far.

        Raises:
            UsageError: Names them.
        """
        known = {submission.name.casefold() for submission in submissions}
        for student in (*absent, *(each for one in submissions for each in one.students)):
            known |= {key.casefold() for key in (student.email, student.id, student.platform_id)}
        for what, given in (("extensions", self.extensions), ("received", self.received)):
            strangers = [name for name in given if name.casefold() not in known]
            if strangers:
                raise UsageError(
                    f"{what} for {', '.join(strangers)}, who handed nothing in here and is on no "
                    "roster; write the e-mail address, number or submission as the gradebook does"
                )


def _of_any(names: Collection[str], given: Mapping[str, dt.datetime]) -> list[dt.datetime]:
    """Return the moments given for any of these names, which are in small letters."""
    return [moment for name, moment in given.items() if name.casefold() in names]


@dataclass(frozen=True, slots=True)
class Lateness:
    """How late something came.

    Attributes:
        days: Days after it was due; None where nobody knows when it came.
        penalty: Share of the score that this takes; None where a person has to say.
        attempts: Beyond the free ones.
    """

    days: float | None
    penalty: float | None
    attempts: int = 0


def read_policy(path: Path) -> LatePolicy:
    """Return the policy in a file.

    Raises:
        UsageError: It cannot be read, or does not say what a policy says; names the field.
    """
    try:
        content = yaml.safe_load(path.read_text())
        return LatePolicy.model_validate(content)
    except OSError as error:
        raise UsageError(f"--late {path}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"--late {path}: is no YAML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        advice = (
            "; write times with their zone, as 2026-10-01T23:59:00+09:00"
            if "timezone" in first["type"] or "datetime" in first["type"]
            else ""
        )
        raise UsageError(f"--late {path}: {where}: {first['msg']}{advice}") from error


class Pending(str, Enum):
    """How points that wait for a machine count in a grade: not yet, as lost, or as earned."""

    ASK = "ask"
    ZERO = "zero"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Grade:
    """What a submission earned.

    Attributes:
        submission: Whose, and from when.
        report: What its work is worth.
        days_late: None where nobody knows.
        penalty: Share of the score that lateness and attempts take; None where a person has to say.
        policy: There is one.
        pending: How points that wait for a machine count.
        attempts: Attempts that are not free.
    """

    submission: ClassSubmission
    report: Report
    days_late: float | None = None
    penalty: float | None = 0.0
    policy: bool = False
    pending: Pending = Pending.ASK
    attempts: int = 0

    @property
    def late(self) -> LateCost | None:
        """What lateness takes, for the student; None without a policy."""
        if not self.policy:
            return None
        return LateCost(self.days_late, self.attempts, self.penalty, self.final)

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
        """Pending points that whoever gives the grades may settle."""
        return _settled(self.report)

    @property
    def final(self) -> float | None:
        """Points that count; None where something is still open: it is not a grade yet."""
        # No grade rather than a low one: a number that goes out looks final to a student.
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
            waiting = sum(check.pending for _, check in awaited(self.report))
            person = f", {amount(waiting)} of them for a person to decide (`grader review`)"
            reasons.append(f"{counted(self.open, 'point')} pending{person if waiting else ''}")
        if self.penalty is None:
            reasons.append("late or not is unknown: say when it came (`received`)")
        return "; ".join(reasons)


def _settled(report: Report) -> float:
    """Return the pending points that ``--pending zero`` or ``full`` may settle.

    These wait for a machine: a GPU, the clock, a package. Points that wait for a person do not
    count here, nor those of a question that was left out.
    """
    return sum(
        check.pending
        for _, check in report.checks()
        if check.status is Status.DEFERRED and check.code is not Code.NEEDS_REVIEW
    )


def grade_of(submission: ClassSubmission, report: Report, policy: LatePolicy | None) -> Grade:
    """Return the grade of a submission under a policy on lateness, if there is one."""
    if policy is None:
        return Grade(submission, report)
    late = policy.lateness(submission)
    return Grade(submission, report, late.days, late.penalty, True, attempts=late.attempts)


def who(grades: Sequence[Grade], absent: Sequence[Student] = ()) -> list[dict[str, str]]:
    """Return the gradebook's columns on whose each row is; none where nobody says.

    Args:
        grades: Of the class.
        absent: Who handed in nothing; their rows come last.
    """
    rows = [*(grade.submission.students for grade in grades), *((each,) for each in absent)]
    fields = [("name", "name"), ("email", "email"), ("student_id", "id")]
    if any(student.section for students in rows for student in students):
        fields.append(("section", "section"))
    if not any(rows):
        return []
    return [
        {
            heading: "; ".join(getattr(student, field) for student in students)
            for heading, field in fields
        }
        for students in rows
    ]


def lateness(grades: Sequence[Grade]) -> list[dict[str, str]]:
    """Return the gradebook's columns on lateness; none without a policy."""
    if not any(grade.policy for grade in grades):
        return []
    return [
        {
            "created_at": _text(
                grade.submission.created_at and grade.submission.created_at.isoformat()
            ),
            "attempts": _text(grade.submission.attempts),
            "days_late": _text(grade.days_late and amount(max(0.0, grade.days_late))),
            "penalty": "" if grade.penalty is None else amount(grade.penalty),
            "final": "" if grade.final is None else amount(grade.final),
        }
        for grade in grades
    ]


def _text(value: object) -> str:
    return str(value) if value else ""


def about(submission: ClassSubmission) -> dict[str, Any]:
    """Return what is known of a submission beside its files, as plain JSON."""
    return {
        "students": [asdict(student) for student in submission.students],
        "created_at": submission.created_at.isoformat() if submission.created_at else None,
        "late": submission.late,
        "attempts": submission.attempts,
        "path": {name: str(path) for name, path in submission.path.items()}
        if isinstance(submission.path, Mapping)
        else str(submission.path),
    }


def submission_of(name: str, known: Mapping[str, Any]) -> ClassSubmission:
    """Return the submission that ``about`` described."""
    where = known["path"]
    moment = known["created_at"]
    return ClassSubmission(
        name,
        {each: Path(path) for each, path in where.items()}
        if isinstance(where, Mapping)
        else Path(where),
        tuple(Student(**each) for each in known["students"]),
        dt.datetime.fromisoformat(moment) if moment else None,
        known["late"],
        known.get("attempts"),
    )
