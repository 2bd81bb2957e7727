"""The mistakes of a class as its pages show them: a row for each, with who made it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.report.html.render import Labels
from grader.report.language import in_language
from grader.report.model import CheckResult, Report
from grader.report.summary import Mistake, mistakes_in

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
