"""The pages: which hand-ins are alike, and each pair side by side. They read without a script.

Defends against: markup, control and direction-changing characters in code and names (escaped, made
visible); code that would be run (the content security policy names the only script and style).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.report.pages.render import Labels, render
from grader.report.text import inert, json_safe
from grader.similarity.compare import LEAST_OWN, LENGTH, Findings, Pair
from grader.similarity.texts import Class
from grader.similarity.view import People, histogram, sides
from grader.store.atomic import write_atomic

INDEX_FILE = "index.html"
DATA_FILE = "similarity.json"
PAIRS = "pairs"
MOST_PAIRS = 200
"""Pairs that get a page; with more, the threshold is too low for this assignment."""
_MAX_NAME = 80


@dataclass(frozen=True, slots=True)
class Comparison:
    """A class that was compared.

    Attributes:
        title: Of the assignment.
        total: Hand-ins.
        read: What could be compared.
        findings: What came of it.
        threshold: Least score of a pair that is listed.
        people: Who is behind names.
        given: Something was known that students started from.
    """

    title: str
    total: int
    read: Class
    findings: Findings
    threshold: float
    people: People
    given: bool

    def same_bytes(self, names: Sequence[str]) -> bool:
        """Whether all of a set of copies are the same, byte for byte."""
        return any(set(names) == set(each.names) for each in self.read.compared)


def write_pages(comparison: Comparison, out: Path) -> Path:
    """Write the pages and the data behind them; those of an earlier comparison go.

    Args:
        comparison: What to show.
        out: Folder to write into.

    Returns:
        The page to begin with.
    """
    folder = out / PAIRS
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("[0-9]*.html"):
        old.unlink()
    findings = comparison.findings
    for number, pair in enumerate(findings.pairs[:MOST_PAIRS], start=1):
        write_atomic(folder / _page_name(number), _pair_page(comparison, pair, number).encode())
    write_atomic(out / DATA_FILE, json.dumps(_data(comparison), indent=1).encode())
    page = _render("similarity.html", comparison, bars=histogram(findings.closest))
    write_atomic(out / INDEX_FILE, page.encode())
    return out / INDEX_FILE


def _pair_page(comparison: Comparison, pair: Pair, number: int) -> str:
    return _render("similarity_pair.html", comparison, pair=pair, sides=sides(pair), number=number)


def _render(template: str, comparison: Comparison, **values: object) -> str:
    about: Mapping[str, object] = {
        "comparison": comparison,
        "findings": comparison.findings,
        "shown": comparison.findings.pairs[:MOST_PAIRS],
        "page_of": lambda number: f"{PAIRS}/{_page_name(number)}",
        "who": lambda name: _who(comparison.people, name),
        "least_own": LEAST_OWN,
        "length": LENGTH,
        **values,
    }
    return render(template, ("base.js",), Labels(), about, styles=("page.css", "similarity.css"))


def _who(people: People, name: str) -> str:
    known = people.known_as(name)
    shown = inert(name, _MAX_NAME)
    return f"{shown} ({inert(known, _MAX_NAME)})" if known else shown


def _page_name(number: int) -> str:
    return f"{number:03}.html"


def _data(comparison: Comparison) -> dict[str, object]:
    findings = comparison.findings
    return {
        "threshold": comparison.threshold,
        "pairs": [
            {
                "hand_ins": [json_safe(list(side.names)) for side in (pair.first, pair.second)],
                "shares": [round(share, 4) for share in pair.shares],
                "tokens": pair.tokens,
            }
            for pair in findings.pairs
        ],
        "copies": [json_safe(list(names)) for names in findings.copies],
        "closest": {name: round(score, 4) for name, score in findings.closest.items()},
        "too_little_of_their_own": list(findings.thin),
        "not_compared": comparison.read.unread,
    }
