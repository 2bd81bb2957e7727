"""What students start from: the reference without its solutions, and the handout as a notebook.

Two kinds of region in a reference, each between comments on lines of their own::

    # BEGIN SOLUTION … # END SOLUTION   inside a function; becomes ``raise NotImplementedError``
    # BEGIN HIDDEN … # END HIDDEN       at module level; left out (case generators, staff notes)

Everything else stays as it is: signatures, docstrings, comments and given code. The module is
parsed here and never run.

In the notebook, the handout's prose becomes text cells, and its examples code cells. The same
handout gives the same bytes, so that a generated notebook can be checked for drift. Cells have no
output and the ids ``cell-01``, ``cell-02`` ….
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Union

from grader.errors import AssignmentError, Problem, nearest
from grader.static_analysis.scope import first_line

_MARKER = re.compile(r"#+\s*(BEGIN|END)\s+([A-Z]+)\s*")
_KINDS = ("SOLUTION", "HIDDEN")
_Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]


@dataclass(frozen=True, slots=True)
class _Marker:
    edge: str
    kind: str
    line: int
    column: int
    alone: bool

    def __str__(self) -> str:
        return f"“{self.edge} {self.kind}”"


@dataclass(frozen=True, slots=True)
class _Region:
    """Lines ``first`` … ``last``, the markers' own included, 1-based."""

    kind: str
    first: int
    last: int
    column: int

    def holds(self, node: ast.stmt) -> bool:
        return self.first < first_line(node) and _last_line(node) < self.last

    def cuts(self, node: ast.stmt) -> bool:
        begins_inside = self.first < first_line(node) < self.last
        ends_inside = self.first < _last_line(node) < self.last
        if begins_inside:
            return not ends_inside or node.col_offset < self.column
        # A block that begins before and ends inside is the one around the region: the closing
        # marker is a comment, and blocks end at their last statement.
        return ends_inside and node.col_offset >= self.column


def strip_solutions(source: str, file: str = "reference", graded: Iterable[str] = ()) -> str:
    """Return the module that students start from.

    Args:
        source: Text of the reference module, with LF line ends.
        file: Its path, for messages.
        graded: Functions and classes that students write; each must hold a solution.

    Raises:
        AssignmentError: A marker is unbalanced, nested, empty, misspelt or misplaced, or a graded
            name is missing or would be given away; lists every problem with its line. Also where
            the reference, or what is left of it, does not compile.
    """
    tree = _parse(source, file, "the reference")
    regions, problems = _regions(_markers(source), file)
    problems += [problem for region in regions for problem in _misplaced(region, tree, file)]
    problems += _given_away(tree, regions, graded, file)
    if problems:
        raise AssignmentError(problems)
    lines = source.splitlines(keepends=True)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    for region in reversed(regions):
        owner = _owner(region, tree)
        # A method is named with its class.
        within = "".join(f"{node.name}." for node in classes if owner in node.body)
        name = f"{within}{owner.name}" if owner else ""
        stub = f'{" " * region.column}raise NotImplementedError("{name} is not written yet")\n'
        lines[region.first - 1 : region.last] = [stub] if region.kind == "SOLUTION" else []
    stripped = "".join(lines).rstrip("\n") + "\n"
    _parse(stripped, file, "what is left without the solutions")
    return stripped


def solution_spans(source: str, file: str = "reference") -> list[tuple[int, int]]:
    """Return the lines of every BEGIN SOLUTION and its END SOLUTION, 1-based.

    Raises:
        AssignmentError: A marker is at fault.
    """
    regions, problems = _regions(_markers(source), file)
    if problems:
        raise AssignmentError(problems)
    return [(region.first, region.last) for region in regions if region.kind == "SOLUTION"]


def _parse(source: str, file: str, what: str) -> ast.Module:
    try:
        tree = ast.parse(source)
        compile(tree, file, "exec", dont_inherit=True)
    except SyntaxError as error:
        text = f"{what} does not compile: {error.msg}"
        raise AssignmentError([Problem(file, error.lineno, "", text)]) from None
    return tree


def _markers(source: str) -> Iterator[_Marker]:
    # Tokens, not text: a marker quoted in a string or docstring is none.
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and (match := _MARKER.fullmatch(token.string)):
            line, column = token.start
            yield _Marker(match[1], match[2], line, column, not token.line[:column].strip())


