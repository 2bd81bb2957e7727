"""The student's notebook, made from the handout: prose becomes text cells, examples code cells.

The same handout gives the same bytes, so that a generated notebook can be checked for drift. Cells
have no output and the ids ``cell-01``, ``cell-02`` ….
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.errors import AssignmentError, Problem

_EXAMPLE = re.compile(r"^```python\n(.*?)^```[ ]*(?:\n|\Z)", re.MULTILINE | re.DOTALL)
_FENCED = re.compile(r"^```[^\n]*\n.*?^```[ ]*$", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"^```", re.MULTILINE)
_HEADING = re.compile(r"^(?=## )", re.MULTILINE)

_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
_SETUP = """\
%load_ext autoreload
%autoreload 2
%load_ext grader

import torch

import {module}"""
_CLOSING = """\
## Hand in

When the examples above give what they should, and the cell below finds nothing wrong, hand in \
`{file}`. This notebook is yours to play in and is not graded."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell; ``code`` tells Python from prose."""

    code: bool
    text: str


def split_handout(text: str, file: str) -> list[Cell]:
    """Return the handout's cells in order.

    A block fenced as ``python`` is a code cell. Prose is cut at second-level headings.

    Args:
        text: The handout, Markdown.
        file: Its path, for messages.

    Raises:
        AssignmentError: A fence is never closed, or an example does not compile.
    """
    problems = list(_handout_problems(text, file))
    if problems:
        raise AssignmentError(problems)
    cells: list[Cell] = []
    end = 0
    for example in _EXAMPLE.finditer(text):
        cells += _prose(text[end : example.start()])
        cells.append(Cell(True, example[1].strip("\n")))
        end = example.end()
    return cells + _prose(text[end:])


def build_notebook(cells: Sequence[Cell], file: str, questions: Mapping[str, str]) -> bytes:
    """Return the notebook as nbformat 4.5, UTF-8.

    Args:
        cells: The handout's; the module is imported after the first of them.
        file: The module that students hand in, such as ``pytorch101.py``.
        questions: Function → id of the question; it is checked after the first example of it.
    """
    module = file.removesuffix(".py")
    setup = Cell(True, _SETUP.format(module=module))
    closing = (Cell(False, _CLOSING.format(file=file)), Cell(True, "%check"))
    every = (*cells[:1], setup, *_with_checks(cells[1:], module, questions), *closing)
    notebook = {
        "cells": [_node(cell, number) for number, cell in enumerate(every, start=1)],
        "metadata": _METADATA,
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    # Imported here: it takes a fifth of a second, which every other command would pay as well.
    import nbformat  # noqa: PLC0415

    nbformat.validate(notebook)
    return f"{json.dumps(notebook, ensure_ascii=False, indent=1)}\n".encode()


def _with_checks(
    cells: Iterable[Cell], module: str, questions: Mapping[str, str]
) -> Iterator[Cell]:
    """Yield the cells, a check after the first example of each function."""
    left = dict(questions)
    for cell in cells:
        yield cell
        used = _used(cell.text, module) if cell.code else set()
        if now := [left.pop(name) for name in list(left) if name in used]:
            yield Cell(True, f"%check {' '.join(now)}")


def _used(code: str, module: str) -> set[str]:
    """Return the names that code uses as ``module.name``."""
    return {
        node.attr
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == module
    }


def unshown(cells: Iterable[Cell], module: str, names: Iterable[str]) -> list[str]:
    """Return the names that no example uses as ``module.name``."""
    used = _used("\n".join(cell.text for cell in cells if cell.code), module)
    return [name for name in names if name not in used]


def _handout_problems(text: str, file: str) -> Iterator[Problem]:
    for example in _EXAMPLE.finditer(text):
        if error := _syntax_error(example[1]):
            line = _line(text, example.start(1)) + (error.lineno or 1) - 1
            yield Problem(file, line, "", f"this example does not compile: {error.msg}")
    # Blanked rather than removed, so that what is left keeps its place.
    rest = _FENCED.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), text)
    if opened := _FENCE.search(rest):
        line = _line(text, opened.start())
        yield Problem(file, line, "", "a ``` fence is opened here and never closed")


def _syntax_error(source: str) -> SyntaxError | None:
    try:
        ast.parse(source)
    except SyntaxError as error:
        return error
    return None


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _prose(text: str) -> list[Cell]:
    parts = (part.strip() for part in _HEADING.split(text))
    return [Cell(False, part) for part in parts if part]


def _node(cell: Cell, number: int) -> dict[str, object]:
    node: dict[str, object] = {"id": f"cell-{number:02d}", "metadata": {}}
    node["source"] = cell.text.splitlines(keepends=True)
    if cell.code:
        return {"cell_type": "code", "execution_count": None, **node, "outputs": []}
    return {"cell_type": "markdown", **node}
