"""An assignment's titles and hints in a student's language: ``ko.toml`` beside its public cases.

The author writes it, the starter carries it, and a self-check reads it. Grading never does: what
is translated here changes no point and no input. Its form::

    title = "파이토치 101"

    [reverse_rows]
    title = "위아래 뒤집기"
    hint = "M개의 수로 된 어떤 리스트가 …"
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.assignment.types import Question
from grader.errors import AssignmentError, Problem
from grader.report.messages.catalogue import LANGUAGES, current_language
from grader.selfcheck.public import PublicCases

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FILES = tuple(f"{language}.toml" for language in LANGUAGES if language != "en")
_FIELDS = frozenset({"title", "hint"})


@dataclass(frozen=True, slots=True)
class Translation:
    """The words of one assignment in another language.

    Attributes:
        title: Of the assignment.
        titles: Question → title.
        hints: Question → hint.
    """

    title: str
    titles: Mapping[str, str]
    hints: Mapping[str, str]


def parse(text: str, questions: Collection[str]) -> Translation:
    """Return what the text of such a file says.

    Args:
        text: TOML.
        questions: Ids of the questions that students see.

    Raises:
        ValueError: It has another form, or names what is no such question; says what.
    """
    tables: dict[str, Any] = tomllib.loads(text)
    title = tables.pop("title", "")
    if not isinstance(title, str):
        raise ValueError("title: is no text")
    for name, table in tables.items():
        if name not in questions:
            raise ValueError(f"[{name}]: there is no such question that students see")
        if not isinstance(table, dict) or not table.keys() <= _FIELDS:
            raise ValueError(f"[{name}]: may have title and hint, nothing else")
        if not all(isinstance(value, str) for value in table.values()):
            raise ValueError(f"[{name}]: title and hint are texts")
    return Translation(title, _texts(tables, "title"), _texts(tables, "hint"))


def _texts(tables: Mapping[str, Mapping[str, str]], field: str) -> dict[str, str]:
    return {name: table[field] for name, table in tables.items() if table.get(field)}


def translations(folder: Path, questions: Collection[str]) -> dict[str, bytes]:
    """Return an author's translations by file name; there may be none.

    Args:
        folder: ``assignments/<id>``.
        questions: As for ``parse``.

    Raises:
        AssignmentError: One of them cannot be used; says why.
    """
    paths = (folder / name for name in _FILES)
    return {path.name: _checked(path, questions) for path in paths if path.is_file()}


def _checked(path: Path, questions: Collection[str]) -> bytes:
    content = path.read_bytes()
    try:
        parse(content.decode(), questions)
    except ValueError as error:
        raise AssignmentError([Problem(str(path), None, "", str(error))]) from None
    return content


def in_current_language(public: PublicCases, folder: Path) -> PublicCases:
    """Return public cases with titles and hints in the current language, as far as there are any.

    Args:
        public: In English.
        folder: The starter's. A file there that is damaged counts as absent: it is no reason to
            check nothing.
    """
    language, asked = current_language(), public.assignment
    try:
        text = (folder / f"{language}.toml").read_text(encoding="utf-8")
        words = parse(text, [question.id for question in asked.questions])
    except (OSError, ValueError):
        return public
    questions = tuple(_named(item, words) for item in asked.questions)
    named = asked.model_copy(update={"title": words.title or asked.title, "questions": questions})
    # Results of single questions take their titles from the plan.
    plan = tuple(replace(item, question=_named(item.question, words)) for item in public.plan)
    return replace(public, assignment=named, plan=plan, hints={**public.hints, **words.hints})


def _named(question: Question, words: Translation) -> Question:
    return question.model_copy(update={"title": words.titles.get(question.id, question.title)})
