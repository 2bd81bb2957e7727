"""assignment.yml → ``Assignment``, or every problem in it with its line.

Pydantic decides what is wrong; each of its errors becomes a path and a sentence with what was
found, what was expected, and the nearest right word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from grader.assignment.arguments import FORMS, Computed, FixedTensor, RandomTensor, TupleOf
from grader.assignment.dims import SizeChoice
from grader.assignment.document import DocumentPath, ProblemAt, YamlDocument, read_document
from grader.assignment.find import FILE_NAME, SCENARIO
from grader.assignment.rules import assignment_findings, question_findings
from grader.assignment.types import Assignment, Case, Limits, Needs, Question, TimingSettings
from grader.checks import KINDS
from grader.checks.base import AuthorText, Check
from grader.errors import AssignmentError, Problem, UsageError, nearest
from grader.speed_statistics.credit import Linear, Point, Step, Steps

_Model = TypeVar("_Model", bound=BaseModel)


def load_assignment(path: Path) -> Assignment:
    """Read an assignment.

    Args:
        path: An ``assignment.yml``, or the folder that holds one.

    Raises:
        UsageError: There is no such file, or it cannot be read.
        AssignmentError: Something in it is wrong; lists everything that was found.
    """
    file = path / FILE_NAME if path.is_dir() else path
    document = read_document(str(file), _read(file))
    assignment, findings = _validate(document)
    problems = [document.problem(*finding) for finding in findings]
    if assignment is not None:
        problems += [document.problem(*finding) for finding in _around(assignment, file)]
    if problems or assignment is None:
        raise AssignmentError(_in_order(problems))
    return assignment


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror or error}") from None


def _validate(document: YamlDocument) -> tuple[Assignment | None, list[ProblemAt]]:
    assignment: Assignment | None = None
    findings: list[ProblemAt] = []
    try:
        assignment = _strictly(Assignment, document.data)
        findings += assignment_findings(assignment)
    except ValidationError as error:
        findings += explain(error, document)
    # Questions that are well-formed by themselves are looked into, whatever the rest is like.
    questions = document.data.get("questions") if isinstance(document.data, dict) else None
    for index, part in enumerate(questions if isinstance(questions, list) else ()):
        if (question := _question(part)) is not None:
            findings += question_findings(question, ("questions", index))
    return assignment, findings


def _strictly(model: type[_Model], data: Any) -> _Model:
    # By way of JSON, because strict Python data would refuse lists for tuples and words for enums;
    # strict, because a boolean is no number and the text "5" no points.
    return model.model_validate_json(json.dumps(data), strict=True)


def _question(data: Any) -> Question | None:
    try:
        return _strictly(Question, data)
    except ValidationError:
        return None


def _around(assignment: Assignment, file: Path) -> Iterator[ProblemAt]:
    """Yield what does not agree with the files around the assignment."""
    folder = file.resolve().parent
    if folder.parent.name == "assignments" and folder.name != assignment.id:
        yield ("id",), f"found “{assignment.id}” in a folder called “{folder.name}”; rename one"
    for index, name in enumerate(assignment.support):
        if not (folder / name).is_file():
            there = sorted(entry.name for entry in folder.iterdir() if entry.is_file())
            yield ("support", index), f"no file “{name}” beside {FILE_NAME}{nearest(name, there)}"
    if not (folder / SCENARIO).is_file():
        yield from (
            (("questions", number, "cases", index, "scenario"), f"no {SCENARIO} beside {FILE_NAME}")
            for number, question in enumerate(assignment.questions)
            for index, case in enumerate(question.cases)
            if case.scenario is not None
        )


def _in_order(problems: list[Problem]) -> list[Problem]:
    """Sort by line; what several aliases repeat is said once."""
    first: dict[tuple[int | None, str], Problem] = {}
    for problem in problems:
        first.setdefault((problem.line, problem.text), problem)
    return sorted(first.values(), key=lambda problem: problem.line or 0)


_TAGGED = (RandomTensor, FixedTensor, Computed, TupleOf, Steps, Linear)

_MODELS: Mapping[str, type[BaseModel]] = {
    **KINDS,
    "": Assignment,
    "questions": Question,
    "cases": Case,
    "limits": Limits,
    "needs": Needs,
    "timed": TimingSettings,
    "steps": Step,
    "linear": Point,
    "message": AuthorText,
    "hint": AuthorText,
    "<choice>": SizeChoice,
    **{f"<{cls.__name__}>": cls for cls in _TAGGED},
}
"""The model that reads a mapping, by the last word on the way to it."""

_GONE = {
    ("needs", "scratch"): "remove it: every student process has a folder for files",
    ("cases", "readers"): "let the scenario read the file: return read(function, path); see "
    "docs/stage.md",
}
"""Keys of earlier versions below the key that holds them, and what to write instead."""

_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a smaller whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping of “key: value”",
    "model_type": "a mapping of “key: value”",
    "model_attributes_type": "a mapping of “key: value”",
    "none_required": "nothing",
    "string_too_short": "text that is not empty",
    "string_pattern_mismatch": (
        "a name: a letter or _, then at most 63 letters, digits, “_”, “-” and “.”"
    ),
}
_BOUNDS = {
    "greater_than": ("gt", "more than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
    "too_short": ("min_length", "a list of at least"),
    "too_long": ("max_length", "a list of at most"),
    "string_too_long": ("max_length", "text of at most this many characters:"),
}


def _model_at(words: Sequence[str]) -> type[BaseModel]:
    return _MODELS[words[-1] if words else ""]


_ModelAt = Callable[[Sequence[str]], type[BaseModel]]


def explain(
    error: ValidationError, document: YamlDocument, model_at: _ModelAt = _model_at
) -> Iterator[ProblemAt]:
    """Translate all errors of one validation of a whole document.

    Args:
        error: Of the validation.
        document: What was validated.
        model_at: Returns what reads a mapping, by the words on the way to it.
    """
    details = error.errors(include_url=False)
    guessed: set[DocumentPath] = set()
    for detail in details:
        if detail["type"] == "extra_forbidden":
            known = _known_keys(detail, model_at)
            close = get_close_matches(str(detail["loc"][-1]), known, 1, 0.5)
            guessed |= {(*_path(detail)[:-1], key) for key in close}
    for detail in details:
        kind, path = detail["type"], _path(detail)
        # A misspelt key is both unknown and missing; one of the two is enough to mend it.
        misspelt = kind == "missing" and path in guessed
        # Pydantic does not count items that are themselves wrong, and calls their list too short.
        enough = kind == "too_short" and len(document.at(path)) >= detail["ctx"]["min_length"]
        if kind == "extra_forbidden":
            yield path, _unknown_key(path, document, _known_keys(detail, model_at))
        elif not (misspelt or enough):
            yield path, _WRITERS.get(kind, _mismatch)(detail, path, document)


def _path(detail: ErrorDetails) -> DocumentPath:
    """Drop from pydantic's location what names a branch of a union and is not in the document."""
    steps: list[str | int] = []
    location = detail["loc"]
    for index, step in enumerate(location):
        is_tag = isinstance(step, str) and step.startswith("<") and step.endswith(">")
        is_kind = index >= 2 and location[index - 2] == "checks" and step in KINDS
        if not (is_tag or is_kind or step == "[key]"):
            steps.append(step)
    return tuple(steps)


