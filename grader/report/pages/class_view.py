"""What the page of a class shows, as values; the template only lays it out. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean, median

from grader.report.class_summary import ClassSummary, summarise
from grader.report.model import Report, ReportStatus
from grader.report.pages.attention import Told, attention_on, twins_in
from grader.report.pages.mistakes import Mistakes, mistakes_of
from grader.report.pages.render import MARKS, Labels
from grader.report.pages.translate import translated
from grader.verdict import Status

_BINS = 10


@dataclass(frozen=True, slots=True)
class Row:
    """A hand-in of the class, as whoever asks for the page knows it.

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
class Line:
    """A row with what the page works out.

    Attributes:
        row: What it is about.
        strip: (status, signs): a sign a question, neighbours of a status together.
        full: Number of questions with all points.
        flags: Keys of what stands out.
        mistakes: Indices of its mistakes.
    """

    row: Row
    strip: tuple[tuple[str, str], ...]
    full: int
    flags: tuple[str, ...]
    mistakes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class QuestionLine:
    """How the class did on a question: numbers of hand-ins, and the share of its points."""

    id: str
    title: str
    full: int
    some: int
    none: int
    open: int
    share: float

    @property
    def total(self) -> int:
        """Hand-ins in all."""
        return self.full + self.some + self.none + self.open


@dataclass(frozen=True, slots=True)
class Bar:
    """Hand-ins with a share of the points of ``low`` … ``high`` percent."""

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
    """

    report: Report
    lines: tuple[Line, ...]
    summary: ClassSummary
    mean: float
    median: float
    counts: Mapping[str, int]
    bars: tuple[Bar, ...]
    attention: tuple[Told, ...]
    nobody: Mapping[str, float]
    questions: tuple[QuestionLine, ...]
    mistakes: Mistakes
    policy: bool
    links: tuple[tuple[str, str], ...]


def class_view(
    rows: Sequence[Row],
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
    row: Row, summary: ClassSummary, twins: Sequence[tuple[str, ...]], mistakes: Mistakes
) -> Line:
    report, name = row.report, row.report.submission.id
    shown = [
        "passed" if each.max_score and each.score >= each.max_score else each.status.value
        for each in report.questions
    ]
    strip = tuple((key, MARKS[key] * len(list(group))) for key, group in groupby(shown))
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
    return Line(row, strip, shown.count("passed"), flags, mistakes.by_hand_in.get(name, ()))


def _counts(lines: Sequence[Line]) -> dict[str, int]:
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


def _bars(reports: Sequence[Report]) -> tuple[Bar, ...]:
    """Return tenths of the points, and the full points on their own."""
    counts = [0] * (_BINS + 1)
    for report in reports:
        if report.status is not ReportStatus.INCOMPLETE and report.max_score:
            counts[min(int(_BINS * report.score / report.max_score), _BINS)] += 1
    step = 100 // _BINS
    return tuple(Bar(i * step, min((i + 1) * step, 100), n) for i, n in enumerate(counts))


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
