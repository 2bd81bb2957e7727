"""The mistakes of a class: who made which, the most frequent first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.report.model import CheckResult, Report, ReportStatus
from grader.report.summary import unread
from grader.verdict import Status

_EXAMPLE = 220


@dataclass(frozen=True, slots=True)
class Mistake:
    """A check that did not pass, for one reason.

    Attributes:
        index: Its number on the page.
        question: Id of the question.
        check: Id of the check.
        code: The reason.
        count: Hand-ins that made it.
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
        groups: (code, hand-ins, its mistakes), the most frequent first.
        by_hand_in: Name → indices of its mistakes.
    """

    groups: tuple[tuple[str, int, tuple[Mistake, ...]], ...]
    by_hand_in: Mapping[str, tuple[int, ...]]


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
    by_hand_in: dict[str, list[int]] = defaultdict(list)
    by_code: dict[str, list[Mistake]] = defaultdict(list)
    people: dict[str, set[str]] = defaultdict(set)
    for key in ordered:
        mistake = Mistake(index[key], *key, len(who[key]), _short(examples[key]))
        by_code[mistake.code].append(mistake)
        people[mistake.code] |= set(who[key])
        for name in who[key]:
            by_hand_in[name].append(mistake.index)
    groups = sorted(by_code, key=lambda code: (-len(people[code]), code))
    return Mistakes(
        tuple((code, len(people[code]), tuple(by_code[code])) for code in groups),
        {name: tuple(found) for name, found in by_hand_in.items()},
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
