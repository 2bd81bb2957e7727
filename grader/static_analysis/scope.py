"""Which names a file binds, and what they stand for where they can be told from the text."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Union

Function = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda]
Scoped = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_BRANCHES = (ast.If, ast.Try, ast.With, ast.For, ast.While, ast.AsyncFor, ast.AsyncWith)


@dataclass
class Names:
    """What the module level of a file binds.

    Attributes:
        imports: Local name → dotted name.
        bound: Name → what it may be bound to: functions, classes, assigned expressions.
        loose: Statements of the module level that bind nothing; they run at import.
    """

    imports: dict[str, str] = field(default_factory=dict)
    bound: dict[str, list[ast.AST]] = field(default_factory=dict)
    loose: list[ast.stmt] = field(default_factory=list)


def module_names(body: list[ast.stmt], names: Names | None = None, sure: bool = True) -> Names:
    """Return the names of a module. What is bound again without a condition replaces the first."""
    names = names or Names()
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names.imports.update(imported(node))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            _bind(names, node.name, node, sure)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            _bind_targets(names, node, sure)
        elif isinstance(node, _BRANCHES):
            for part in _bodies(node):
                module_names(part, names, sure=False)
        else:
            names.loose.append(node)
    return names


def _bind_targets(names: Names, node: ast.Assign | ast.AnnAssign, sure: bool) -> None:
    assert node.value is not None
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        for name in stored(target):
            _bind(names, name, node.value, sure)


def _bind(names: Names, name: str, node: ast.AST, sure: bool) -> None:
    # A definition that uses the old one by name (g = wrap(g)) must not lose it.
    uses_itself = any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))
    if sure and (not uses_itself or isinstance(node, (ast.FunctionDef, ast.ClassDef))):
        names.bound[name] = [node]
    else:
        names.bound.setdefault(name, []).append(node)


def _bodies(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(node, name, [])
    for handler in getattr(node, "handlers", []):
        yield handler.body


def stored(target: ast.AST) -> Iterator[str]:
    """Yield the plain names that an assignment to ``target`` binds."""
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def imported(node: ast.Import | ast.ImportFrom) -> Mapping[str, str]:
    """Return local name → dotted name of an import; ``import *`` binds names nobody can list."""
    if isinstance(node, ast.Import):
        return {
            alias.asname or alias.name.split(".")[0]: alias.name
            if alias.asname
            else alias.name.split(".")[0]
            for alias in node.names
        }
    module = node.module or ""
    return {
        alias.asname or alias.name: f"{module}.{alias.name}"
        for alias in node.names
        if alias.name != "*"
    }


def local_names(function: Function) -> frozenset[str]:
    """Return the names that are a function's own: parameters, and what it assigns or defines."""
    arguments = function.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    names = {item.arg for item in every}
    names |= {item.arg for item in (arguments.vararg, arguments.kwarg) if item is not None}
    outer: set[str] = set()
    body = [function.body] if isinstance(function, ast.Lambda) else function.body
    for node in _own_nodes(body):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            outer |= set(node.names)
    return frozenset(names - outer)


def _own_nodes(body: list[ast.stmt] | list[ast.expr]) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, Scoped):
            waiting.extend(ast.iter_child_nodes(node))


def dotted(node: ast.expr) -> list[str]:
    """Return the parts of ``a.b.c``; empty if it is anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else []
