"""What every exporter says of a report as a whole, in the same words."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from grader.report.build import PLACES
from grader.report.messages.words import Words
from grader.report.model import CheckResult, QuestionResult, Report, ReportStatus
from grader.sandbox.host.processes import Tier
from grader.text import inert
from grader.verdict import Code, Status

_NEVER_RAN = frozenset(
    {
        Code.MISSING_FILE, Code.BAD_SUBMISSION, Code.SYNTAX_ERROR, Code.IMPORT_FAILED,
        Code.MISSING_FUNCTION,
    }
)  # fmt: skip
MARKS = {
    Status.PASSED: "✓",
    Status.PARTIAL: "◐",
    Status.FAILED: "✗",
    Status.SKIPPED: "–",
    Status.DEFERRED: "…",
    Status.ERROR: "!",
}
"""Status → sign; a reader who sees no colours has to tell them apart."""
_Wanted = Callable[[CheckResult], bool]
_DECIDED = (Status.PASSED, Status.PARTIAL, Status.FAILED, Status.ERROR)


def amount(points: float) -> str:
    """Return points without needless decimals, such as ``2.5``, ``10`` or ``0.3333``."""
    return f"{points:.4f}".rstrip("0").rstrip(".")


def worth(part: CheckResult | QuestionResult | Report, word: str = "bonus") -> str:
    """Return what a part of a report is worth, such as ``2``, or ``2 bonus``."""
    bonus = not isinstance(part, Report) and part.bonus
    return f"{amount(part.max_score)} {word}" if bonus else amount(part.max_score)


def counted(number: float, what: str) -> str:
    """Return a number of things, such as ``1 submission`` or ``2.5 points``."""
    return f"{amount(number)} {what}" if number == 1 else f"{amount(number)} {what}s"


def waits_for_gpu(check: CheckResult) -> bool:
    """Tell whether points of a check wait for a machine with a GPU."""
    return check.pending > 0 and check.code is Code.NO_DEVICE


def waits_for_person(check: CheckResult) -> bool:
    """Tell whether points of a check wait for a person's decision."""
    return check.pending > 0 and check.code is Code.NEEDS_REVIEW


def notices(report: Report, words: Words, staff: bool = False) -> list[str]:
    """Return the sentences that belong on top of a report, the gravest first.

    Args:
        report: What the reader may know of it.
        words: Of the reader's language.
        staff: Whoever reads it decides what waits for a person.
    """
    lines: list[str] = []
    if report.status is ReportStatus.INCOMPLETE:
        lines.append(words.label("incomplete_note"))
    if report.pending:
        points = {"pending": amount(report.pending), "max": amount(report.max_score)}
        person = "pending_you" if staff else "pending_person"
        waiting = {"pending_gpu": waits_for_gpu, person: waits_for_person}
        every = [check for _, check in report.checks()]
        parts = {
            label: round(math.fsum(each.pending for each in every if wanted(each)), PLACES)
            for label, wanted in waiting.items()
        }
        said = [words.label(label, points=amount(part)) for label, part in parts.items() if part]
        lines.append(" ".join([words.label("pending_note", **points), *said]))
    if report.uncounted:
        lines.append(words.label("uncounted_note", points=amount(report.uncounted)))
    if not report.official:
        lines.append(words.label("unofficial_note"))
    unwalled = [run for run in report.merged if run.isolation is Tier.NONE]
    if report.official and unwalled:
        checks = ", ".join(name for run in unwalled for name in run.checks)
        lines.append(words.label("unwalled_note", checks=checks))
    return lines


def unread(report: Report) -> CheckResult | None:
    """Return what is said at every check of a submission that could not be run; None if it could.

    That is one mistake in the submission as a whole. A code alone does not tell: a file that is
    missing may be one that a single function should have written.
    """
    decided = [check for _, check in report.checks() if check.status in _DECIDED]
    alike = len({(check.status, check.code) for check in decided}) == 1
    if alike and decided[0].status is Status.FAILED and decided[0].code in _NEVER_RAN:
        return decided[0]
    return None


