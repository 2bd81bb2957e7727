"""A class in a few lines that an instructor can act on."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from grader.report.model import CheckResult, Report, ReportStatus
from grader.report.summary import amount, unread
from grader.report.text import inert
from grader.verdict import Code, Status

_DIED = frozenset({Code.CRASHED, Code.TIMED_OUT, Code.OUT_OF_MEMORY, Code.PROTOCOL_VIOLATION})
_NAMED = 8
_SLOWEST = 3
_MAX_NAME = 60
_TYPICAL = 5
_Wanted = Callable[[CheckResult], bool]


@dataclass(frozen=True, slots=True)
class ClassSummary:
    """What stands out in a class.

    Attributes:
        scores: Of complete reports, sorted.
        max_score: Points for full credit.
        incomplete: Reason → hand-ins that the grader itself failed at.
        pending: Code → hand-ins with points that wait for it.
        nobody: Questions that not one hand-in has full points for, with the share of its points
            that the class has; a mistake in the question is likelier than in everybody.
        unread: Code → hand-ins without a file, or a function in it, that could be run.
        mistakes: (question, check, code) → hand-ins, the most frequent first; without those.
        died: Hand-ins in which a guest crashed, hung or broke the protocol.
        suspicious: Hand-ins about which witnesses disagree.
        slowest: Hand-in and seconds, the slowest first.
    """

    scores: tuple[float, ...]
    max_score: float
    incomplete: dict[str, tuple[str, ...]]
    pending: dict[str, tuple[str, ...]]
    nobody: dict[str, float]
    unread: dict[str, tuple[str, ...]]
    mistakes: dict[tuple[str, str, str], int]
    died: tuple[str, ...]
    suspicious: tuple[str, ...]
    slowest: tuple[tuple[str, float], ...]


def summarise(reports: Sequence[Report]) -> ClassSummary:
    """Return what stands out."""
    complete = [report for report in reports if report.status is not ReportStatus.INCOMPLETE]
    slow = sorted(reports, key=lambda report: -report.timing.seconds)[:_SLOWEST]
    return ClassSummary(
        tuple(sorted(report.score for report in complete)),
        max((report.max_score for report in reports), default=0.0),
        _grouped(reports, lambda check: check.status is Status.ERROR),
        _grouped(reports, lambda check: check.pending > 0 and check.status is not Status.ERROR),
        _nobody(complete),
        _unread(reports),
        _mistakes(complete),
        _names(reports, lambda check: check.code in _DIED),
        _names(reports, lambda check: check.code is Code.NEEDS_REVIEW and check.pending > 0),
        tuple((report.submission.id, report.timing.seconds) for report in slow),
    )


def sentences(summary: ClassSummary) -> list[str]:
    """Return the summary in words, the most urgent first."""
    lines = [
        f"Incomplete, run again with --resume ({code}): {few(names)}"
        for code, names in summary.incomplete.items()
    ]
    if summary.suspicious:
        lines.append(f"To be looked at by a person (`grader review`): {few(summary.suspicious)}")
    lines += [
        f"Nobody has all points of {name} (the class has {share:.0%}): is the question at fault?"
        for name, share in summary.nobody.items()
    ]
    lines += [f"Could not be run ({code}): {few(names)}" for code, names in summary.unread.items()]
    if summary.died:
        lines.append(f"Crashed, hung or broke off: {few(summary.died)}")
    lines += [f"Pending ({code}): {few(names)}" for code, names in summary.pending.items()]
    lines += [
        f"{count} × {question}: {check}, {code}"
        for (question, check, code), count in list(summary.mistakes.items())[:_TYPICAL]
    ]
    if summary.scores:
        low, high = summary.scores[0], summary.scores[-1]
        lines.append(
            f"Scores: median {amount(median(summary.scores))} of {amount(summary.max_score)}, "
            f"from {amount(low)} to {amount(high)}"
        )
    if summary.slowest:
        slow = ", ".join(f"{inert(name, _MAX_NAME)} {s:.1f} s" for name, s in summary.slowest)
        lines.append(f"Slowest: {slow}")
    return lines


def _checks(report: Report) -> Iterable[tuple[str, CheckResult]]:
    return ((question.id, check) for question in report.questions for check in question.checks)


def _grouped(reports: Sequence[Report], wanted: _Wanted) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for report in reports:
        for _, check in _checks(report):
            if wanted(check):
                found.setdefault(check.code.value, {})[report.submission.id] = None
    return {code: tuple(names) for code, names in found.items()}


def _names(reports: Sequence[Report], wanted: _Wanted) -> tuple[str, ...]:
    return tuple(
        report.submission.id
        for report in reports
        if any(wanted(check) for _, check in _checks(report))
    )


def _nobody(reports: Sequence[Report]) -> dict[str, float]:
    if len(reports) < 2:
        return {}
    earned: dict[str, float] = defaultdict(float)
    worth: dict[str, float] = defaultdict(float)
    solved = set()
    for report in reports:
        for question in report.questions:
            # Points that are open say nothing about anybody.
            if question.pending or question.status is Status.SKIPPED:
                solved.add(question.id)
            earned[question.id] += question.score
            worth[question.id] += question.max_score
            if question.score >= question.max_score:
                solved.add(question.id)
    return {
        name: earned[name] / worth[name] for name in worth if worth[name] and name not in solved
    }


def _unread(reports: Sequence[Report]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = defaultdict(list)
    for report in reports:
        if (said := unread(report)) is not None:
            found[said.code.value].append(report.submission.id)
    return {code: tuple(names) for code, names in found.items()}


def _mistakes(reports: Sequence[Report]) -> dict[tuple[str, str, str], int]:
    found = Counter(
        (question, check.id, check.code.value)
        for report in reports
        # One mistake in the hand-in as a whole, told at every check: it would drown all others.
        if unread(report) is None
        for question, check in _checks(report)
        if check.status in (Status.FAILED, Status.PARTIAL)
    )
    return dict(found.most_common())


def few(names: Sequence[str]) -> str:
    """Return names for one line, the first of them where there are many."""
    shown = ", ".join(inert(name, _MAX_NAME) for name in names[:_NAMED])
    return shown + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
