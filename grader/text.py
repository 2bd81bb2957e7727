"""Text and numbers from a submission, made harmless for files, terminals and pages.

Defends against: control characters and ANSI sequences, invisible and direction-changing
characters, lone surrogates that no encoder takes, endless text, NaN and infinity in JSON, integers
too long to print.
Does not defend against: markup. Where a reader would interpret it, the exporter says “plain text”.
"""

from __future__ import annotations

import math
import sys
import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from grader.verdict import Param

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MAX_EVIDENCE = 20_000
_MAX_ITEMS = 1000
_MAX_DEPTH = 8
_BIG = 2**63
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def inert(text: str, limit: int, keep: str = "") -> str:
    """Return ``text`` with every character that is not plainly visible written as an escape.

    Args:
        text: Anything.
        limit: Greatest length of the result; what is cut is marked by “…”.
        keep: Characters to leave alone, such as a newline in a traceback.
    """
    # Cut before escaping, so that a huge text costs nothing; escapes only make it longer.
    shown = text[: limit + 1]
    # What Python calls printable holds none of these categories, and nearly every text is.
    if not shown.isprintable():
        shown = "".join(_visible(char, keep) for char in shown)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def _visible(char: str, keep: str) -> str:
    if char in keep or unicodedata.category(char) not in _UNSAFE:
        return char
    return char.encode("unicode_escape").decode("ascii")


def json_safe(value: Param, depth: int = 0) -> JsonValue:
    """Return a value that every JSON reader takes: finite, bounded, and harmless as text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -_BIG <= value < _BIG else long_integer(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return inert(value, MAX_EVIDENCE, keep="\n\t")
    if depth >= _MAX_DEPTH:
        return "…"
    return [json_safe(item, depth + 1) for item in value[:_MAX_ITEMS]]


def json_safe_mapping(values: Mapping[str, Param]) -> dict[str, JsonValue]:
    """Return ``json_safe`` of every value."""
    return {name: json_safe(value) for name, value in values.items()}


def long_integer(value: int) -> str:
    """Describe an integer that is too long to print; Python itself refuses above 4,300 digits."""
    return f"an integer of {value.bit_length()} bits"


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text.

    Raises:
        ValueError: It is no TOML; says where.
    """
    tables: dict[str, Any] = tomllib.loads(text)
    return tables


_NARROWEST = 20
"""Columns that a text has, however it is indented."""


def print_wrapped(console: Console, text: Text, indent: int = 0) -> None:
    """Print a text line by line, indented, and without blanks at their ends."""
    for line in text.wrap(console, max(_NARROWEST, console.width - indent)):
        line.rstrip()
        line.pad_left(indent)
        console.print(line, soft_wrap=True)


_MOST_OF_A_LINE = 200
"""Characters of a line that is shown as it stands."""


def print_marked(console: Console, sentence: str, line: str, column: int | None) -> None:
    """Print what is wrong in a file, and the line where it is with a mark below it.

    Args:
        console: Where to.
        sentence: What is wrong.
        line: As it stands in the file; empty where that is unknown.
        column: Characters before the mark; None for no mark.
    """
    from rich.text import Text  # noqa: PLC0415  what has no terminal does without it

    print_wrapped(console, Text(sentence, "red"))
    if line:
        console.print(Text(f"    {inert(line, _MOST_OF_A_LINE)}"))
    if line and column is not None:
        console.print(Text(f"    {' ' * column}^", "red"))
