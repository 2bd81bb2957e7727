"""``course.yml`` beside ``assignments/``: what holds for a whole course.

::

    schema: torchgrade/course/v1
    timezone: Asia/Seoul
    roster: roster.csv                    # path from this file
    language: ko                          # of pages and messages
    released: visible                     # what students' pages show
    partial: false                        # results are right or wrong
    gpu: none                             # points that wait for one are out of the maximum
    batch: {isolation: full, clock: auto, jobs: 4}
    late: {grace_minutes: 10, per_day: 0.1, most: 0.5, closes_after_days: 7}
    assignments:
      pytorch101:
        due: 2026-10-01 23:59             # in that time zone
        extensions:
          mina@example.edu: 2026-10-03 23:59
        columns: {canvas: "A1 (12345)"}

Every part is optional. Options on the command line win.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from grader.assignment.dims import AssignmentPart
from grader.assignment.document import ProblemAt, YamlDocument, read_document
from grader.assignment.find import COURSE_FILE
from grader.assignment.load import explain
from grader.assignment.types import described_schema
from grader.batch.grades import LatePolicy
from grader.batch.ledger import GpuChoice, read_setup
from grader.batch.roster import Roster, read_roster
from grader.errors import AssignmentError, UsageError

COURSE_SCHEMA_ID = "torchgrade/course/v1"
_HOME = "assignments"
_Share = Annotated[float, Field(ge=0, le=1)]


def _a_moment(text: str) -> str:
    try:
        dt.datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f"“{text}” is no time; write 2026-10-01 23:59, or with a zone 2026-10-01T23:59:00+09:00"
        ) from None
    # A bare date would be its first minute, nearly a day before what was meant.
    if len(text) < len("2026-10-01 23:59"):
        raise ValueError(f"“{text}” has no time of day; write {text} 23:59")
    return text


def _a_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise ValueError(
            f"“{name}” is no time zone that this machine knows; write one such as Asia/Seoul, or "
            "UTC (where none is known: pip install tzdata)"
        ) from None
    return name


Moment = Annotated[str, AfterValidator(_a_moment)]
"""A time as typed; without a zone it is in the course's."""


class CourseLateRule(AssignmentPart):
    """What coming late costs.

    Attributes:
        grace_minutes: How much later is still in time.
        per_day: Share of the score that each day begun takes.
        most: The most that lateness takes, as a share.
        closes_after_days: Days after the due date; what comes later earns nothing.
        attempts: How many are free.
        per_attempt: Share of the score that each further one takes.
    """

    grace_minutes: Annotated[float, Field(ge=0)] = 0.0
    per_day: _Share = 0.0
    most: _Share = 1.0
    closes_after_days: Annotated[float, Field(ge=0)] | None = None
    attempts: Annotated[int, Field(ge=1)] | None = None
    per_attempt: _Share = 0.0


class CourseDefaults(AssignmentPart):
    """Options of ``grader batch`` where the command line has none.

    Attributes:
        isolation: As --isolation.
        clock: As --clock.
        jobs: As --jobs.
    """

    isolation: Literal["auto", "full", "restricted", "none"] | None = None
    clock: Literal["auto", "off"] | None = None
    jobs: Annotated[int, Field(ge=1)] | None = None


class CourseColumns(AssignmentPart):
    """Where an assignment's grades go.

    Attributes:
        canvas: Heading of its column in Canvas' gradebook.
    """

    canvas: str = ""


class CourseAssignment(AssignmentPart):
    """What a course says of one assignment.

    Attributes:
        due: Deadline.
        extensions: E-mail address, number or name of a submission → due instead.
        received: The same → when it came, whatever the platform tells.
        late: What coming late costs here, in place of the course's rule.
        columns: Where grades go.
    """

    due: Moment | None = None
    extensions: dict[str, Moment] = Field(default_factory=dict)
    received: dict[str, Moment] = Field(default_factory=dict)
    late: CourseLateRule | None = None
    columns: CourseColumns = CourseColumns()


class CourseSpec(AssignmentPart):
    """The file.

    Attributes:
        schema_: Version of this format.
        timezone: Of times without one, by its IANA name.
        roster: CSV of everybody in the course, as a path from this file.
        language: Of pages and messages.
        released: What students' pages show: visible checks, those for after the due date too, or
            those for after grades are published.
        partial: Known mistakes and slips earn the prices that assignments give them, and rules a
            share of what they rest on.
        gpu: Whether there is a GPU to grade with; ``none`` takes what only one can settle out of
            the maximum.
        batch: Options of ``grader batch``.
        late: What coming late costs.
        assignments: Id → what holds for it.
    """

    schema_: Literal["torchgrade/course/v1"] = Field(alias="schema")
    timezone: Annotated[str, AfterValidator(_a_zone)] = "UTC"
    roster: Annotated[str, Field(min_length=1)] | None = None
    language: Literal["en", "ko"] | None = None
    released: Literal["visible", "after_due_date", "after_published"] | None = None
    partial: bool = True
    gpu: GpuChoice | None = None
    batch: CourseDefaults = CourseDefaults()
    late: CourseLateRule = CourseLateRule()
    assignments: dict[str, CourseAssignment] = Field(default_factory=dict)


