"""``report.json`` as types; also the source of its JSON Schema.

A report is a document **for staff**: ``message`` and ``evidence`` hold everything, hidden cases
included. What a student may read of a check is ``student_message``, made when the report is built,
so that no exporter ever has to decide what to hide: ``gradescope`` prints that field and no other.

Within ``schema_version`` 1 fields may be added, so a reader ignores what it does not know; none is
renamed or removed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, TypeVar

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    model_validator,
)
from pydantic_core import to_json

from grader.errors import UsageError
from grader.report.messages.catalogue import ENGLISH, words_in
from grader.report.messages.words import Words
from grader.sandbox.host.processes import Tier
from grader.store.files import write_atomic
from grader.submission.submission import CellMap
from grader.verdict import Basis, Code, Message, Owner, Status, Verdict, Visibility

SCHEMA_VERSION: Literal[1] = 1
SCHEMA_ID = "torchgrade/report/v1"
# Points are rounded part by part: rounded parts may add up to a little more than the whole.
_SLACK = 1e-3

Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class ReportStatus(str, Enum):
    """How complete a report is.

    ``incomplete``: the machine or the assignment failed somewhere; run again. ``pending``: some
    points wait for another machine or a person. ``graded``: neither.
    """

    GRADED = "graded"
    PENDING = "pending"
    INCOMPLETE = "incomplete"


class ReportPart(BaseModel):
    """Base of all parts of a report."""

    # Unknown fields are ignored, not refused: a later program may have written the report.
    model_config = ConfigDict(frozen=True)


class Scored(Protocol):
    """Something worth points: earned, still open, and at most.

    What is neither earned nor pending is lost.
    """

    @property
    def score(self) -> float:
        """Points earned."""

    @property
    def max_score(self) -> float:
        """Points for full credit."""

    @property
    def pending(self) -> float:
        """Points that wait for another run, machine or person."""

    @property
    def above(self) -> float:
        """Points that a bonus in it may earn above ``max_score``."""


_Part = TypeVar("_Part", bound=Scored)


def _within_bounds(part: _Part) -> _Part:
    if part.score + part.pending > part.max_score + part.above + _SLACK:
        raise ValueError(
            f"score {part.score} and pending {part.pending} exceed max_score {part.max_score}"
        )
    return part


def above(parts: Iterable[CheckResult | QuestionResult]) -> float:
    """Return the points that parts may earn above the maximum of the whole."""
    return math.fsum(part.above + (part.max_score if part.bonus else 0.0) for part in parts)


Place = tuple[str, str]
"""Id of a question, and of a check of it."""


class AssignmentInfo(ReportPart):
    """Which assignment; ``digest`` is over its files, so that a silent edit shows.

    ``titles`` is language → title, for each that the author translated it to.
    """

    id: str
    version: str
    title: str = ""
    titles: dict[str, str] = {}
    digest: str = ""


class FileInfo(ReportPart):
    """A graded file.

    Attributes:
        notebook: Name of the notebook that it was made from; empty if it was none.
        cells: Its line at which each code cell of that begins.
    """

    path: str
    sha256: str
    notebook: str = ""
    cells: tuple[int, ...] = ()


class SubmissionInfo(ReportPart):
    """Which submission; ``notes`` are sentences on what was done to it before grading."""

    id: str
    files: tuple[FileInfo, ...] = ()
    digest: str = ""
    notes: tuple[str, ...] = ()


class CheckResult(ReportPart):
    """The outcome of one check.

    Attributes:
        message: Everything there is to say, for staff.
        student_message: What the student may read; no value of a hidden case is in it.
        message_id: Stable id of the message, for scripts.
        params: What filled its blanks.
        case: Case that decided, if one did.
        hidden: That case is hidden.
        witnesses: What independent witnesses said, where a check has several.
        device: What its question ran on, such as ``virtual cuda ×1``; empty where it did not run.
        bonus: Its points count above its question's ``max_score``.
        needs_gpu: Nothing but a real GPU can settle it.
        uncounted: Points that it is worth where they count; see ``without_gpu``.
    """

    id: str
    kind: str
    status: Status
    code: Code
    owner: Owner | None = None
    basis: Basis = Basis.FACT
    score: Amount
    max_score: Amount
    pending: Amount
    message: str = ""
    student_message: str = ""
    message_id: str | None = None
    params: dict[str, JsonValue] = {}
    case: str | None = None
    hidden: bool = False
    visibility: Visibility = Visibility.VISIBLE
    evidence: dict[str, JsonValue] = {}
    witnesses: tuple[dict[str, JsonValue], ...] = ()
    device: str = ""
    bonus: bool = False
    needs_gpu: bool = False
    uncounted: Amount = 0.0

    _bounds = model_validator(mode="after")(_within_bounds)

    @property
    def above(self) -> float:
        """See ``Scored.above``."""
        return 0.0

    @property
    def to_mend(self) -> bool:
        """Tell whether something is to be mended: not in a rule that is kept beside a mistake."""
        return self.status.wrong and self.code is not Code.REQUIREMENT_NOT_MET


class QuestionResult(ReportPart):
    """The outcome of one question; the points of a ``bonus`` count above the report's maximum.

    ``titles`` is language → title, for each that the author translated it to.
    """

    id: str
    title: str
    titles: dict[str, str] = {}
    score: Amount
    max_score: Amount
    pending: Amount
    status: Status
    visibility: Visibility = Visibility.VISIBLE
    checks: tuple[CheckResult, ...]
    bonus: bool = False

    _bounds = model_validator(mode="after")(_within_bounds)

    @property
    def above(self) -> float:
        """See ``Scored.above``."""
        return above(self.checks)


class IsolationInfo(ReportPart):
    """How the submission was walled in; ``proved``: probe → what a real student process met."""

    tier: Tier
    mechanisms: tuple[str, ...] = ()
    proved: dict[str, str] = {}


class Environment(ReportPart):
    """Where the grading ran. Differs between machines without a grade differing."""

    torch: str
    python: str
    platform: str
    device: str
    isolation: IsolationInfo
    seed: int
    grader_version: str


class Timing(ReportPart):
    """Wall time in seconds: in all, by question, and by phase of the run."""

    seconds: Amount = 0.0
    questions: dict[str, Amount] = {}
    phases: dict[str, Amount] = {}


class MergedInfo(ReportPart):
    """A run on another machine that filled checks of a report, and where that was.

    Attributes:
        isolation: The walls there.
        checks: ``question.check`` of each that it filled.
    """

    device: str
    isolation: Tier
    seed: int
    platform: str
    torch: str
    grader_version: str
    checks: tuple[str, ...]


class LineComment(ReportPart):
    """What a person says of a line of a submission. It changes no points.

    Attributes:
        file: As the assignment names it.
        sha256: Of the file when the comment was written.
        line: From 1.
        notebook: Name of the notebook that the file was made from; empty if it was none.
        cell: Code cell of the line, from 1; 0 outside notebooks.
        line_in_cell: Line in that cell, from 1.
        excerpt: The line, as harmless text.
        text: The comment, which the student reads.
        who: Wrote it; empty in what a student gets.
        at: When.
        question: Question that it belongs to; empty if it belongs to the file.
        check: Check with which it is released; empty for the question's first.
        earlier: The file has changed since, so the line is one of an earlier version.
    """

    file: str
    sha256: str
    line: int
    notebook: str = ""
    cell: int = 0
    line_in_cell: int = 0
    excerpt: str
    text: str
    who: str
    at: AwareDatetime
    question: str = ""
    check: str = ""
    earlier: bool = False

    @property
    def place(self) -> str:
        """File, line and version: there is one comment for each."""
        return f"{self.file}:{self.line}:{self.sha256}"


class Report(ReportPart):
    """Everything that is known about the grading of one submission."""

    schema_version: Literal[1] = SCHEMA_VERSION
    assignment: AssignmentInfo
    submission: SubmissionInfo
    score: Amount
    max_score: Amount
    pending: Amount
    status: ReportStatus
    questions: tuple[QuestionResult, ...]
    environment: Environment
    timing: Timing = Timing()
    merged: tuple[MergedInfo, ...] = ()
    comments: tuple[LineComment, ...] = ()

    _bounds = model_validator(mode="after")(_within_bounds)

    @property
    def above(self) -> float:
        """See ``Scored.above``."""
        return above(self.questions)

    @property
    def standing(self) -> str:
        """How it stands, in a word; points that are open count for neither side."""
        if self.status is ReportStatus.INCOMPLETE:
            return "incomplete"
        if self.score + self.pending >= self.max_score:
            return "full"
        return "partial" if self.score else "zero"

    def checks(self) -> Iterator[tuple[str, CheckResult]]:
        """Yield all checks in their order, each with the id of its question."""
        for question in self.questions:
            for check in question.checks:
                yield question.id, check

    def by_place(self) -> dict[Place, CheckResult]:
        """Return question and check → the check."""
        return {(question, check.id): check for question, check in self.checks()}

    @property
    def uncounted(self) -> float:
        """Points that are taken out of the maximum, as the course has no GPU."""
        return math.fsum(check.uncounted for _, check in self.checks())

    @property
    def official(self) -> bool:
        """Tell whether the walls were good enough for a score that counts."""
        return self.environment.isolation.tier is not Tier.NONE


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``report.json`` (draft 2020-12)."""
    schema = Report.model_json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_ID, **schema}


