"""The texts of each language, and which language a reader is spoken to in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from grader.report.messages.templates import Part
from grader.report.messages.words import Sentence, Words
from grader.text import parse_toml

LANGUAGES = ("en", "ko")
VARIABLE = "TORCHGRADE_LANG"
_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")


def tables_of(language: str) -> dict[str, dict[str, Any]]:
    """Return the catalogue of a language as it stands in its file: table → id → text."""
    text = Path(__file__).with_name(f"{language}.toml").read_text(encoding="utf-8")
    return parse_toml(text)


@cache
def words_in(language: str) -> Words:
    """Return the words of a language, read once."""
    tables = tables_of(language)
    shared, codes, phrases, labels = (
        tables.pop(name) for name in ("shared", "codes", "phrases", "labels")
    )
    sentences = {
        name: _sentence(value, shared) for table in tables.values() for name, value in table.items()
    }
    return Words(sentences, codes, phrases, labels)


def _sentence(value: str | list[Any], shared: Mapping[str, Any]) -> Sentence:
    parts = [value] if isinstance(value, str) else value
    return tuple(_part(part, shared) for part in parts)


def _part(part: str | list[str], shared: Mapping[str, Any]) -> Part:
    if isinstance(part, list):
        return tuple(part)
    return _part(shared[part[1:]], shared) if part.startswith("@") else part


ENGLISH = words_in("en")


def choose(language: str) -> None:
    """Have this process, and those that it starts, speak a language."""
    os.environ[VARIABLE] = language


def current_language() -> str:
    """Return the language that was chosen, or that the locale names; else English."""
    names = (os.environ.get(VARIABLE), next(filter(None, map(os.environ.get, _LOCALE)), None))
    known = (name[:2].lower() for name in names if name)
    return next((name for name in known if name in LANGUAGES), "en")


def current() -> Words:
    """Return the words of the current language."""
    return words_in(current_language())
