"""A wrong tensor as a table of coloured cells: right, or how far from right."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

import numpy as np

from grader.checks.arrays import Array
from grader.report.language import current
from grader.verdict import Message, Param

_MOST = 24
"""Rows and columns that are shown; the window holds the first wrong element."""
_READABLE = 8
"""Columns up to which the numbers are written into the cells."""
_RIGHT = "#d9f2e0"
_DECADES = 6.0


@dataclass(frozen=True)
class Heat:
    """What was returned beside what is right.

    Attributes:
        case: Its case.
        where: The place in the returned structure.
        actual: In float64.
        expected: The same shape.
        wrong: The elements that are.
    """

    case: str
    where: str
    actual: Array
    expected: Array
    wrong: Array

    @property
    def first(self) -> tuple[int, ...]:
        """Index of the first wrong element."""
        flat = int(np.flatnonzero(self.wrong)[0])
        return tuple(int(part) for part in np.unravel_index(flat, self.wrong.shape))

    def html(self) -> str:
        """Return a caption and the table."""
        first = self.first
        # The matrix that holds the first wrong element, whatever the rank.
        lead = first[: max(len(first) - 2, 0)]
        planes = [_matrix(array[lead]) for array in (self.actual, self.expected, self.wrong)]
        row, column = ([0, 0, *first])[-2:]
        rows, columns = _window(row, planes[0].shape[0]), _window(column, planes[0].shape[1])
        body = "".join(
            f"<tr>{''.join(self._cell(planes, (i, j), (row, column)) for j in columns)}</tr>"
            for i in rows
        )
        whole = (len(rows), len(columns)) == planes[0].shape and not lead
        return (
            f'<div style="margin:4px 0 2px">{self._caption(first, whole)}</div>'
            f'<table style="border-collapse:collapse;border:none"><tbody>{body}</tbody></table>'
        )

    def _caption(self, first: tuple[int, ...], whole: bool) -> str:
        place = f"{self.where}[{', '.join(map(str, first))}]" if first else self.where
        told: dict[str, Param] = {
            "case": self.case, "place": place, "actual": float(self.actual[first]),
            "expected": float(self.expected[first]),
        }  # fmt: skip
        parts = [_say("first_wrong", told), "" if whole else _say("part_shown", {})]
        return escape(" ".join(filter(None, parts)))

    def _cell(self, planes: list[Array], at: tuple[int, int], first: tuple[int, int]) -> str:
        actual, expected, wrong = (plane[at] for plane in planes)
        colour = _colour(float(actual), float(expected)) if wrong else _RIGHT
        edge = "2px solid #000" if at == first else "1px solid #fff"
        told: dict[str, Param] = {"actual": float(actual), "expected": float(expected)}
        text = f"{actual:.4g}" if planes[0].shape[1] <= _READABLE else "&nbsp;"
        return (
            f'<td title="{escape(_say("element", told))}" style="'
            f"background:{colour};color:#000;border:{edge};padding:1px 5px;min-width:10px;"
            f'text-align:right;font:11px monospace">{text}</td>'
        )


def _say(message: str, params: dict[str, Param]) -> str:
    return current().render(Message(message, params))


def _matrix(array: Array) -> Array:
    return np.asarray(array).reshape(1, -1) if np.ndim(array) < 2 else array


def _window(middle: int, size: int) -> range:
    start = min(max(0, middle - _MOST // 2), max(0, size - _MOST))
    return range(start, min(size, start + _MOST))


def _colour(actual: float, expected: float) -> str:
    """Return red, the paler the nearer: full at an error as large as the number itself."""
    apart = abs(actual - expected)
    if not math.isfinite(apart):
        return "#b58cd9"
    relative = apart / max(abs(expected), 1e-30)
    share = 1 + math.log10(max(min(relative, 1.0), 10**-_DECADES)) / _DECADES
    pale = int(215 - 135 * share)
    return f"rgb(240,{pale},{pale})"