REPORT_FILE = "report.json"


def json_bytes(document: Mapping[str, Any]) -> bytes:
    """Return a document as UTF-8 JSON; a NaN in it is refused, as other readers would choke."""
    # For what it refuses. It could write the file too, but indents ten times as slowly: a tenth of
    # a submission's time on the host. The other one would write a NaN.
    json.dumps(document, allow_nan=False)
    return to_json(document, indent=2) + b"\n"


def report_bytes(report: Report) -> bytes:
    """Return the content of ``report.json``."""
    return json_bytes(report.model_dump(mode="json"))


def write_report(report: Report, folder: Path) -> Path:
    """Write ``report.json`` into a folder, made if absent, and return its path.

    Raises:
        UsageError: The folder cannot be made or written.
        InfrastructureError: The disk is full or broken.
    """
    path = folder / REPORT_FILE
    write_atomic(path, report_bytes(report))
    return path


def read_report(path: Path) -> Report:
    """Return the report in a file.

    Raises:
        UsageError: There is none, or it is no report of a version that is known here.
    """
    try:
        return Report.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}; grade first") from error
    except ValidationError as error:
        first = error.errors()[0]
        # What is no JSON, such as a file cut short, has no place in it to name.
        where = ".".join(str(part) for part in first["loc"])
        reason = f"{where}: {first['msg']}" if where else first["msg"]
        raise UsageError(f"{path}: is no report: {reason}") from error


