"""What one reader gets of a report, decided once. A presenter lays it out, and has nothing to hide.

Defends against: a hidden check, a text, number or line of a hidden case, a witness, the seed or a
time in what a student reads; a sum that tells of checks which are not shown.
Does not defend against: whoever hands out what was made for staff.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from grader.report.build import PLACES, question_status, report_status
from grader.report.excerpts import Excerpt, SourceText, excerpt_of
from grader.report.lateness import LateCost
from grader.report.messages.catalogue import words_in
from grader.report.messages.language import current_language
from grader.report.messages.words import Words
from grader.report.model import (
    CheckResult,
    LineComment,
    Place,
    QuestionResult,
    Report,
    Timing,
    in_language,
)
from grader.report.summary import notices, unread, unwritten, without_answer
from grader.report.sums import sums
from grader.verdict import Code, Status, Visibility


class ReleaseStage(str, Enum):
    """How much has been released; what is ``hidden`` never is."""

    NOW = "visible"
    DUE = "after_due_date"
    PUBLISHED = "after_published"


_SHOWN = {
    ReleaseStage.NOW: {Visibility.VISIBLE},
    ReleaseStage.DUE: {Visibility.VISIBLE, Visibility.AFTER_DUE_DATE},
    ReleaseStage.PUBLISHED: {
        Visibility.VISIBLE,
        Visibility.AFTER_DUE_DATE,
        Visibility.AFTER_PUBLISHED,
    },
}


@dataclass(frozen=True, slots=True)
class Audience:
    """Who reads a report, and in which language.

    Attributes:
        language: The current one where none is named.
        staff: They read everything, and decide what waits for a person.
        released: How much a student may see by now. None for a platform that hides checks by their
            visibility itself: it gets all of them, in the student's words.
    """

    language: str = field(default_factory=current_language)
    staff: bool = False
    released: ReleaseStage | None = ReleaseStage.NOW

    @property
    def words(self) -> Words:
        """The words of the language."""
        return words_in(self.language)


@dataclass(frozen=True, slots=True)
class ViewRow:
    """A question, or those of its checks that the same people see at the same time.

    Attributes:
        number: Place of the question in the assignment, and of the row in it.
        question: As the reader may know it.
        visibility: Of its checks, on a platform.
        groups: Its checks; for a student those with one message together.
        comments: Of people, on lines; the reader gets them at this row.
    """

    number: str
    question: QuestionResult
    visibility: Visibility
    groups: tuple[tuple[CheckResult, ...], ...]
    comments: tuple[LineComment, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportView:
    """A report for one reader.

    Attributes:
        report: What they may know of it, in the assignment's order. ``message`` of a check is what
            they read.
        rows: Its questions in the order in which they read them: for a student, what is wrong
            first.
        notices: What belongs on top, the gravest first.
        next_step: What a student does next; empty where nothing is wrong, and for staff.
        one_message: The submission could not be run, and every check says the same of it.
        withheld: Question → how many of its checks count and are not shown; under ``""`` all.
        excerpts: The lines that findings point at.
        comments: Of people, on lines that belong to no question; the others are at its row.
    """

    report: Report
    rows: tuple[ViewRow, ...]
    notices: tuple[str, ...]
    next_step: str
    one_message: bool
    withheld: Mapping[str, int]
    excerpts: Mapping[Place, Excerpt]
    comments: tuple[LineComment, ...] = ()


def view_of(
    report: Report,
    audience: Audience,
    late: LateCost | None = None,
    sources: Sequence[SourceText] = (),
) -> ReportView:
    """Return what a reader gets.

    Args:
        report: As it counts.
        audience: Who reads it.
        late: What lateness takes, where there is a policy on it.
        sources: What was handed in.
    """
    full = in_language(report, audience.language)
    if audience.staff:
        return _for_staff(full, audience, late, sources)
    released = audience.released
    shown = _in_students_words(full) if released is None else for_student(full, released)
    hidden = _withheld(full, released or ReleaseStage.NOW)
    # What counts in the end would tell the points of checks that are not shown.
    whole = not hidden[""] or released is ReleaseStage.PUBLISHED
    lines = [*notices(shown, audience.words), *_late(late, full, whole, audience.words)]
    if released is not None and hidden[""]:
        note = "whole_note" if released is ReleaseStage.PUBLISHED else "part_note"
        lines.append(audience.words.label(note))
    rows = _platform_rows(shown) if released is None else _student_rows(shown)
    with_comments, others = _with_comments(rows, shown.comments)
    return ReportView(
        shown,
        with_comments,
        tuple(lines),
        _next_step(shown, rows, audience.words),
        unread(shown) is not None,
        hidden,
        _excerpts(full, shown, sources),
        others,
    )


def _for_staff(
    report: Report, audience: Audience, late: LateCost | None, sources: Sequence[SourceText]
) -> ReportView:
    rows = (
        ViewRow(f"{place}", each, each.visibility, tuple((check,) for check in each.checks))
        for place, each in enumerate(report.questions, start=1)
    )
    words = audience.words
    lines = (*notices(report, words, staff=True), *_late(late, report, True, words))
    excerpts = {
        place: found
        for place, check in report.by_place().items()
        if (found := excerpt_of(check, sources))
    }
    with_comments, others = _with_comments(list(rows), report.comments)
    return ReportView(report, with_comments, lines, "", False, {}, excerpts, others)


def _late(late: LateCost | None, report: Report, whole: bool, words: Words) -> list[str]:
    return late.lines(report, whole, words) if late else []


def _with_comments(
    rows: Sequence[ViewRow], comments: Iterable[LineComment]
) -> tuple[tuple[ViewRow, ...], tuple[LineComment, ...]]:
    """Return rows with the comments that belong there, and the other comments."""
    at: dict[str, list[LineComment]] = {}
    for comment in comments:
        at.setdefault(_row_of(comment, rows), []).append(comment)
    placed = (replace(row, comments=tuple(at.get(row.number, ()))) for row in rows)
    return tuple(placed), tuple(at.get("", ()))


def _row_of(comment: LineComment, rows: Sequence[ViewRow]) -> str:
    """Return the number of a comment's row; empty where there is none."""
    own = [row for row in rows if row.question.id == comment.question]
    by_check = [
        row for row in own if any(check.id == comment.check for check in row.question.checks)
    ]
    # Of a question in several rows, the one that is shown first.
    found = min(by_check or own, key=lambda row: _WHEN.index(row.visibility), default=None)
    return found.number if found else ""


