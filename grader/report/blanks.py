"""How the blanks of a sentence are filled: simple names, bounded text, a few specs of our own.

Defends against: text of a hand-in with control characters or endless length; a template that
reaches into an object.
"""

from __future__ import annotations

import signal
import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from grader.report.text import inert, long_integer
from grader.verdict import Param

_MAX_PARAM = 500
_MAX_LINE = 99_999
_MAX_DIGITS_BITS = 256
_LARGEST = 1e15
_SHOWN_ITEMS = 12


class UnfillableError(Exception):
    """A template names something that the message does not have."""


class _Formatter(string.Formatter):
    """``str.format`` that fills simple names and nothing more."""

    def get_field(self, name: str, _: Sequence[Any], params: Mapping[str, Any]) -> tuple[Any, str]:
        if not name.isidentifier():
            raise ValueError(f"a template may name a parameter, not “{name}”")
        if params.get(name) in (None, ""):
            raise UnfillableError(name)
        return params[name], name

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        if conversion is not None:
            raise ValueError("a template may not convert")
        return value

    def format_field(self, value: Any, spec: str) -> str:
        if spec in _SPECS:
            return _SPECS[spec](value)
        if spec and isinstance(value, (int, float)) and abs(value) < _LARGEST:
            return format(value, spec)
        return show(value)


FORMATTER = _Formatter()


def show(value: Param) -> str:
    """Return a parameter as a reader wants to see it; six digits, tuples for indices."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return _tuple(value)
    if isinstance(value, int) and value.bit_length() > _MAX_DIGITS_BITS:
        return long_integer(value)
    return inert(str(value), _MAX_PARAM)


def _tuple(items: list[Param]) -> str:
    shown = [show(item) for item in items[:_SHOWN_ITEMS]]
    if len(items) > _SHOWN_ITEMS:
        shown.append("…")
    inside = ", ".join(shown)
    return inert(f"({inside},)" if len(items) == 1 else f"({inside})", _MAX_PARAM)


def line_text(value: Param) -> str:
    """Return a line's number.

    Raises:
        UnfillableError: It is unknown, or no line of any file.
    """
    if type(value) is not int or not 0 < value <= _MAX_LINE:
        raise UnfillableError("line")
    return str(value)


def _names(value: Param) -> str:
    items = value if isinstance(value, list) else [value]
    if not items:
        raise UnfillableError("names")
    shown = [show(item) for item in items[:_SHOWN_ITEMS]]
    return ", ".join(shown) + (", …" if len(items) > _SHOWN_ITEMS else "")


def _most(value: Param) -> str:
    if not isinstance(value, list) or len(value) < 2:
        raise UnfillableError("most")
    return _names(value[:-1])


def _last(value: Param) -> str:
    return _names(value[-1:] if isinstance(value, list) else value)


def _signal(value: Param) -> str:
    try:
        return f"{value} ({signal.Signals(value).name})"  # type: ignore[arg-type]
    except ValueError:
        return show(value)


def _index(value: Param) -> str:
    if not value and value != 0:
        raise UnfillableError("index")
    return show(value)


def _part(value: Param) -> str:
    if value == "result":
        raise UnfillableError("part")
    return show(value)


def _size(value: Param) -> str:
    if type(value) is not int:
        return show(value)
    return f"{value >> 20} MiB" if value >= 1 << 20 else f"{value} bytes"


_SPECS: dict[str, Callable[[Param], str]] = {
    "index": _index,
    "last": _last,
    "line": line_text,
    "most": _most,
    "names": _names,
    "part": _part,
    "signal": _signal,
    "size": _size,
}