_Titled = TypeVar("_Titled", AssignmentInfo, QuestionResult)


def in_language(report: Report, language: str) -> Report:
    """Return a report with the messages and titles of a language.

    A title that the author has not translated stays as it is.
    """
    words = words_in(language)
    report = titled(report, language)
    if words is ENGLISH:
        return report
    words = words_for(report.submission, words)
    return report.model_copy(
        update={"questions": tuple(_question(each, words) for each in report.questions)}
    )


def words_for(submission: SubmissionInfo, words: Words) -> Words:
    """Return words that tell lines of a submission's notebooks by their cells."""
    return words.for_notebooks(
        (file.path, file.notebook, CellMap(file.cells) if file.cells else None)
        for file in submission.files
    )


def titled(report: Report, language: str) -> Report:
    """Return a report with the titles of a language, and messages as they are."""
    named = tuple(_named(part, language) for part in report.questions)
    return report.model_copy(
        update={"assignment": _named(report.assignment, language), "questions": named}
    )


def _named(part: _Titled, language: str) -> _Titled:
    title = part.titles.get(language)
    return part.model_copy(update={"title": title}) if title else part


def _question(question: QuestionResult, words: Words) -> QuestionResult:
    return question.model_copy(
        update={"checks": tuple(_check(check, words) for check in question.checks)}
    )


def _check(check: CheckResult, words: Words) -> CheckResult:
    verdict = Verdict(
        check.status,
        check.code,
        check.owner,
        # Made harmless when the report was built; of the same shapes.
        message=Message(check.message_id, check.params) if check.message_id else None,  # type: ignore[arg-type]
        case=check.case,
        hidden=check.hidden,
    )
    return check.model_copy(
        update={
            "message": words.for_staff(verdict),
            "student_message": words.for_student(verdict),
        }
    )
