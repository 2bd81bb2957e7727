"""Functions typed into the cells of a running notebook, as a notebook file that can be checked.

A kernel does not know the file that it runs; it has the text of each cell that was run. Of these,
what the wanted functions need is taken: definitions, imports, and assignments of names that they
use. Cells that only try, train or draw are left out, so nothing is run twice.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from symtable import symtable
from typing import Any

from grader.selfcheck.workplace import Workplace
from grader.static_analysis.scope import first_line
from grader.submission.notebook import NEWLINE, to_python

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)


class KernelCells:
    """The cells that a kernel has run.

    Args:
        cells: Text of each, in the order in which they were run.
        module: Name of the file that the assignment wants.
    """

    def __init__(self, cells: Sequence[str], module: str) -> None:
        self._lines = [to_python(cell, module)[0] for cell in cells]
        self._bound: dict[str, list[tuple[int, ast.stmt]]] = {}
        for number, lines in enumerate(self._lines):
            for statement in _statements(lines):
                for name in _binds(statement):
                    self._bound.setdefault(name, []).append((number, statement))

    def unlike(self, names: Iterable[str], values: Mapping[str, Any], file: bytes) -> list[str]:
        """Return the names whose function was typed into a cell and differs from the file's.

        Args:
            names: Those that an assignment asks for.
            values: What the kernel has under each name now.
            file: Text of the student's file.
        """
        own = {name: node for node in _parsed(file) for name in _binds(node)}
        return [
            name
            for name in names
            if getattr(values.get(name), "__module__", None) == "__main__"
            if name in self._bound
            if name not in own or ast.dump(own[name]) != ast.dump(self._bound[name][-1][1])
        ]

    def notebook(self, names: Collection[str], own: bytes = b"") -> bytes:
        """Return a notebook that holds these functions and what they need, each in its cell.

        Args:
            names: Of the functions.
            own: Text of a file, of which the last cell has what is not in the others.
        """
        kept: dict[int, set[int]] = {}
        waiting, done = [*names, "*"], set[str]()
        while waiting:
            name = waiting.pop()
            if name in done:
                continue
            done.add(name)
            found = self._bound.get(name, [])
            # Of what was run again the last one counts; imports add to each other.
            imports = [each for each in found if isinstance(each[1], _IMPORTS)]
            for number, statement in (*imports, *found[-1:]):
                kept.setdefault(number, set()).update(_rows(statement))
                waiting += _uses(statement)
        cells = [
            "\n".join(
                line if row in kept.get(number, ()) else f"# {line}"
                for row, line in enumerate(lines, start=1)
            )
            for number, lines in enumerate(self._lines)
        ]
        rest = _without(own, {name for name in done if name in self._bound})
        return _notebook([*cells, rest] if rest else cells)


def _parsed(text: bytes) -> list[ast.stmt]:
    try:
        return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return []


def _statements(lines: Sequence[str]) -> list[ast.stmt]:
    return _parsed("\n".join(lines).encode("utf-8", "replace"))


def _binds(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, _DEFINITIONS):
        yield statement.name
    elif isinstance(statement, _IMPORTS):
        for alias in statement.names:
            yield alias.asname or alias.name.partition(".")[0]
    elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
        nodes = ast.walk(statement)
        yield from (
            node.id
            for node in nodes
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )


def _uses(statement: ast.stmt) -> list[str]:
    """Return the names of the file that a statement needs: no argument and no local name."""
    tables = [symtable(ast.unparse(statement), "cell", "exec")]
    found = [each.get_name() for each in tables[0].get_symbols() if each.is_referenced()]
    for table in tables:
        tables += table.get_children()
        if table is not tables[0]:
            found += [each.get_name() for each in table.get_symbols() if each.is_global()]
    return found


def _rows(statement: ast.stmt) -> range:
    return range(first_line(statement), (statement.end_lineno or statement.lineno) + 1)


def _notebook(cells: Sequence[str]) -> bytes:
    content = {
        "nbformat": 4,
        "nbformat_minor": 4,
        "metadata": {},
        "cells": [
            {
                "cell_type": "code", "source": text, "metadata": {}, "outputs": [],
                "execution_count": None,
            }
            for text in cells
        ],
    }  # fmt: skip
    return json.dumps(content).encode()


@dataclass(frozen=True, slots=True)
class TypedFunctions:
    """Functions of one file that a kernel has, where the file has others or none.

    Attributes:
        file: Name of the file that the assignment wants.
        cells: That were run.
        names: Of the functions.
        own: Text of the student's file.
    """

    file: str
    cells: KernelCells
    names: Collection[str]
    own: bytes


def write_typed(folder: Path, place: Workplace, typed: Sequence[TypedFunctions]) -> Path:
    """Write what a kernel has as files that can be checked; return what would be handed in.

    With questions in several files, the others come along: one of them may import another.

    Args:
        folder: Where to.
        place: The student's folder.
        typed: At least one.
    """
    several = len(place.public.assignment.asked) > 1
    if not several:
        path = folder / "notebook.ipynb"
        path.write_bytes(typed[0].cells.notebook(typed[0].names))
        return path
    for name in place.public.assignment.hand_in:
        for path in (place.folder / name, (place.folder / name).with_suffix(".ipynb")):
            if path.is_file() and name not in {each.file for each in typed}:
                (folder / path.name).write_bytes(path.read_bytes())
                break
    for each in typed:
        path = (folder / each.file).with_suffix(".ipynb")
        path.write_bytes(each.cells.notebook(each.names, each.own))
    return folder


def _without(text: bytes, names: Collection[str]) -> str:
    """Return a file's text without what it binds to some names; each line stays where it is."""
    lines = NEWLINE.split(text.decode("utf-8-sig", "replace"))
    for node in _parsed(text):
        if not {*_binds(node)} & {*names}:
            continue
        for row in _rows(node):
            lines[row - 1] = ""
        if isinstance(node, _IMPORTS):
            # One import may bind names that are wanted and names that are not.
            node.names = [
                alias
                for alias in node.names
                if (alias.asname or alias.name.partition(".")[0]) not in names
            ]
            lines[node.lineno - 1] = ast.unparse(node) if node.names else ""
    return "\n".join(lines)
