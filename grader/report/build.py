"""Verdicts become a report. Pure: no clock, no file, no environment.

Every check starts as “not run”, a fault of the infrastructure with its points pending, and is
replaced by its verdict if there is one. So a run that dies half-way can neither award points nor
take them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from grader.assignment.types import Assignment, Question
from grader.checks.base import Check
from grader.checks.compare_trees import called_params
from grader.checks.speed import only_on_device
from grader.errors import InfrastructureError
from grader.report.messages.catalogue import ENGLISH
from grader.report.messages.words import Words
from grader.report.model import (
    AssignmentInfo,
    CheckResult,
    Environment,
    FileInfo,
    QuestionResult,
    Report,
    ReportStatus,
    SubmissionInfo,
    Timing,
    words_for,
)
from grader.submission.submission import Submission
from grader.text import inert, json_safe_mapping
from grader.verdict import (
    NOTHING_TO_JUDGE,
    PRICE,
    Code,
    Message,
    Owner,
    Param,
    Status,
    Verdict,
    Visibility,
    Witness,
    fault,
)

Verdicts = Mapping[str, Mapping[str, Verdict]]
"""Question id → check id → verdict."""

_NOT_RUN = fault(Code.NOT_RUN, Owner.INFRASTRUCTURE, Message("not_run"))
_NOT_SELECTED = Verdict(Status.SKIPPED, Code.NOT_RUN, message=Message("not_selected"))
_NO_TIMING = Timing()
_MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What the run knows beside verdicts.

    Attributes:
        environment: Where it ran.
        timing: How long it took.
        assignment_digest: Hex digest over the assignment's files.
        questions: Ids that were asked for; all where None. The others' points stay pending.
        devices: Id of a question that ran → what it ran on.
        titles: Language → question → title; the assignment's own is under ``""``.
    """

    environment: Environment
    timing: Timing = _NO_TIMING
    assignment_digest: str = ""
    questions: frozenset[str] | None = None
    devices: Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def titles_of(self, question: str = "") -> dict[str, str]:
        """Return language → title, of a question or of the assignment."""
        known = {language: titles.get(question) for language, titles in self.titles.items()}
        return {language: title for language, title in known.items() if title}


def submission_info(submission: Submission, words: Words = ENGLISH) -> SubmissionInfo:
    """Return what a report says about a submission."""
    files = (
        FileInfo(
            path=file.path,
            sha256=file.sha256,
            notebook=file.notebook,
            cells=file.cells.first_lines if file.cells else (),
        )
        for file in submission.files
    )
    return SubmissionInfo(
        id=submission.id,
        files=tuple(files),
        digest=submission.digest,
        notes=tuple(words.render(note) for note in submission.notes),
    )


def build_report(
    assignment: Assignment,
    submission: SubmissionInfo,
    verdicts: Verdicts,
    run: RunRecord,
    words: Words = ENGLISH,
) -> Report:
    """Return the report.

    Args:
        assignment: What was asked.
        submission: What was handed in.
        verdicts: What is known; a check without a verdict was not run.
        run: Environment, timing and selection.
        words: Language.

    Raises:
        InfrastructureError: A verdict is for a check that does not exist, or its credit is no
            share of the points.
    """
    _refuse_strangers(assignment, verdicts)
    words = words_for(submission, words)
    pairs = [
        _question(
            question,
            _placed(_complete(question, verdicts, run), assignment.place_of(question)),
            words,
            run.devices.get(question.id, ""),
        )
        for question in assignment.questions
    ]
    questions = tuple(
        result.model_copy(update={"titles": run.titles_of(result.id)}) for result, _ in pairs
    )
    return Report(
        assignment=AssignmentInfo(
            id=assignment.id,
            version=assignment.version,
            title=assignment.title,
            titles=run.titles_of(),
            digest=run.assignment_digest,
        ),
        submission=submission.model_copy(update={"id": inert(submission.id, _MAX_NAME)}),
        status=report_status(questions),
        questions=questions,
        environment=run.environment,
        timing=run.timing,
        **total(points for _, points in pairs).fields(),
    )


def build_question(
    assignment: Assignment,
    question: Question,
    verdicts: Mapping[str, Verdict],
    words: Words,
    device: str,
) -> QuestionResult:
    """Return a question's part of the report."""
    placed = _placed(verdicts, assignment.place_of(question))
    return _question(question, placed, words, device)[0]


