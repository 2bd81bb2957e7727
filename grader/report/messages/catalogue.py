"""The texts of each language."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from grader.report.messages.language import current_language
from grader.report.messages.templates import Part
from grader.report.messages.words import Sentence, Words
from grader.text import parse_toml


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


def current() -> Words:
    """Return the words of the current language."""
    return words_in(current_language())
