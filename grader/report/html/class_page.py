"""The page of a class: what it shows, as values; the template only lays it out. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean, median

from grader.report.html.render import SIGNS, Labels, render, translated
from grader.report.model import CheckResult, Report, ReportStatus
from grader.report.summary import ClassSummary, summarise, unread
from grader.verdict import Status

_BINS = 10


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
        strip: (status, signs): a sign a question, neighbours of a status together.
        full: Number of questions with all points.
        flags: Keys of what stands out.
        mistakes: Indices of its mistakes.
    """

    row: ClassRow
    strip: tuple[tuple[str, str], ...]
    full: int
    flags: tuple[str, ...]
    mistakes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class QuestionLine:
    """How the class did on a question: numbers of submissions, and the share of its points."""

    id: str
    title: str
    full: int
    some: int
    none: int
    open: int
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
        attention: What to look at first.
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
    nobody: Mapping[str, float]
    questions: tuple[QuestionLine, ...]
    mistakes: Mistakes
    policy: bool
    links: tuple[tuple[str, str], ...]
    absent: tuple[str, ...] = ()


def class_page(view: ClassView, labels: Labels) -> str:
    """Return the page of a class."""
    return render("class.html", ("base.js", "class.js"), labels, {"view": view})


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
    reports = [row.report for row in rows]
    summary = summarise(reports)
    twins = twins_in(reports)
    mistakes = mistakes_of([translated(report, labels.words) for report in reports])
    lines = tuple(_line(row, summary, twins, mistakes) for row in rows)
    scores = summary.scores or (0.0,)
    return ClassView(
        report=reports[0],
        lines=lines,
        summary=summary,
        mean=fmean(scores),
        median=median(scores),
        counts=_counts(lines),
        bars=_bars(reports),
        attention=attention_on(
            {row.report.submission.id: row.staff for row in rows}, summary, twins, labels
        ),
        nobody=summary.nobody,
        questions=_questions(reports),
        mistakes=mistakes,
        policy=policy,
        links=tuple(links),
    )


def _line(
    row: ClassRow, summary: ClassSummary, twins: Sequence[tuple[str, ...]], mistakes: Mistakes
) -> ClassLine:
    report, name = row.report, row.report.submission.id
    shown = [
        "passed" if each.max_score and each.score >= each.max_score else each.status.value
        for each in report.questions
    ]
    strip = tuple((key, SIGNS[key] * len(list(group))) for key, group in groupby(shown))
    complete = report.status is not ReportStatus.INCOMPLETE
    lost = any(name in names for names in summary.unread.values())
    known = {
        "incomplete": not complete,
        "review": name in summary.suspicious,
        "unread": lost,
        "died": name in summary.died,
        "twins": any(name in group for group in twins),
        "pending": complete and report.pending > 0,
        "zero": complete and not lost and not report.score and not report.pending,
    }
    flags = tuple(flag for flag, holds in known.items() if holds)
    return ClassLine(row, strip, shown.count("passed"), flags, mistakes.by_submission.get(name, ()))


def _counts(lines: Sequence[ClassLine]) -> dict[str, int]:
    full = sum(
        line.row.report.max_score > 0 and line.row.report.score >= line.row.report.max_score
        for line in lines
    )
    flags = {"review", "unread", "died", "twins", "incomplete"}
    look = sum(bool(flags & set(line.flags)) for line in lines)
    return {
        "full": full,
        "pending": sum("pending" in line.flags for line in lines),
        "look": look,
        "incomplete": sum("incomplete" in line.flags for line in lines),
    }


def _bars(reports: Sequence[Report]) -> tuple[HistogramBar, ...]:
    """Return tenths of the points, and the full points on their own."""
    counts = [0] * (_BINS + 1)
    for report in reports:
        if report.status is not ReportStatus.INCOMPLETE and report.max_score:
            counts[min(int(_BINS * report.score / report.max_score), _BINS)] += 1
    step = 100 // _BINS
    return tuple(HistogramBar(i * step, min((i + 1) * step, 100), n) for i, n in enumerate(counts))


def _questions(reports: Sequence[Report]) -> tuple[QuestionLine, ...]:
    tallies: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    earned: dict[str, float] = defaultdict(float)
    decided: dict[str, float] = defaultdict(float)
    titles: dict[str, str] = {}
    for report in reports:
        for each in report.questions:
            titles.setdefault(each.id, each.title)
            earned[each.id] += each.score
            decided[each.id] += each.max_score - each.pending
            if each.pending or each.status is Status.ERROR:
                kind = "open"
            elif each.score >= each.max_score:
                kind = "full"
            else:
                kind = "some" if each.score else "none"
            tallies[each.id][kind] += 1
    return tuple(
        QuestionLine(
            name,
            title,
            full=tallies[name]["full"],
            some=tallies[name]["some"],
            none=tallies[name]["none"],
            open=tallies[name]["open"],
            share=earned[name] / decided[name] if decided[name] else 0.0,
        )
        for name, title in titles.items()
    )


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
    found += [
        named("look_pending", names, what=codes.get(code, code))
        for code, names in summary.pending.items()
        if code != "needs_review"
    ]
    return tuple(found)


_EXAMPLE = 220


@dataclass(frozen=True, slots=True)
class Mistake:
    """A check that did not pass, for one reason.

    Attributes:
        index: Its number on the page.
        question: Id of the question.
        check: Id of the check.
        code: The reason.
        count: Submissions that made it.
        example: What staff read of one of them.
    """

    index: int
    question: str
    check: str
    code: str
    count: int
    example: str


@dataclass(frozen=True, slots=True)
class Mistakes:
    """All mistakes.

    Attributes:
        groups: (code, submissions, its mistakes), the most frequent first.
        by_submission: Name → indices of its mistakes.
    """

    groups: tuple[tuple[str, int, tuple[Mistake, ...]], ...]
    by_submission: Mapping[str, tuple[int, ...]]


def mistakes_of(reports: Sequence[Report]) -> Mistakes:
    """Return the mistakes of complete reports, grouped by verdict code."""
    who: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    examples: dict[tuple[str, str, str], str] = {}
    for report in reports:
        for key, check in _made(report):
            who[key].append(report.submission.id)
            examples.setdefault(key, check.message)
    ordered = sorted(who, key=lambda key: (-len(who[key]), key))
    index = {key: place for place, key in enumerate(ordered)}
    by_submission: dict[str, list[int]] = defaultdict(list)
    by_code: dict[str, list[Mistake]] = defaultdict(list)
    people: dict[str, set[str]] = defaultdict(set)
    for key in ordered:
        mistake = Mistake(index[key], *key, len(who[key]), _short(examples[key]))
        by_code[mistake.code].append(mistake)
        people[mistake.code] |= set(who[key])
        for name in who[key]:
            by_submission[name].append(mistake.index)
    groups = sorted(by_code, key=lambda code: (-len(people[code]), code))
    return Mistakes(
        tuple((code, len(people[code]), tuple(by_code[code])) for code in groups),
        {name: tuple(found) for name, found in by_submission.items()},
    )


def _made(report: Report) -> Iterator[tuple[tuple[str, str, str], CheckResult]]:
    # What is said at every check of one that could not be run is one mistake; “to look at” has it.
    if report.status is ReportStatus.INCOMPLETE or unread(report) is not None:
        return
    for question in report.questions:
        for check in question.checks:
            if check.status in (Status.FAILED, Status.PARTIAL):
                yield (question.id, check.id, check.code.value), check


def _short(text: str) -> str:
    return text if len(text) <= _EXAMPLE else text[: _EXAMPLE - 1] + "…"
