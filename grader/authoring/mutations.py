"""Small mistakes, made one at a time in the solution of a reference module.

Each mutant differs from the module in one place inside a solution region. The module is parsed and
written out again, never run; a mutant is a whole module's text.
"""

from __future__ import annotations

import ast
import copy
import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from grader.authoring.alternatives import alternatives
from grader.authoring.markers import solution_spans


@dataclass(frozen=True, slots=True)
class Mutant:
    """A module with one mistake.

    Attributes:
        function: Function or class at module level that holds the mistake.
        kind: Such as ``operator`` or ``dropped statement``.
        was: The changed lines before, without indentation.
        now: The same after.
        source: The whole module.
        diff: Unified diff of the two.
    """

    function: str
    kind: str
    was: str
    now: str
    source: str
    diff: str


def mutants_of(source: str, file: str = "reference") -> list[Mutant]:
    """Return every mutant of a reference module, in the order of its text, no two alike.

    Raises:
        AssignmentError: Its markers are at fault.
    """
    spans = solution_spans(source, file)
    blocks = ast.parse(source).body
    texts = [ast.unparse(block) for block in blocks]
    found: list[Mutant] = []
    for index, block in enumerate(blocks):
        if isinstance(block, (ast.FunctionDef, ast.ClassDef)):
            for mutated, kind in _mistakes(block, spans).items():
                whole = "\n\n\n".join([*texts[:index], mutated, *texts[index + 1 :]]) + "\n"
                found.append(_mutant(block.name, kind, (texts[index], mutated), whole))
    return found


def _mistakes(
    block: ast.FunctionDef | ast.ClassDef, spans: list[tuple[int, int]]
) -> dict[str, str]:
    """Return the texts of a function or class with one mistake each, and the mistakes' kinds."""
    original = ast.unparse(block)
    found: dict[str, str] = {}
    for node in _inside(block, spans):
        for kind, other in alternatives(node):
            mutated = _with(block, node, other)
            if mutated and mutated != original:
                found.setdefault(mutated, kind)
    return found


def _inside(block: ast.stmt, spans: list[tuple[int, int]]) -> Iterator[ast.AST]:
    for node in ast.walk(block):
        line = getattr(node, "lineno", None)
        if line is not None and any(first < line < last for first, last in spans):
            yield node


def _with(block: ast.stmt, target: ast.AST, other: ast.AST) -> str:
    """Return a block with one node in place of another, or an empty string if it is no Python."""
    copies: dict[int, ast.AST] = {}
    copied = copy.deepcopy(block, copies)
    swapped = _Swap(copies[id(target)], other).visit(copied)
    try:
        text = ast.unparse(ast.fix_missing_locations(swapped))
        compile(text, "mutant", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return ""
    return text


class _Swap(ast.NodeTransformer):
    def __init__(self, target: ast.AST, other: ast.AST) -> None:
        self._target = target
        self._other = other

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self._target:
            return self._other
        result: ast.AST = self.generic_visit(node)
        return result


def _mutant(function: str, kind: str, texts: tuple[str, str], source: str) -> Mutant:
    original, mutated = texts
    lines = list(
        difflib.unified_diff(
            original.splitlines(), mutated.splitlines(), "reference", "mutant", lineterm="", n=1
        )
    )
    changed = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
    was, now = (
        "\n".join(line[1:].strip() for line in changed if line.startswith(sign)) for sign in "-+"
    )
    return Mutant(function, kind, was, now, source, "\n".join(lines[2:]))