@dataclass(frozen=True, slots=True, order=True)
class Mistake:
    """What a submission did wrong in a question, at however many checks it shows.

    Attributes:
        question: Id of the question.
        code: The reason.
        known: Name of the known mistake that it is; empty where the author wrote none down.
    """

    question: str
    code: str
    known: str = ""


def mistakes_in(report: Report) -> dict[Mistake, tuple[CheckResult, ...]]:
    """Return the mistakes of a submission, each with the checks that show it.

    One that could not be run has none: the same would be said at every check, and drown all others.
    """
    if report.status is ReportStatus.INCOMPLETE or unread(report) is not None:
        return {}
    found: dict[Mistake, list[CheckResult]] = defaultdict(list)
    for question in report.questions:
        wrong = [
            each
            for each in question.checks
            # What is not written yet is no mistake.
            if each.to_mend and each.code is not Code.NOT_IMPLEMENTED
        ]
        names = dict.fromkeys((each.code, each.params.get("mistake")) for each in wrong)
        # The inputs of some checks do not show which mistake it is: the same code goes with it.
        known = {code: str(name) for code, name in names if name}
        for check in wrong:
            name = str(check.params.get("mistake") or known.get(check.code, ""))
            found[Mistake(question.id, check.code.value, name)].append(check)
    return {mistake: tuple(checks) for mistake, checks in found.items()}


def unwritten(question: QuestionResult) -> bool:
    """Return whether a question's function is as the starter has it.

    One that is not there is another thing: it was removed, or has another name.
    """
    return any(check.code is Code.NOT_IMPLEMENTED for check in question.checks)


def without_answer(question: QuestionResult) -> bool:
    """Return whether a submission that runs has nothing that stands for a question."""
    absent = any(check.code is Code.MISSING_FUNCTION for check in question.checks)
    return absent or unwritten(question)


def regular(question: QuestionResult) -> tuple[float, float]:
    """Return the points of a question that are earned and pending, without a bonus in it."""
    counted_checks = [check for check in question.checks if not check.bonus]
    earned, pending = (
        round(math.fsum(getattr(check, name) for check in counted_checks), PLACES)
        for name in ("score", "pending")
    )
    return earned, pending


_DIED = frozenset({Code.CRASHED, Code.TIMED_OUT, Code.OUT_OF_MEMORY, Code.PROTOCOL_VIOLATION})
_NAMED = 8
_SLOWEST = 3
_MAX_NAME = 60
_TYPICAL = 5


@dataclass(frozen=True, slots=True)
class NobodySolved:
    """A question that nobody has full points for: who wrote it, and their share of its points."""

    writers: int
    share: float