def _placed(verdicts: Mapping[str, Verdict], file: str) -> Mapping[str, Verdict]:
    """Return verdicts whose lines say of which file they are, if that is in question."""
    if not file:
        return verdicts
    return {name: _in_file(verdict, file) for name, verdict in verdicts.items()}


def _in_file(verdict: Verdict, file: str) -> Verdict:
    message = verdict.message
    if message is None:
        return verdict
    if message.id != "missing_function" and message.params.get("line") is None:
        return verdict
    where = message.params.get("file") or file
    params = {**message.params, "file": where, "in_file": where}
    return replace(verdict, message=Message(message.id, params))


def _refuse_strangers(assignment: Assignment, verdicts: Verdicts) -> None:
    known = {(q.id, check.id) for q in assignment.questions for check in q.listed}
    given = {(question, check) for question, checks in verdicts.items() for check in checks}
    # A verdict for a check that is gone would vanish, points and all, without a word.
    if given - known:
        names = ", ".join(sorted(f"{question}.{check}" for question, check in given - known))
        raise InfrastructureError(
            f"verdicts for checks that “{assignment.id}” does not have: {names}; were they made "
            "with another version of the assignment?"
        )


def _complete(question: Question, verdicts: Verdicts, run: RunRecord) -> dict[str, Verdict]:
    selected = run.questions is None or question.id in run.questions
    # Pending until a verdict is there: a crash of the grader neither awards points nor takes any.
    absent = _NOT_RUN if selected else _NOT_SELECTED
    given = verdicts.get(question.id, {})
    return {check.id: given.get(check.id, absent) for check in question.listed}


def _question(
    question: Question, verdicts: Mapping[str, Verdict], words: Words, device: str
) -> tuple[QuestionResult, EarnedPoints]:
    checks: list[CheckResult] = []
    parts: list[EarnedPoints] = []
    on_device = only_on_device(question.checks)
    for check in question.listed:
        verdict = verdicts[check.id]
        parts.append(points_of(f"{question.id}.{check.id}", verdict, check.points))
        visibility = check.visibility or question.visibility
        verdict = _with_authors_words(question, check, verdict)
        result = _check(check, verdict, visibility, words, parts[-1])
        known = {"device": device, "needs_gpu": check.id in on_device}
        checks.append(result.model_copy(update=known))
        if check.bonus:
            parts[-1] = parts[-1].as_bonus()
    points = total(parts)
    whole = QuestionResult(
        id=question.id,
        title=question.title,
        status=question_status(checks, **points.fields()),
        visibility=question.visibility,
        checks=tuple(checks),
        bonus=question.bonus,
        **points.fields(),
    )
    return whole, points.as_bonus() if question.bonus else points


def _check(
    check: Check, verdict: Verdict, visibility: Visibility, words: Words, points: EarnedPoints
) -> CheckResult:
    message = verdict.message
    return CheckResult(
        id=check.id,
        kind=check.kind,
        status=verdict.status,
        code=verdict.code,
        owner=verdict.owner,
        basis=verdict.basis,
        visibility=visibility,
        message=words.for_staff(verdict),
        student_message=words.for_student(verdict),
        message_id=message.id if message else None,
        params=json_safe_mapping(message.params) if message else {},
        case=verdict.case,
        hidden=verdict.hidden,
        evidence=json_safe_mapping(verdict.evidence),
        witnesses=tuple(_witness(witness) for witness in verdict.witnesses),
        bonus=check.bonus,
        **points.fields(),
    )


def _with_authors_words(question: Question, check: Check, verdict: Verdict) -> Verdict:
    """Return a verdict whose message carries the author's sentences, as parameters.

    As parameters, so that a page in another language has them too.
    """
    message = verdict.message
    found = verdict.status.wrong
    if message is None or not found:
        return verdict
    price = _price(check, verdict)
    # Where nothing came back, a sentence about what is wrong with it would not be true.
    if verdict.code in NOTHING_TO_JUDGE:
        return replace(verdict, message=Message(message.id, {**message.params, **price}))
    said = check.message.params("author") if check.message else {}
    hint = check.hint.params("hint") if check.hint else {}
    named = called_params(question.called, check.item, message.params.get("where"))
    params = {**message.params, **named, **said, **hint, **price}
    return replace(verdict, message=Message(message.id, params))


def _price(check: Check, verdict: Verdict) -> dict[str, Param]:
    """Return what a known mistake earns of a check; empty without a price, or without points."""
    if not check.points or verdict.message is None or PRICE not in verdict.message.params:
        return {}
    worth = points_of(check.id, verdict, check.points).fields()
    return {"price_earned": f"{worth['score']:g}", "price_worth": f"{worth['max_score']:g}"}


