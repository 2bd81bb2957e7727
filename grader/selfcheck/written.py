"""What of an assignment stands in a student's files, as their text shows it; nothing is run."""

from __future__ import annotations

import ast

from grader.selfcheck.workplace import Workplace
from grader.submission import Submission


def unwritten(place: Workplace, submission: Submission) -> list[str]:
    """Return the questions whose function, as the text shows it, does nothing but say so."""
    assignment = place.public.assignment
    stubs = {file.path: _stubs(file.data) for file in submission.files if file.path.endswith(".py")}
    return [
        item.id
        for item in assignment.questions
        if stubs.get(assignment.file_of(item), set()) & set(item.names)
    ]


def absent(place: Workplace, submission: Submission) -> list[str]:
    """Return the questions of which, as the text shows it, nothing is in the file."""
    assignment = place.public.assignment
    bound = {file.path: _bound(file.data) for file in submission.files if file.path.endswith(".py")}
    return [
        item.id
        for item in assignment.coded
        if (names := bound.get(assignment.file_of(item))) is not None
        and not names & {*item.names, "*"}
    ]


def _bound(source: bytes) -> set[str]:
    """Return every name that a text defines, imports or uses, wherever that is."""
    nodes = list(ast.walk(ast.parse(source)))
    return {
        *(node.name for node in nodes if isinstance(node, _DEFINITIONS)),
        *(node.id for node in nodes if isinstance(node, ast.Name)),
        *(node.asname or node.name for node in nodes if isinstance(node, ast.alias)),
    }


def _stubs(source: bytes) -> set[str]:
    tree = ast.parse(source)
    return {item.name for item in tree.body if isinstance(item, _DEFINITIONS) and _stub(item)}


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _stub(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Return whether a function raises ``NotImplementedError`` alone, or any method of a class."""
    if isinstance(node, ast.ClassDef):
        return any(_stub(item) for item in node.body if isinstance(item, _DEFINITIONS))
    body = [item for item in node.body if not _is_text(item)]
    error = body[0].exc if len(body) == 1 and isinstance(body[0], ast.Raise) else None
    name = error.func if isinstance(error, ast.Call) else error
    return isinstance(name, ast.Name) and name.id == "NotImplementedError"


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