_WHEN = (
    Visibility.VISIBLE,
    Visibility.AFTER_DUE_DATE,
    Visibility.AFTER_PUBLISHED,
    Visibility.HIDDEN,
)
_ORDER = {Status.DEFERRED: 1, Status.ERROR: 1, Status.SKIPPED: 2, Status.PASSED: 3}
"""Of questions and checks: what failed, what is open, what was not tried, what passed."""


def _student_rows(report: Report) -> list[ViewRow]:
    """Return the questions, of those that failed first what was written."""
    numbered = enumerate(report.questions, start=1)
    rows = (
        ViewRow(f"{place}", each, each.visibility, _told_together(each.checks))
        for place, each in numbered
    )
    return sorted(rows, key=lambda row: (_rank(row.question), without_answer(row.question)))


def _platform_rows(report: Report) -> list[ViewRow]:
    """Return a row for each visibility in a question, with the points of those checks alone."""
    rows = []
    for major, question in enumerate(report.questions, start=1):
        parts: dict[Visibility, list[CheckResult]] = {}
        for check in question.checks:
            parts.setdefault(check.visibility, []).append(check)
        for minor, (visibility, checks) in enumerate(parts.items(), start=1):
            number = f"{major}" if len(parts) == 1 else f"{major}.{minor}"
            groups = _told_together(sorted(checks, key=_rank))
            rows.append(ViewRow(number, _part(question, checks), visibility, groups))
    return sorted(rows, key=lambda row: _rank(row.question))


def _rank(part: CheckResult | QuestionResult) -> int:
    return _ORDER.get(part.status, 0)


def _told_together(checks: Iterable[CheckResult]) -> tuple[tuple[CheckResult, ...], ...]:
    """Return the checks that a student reads of; those with one message form a group.

    A check worth nothing that passed or was not judged tells nothing, and is left out.
    """
    groups: dict[tuple[Status, object, bool], list[CheckResult]] = {}
    for check in checks:
        worthless = check.max_score == 0 and not check.uncounted
        if worthless and check.status in (Status.PASSED, Status.SKIPPED):
            continue
        message: object = check.message or check.id
        if check.code is Code.NOT_IMPLEMENTED:
            # The same of visible and hidden cases, in other words.
            message = check.code
        groups.setdefault((check.status, message, check.bonus), []).append(check)
    return tuple(map(tuple, groups.values()))