class Course:
    """A course as commands ask for it.

    Args:
        spec: Its file's content.
        file: The file.
    """

    def __init__(self, spec: CourseSpec, file: Path) -> None:
        self.spec = spec
        self._file = file

    def columns(self, assignment: str) -> CourseColumns:
        """Return where grades of an assignment go."""
        return self._about(assignment).columns

    def roster(self) -> Roster | None:
        """Return who is in the course; None where no roster is named.

        Raises:
            UsageError: The roster cannot be read.
        """
        return read_roster(self._file.parent / self.spec.roster) if self.spec.roster else None

    def policy(self, assignment: str) -> LatePolicy | None:
        """Return what lateness costs in an assignment; None where it has no due date."""
        about = self._about(assignment)
        if about.due is None:
            return None
        due, rule = self._moment(about.due), about.late or self.spec.late
        days = rule.closes_after_days
        return LatePolicy(
            due=due,
            closes=None if days is None else due + dt.timedelta(days=days),
            extensions={name: self._moment(text) for name, text in about.extensions.items()},
            received={name: self._moment(text) for name, text in about.received.items()},
            **rule.model_dump(exclude={"closes_after_days"}),
        )

    def findings(self) -> Iterator[ProblemAt]:
        """Yield what shows only when parts are compared."""
        for name, about in self.spec.assignments.items():
            here = ("assignments", name)
            if not (self._file.parent / _HOME / name / "assignment.yml").is_file():
                yield here, f"there is no {_HOME}/{name}/assignment.yml beside this file"
            if about.extensions and about.due is None:
                yield (*here, "extensions"), "an extension needs a date to extend: due is missing"
                continue
            for student, text in about.extensions.items():
                if about.due and self._moment(text) < self._moment(about.due):
                    yield (*here, "extensions", student), f"{text} is before due {about.due}"

    def _about(self, assignment: str) -> CourseAssignment:
        return self.spec.assignments.get(assignment, CourseAssignment())

    def _moment(self, text: str) -> dt.datetime:
        moment = dt.datetime.fromisoformat(text)
        return moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(self.spec.timezone))


def course_of(assignment_file: Path) -> Course | None:
    """Return the course that an assignment belongs to; None where there is no ``course.yml``.

    Raises:
        AssignmentError: The file is broken; lists everything that was found, with its line.
        UsageError: It cannot be read.
    """
    home = assignment_file.resolve().parent.parent
    file = home.parent / COURSE_FILE
    if home.name != _HOME or not file.is_file():
        return None
    return read_course(file)


def gpu_in_course(assignment_file: Path) -> GpuChoice | None:
    """Return whether the course of an assignment has a GPU; None where nothing says so.

    Raises:
        AssignmentError: The file is broken; lists everything that was found, with its line.
        UsageError: It cannot be read.
    """
    course = course_of(assignment_file)
    return course.spec.gpu if course else None


def canvas_column(out: Path) -> str:
    """Return the heading in Canvas that the course of a batch names; empty where it does not.

    Raises:
        UsageError: No batch was begun there, or another ``grader`` is at work there.
    """
    setup = read_setup(out)
    course = course_of(Path(setup.file))
    return course.columns(setup.assignment).canvas if course else ""


def policy_now(out: Path) -> LatePolicy | None:
    """Return what lateness costs in a batch by its course's file as it is now; else None.

    Raises:
        UsageError: No batch was begun there, or another ``grader`` is at work there.
        AssignmentError: The file is broken.
    """
    setup = read_setup(out)
    course = course_of(Path(setup.file))
    return course.policy(setup.assignment) if course else None


def read_course(file: Path) -> Course:
    """Return a course.

    Raises:
        AssignmentError: It is broken; lists everything that was found, with its line.
        UsageError: It cannot be read.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    document = read_document(str(file), content)
    try:
        # By way of JSON, as assignments are: strict Python data would refuse words for enums.
        spec = CourseSpec.model_validate_json(json.dumps(document.data), strict=True)
    except ValidationError as error:
        raise _broken(document, explain(error, document, _model_at)) from None
    course = Course(spec, file)
    if found := list(course.findings()):
        raise _broken(document, found)
    return course


def _broken(
    document: YamlDocument, found: Iterator[ProblemAt] | list[ProblemAt]
) -> AssignmentError:
    problems = [document.problem(*finding) for finding in found]
    return AssignmentError(sorted(problems, key=lambda problem: problem.line or 0))


_PARTS: dict[str, type[BaseModel]] = {
    "batch": CourseDefaults,
    "late": CourseLateRule,
    "columns": CourseColumns,
}


def _model_at(words: Sequence[str]) -> type[BaseModel]:
    """Return what reads a mapping, by the words on the way to it."""
    if not words:
        return CourseSpec
    return CourseAssignment if words[-2:-1] == ["assignments"] else _PARTS[words[-1]]


def course_schema() -> dict[str, Any]:
    """Return the JSON Schema of the file, for editors."""
    return described_schema(CourseSpec, COURSE_SCHEMA_ID, "torchgrade course")
