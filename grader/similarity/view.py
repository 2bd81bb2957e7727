"""What the pages show: lines of code cut into pieces, and who is behind a name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from grader.batch.discover import HandIn
from grader.similarity.compare import Pair, Region
from grader.similarity.texts import Script

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
class Line:
    """A line of code.

    Attributes:
        label: Its number, or notebook cell and line; empty where it is none of the hand-in's.
        pieces: What is in it.
    """

    label: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """One hand-in of a pair.

    Attributes:
        names: Of all identical hand-ins behind it.
        share: Of its own code, what the other has too.
        lines: Its code.
        partners: For each match: number of the other side's match, and its colour.
    """

    names: tuple[str, ...]
    share: float
    lines: tuple[Line, ...]
    partners: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """How many hand-ins have their closest other at such a share."""

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


def _lines(script: Script, regions: Sequence[Region]) -> tuple[Line, ...]:
    marks = [
        _Mark(start, end, number, begins=index == 0)
        for number, region in enumerate(regions)
        for index, (start, end) in enumerate(region.spans)
    ]
    lines, start, ahead = [], 0, 0
    for label, text in zip(script.labels, script.source.split("\n"), strict=True):
        while ahead < len(marks) and marks[ahead].end <= start:
            ahead += 1
        lines.append(Line(label, tuple(_pieces(text, start, islice(marks, ahead, None)))))
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


def histogram(closest: Mapping[str, float]) -> list[Bar]:
    """Return how many hand-ins have their closest other at each twentieth."""
    counts = [0] * _BARS
    for score in closest.values():
        counts[min(int(score * _BARS), _BARS - 1)] += 1
    return [Bar(index * 100 // _BARS, count) for index, count in enumerate(counts)]


class People:
    """Who is behind the names of hand-ins.

    Args:
        hand_ins: Of the class.
    """

    def __init__(self, hand_ins: Sequence[HandIn]) -> None:
        self._students = {each.name: each.students for each in hand_ins}

    def known_as(self, name: str) -> str:
        """Return the students' names, where the platform says more than the hand-in's."""
        return ", ".join(student.name for student in self._students.get(name, ()) if student.name)

    def apart(self, one: str, two: str) -> bool:
        """Tell whether two hand-ins are of different people, as far as anybody knows."""
        return not (self._keys(one) & self._keys(two))

    def _keys(self, name: str) -> set[str]:
        return {student.id or student.email for student in self._students.get(name, ())} - {""}