def _witness(witness: Witness) -> dict[str, JsonValue]:
    return {
        "name": witness.name,
        "says": witness.says,
        "basis": witness.basis.value,
        "evidence": json_safe_mapping(witness.evidence),
    }


def question_status(
    checks: Iterable[CheckResult], score: float, pending: float, max_score: float
) -> Status:
    """Return the status of a question, from its checks and its rounded points."""
    known = list(checks)
    statuses = {check.status for check in known}
    # A bonus makes up for lost points, and is no right answer in their place.
    extra = math.fsum(check.score for check in known if check.bonus)
    if Status.ERROR in statuses:
        return Status.ERROR
    if statuses == {Status.SKIPPED}:
        return Status.SKIPPED
    if Status.DEFERRED in statuses or pending:
        return Status.DEFERRED
    if statuses == {Status.PASSED} or 0 < max_score <= round(score - extra, PLACES):
        return Status.PASSED
    return Status.PARTIAL if score else Status.FAILED


def report_status(questions: Iterable[QuestionResult]) -> ReportStatus:
    """Return how complete a report of these questions is."""
    checks = [check for question in questions for check in question.checks]
    if any(check.status is Status.ERROR for check in checks):
        return ReportStatus.INCOMPLETE
    if any(check.pending or check.status is Status.DEFERRED for check in checks):
        return ReportStatus.PENDING
    return ReportStatus.GRADED


PLACES = 4
_CREDIT = {
    Status.PASSED: (1.0, 1.0),
    Status.PARTIAL: (0.0, 1.0),
    Status.FAILED: (0.0, 0.0),
    Status.SKIPPED: (0.0, 0.0),
    Status.DEFERRED: (0.0, 0.0),
    Status.ERROR: (0.0, 0.0),
}
"""Least and greatest credit that goes with a status."""


@dataclass(frozen=True, slots=True)
class EarnedPoints:
    """Points of one check, or of several; the rest up to ``maximum + above`` is lost.

    Attributes:
        above: What a bonus may earn above the maximum.
    """

    earned: float = 0.0
    pending: float = 0.0
    maximum: float = 0.0
    above: float = 0.0

    def as_bonus(self) -> EarnedPoints:
        """Return the same points, none of which count into a maximum."""
        return replace(self, maximum=0.0, above=self.maximum + self.above)

    def fields(self) -> dict[str, float]:
        """Return the report's three fields, rounded."""
        maximum = round(self.maximum, PLACES)
        # Rounding thirds up could make more than the maximum; “+ 0.0” turns −0.0 into 0.0.
        most = round(self.maximum + self.above, PLACES)
        earned = min(round(self.earned, PLACES) + 0.0, most)
        pending = min(round(self.pending, PLACES), round(most - earned, PLACES))
        return {"score": earned, "max_score": maximum, "pending": pending + 0.0}


def total(parts: Iterable[EarnedPoints]) -> EarnedPoints:
    """Return the sum."""
    known = list(parts)
    return EarnedPoints(
        math.fsum(part.earned for part in known),
        math.fsum(part.pending for part in known),
        math.fsum(part.maximum for part in known),
        math.fsum(part.above for part in known),
    )


def points_of(where: str, verdict: Verdict, worth: float) -> EarnedPoints:
    """Return what a verdict is worth.

    What is not earned is lost only where it is the student's doing; otherwise it stays pending.

    Raises:
        InfrastructureError: The credit is no number in 0…1, or contradicts the status.
    """
    credit = verdict.credit
    low, high = _CREDIT[verdict.status]
    # “not … <= …” and not “… > …”: a NaN compares false with everything.
    if not isinstance(credit, (int, float)) or not low <= credit <= high:
        raise InfrastructureError(
            f"check {where}: credit {credit!r} does not go with the status "
            f"“{verdict.status.value}”; this is a fault in the judge, not in the submission"
        )
    earned = credit * worth
    return EarnedPoints(earned, 0.0 if _is_lost(verdict) else worth - earned, worth)


def _is_lost(verdict: Verdict) -> bool:
    if verdict.status.open:
        return False
    if verdict.status is Status.SKIPPED:
        return verdict.owner is Owner.STUDENT
    return verdict.owner not in (Owner.INSTRUCTOR, Owner.INFRASTRUCTURE)