def _regions(markers: Iterable[_Marker], file: str) -> tuple[list[_Region], list[Problem]]:
    regions: list[_Region] = []
    problems: list[Problem] = []
    begun: _Marker | None = None
    for marker in markers:
        if fault := _fault(marker, begun):
            problems.append(Problem(file, marker.line, "", fault))
        elif begun is None:
            begun = marker
        else:
            regions.append(_Region(marker.kind, begun.line, marker.line, begun.column))
            begun = None
    if begun is not None:
        text = f"{begun} has no “END {begun.kind}” after it"
        problems.append(Problem(file, begun.line, "", text))
    return regions, problems


def _fault(marker: _Marker, begun: _Marker | None) -> str:
    if marker.kind not in _KINDS:
        return (
            f"{marker} is no marker; use BEGIN and END with one of {', '.join(_KINDS)}"
            + nearest(marker.kind, _KINDS)
        )
    if not marker.alone:
        return f"{marker} must stand on a line of its own"
    if marker.edge == "BEGIN":
        return f"{marker} inside the region that began on line {begun.line}" if begun else ""
    if begun is None or begun.kind != marker.kind:
        return f"{marker} has no “BEGIN {marker.kind}” before it"
    if begun.column != marker.column:
        return f"{marker} is indented otherwise than its “BEGIN” on line {begun.line}"
    return ""


def _misplaced(region: _Region, tree: ast.Module, file: str) -> Iterator[Problem]:
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    cut = [node for node in statements if region.cuts(node)]
    for node in cut:
        yield Problem(file, node.lineno, "", "a marker cuts through this statement")
    if not cut and not any(region.holds(node) for node in statements):
        yield Problem(file, region.first, "", "there is no statement between the markers")
    elif region.kind == "SOLUTION" and _owner(region, tree) is None:
        text = "a solution outside a function; BEGIN HIDDEN … END HIDDEN leaves module code out"
        yield Problem(file, region.first, "", text)
    elif region.kind == "HIDDEN" and (region.column or _owner(region, tree)):
        yield Problem(file, region.first, "", "a hidden region must stand at module level")


def _owner(region: _Region, tree: ast.Module) -> _Function | None:
    """Return the innermost function around a region."""
    around = [
        function
        for function in _functions(tree)
        if function.lineno < region.first and any(region.holds(node) for node in _inside(function))
    ]
    return max(around, key=lambda function: function.lineno, default=None)


def _functions(tree: ast.Module) -> Iterator[_Function]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def _inside(block: ast.stmt) -> Iterator[ast.stmt]:
    return (node for node in ast.walk(block) if isinstance(node, ast.stmt) and node is not block)


def _given_away(
    tree: ast.Module, regions: Iterable[_Region], graded: Iterable[str], file: str
) -> Iterator[Problem]:
    solutions = [region for region in regions if region.kind == "SOLUTION"]
    blocks = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    defined = {node.name: node for node in tree.body if isinstance(node, blocks)}
    for name in graded:
        block = defined.get(name)
        if block is None:
            text = f"the reference does not define “{name}”{nearest(name, defined)}"
            yield Problem(file, None, "", text)
        elif not any(region.holds(node) for region in solutions for node in _inside(block)):
            text = (
                f"“{name}” is graded but holds no solution markers, so students would be given it"
            )
            yield Problem(file, block.lineno, "", text)


