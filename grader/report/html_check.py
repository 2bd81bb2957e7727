"""A self-check's result as a piece of HTML for a notebook. All text in it is escaped."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape

from grader.report.heat import Heat
from grader.report.language import current
from grader.report.model import CheckResult, QuestionResult
from grader.report.student import not_written, points_of
from grader.report.summary import amount
from grader.report.text import inert
from grader.verdict import Code, Message, Status

_MAX_TEXT = 2000
_LOOK = {
    Status.PASSED: ("✓", "#1a7f37"),
    Status.PARTIAL: ("◐", "#9a6700"),
    Status.FAILED: ("✗", "#cf222e"),
    Status.SKIPPED: ("–", "#6e7781"),
    Status.DEFERRED: ("…", "#0969da"),
    Status.ERROR: ("!", "#8250df"),
}
_BOX = (
    "border-left:5px solid {colour};padding:4px 10px;margin:6px 0;"
    "font-family:sans-serif;font-size:13px;line-height:1.45"
)
_CELL = "text-align:left;vertical-align:top;border:none;padding:1px 8px 1px 0"


def result_html(
    question: QuestionResult,
    hint: str = "",
    pictures: Mapping[str, Heat] | None = None,
    details: Mapping[str, Sequence[str]] | None = None,
    drawn: Mapping[str, bytes] | None = None,
) -> str:
    """Return one question's result.

    Args:
        question: From a self-check's report.
        hint: Shown where something is wrong.
        pictures: Check → where its numbers are wrong.
        details: Check → lines on what the devices did.
        drawn: Check → a picture of what it has measured, as SVG; it stands in place of lines.
    """
    status, words = _status(question), current()
    mark, colour = _LOOK[status]
    head = (
        f'<b style="color:{colour}">{mark} {_text(question.id)}</b> '
        f"&nbsp;{_text(points_of(question))} &nbsp;"
        f'<span style="color:#6e7781">{_text(question.title)}</span>'
    )
    if not_written(question):
        rows = _text(words.codes[Code.NOT_IMPLEMENTED.value])
    else:
        rows = _table(question, pictures or {}, details or {}, drawn or {})
        if hint and status in (Status.FAILED, Status.PARTIAL):
            rows += f"<div>{_text(words.render(Message('hint', {'hint': hint})))}</div>"
    return f'<div style="{_BOX.format(colour=colour)}">{head}<br>{rows}</div>'


def error_html(text: str) -> str:
    """Return what kept a check from running."""
    colour = _LOOK[Status.ERROR][1]
    return f'<div style="{_BOX.format(colour=colour)}">{_text(text)}</div>'


def _table(
    question: QuestionResult,
    pictures: Mapping[str, Heat],
    details: Mapping[str, Sequence[str]],
    drawn: Mapping[str, bytes],
) -> str:
    rows, said = "", set[Sequence[str]]()
    for check in question.checks:
        lines = details.get(check.id, ())
        # Checks that look at the same run have the same to tell: once is enough.
        heat = pictures.get(check.id)
        below = heat.html() if heat else ""
        if check.id in drawn:
            below += _image(drawn[check.id], question, check)
        elif lines not in said:
            below += "".join(f'<div style="color:#6e7781">{_text(line)}</div>' for line in lines)
        rows += _row(check, below)
        said.add(lines)
    return f'<table style="border:none;border-collapse:collapse"><tbody>{rows}</tbody></table>'


def _image(svg: bytes, question: QuestionResult, check: CheckResult) -> str:
    # As an image it runs no script, loads nothing, and shares no ids with another one.
    data = b64encode(svg).decode()
    named = _text(f"{question.id}, {check.id}")
    return (
        f'<div><img style="max-width:100%" alt="{named}" src="data:image/svg+xml;base64,{data}">'
        "</div>"
    )


def _row(check: CheckResult, below: str) -> str:
    mark, colour = _LOOK[check.status]
    cells = (
        (f"white-space:nowrap;color:{colour}", f"{mark}&nbsp;{_text(check.id)}"),
        ("white-space:nowrap", _text(f"{amount(check.score)} / {amount(check.max_score)}")),
        ("width:100%", _text(check.student_message) + below),
    )
    row = "".join(f'<td style="{_CELL};{style}">{inside}</td>' for style, inside in cells)
    return f'<tr style="background:none">{row}</tr>'


def _status(question: QuestionResult) -> Status:
    statuses = {check.status for check in question.checks}
    if statuses & {Status.FAILED, Status.PARTIAL}:
        return Status.PARTIAL if question.score else Status.FAILED
    return Status.PASSED if question.score else question.status


def _text(text: str) -> str:
    return escape(inert(text, _MAX_TEXT))
