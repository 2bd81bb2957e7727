"""What virtual GPUs say, in the reader's language.

An English text stands where it is said, and is the key of its translation in ``ko.json``. The
language is that of the grader's messages: ``TORCHGRADE_LANG``, else the locale's.
"""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path

KOREAN = Path(__file__).with_name("ko.json")
"""English text → Korean."""
_LANGUAGES = ("en", "ko")
_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")


def in_korean() -> bool:
    """Return whether the reader's language is Korean."""
    locale = next(filter(None, map(os.environ.get, _VARIABLES)), "")
    names = (name[:2].lower() for name in (os.environ.get("TORCHGRADE_LANG", ""), locale))
    return next((name for name in names if name in _LANGUAGES), "en") == "ko"


def said(text: str, **params: object) -> str:
    """Return a text in the reader's language, its blanks filled.

    Args:
        text: In English, with blanks such as ``{count}``.
        params: What goes into them.
    """
    return (_korean().get(text, text) if in_korean() else text).format(**params)


@cache
def _korean() -> dict[str, str]:
    texts: dict[str, str] = json.loads(KOREAN.read_text(encoding="utf-8"))
    return texts


def columns(text: str) -> int:
    """Return how many columns a text takes on a terminal: a wide character takes two."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def wrapped(text: str, width: int) -> Iterator[str]:
    """Yield the lines of a text that is broken between words, at so many columns."""
    line = ""
    for word in text.split():
        if line and columns(line) + 1 + columns(word) > width:
            yield line
            line = ""
        line = f"{line} {word}" if line else word
    yield line