def _known_keys(detail: ErrorDetails, model_at: _ModelAt) -> list[str]:
    model = model_at([step for step in detail["loc"][:-1] if isinstance(step, str)])
    return [field.alias or name for name, field in model.model_fields.items()]


def _unknown_key(path: DocumentPath, document: YamlDocument, known: Sequence[str]) -> str:
    key = str(path[-1])
    holder = next((step for step in reversed(path[:-1]) if isinstance(step, str)), "")
    if instead := _GONE.get((str(holder), key)):
        return f"“{key}” is gone; {instead}"
    forms = [form for form in FORMS if form in document.at(path[:-1])]
    if key in FORMS and len(forms) > 1:
        return f"found {' and '.join(forms)} together; keep the one that is meant"
    hint = nearest(key, known) or f"; expected one of {', '.join(known)}"
    return f"unknown key “{key}”{hint}"


def _missing(_: ErrorDetails, path: DocumentPath, document: YamlDocument) -> str:
    if isinstance(path[-1], int):
        return f"is missing; the list has {len(document.at(path[:-1]))} items"
    return "is missing"


def _missing_kind(_: ErrorDetails, path: DocumentPath, document: YamlDocument) -> str:
    keys = [key for key in document.at(path) if key not in Check.model_fields]
    close = get_close_matches("kind", keys, 1, 0.5)
    hint = f"; “{close[0]}” looks like it" if close else ""
    return f"“kind” is missing; expected one of {', '.join(KINDS)}{hint}"


