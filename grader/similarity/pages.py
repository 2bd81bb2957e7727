"""The pages: which submissions are alike, and each pair side by side. They read without a script.

Defends against: markup, control and direction-changing characters in code and names (escaped, made
visible); code that would be run (the content security policy names the only script and style).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from grader.batch.discover import ClassSubmission
from grader.report.html.render import Labels, render
from grader.similarity.compare import LEAST_OWN, LENGTH, Findings, Pair, Region
from grader.similarity.texts import Script, ScriptClass
from grader.store.files import write_atomic
from grader.text import inert, json_safe

COLOURS = 6
"""Matches are told apart by number, and by colour as far as there are colours."""
_BARS = 20


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a line.

    Attributes:
        text: As it stands there.
        match: Number of the match that it belongs to, or None.
        begins: The match begins here.
    """

    text: str
    match: int | None = None
    begins: bool = False


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of code.

    Attributes:
        label: Its number, or notebook cell and line; empty where it is none of the submission's.
        pieces: What is in it.
    """

    label: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """One submission of a pair.

    Attributes:
        names: Of all identical submissions behind it.
        share: Of its own code, what the other has too.
        lines: Its code.
        partners: For each match: number of the other side's match, and its colour.
    """

    names: tuple[str, ...]
    share: float
    lines: tuple[CodeLine, ...]
    partners: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class ScoreBar:
    """How many submissions have their closest other at such a share."""

    low: int
    count: int


def sides(pair: Pair) -> tuple[Side, Side]:
    """Return both sides of a pair. A match of the left one gives the right one its colour."""
    left, right = pair.regions
    return (
        Side(
            pair.first.names,
            pair.shares[0],
            _lines(pair.first.script, left),
            tuple((region.partner, number % COLOURS) for number, region in enumerate(left)),
        ),
        Side(
            pair.second.names,
            pair.shares[1],
            _lines(pair.second.script, right),
            tuple((region.partner, region.partner % COLOURS) for region in right),
        ),
    )


@dataclass(frozen=True, slots=True)
class _Mark:
    """A stretch of code to colour."""

    start: int
    end: int
    match: int
    begins: bool


def _lines(script: Script, regions: Sequence[Region]) -> tuple[CodeLine, ...]:
    marks = [
        _Mark(start, end, number, begins=index == 0)
        for number, region in enumerate(regions)
        for index, (start, end) in enumerate(region.spans)
    ]
    lines, start, ahead = [], 0, 0
    for label, text in zip(script.labels, script.source.split("\n"), strict=True):
        # Marks that are over are passed once; looked at for each line, long files would take for
        # ever.
        while ahead < len(marks) and marks[ahead].end <= start:
            ahead += 1
        lines.append(CodeLine(label, tuple(_pieces(text, start, islice(marks, ahead, None)))))
        start += len(text) + 1
    return tuple(lines)


def _pieces(text: str, start: int, marks: Iterable[_Mark]) -> list[Piece]:
    """Return the pieces of the line that begins at ``start``; a string may go on from line to line.

    Args:
        text: The line.
        start: Its first character in the source.
        marks: From the first on that is not over before this line.
    """
    pieces, at, end = [], start, start + len(text)
    for mark in marks:
        if mark.start >= end:
            break
        begin, stop = max(mark.start, at), min(mark.end, end)
        pieces.append(Piece(text[at - start : begin - start]))
        first = mark.begins and mark.start >= start
        pieces.append(Piece(text[begin - start : stop - start], mark.match, first))
        at = stop
    pieces.append(Piece(text[at - start :]))
    return [piece for piece in pieces if piece.text]


def histogram(closest: Mapping[str, float]) -> list[ScoreBar]:
    """Return how many submissions have their closest other at each twentieth."""
    counts = [0] * _BARS
    for score in closest.values():
        # A score of 1 belongs to the last bar.
        counts[min(int(score * _BARS), _BARS - 1)] += 1
    return [ScoreBar(index * 100 // _BARS, count) for index, count in enumerate(counts)]


class People:
    """Who is behind the names of submissions."""

    def __init__(self, submissions: Sequence[ClassSubmission]) -> None:
        self._students = {each.name: each.students for each in submissions}

    def known_as(self, name: str) -> str:
        """Return the students' names, where the platform says more than the submission's."""
        return ", ".join(student.name for student in self._students.get(name, ()) if student.name)

    def apart(self, one: str, two: str) -> bool:
        """Tell whether two submissions are of different people, as far as anybody knows."""
        return not (self._keys(one) & self._keys(two))

    def _keys(self, name: str) -> set[str]:
        # Without the empty one: two of whom nothing is known are not one person.
        return {student.id or student.email for student in self._students.get(name, ())} - {""}


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
        total: Submissions.
        read: What could be compared.
        findings: What came of it.
        threshold: Least score of a pair that is listed.
        people: Who is behind names.
        given: Something was known that students started from.
    """

    title: str
    total: int
    read: ScriptClass
    findings: Findings
    threshold: float
    people: People
    given: bool

    def same_bytes(self, names: Sequence[str]) -> bool:
        """Tell whether all of a set of copies are the same, byte for byte."""
        return any(set(names) == set(each.names) for each in self.read.compared)


def write_pages(comparison: Comparison, out: Path) -> Path:
    """Write the pages and the data behind them; those of an earlier comparison go.

    Returns:
        The page to begin with.
    """
    folder = out / PAIRS
    folder.mkdir(parents=True, exist_ok=True)
    # Those of an earlier comparison would outlive a shorter list, and belong to nothing on it.
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
