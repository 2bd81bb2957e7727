"""assignment.yml → ``Assignment``, or every problem in it with its line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from grader.assignment.document import Document, Finding, read_document
from grader.assignment.document import Path as Place
from grader.assignment.explain import explain
from grader.assignment.find import FILE_NAME, SCENARIO
from grader.assignment.rules import assignment_findings, question_findings
from grader.assignment.types import Assignment, Case, Question
from grader.errors import AssignmentError, Problem, UsageError, nearest

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


def _validate(document: Document) -> tuple[Assignment | None, list[Finding]]:
    assignment: Assignment | None = None
    findings: list[Finding] = []
    try:
        assignment = _strictly(Assignment, document.data)
        findings += assignment_findings(assignment)
    except ValidationError as error:
        findings += explain(error, document)
    for index, question in _sound_questions(document.data):
        findings += question_findings(question, ("questions", index))
    return assignment, findings


def _strictly(model: type[_Model], data: Any) -> _Model:
    # By way of JSON, because strict Python data would refuse lists for tuples and words for enums;
    # strict, because a boolean is no number and the text "5" no points.
    return model.model_validate_json(json.dumps(data), strict=True)


def _sound_questions(data: Any) -> Iterator[tuple[int, Question]]:
    """Yield the questions that are well-formed by themselves, whatever the rest is like."""
    questions = data.get("questions") if isinstance(data, dict) else None
    for index, part in enumerate(questions if isinstance(questions, list) else ()):
        question = _question(part)
        if question is not None:
            yield index, question


def _question(data: Any) -> Question | None:
    try:
        return _strictly(Question, data)
    except ValidationError:
        return None


def _around(assignment: Assignment, file: Path) -> Iterator[Finding]:
    """Yield what does not agree with the files around the assignment."""
    folder = file.resolve().parent
    if folder.parent.name == "assignments" and folder.name != assignment.id:
        yield ("id",), f"found “{assignment.id}” in a folder called “{folder.name}”; rename one"
    for index, name in enumerate(assignment.support):
        if not (folder / name).is_file():
            there = sorted(entry.name for entry in folder.iterdir() if entry.is_file())
            yield ("support", index), f"no file “{name}” beside {FILE_NAME}{nearest(name, there)}"
    if not (folder / SCENARIO).is_file():
        for path, case in _cases(assignment):
            if case.scenario is not None:
                yield (*path, "scenario"), f"no {SCENARIO} beside {FILE_NAME}"


def _cases(assignment: Assignment) -> Iterator[tuple[Place, Case]]:
    for number, question in enumerate(assignment.questions):
        for index, case in enumerate(question.cases):
            yield ("questions", number, "cases", index), case


def _in_order(problems: list[Problem]) -> list[Problem]:
    """Sort by line; what several aliases repeat is said once."""
    first: dict[tuple[int | None, str], Problem] = {}
    for problem in problems:
        first.setdefault((problem.line, problem.text), problem)
    return sorted(first.values(), key=lambda problem: problem.line or 0)
