"""The page of a class, its mistakes among them, as values; the template only lays it out. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

from grader.report.html.render import Labels, render
from grader.report.model import (
    CheckResult,
    QuestionResult,
    Report,
    ReportStatus,
    Scored,
    in_language,
    titled,
)
from grader.report.summary import (
    ClassSummary,
    Mistake,
    NobodySolved,
    amount,
    mistakes_in,
    regular,
    summarise,
    unwritten,
    waits_for_gpu,
)
from grader.verdict import Code, Status

_EXAMPLE = 220


@dataclass(frozen=True, slots=True)
class MistakeRow:
    """A mistake that some submissions made.

    Attributes:
        index: Its number on the pages of the class.
        mistake: The question and the reason.
        checks: Ids of the checks that show it.
        who: Names of the submissions.
        example: What staff read of one of them, or what the author says of a known mistake.
    """

    index: int
    mistake: Mistake
    checks: tuple[str, ...]
    who: tuple[str, ...]
    example: str


@dataclass(frozen=True, slots=True)
class ClassMistakes:
    """All mistakes of a class.

    Attributes:
        rows: The most frequent first.
        by_submission: Name → indices of its mistakes.
    """

    rows: tuple[MistakeRow, ...]
    by_submission: Mapping[str, tuple[int, ...]]


def mistakes_of(reports: Sequence[Report], labels: Labels) -> ClassMistakes:
    """Return the mistakes of complete reports."""
    who: dict[Mistake, list[str]] = defaultdict(list)
    checks: dict[Mistake, dict[str, None]] = defaultdict(dict)
    examples: dict[Mistake, str] = {}
    for report in (in_language(each, labels.language) for each in reports):
        for mistake, shown in mistakes_in(report).items():
            who[mistake].append(report.submission.id)
            checks[mistake] |= dict.fromkeys(check.id for check in shown)
            examples.setdefault(mistake, _example(shown, mistake, labels))
    ordered = sorted(who, key=lambda mistake: (-len(who[mistake]), mistake))
    rows = tuple(
        MistakeRow(index, each, tuple(checks[each]), tuple(who[each]), examples[each])
        for index, each in enumerate(ordered)
    )
    by_submission: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        for name in row.who:
            by_submission[name].append(row.index)
    return ClassMistakes(rows, {name: tuple(found) for name, found in by_submission.items()})


def _example(shown: Sequence[CheckResult], mistake: Mistake, labels: Labels) -> str:
    if mistake.known:
        named = next(check for check in shown if check.params.get("mistake"))
        # Where the author wrote no Korean sentence, both parameters hold the English one.
        return _short(str(named.params.get(f"says_{labels.language}") or named.message))
    return _short(next((check.message for check in shown if check.message), ""))


def _short(text: str) -> str:
    return text if len(text) <= _EXAMPLE else text[: _EXAMPLE - 1] + "…"


_BINS = 10
LOOK_AT = frozenset({"review", "unread", "died", "twins", "incomplete"})
"""Flags of a submission that a person has to look at; the list, its number and the filter agree."""


@dataclass(frozen=True, slots=True)
class ClassRow:
    """A submission of the class, as whoever asks for the page knows it.

    Attributes:
        report: Its report.
        staff: Link to its page for staff.
        student: Link to its student's page.
        people: Who handed it in, in a line; empty where nobody knows.
        days_late: As in the gradebook.
        final: Points that count, after lateness; None where that is open.
    """

    report: Report
    staff: str
    student: str
    people: str = ""
    days_late: float = 0.0
    final: float | None = None


@dataclass(frozen=True, slots=True)
class ClassLine:
    """A row with what the page works out.

    Attributes:
        row: What it is about.
        strip: The status of each question.
        points: The points of each question, for scripts.
        full: Number of questions with all points.
        flags: Keys of what stands out.
        mistakes: Indices of its mistakes.
    """

    row: ClassRow
    strip: tuple[str, ...]
    points: tuple[str, ...]
    full: int
    flags: tuple[str, ...]
    mistakes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class QuestionLine:
    """How the class did on a question: numbers of submissions, and the share of its points."""

    id: str
    title: str
    max_score: float
    full: int
    some: int
    none: int
    open: int
    unwritten: int
    share: float

    @property
    def total(self) -> int:
        """Submissions in all."""
        return self.full + self.some + self.none + self.open


@dataclass(frozen=True, slots=True)
class HistogramBar:
    """Submissions with a share of the points of ``low`` … ``high`` percent."""

    low: int
    high: int
    count: int


@dataclass(frozen=True, slots=True)
class ClassView:
    """The page of a class.

    Attributes:
        report: Any of the class, for the assignment.
        attention: Submissions to look at, and why.
        pending: What points wait for, and whose.
        policy: Lateness counts.
        links: (link, words) of other files of the class.
        absent: Who handed in nothing, in a line each.
    """

    report: Report
    lines: tuple[ClassLine, ...]
    summary: ClassSummary
    mean: float
    median: float
    counts: Mapping[str, int]
    bars: tuple[HistogramBar, ...]
    attention: tuple[Attention, ...]
    pending: tuple[Attention, ...]
    nobody: Mapping[str, NobodySolved]
    questions: tuple[QuestionLine, ...]
    mistakes: ClassMistakes
    policy: bool
    links: tuple[tuple[str, str], ...]
    absent: tuple[str, ...] = ()


def class_page(view: ClassView, labels: Labels) -> str:
    """Return the page of a class."""
    return render("class.html", ("base.js", "table.js", "class.js"), labels, {"view": view})


def class_view(
    rows: Sequence[ClassRow],
    labels: Labels,
    policy: bool = False,
    links: Sequence[tuple[str, str]] = (),
) -> ClassView:
    """Return what the page shows.

    Args:
        rows: The class, at least one.
        labels: Language.
        policy: Lateness counts.
        links: (link, words) of other files of the class.
    """
    rows = [replace(row, report=titled(row.report, labels.language)) for row in rows]
    reports = [row.report for row in rows]
    summary = summarise(reports)
    twins = twins_in(reports)
    mistakes = mistakes_of(reports, labels)
    pages = {row.report.submission.id: row.staff for row in rows}
    lines = tuple(_line(row, summary, twins, mistakes) for row in rows)
    scores = summary.scores or (0.0,)
    return ClassView(
        report=reports[0],
        lines=lines,
        summary=summary,
        mean=fmean(scores),
        median=median(scores),
        counts=_counts(lines),
        # Where the grader itself failed, the points say nothing of the submission.
        bars=bars_of(each for each in reports if each.status is not ReportStatus.INCOMPLETE),
        attention=attention_on(pages, summary, twins, labels),
        pending=_pending(pages, summary, labels),
        nobody=summary.nobody,
        questions=question_lines(reports),
        mistakes=mistakes,
        policy=policy,
        links=tuple(links),
    )


def _line(
    row: ClassRow, summary: ClassSummary, twins: Sequence[tuple[str, ...]], mistakes: ClassMistakes
) -> ClassLine:
    report, name = row.report, row.report.submission.id
    shown = tuple(
        "passed" if each.max_score and regular(each)[0] >= each.max_score else each.status.value
        for each in report.questions
    )
    points = tuple(amount(each.score) for each in report.questions)
    complete = report.status is not ReportStatus.INCOMPLETE
    lost = any(name in names for names in summary.unread.values())
    known = {
        "incomplete": not complete,
        "review": name in summary.suspicious,
        "unread": lost,
        "died": name in summary.died,
        "twins": any(name in group for group in twins),
        "gpu": complete and any(waits_for_gpu(check) for _, check in report.checks()),
        "pending": complete and report.pending > 0,
        "zero": complete and not lost and not report.score and not report.pending,
    }
    flags = tuple(flag for flag, holds in known.items() if holds)
    made = mistakes.by_submission.get(name, ())
    return ClassLine(row, shown, points, shown.count("passed"), flags, made)


def _counts(lines: Sequence[ClassLine]) -> dict[str, int]:
    full = sum(
        line.row.report.max_score > 0 and line.row.report.score >= line.row.report.max_score
        for line in lines
    )
    look = sum(bool(LOOK_AT & set(line.flags)) for line in lines)
    return {
        "full": full,
        "pending": sum("pending" in line.flags for line in lines),
        "gpu": sum("gpu" in line.flags for line in lines),
        "you": sum("review" in line.flags for line in lines),
        "look": look,
        "incomplete": sum("incomplete" in line.flags for line in lines),
    }


def bars_of(parts: Iterable[Scored]) -> tuple[HistogramBar, ...]:
    """Return tenths of the points, and the full points on their own."""
    counts = [0] * (_BINS + 1)
    for part in parts:
        if part.max_score:
            counts[min(int(_BINS * part.score / part.max_score), _BINS)] += 1
    step = 100 // _BINS
    return tuple(HistogramBar(i * step, min((i + 1) * step, 100), n) for i, n in enumerate(counts))


def question_lines(reports: Sequence[Report]) -> tuple[QuestionLine, ...]:
    """Return how a class did on each question."""
    answers: dict[str, list[QuestionResult]] = defaultdict(list)
    for report in reports:
        for each in report.questions:
            answers[each.id].append(each)
    return tuple(_question_line(found) for found in answers.values())


def _question_line(answers: Sequence[QuestionResult]) -> QuestionLine:
    kinds = [_kind(each) for each in answers]
    points = [regular(each) for each in answers]
    worth = sum(each.max_score for each in answers)
    decided = worth - sum(pending for _, pending in points)
    return QuestionLine(
        answers[0].id,
        answers[0].title,
        answers[0].max_score,
        full=kinds.count("full"),
        some=kinds.count("some"),
        none=kinds.count("none"),
        open=kinds.count("open"),
        unwritten=sum(map(unwritten, answers)),
        share=min(1.0, sum(earned for earned, _ in points) / decided) if decided > 0 else 0.0,
    )


def _kind(answer: QuestionResult) -> str:
    if answer.pending or answer.status is Status.ERROR:
        return "open"
    if regular(answer)[0] >= answer.max_score:
        return "full"
    return "some" if answer.score else "none"


Attention = tuple[str, tuple[tuple[str, str], ...]]
"""What there is to look at, and at whose: words, and (name, link) of each."""


def twins_in(reports: Sequence[Report]) -> list[tuple[str, ...]]:
    """Return groups of submissions whose files are the same, byte for byte."""
    groups: dict[str, list[str]] = defaultdict(list)
    for report in reports:
        if report.submission.digest and report.submission.files:
            groups[report.submission.digest].append(report.submission.id)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def attention_on(
    links: Mapping[str, str],
    summary: ClassSummary,
    twins: Sequence[tuple[str, ...]],
    labels: Labels,
) -> tuple[Attention, ...]:
    """Return it, the gravest first.

    Args:
        links: Submission → its page.
        summary: Of the class.
        twins: Groups of submissions with the same files.
        labels: Language.
    """
    codes = labels.words.codes

    def named(label: str, names: Sequence[str], **blanks: str) -> Attention:
        return labels(label, **blanks), tuple((name, links[name]) for name in names)

    found = [
        named("look_incomplete", names, what=codes.get(code, code))
        for code, names in summary.incomplete.items()
    ]
    if summary.suspicious:
        found.append(named("look_review", summary.suspicious))
    found += [
        named("look_unread", names, what=codes.get(code, code))
        for code, names in summary.unread.items()
    ]
    if summary.died:
        found.append(named("look_died", summary.died))
    found += [named("look_twins", group) for group in twins]
    return tuple(found)


def _pending(
    links: Mapping[str, str], summary: ClassSummary, labels: Labels
) -> tuple[Attention, ...]:
    codes = labels.words.codes
    return tuple(
        (codes.get(code, code), tuple((name, links[name]) for name in names))
        for code, names in summary.pending.items()
        if code != Code.NEEDS_REVIEW.value
    )
