"""An assignment's words in a student's language: ``ko.toml`` and more files beside its own.

The author writes them. Reports carry the titles; the starter carries the file, for self-checks.
What is translated here changes no point and no input. Its form::

    title = "파이토치 101"

    [reverse_rows]
    title = "위아래 뒤집기"
    hint = "M개의 수로 된 어떤 리스트가 …"

``docstrings.ko.toml`` has the docstrings of the files that students fill in, by the name of the
function, class or method; that of a file by the file's name.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.errors import AssignmentError, Problem
from grader.text import parse_toml

LANGUAGES = ("ko",)
"""Those that an assignment can be translated to; its own file is in English."""
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
    tables = parse_toml(text)
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


def text_of(words: Translation, questions: Collection[str]) -> str:
    """Return the text of such a file for some of the questions."""
    lines = [f"title = {_quoted(words.title)}"]
    for name in questions:
        fields = {"title": words.titles.get(name), "hint": words.hints.get(name)}
        said = [f"{field} = {_quoted(text)}" for field, text in fields.items() if text]
        lines += ["", f"[{name}]", *said] if said else []
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    # TOML's basic strings have JSON's escapes.
    return json.dumps(text, ensure_ascii=False)


def translations(folder: Path, questions: Collection[str]) -> dict[str, Translation]:
    """Return an author's translations by language; there may be none.

    Raises:
        AssignmentError: One of them cannot be used; says why.
    """
    paths = {language: folder / file_of(language) for language in LANGUAGES}
    return {name: _read(path, questions) for name, path in paths.items() if path.is_file()}


def file_of(language: str) -> str:
    """Return the name of the file that holds a language's translation."""
    return f"{language}.toml"


def docstrings(folder: Path, language: str) -> dict[str, str]:
    """Return an author's docstrings in a language, by name; {} where there is no such file.

    Raises:
        AssignmentError: The file cannot be used; says why.
    """
    path = folder / docstrings_of(language)
    if not path.is_file():
        return {}
    try:
        texts = parse_toml(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise AssignmentError([Problem(str(path), None, "", str(error))]) from None
    problems = [
        Problem(str(path), None, name, "is no text")
        for name, text in texts.items()
        if not isinstance(text, str) or not text.strip()
    ]
    if problems:
        raise AssignmentError(problems)
    return {name: text.strip("\n") for name, text in texts.items()}


def docstrings_of(language: str) -> str:
    """Return the name of the file that holds docstrings in a language."""
    return f"docstrings.{language}.toml"


def _read(path: Path, questions: Collection[str]) -> Translation:
    try:
        return parse(path.read_text(encoding="utf-8"), questions)
    except ValueError as error:
        raise AssignmentError([Problem(str(path), None, "", str(error))]) from None