def _wrong_kind(_: ErrorDetails, path: DocumentPath, document: YamlDocument) -> str:
    return _not_among(document.at(path)["kind"], tuple(KINDS), "check kind")


def _wrong_word(detail: ErrorDetails, path: DocumentPath, document: YamlDocument) -> str:
    known = re.findall(r"'([^']*)'", detail["ctx"]["expected"])
    return _not_among(document.at(path), known, "word")


def _not_among(value: Any, known: Sequence[str], what: str) -> str:
    if not isinstance(value, str):
        return f"found {_found(value)}; expected one of {', '.join(known)}"
    hint = nearest(value, known)
    return f"unknown {what} “{value}”; expected one of {', '.join(known)}{hint}"


def _own_words(detail: ErrorDetails, _: DocumentPath, __: YamlDocument) -> str:
    return str(detail["ctx"]["error"])


def _out_of_bounds(detail: ErrorDetails, path: DocumentPath, document: YamlDocument) -> str:
    name, words = _BOUNDS[detail["type"]]
    return f"found {_found(document.at(path))}; expected {words} {detail['ctx'][name]}"


def _no_form(detail: ErrorDetails, path: DocumentPath, document: YamlDocument) -> str:
    return f"found {_found(document.at(path))}; expected {detail['msg']}"


def _mismatch(detail: ErrorDetails, path: DocumentPath, document: YamlDocument) -> str:
    value, kind = document.at(path), detail["type"]
    expected = _EXPECTED.get(kind, detail["msg"])
    if detail["loc"][-1:] == ("[key]",):
        value = path[-1]
    return f"found {_found(value)}; expected {expected}{_hint(kind, value, path, document)}"


def _hint(kind: str, value: Any, path: DocumentPath, document: YamlDocument) -> str:
    written = document.written.get(path, "")
    if kind == "string_type" and written:
        return f'; put it in quotes: "{written}"'
    if kind in ("int_type", "float_type") and isinstance(value, str) and _NUMBER.match(value):
        return "; remove the quotes"
    if kind == "bool_type" and value in ("yes", "no", "on", "off"):
        return f"; write {'true' if value in ('yes', 'on') else 'false'}"
    if kind in ("tuple_type", "list_type") and written:
        return f"; write [{written}]"
    return ""


def _found(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return f"a mapping with {', '.join(value)}" if value else "an empty mapping"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    return f"the text “{value[:60]}”" if isinstance(value, str) else f"the number {value}"


_NUMBER = re.compile(r"[-+]?[0-9.]+([eE][-+]?[0-9]+)?\Z")
_WRITERS: Mapping[str, Callable[[ErrorDetails, DocumentPath, YamlDocument], str]] = {
    "missing": _missing,
    "union_tag_not_found": _missing_kind,
    "union_tag_invalid": _wrong_kind,
    "enum": _wrong_word,
    "literal_error": _wrong_word,
    "value_error": _own_words,
    "expected": _no_form,
    **dict.fromkeys(_BOUNDS, _out_of_bounds),
}
