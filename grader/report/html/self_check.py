"""A self-check's result as a piece of HTML for a notebook, and a wrong tensor as coloured cells.

All text in it is escaped.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from grader.checks.arrays import Array
from grader.report.messages.catalogue import current
from grader.report.model import CheckResult, QuestionResult
from grader.report.student import hint_of, not_written, of_the_file, points_of, shown_status
from grader.report.summary import MARKS, amount, worth
from grader.text import inert
from grader.verdict import Code, Message, Param, Status

_MAX_TEXT = 2000
_COLOURS = {
    Status.PASSED: "#1a7f37",
    Status.PARTIAL: "#9a6700",
    Status.FAILED: "#cf222e",
    Status.SKIPPED: "#6e7781",
    Status.DEFERRED: "#0969da",
    Status.ERROR: "#8250df",
}
_BOX = (
    "border-left:5px solid {colour};padding:4px 10px;margin:6px 0;"
    "font-family:sans-serif;font-size:13px;line-height:1.45"
)
_CELL = "text-align:left;vertical-align:top;border:none;padding:1px 8px 1px 0"
_LINE = "color:#6e7781;white-space:pre-wrap;font:12px monospace"
"""Values stand in columns: blanks count, and every character is as wide as the next."""


def result_html(
    question: QuestionResult,
    hints: Mapping[str, str] | None = None,
    pictures: Mapping[str, Heat] | None = None,
    details: Mapping[str, Sequence[str]] | None = None,
    drawn: Mapping[str, bytes] | None = None,
) -> str:
    """Return one question's result.

    Args:
        question: From a self-check's report.
        hints: Question → hint, shown where something is wrong.
        pictures: Check → where its numbers are wrong.
        details: Check → lines on values and on what the devices did, as for a terminal.
        drawn: Check → a picture of what it has measured, as SVG; it stands in place of lines.
    """
    status, words = shown_status(question), current()
    mark, colour = MARKS[status], _COLOURS[status]
    head = (
        f'<b style="color:{colour}">{mark} {_text(question.id)}</b> '
        f"&nbsp;{_text(points_of(question))} &nbsp;"
        f'<span style="color:#6e7781">{_text(question.title)}</span>'
    )
    if not_written(question):
        rows = _text(words.codes[Code.NOT_IMPLEMENTED.value])
    elif whole := of_the_file(question):
        rows = _text(whole) + _lines(next(iter((details or {}).values()), ()))
    else:
        rows = _table(question, pictures or {}, details or {}, drawn or {})
        if hint := hint_of(question, hints or {}, words):
            rows += f"<div>{_text(hint)}</div>"
    return _box(status, f"{head}<br>{rows}")


def text_html(text: str, status: Status) -> str:
    """Return a sentence in the colour of a status: an error, or what there is to know first."""
    return _box(status, _text(text))


def _box(status: Status, inside: str) -> str:
    return f'<div style="{_BOX.format(colour=_COLOURS[status])}">{inside}</div>'


def _table(
    question: QuestionResult,
    pictures: Mapping[str, Heat],
    details: Mapping[str, Sequence[str]],
    drawn: Mapping[str, bytes],
) -> str:
    rows, printed = "", set[Sequence[str]]()
    for check in question.checks:
        lines = details.get(check.id, ())
        # Checks that look at the same run have the same to tell: once is enough.
        heat = pictures.get(check.id)
        below = heat.html() if heat else ""
        if check.id in drawn:
            below += _image(drawn[check.id], question, check)
        elif lines not in printed:
            below += _lines(lines)
        rows += _row(check, below)
        printed.add(lines)
    return f'<table style="border:none;border-collapse:collapse"><tbody>{rows}</tbody></table>'


def _lines(lines: Sequence[str]) -> str:
    return "".join(f'<div style="{_LINE}">{_text(line)}</div>' for line in lines)


def _image(svg: bytes, question: QuestionResult, check: CheckResult) -> str:
    # As an image it runs no script, loads nothing, and shares no ids with another one.
    data = b64encode(svg).decode()
    named = _text(f"{question.id}, {check.id}")
    return (
        f'<div><img style="max-width:100%" alt="{named}" src="data:image/svg+xml;base64,{data}">'
        "</div>"
    )


def _row(check: CheckResult, below: str) -> str:
    mark, colour = MARKS[check.status], _COLOURS[check.status]
    most = worth(check, current().labels["bonus"])
    cells = (
        (f"white-space:nowrap;color:{colour}", f"{mark}&nbsp;{_text(check.id)}"),
        ("white-space:nowrap", _text(f"{amount(check.score)} / {most}")),
        ("width:100%", _text(check.student_message) + below),
    )
    row = "".join(f'<td style="{_CELL};{style}">{inside}</td>' for style, inside in cells)
    return f'<tr style="background:none">{row}</tr>'


def _text(text: str) -> str:
    return escape(inert(text, _MAX_TEXT))


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
        planes = [np.asarray(array[lead]) for array in (self.actual, self.expected, self.wrong)]
        # A vector or a number is shown as a matrix of one row.
        planes = [plane.reshape(1, -1) if plane.ndim < 2 else plane for plane in planes]
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
        params: dict[str, Param] = {
            "case": self.case, "place": place, "actual": float(self.actual[first]),
            "expected": float(self.expected[first]),
        }  # fmt: skip
        parts = [_say("first_wrong", params), "" if whole else _say("part_shown", {})]
        return escape(" ".join(filter(None, parts)))

    def _cell(self, planes: list[Array], at: tuple[int, int], first: tuple[int, int]) -> str:
        actual, expected, wrong = (plane[at] for plane in planes)
        colour = _colour(float(actual), float(expected)) if wrong else _RIGHT
        edge = "2px solid #000" if at == first else "1px solid #fff"
        params: dict[str, Param] = {"actual": float(actual), "expected": float(expected)}
        text = f"{actual:.4g}" if planes[0].shape[1] <= _READABLE else "&nbsp;"
        return (
            f'<td title="{escape(_say("element", params))}" style="'
            f"background:{colour};color:#000;border:{edge};padding:1px 5px;min-width:10px;"
            f'text-align:right;font:11px monospace">{text}</td>'
        )


def _say(message: str, params: dict[str, Param]) -> str:
    return current().render(Message(message, params))


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