def _next_step(report: Report, rows: Sequence[ViewRow], words: Words) -> str:
    # One message holds for all questions then: the file has to be mended first.
    if (lost := unread(report)) is not None:
        return lost.message
    first = next((row.question for row in rows), None)
    if first is None or _rank(first):
        return ""
    return words.label("go_on_unwritten" if unwritten(first) else "go_on", question=first.id)


def _excerpts(full: Report, shown: Report, sources: Sequence[SourceText]) -> dict[Place, Excerpt]:
    # Where a finding is said to be, is in parameters that the shown report lacks.
    findings = full.by_place()
    return {
        place: found
        for place, check in shown.by_place().items()
        # A line of a hidden case may be chosen to tell of its inputs.
        if not check.hidden and (found := excerpt_of(findings[place], sources))
    }


def for_student(report: Report, release: ReleaseStage = ReleaseStage.NOW) -> Report:
    """Return what a student may know of a report.

    Until grades are published the points are those of the shown checks: a sum over all would give
    away what became of the others. Afterwards they are the whole, as on Gradescope.
    """
    questions = tuple(_released(report.questions, release))
    # Whoever knows the seed can draw the hidden inputs.
    environment = report.environment.model_copy(update={"seed": 0})
    points = {} if release is ReleaseStage.PUBLISHED else _sums(questions)
    return report.model_copy(
        update={
            "questions": questions,
            "environment": environment,
            # Time on hidden cases could carry what the submission saw in them.
            "timing": Timing(),
            "merged": (),
            "comments": tuple(_released_comments(report, release)),
            "status": report_status(questions),
            **points,
        }
    )


def _withheld(report: Report, release: ReleaseStage) -> dict[str, int]:
    """Return how many checks of each shown question are not shown; under ``""``, of all."""
    by_question = {
        question.id: sum(not _shown(check, release) for check in question.checks)
        for question in report.questions
    }
    return {**by_question, "": sum(by_question.values())}


def _released(
    questions: Iterable[QuestionResult], release: ReleaseStage
) -> Iterator[QuestionResult]:
    for question in questions:
        checks = [_scrubbed(check) for check in question.checks if _shown(check, release)]
        if checks and release is ReleaseStage.PUBLISHED:
            yield question.model_copy(update={"checks": tuple(checks)})
        elif checks:
            yield _part(question, checks)


def _part(question: QuestionResult, checks: Sequence[CheckResult]) -> QuestionResult:
    """Return a question of some of its checks; its own points and status would tell of others."""
    points = _sums(checks)
    status = question_status(checks, **points)
    return question.model_copy(update={"checks": tuple(checks), "status": status, **points})


def _shown(check: CheckResult, release: ReleaseStage) -> bool:
    return check.visibility in _SHOWN[release]


def _in_students_words(report: Report) -> Report:
    """Return a report whose checks are all there, and tell what their student may read."""
    questions = (
        each.model_copy(update={"checks": tuple(map(_scrubbed, each.checks))})
        for each in report.questions
    )
    comments = tuple(map(_without_author, report.comments))
    return report.model_copy(
        update={"questions": tuple(questions), "merged": (), "comments": comments}
    )


def _released_comments(report: Report, release: ReleaseStage) -> Iterator[LineComment]:
    """Yield the comments that a student may read: each together with its check.

    One of a question alone is shown with the first of its checks; one of no question, at once.
    """
    for comment in report.comments:
        checks = [check for name, check in report.checks() if name == comment.question]
        own = [check for check in checks if check.id == comment.check] or checks
        if not own or any(_shown(check, release) for check in own):
            yield _without_author(comment)


def _without_author(comment: LineComment) -> LineComment:
    return comment.model_copy(update={"who": ""})


def _scrubbed(check: CheckResult) -> CheckResult:
    return check.model_copy(
        update={
            "message": check.student_message,
            "message_id": None,
            "params": {},
            "case": None,
            "evidence": {},
            "witnesses": (),
        }
    )


def _sums(parts: Iterable[CheckResult | QuestionResult]) -> dict[str, float]:
    known = list(parts)
    worth = round(math.fsum(part.max_score for part in known if not part.bonus), PLACES)
    return sums(worth, known)