def _last_line(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


_HINT = re.compile(r"^Hints?:\n((?:[ ]+\S.*(?:\n|\Z))+)", re.MULTILINE)
_BULLET = re.compile(r"^[ ]*\* ", re.MULTILINE)


def hints_in(source: bytes, questions: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield question and hint: what docstrings say under “Hint:” or “Hints:”.

    Args:
        source: Of the reference.
        questions: Function or class → question.
    """
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in questions:
            found = _HINT.search(ast.get_docstring(node) or "")
            if found:
                # Code is marked for Sphinx there; a terminal shows one backtick as well as two.
                hint = _BULLET.sub("", found[1]).replace("``", "`")
                yield questions[node.name], " ".join(hint.split())


_EXAMPLE = re.compile(r"^```python\n(.*?)^```[ ]*(?:\n|\Z)", re.MULTILINE | re.DOTALL)
_FENCED = re.compile(r"^```[^\n]*\n.*?^```[ ]*$", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"^```", re.MULTILINE)
_HEADING = re.compile(r"^(?=## )", re.MULTILINE)

_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
_SETUP = """\
{language}%load_ext autoreload
%autoreload 2
%load_ext grader

import torch

{imports}"""
_CLOSING = {
    "en": """\
## Hand in

When the examples above give what they should, and the cell below finds nothing wrong, hand in \
{files}. This notebook is yours to play in and is not graded.""",
    "ko": """\
## 제출하기

위의 예에서 나와야 할 것이 나오고 아래 셀에서 틀린 것이 없으면 제출하세요. 제출할 파일은 \
{files}입니다. 이 노트북은 마음껏 시험해 보는 곳이며 채점하지 않습니다.""",
}


@dataclass(frozen=True, slots=True)
class NotebookCell:
    """One cell; ``code`` tells Python from prose."""

    code: bool
    text: str


def split_handout(text: str, file: str) -> list[NotebookCell]:
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
    cells: list[NotebookCell] = []
    end = 0
    for example in _EXAMPLE.finditer(text):
        cells += _prose(text[end : example.start()])
        cells.append(NotebookCell(True, example[1].strip("\n")))
        end = example.end()
    return cells + _prose(text[end:])


def build_notebook(
    cells: Sequence[NotebookCell],
    questions: Mapping[str, Mapping[str, str]],
    language: str = "en",
) -> bytes:
    """Return the notebook as nbformat 4.5, UTF-8.

    Args:
        cells: The handout's; the modules are imported after the first of them.
        questions: Module that students hand in, such as ``pytorch101.py`` → function → id of the
            question; it is checked after the first example of it.
        language: Of the text at the end.
    """
    imports = "\n".join(f"import {file.removesuffix('.py')}" for file in questions)
    speak = "" if language == "en" else f"%env TORCHGRADE_LANG={language}\n"
    setup = NotebookCell(True, _SETUP.format(imports=imports, language=speak))
    files = ", ".join(f"`{file}`" for file in questions)
    end = _CLOSING[language].format(files=files)
    closing = (NotebookCell(False, end), NotebookCell(True, "%check"))
    every = (*cells[:1], setup, *_with_checks(cells[1:], questions), *closing)
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
    cells: Iterable[NotebookCell], questions: Mapping[str, Mapping[str, str]]
) -> Iterator[NotebookCell]:
    """Yield the cells, a check after the first example of each function."""
    left = {
        (file.removesuffix(".py"), name): question
        for file, names in questions.items()
        for name, question in names.items()
    }
    modules = [file.removesuffix(".py") for file in questions]
    for cell in cells:
        yield cell
        used = _used(cell.text, modules) if cell.code else set()
        if now := [left.pop(each) for each in list(left) if each in used]:
            yield NotebookCell(True, f"%check {' '.join(now)}")


def _used(code: str, modules: Collection[str]) -> set[tuple[str, str]]:
    """Return module and name of what code uses as ``module.name``."""
    return {
        (node.value.id, node.attr)
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in modules
    }


def unshown(cells: Iterable[NotebookCell], names: Sequence[tuple[str, str]]) -> list[str]:
    """Return as ``module.name`` what no example uses so; of pairs of both."""
    code = "\n".join(cell.text for cell in cells if cell.code)
    used = _used(code, {module for module, _ in names})
    return [f"{module}.{name}" for module, name in names if (module, name) not in used]


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


def _prose(text: str) -> list[NotebookCell]:
    parts = (part.strip() for part in _HEADING.split(text))
    return [NotebookCell(False, part) for part in parts if part]


def _node(cell: NotebookCell, number: int) -> dict[str, object]:
    node: dict[str, object] = {"id": f"cell-{number:02d}", "metadata": {}}
    node["source"] = cell.text.splitlines(keepends=True)
    if cell.code:
        return {"cell_type": "code", "execution_count": None, **node, "outputs": []}
    return {"cell_type": "markdown", **node}
