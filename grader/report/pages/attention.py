"""What of a class to look at first: where the grader failed, or a person has to decide."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from grader.report.class_summary import ClassSummary
from grader.report.model import Report
from grader.report.pages.render import Labels

Told = tuple[str, tuple[tuple[str, str], ...]]
"""What there is to look at, and at whose: words, and (name, link) of each."""


def twins_in(reports: Sequence[Report]) -> list[tuple[str, ...]]:
    """Return groups of hand-ins whose files are the same, byte for byte."""
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
) -> tuple[Told, ...]:
    """Return it, the gravest first.

    Args:
        links: Hand-in → its page.
        summary: Of the class.
        twins: Groups of hand-ins with the same files.
        labels: Language.
    """
    codes = labels.words.codes

    def named(label: str, names: Sequence[str], **blanks: str) -> Told:
        return labels(label, **blanks), tuple((name, links[name]) for name in names)

    told = [
        named("look_incomplete", names, what=codes.get(code, code))
        for code, names in summary.incomplete.items()
    ]
    if summary.suspicious:
        told.append(named("look_review", summary.suspicious))
    told += [
        named("look_unread", names, what=codes.get(code, code))
        for code, names in summary.unread.items()
    ]
    if summary.died:
        told.append(named("look_died", summary.died))
    told += [named("look_twins", group) for group in twins]
    told += [
        named("look_pending", names, what=codes.get(code, code))
        for code, names in summary.pending.items()
        if code != "needs_review"
    ]
    return tuple(told)