@dataclass(frozen=True, slots=True)
class ClassSummary:
    """What stands out in a class.

    Attributes:
        scores: Of complete reports, sorted.
        max_score: Points for full credit.
        incomplete: Reason → submissions that the grader itself failed at.
        pending: Code → submissions with points that wait for it.
        nobody: Questions that several wrote and nobody has full points for; a mistake in the
            question is likelier than in everybody.
        unread: Code → submissions without a file, or a function in it, that could be run.
        mistakes: Mistake → submissions that made it, the most frequent first; without those.
        died: Submissions in which a student process crashed, hung or broke the protocol.
        suspicious: Submissions about which witnesses disagree.
        slowest: Submission and seconds, the slowest first.
        uncounted: Check → the points by which the maximum is less, as the course has no GPU.
    """

    scores: tuple[float, ...]
    max_score: float
    incomplete: dict[str, tuple[str, ...]]
    pending: dict[str, tuple[str, ...]]
    nobody: dict[str, NobodySolved]
    unread: dict[str, tuple[str, ...]]
    mistakes: dict[Mistake, int]
    died: tuple[str, ...]
    suspicious: tuple[str, ...]
    slowest: tuple[tuple[str, float], ...]
    uncounted: dict[str, float]


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
        dict(Counter(each for report in complete for each in mistakes_in(report)).most_common()),
        _names(reports, lambda check: check.code in _DIED),
        _names(reports, waits_for_person),
        tuple((report.submission.id, report.timing.seconds) for report in slow),
        {
            f"{question}.{check.id}": check.uncounted
            for report in reports
            for question, check in report.checks()
            if check.uncounted
        },
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
        f"Nobody of {each.writers} who wrote {name} has all its points (they have "
        f"{each.share:.0%} of them): is the question at fault?"
        for name, each in summary.nobody.items()
    ]
    lines += [f"Could not be run ({code}): {few(names)}" for code, names in summary.unread.items()]
    if summary.died:
        lines.append(f"Crashed, hung or broke off: {few(summary.died)}")
    lines += [f"Pending ({code}): {few(names)}" for code, names in summary.pending.items()]
    if summary.uncounted:
        points = counted(math.fsum(summary.uncounted.values()), "point")
        lines.append(
            f"Not counted, as this course has no GPU: {points} ({', '.join(summary.uncounted)})"
        )
    lines += [
        f"{count} × {each.question}: {each.code}" + (f" ({each.known})" if each.known else "")
        for each, count in list(summary.mistakes.items())[:_TYPICAL]
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


def _grouped(reports: Sequence[Report], wanted: _Wanted) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for report in reports:
        for _, check in report.checks():
            if wanted(check):
                found.setdefault(check.code.value, {})[report.submission.id] = None
    return {code: tuple(names) for code, names in found.items()}


def _names(reports: Sequence[Report], wanted: _Wanted) -> tuple[str, ...]:
    return tuple(
        report.submission.id
        for report in reports
        if any(wanted(check) for _, check in report.checks())
    )


def _nobody(reports: Sequence[Report]) -> dict[str, NobodySolved]:
    earned: dict[str, float] = defaultdict(float)
    worth: dict[str, float] = defaultdict(float)
    writers: Counter[str] = Counter()
    solved = set()
    for report in (each for each in reports if unread(each) is None):
        for question in report.questions:
            # Points that are open say nothing about anybody.
            if question.pending or question.status is Status.SKIPPED:
                solved.add(question.id)
            # Who wrote nothing says nothing about the question.
            if without_answer(question):
                continue
            writers[question.id] += 1
            points, _ = regular(question)
            earned[question.id] += points
            worth[question.id] += question.max_score
            if points >= question.max_score:
                solved.add(question.id)
    return {
        name: NobodySolved(writers[name], earned[name] / worth[name])
        for name in worth
        if worth[name] and name not in solved and writers[name] > 1
    }


def _unread(reports: Sequence[Report]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = defaultdict(list)
    for report in reports:
        if (check := unread(report)) is not None:
            found[check.code.value].append(report.submission.id)
    return {code: tuple(names) for code, names in found.items()}


def few(names: Sequence[str]) -> str:
    """Return names for one line, the first of them where there are many."""
    shown = ", ".join(inert(name, _MAX_NAME) for name in names[:_NAMED])
    return shown + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


SUMMARY_FILE = "summary.md"
_MOST_ROWS = 2000
"""GitHub shows a megabyte."""

_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#+!|~-])")


def summary_page(reports: Sequence[Report]) -> str:
    """Return a class, or one submission, as a table and what stands out; for staff."""
    shown = sorted(reports, key=lambda report: report.submission.id)
    name = shown[0].assignment.id if shown else "nothing"
    lines = [f"## {name}: {counted(len(shown), 'submission')}", ""]
    lines += [f"- {_plain(line)}" for line in sentences(summarise(shown))]
    lines += ["", "| submission | score | of | pending | |", "| --- | ---: | ---: | ---: | --- |"]
    lines += [_row(report) for report in shown[:_MOST_ROWS]]
    if len(shown) > _MOST_ROWS:
        lines += ["", f"and {len(shown) - _MOST_ROWS} more"]
    return "\n".join(lines) + "\n"


def _row(report: Report) -> str:
    cells = (
        _plain(inert(report.submission.id, _MAX_NAME)),
        amount(report.score),
        amount(report.max_score),
        amount(report.pending),
        report.status.value,
    )
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """Return text that stays text: names are the students' own."""
    return _MARKUP.sub(r"\\\1", text)
