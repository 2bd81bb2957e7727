"""A class as one page of Markdown: the page of a CI job, an issue, a message to staff."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.report.class_summary import sentences, summarise
from grader.report.model import Report
from grader.report.summary import amount, counted
from grader.report.text import inert

SUMMARY_FILE = "summary.md"
_MOST_ROWS = 2000
"""GitHub shows a megabyte."""

_MAX_NAME = 60
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
