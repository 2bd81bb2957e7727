"""What was asked, in the assignment's own words: the docstrings of the starter."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path

_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def asked_in(starter: Path) -> Mapping[str, str]:
    """Return function or class → docstring, from a starter's Python files.

    The starter and never the reference: what is not in the starter, students may not know. A
    folder that is not there gives nothing.
    """
    found: dict[str, str] = {}
    for path in sorted(starter.glob("*.py")):
        for name, text in _docstrings(path):
            found.setdefault(name, text)
    return found


def _docstrings(path: Path) -> Iterator[tuple[str, str]]:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    for node in tree.body:
        if isinstance(node, _DEFINES) and (text := ast.get_docstring(node, clean=False)):
            yield node.name, inspect.cleandoc(text)
