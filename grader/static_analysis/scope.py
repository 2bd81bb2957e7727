"""Which names a file binds, what they stand for, and text that it writes out.

What ``exec`` of written-out text would run can be read, also where the text is in pieces.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Union

from grader.static_analysis.facts import Construct, Mention, SourcePlace

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
        replaced: Name → what it was bound to before.
    """

    imports: dict[str, str] = field(default_factory=dict)
    bound: dict[str, list[ast.AST]] = field(default_factory=dict)
    loose: list[ast.stmt] = field(default_factory=list)
    replaced: dict[str, list[ast.AST]] = field(default_factory=dict)


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
            parts = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
            parts += [handler.body for handler in getattr(node, "handlers", [])]
            for part in parts:
                # Nobody knows which branch will run: what the names stood for stays possible.
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
    # In a function's own body its name is recursion, not the older one.
    if sure and (not uses_itself or isinstance(node, (ast.FunctionDef, ast.ClassDef))):
        names.replaced.setdefault(name, []).extend(names.bound.get(name, ()))
        names.bound[name] = [node]
    else:
        names.bound.setdefault(name, []).append(node)


def stored(target: ast.AST) -> Iterator[str]:
    """Yield the plain names that an assignment to ``target`` binds."""
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def imported(node: ast.Import | ast.ImportFrom) -> Mapping[str, str]:
    """Return local name → dotted name of an import; ``import *`` binds names nobody can list."""
    if isinstance(node, ast.Import):
        # “import a.b” binds “a”; only “import a.b as c” binds a name to “a.b”.
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
    waiting: list[ast.AST] = []
    waiting += [function.body] if isinstance(function, ast.Lambda) else function.body
    while waiting:
        node = waiting.pop()
        # What is inside has names of its own.
        if not isinstance(node, Scoped):
            waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            outer |= set(node.names)
    return frozenset(names - outer)


def calls_of_itself(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.Call]:
    """Yield the calls in a nested function by its own name, where that still means it."""
    waiting: list[ast.AST] = [function]
    while waiting:
        node = waiting.pop()
        functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
        if isinstance(node, functions) and function.name in local_names(node):
            continue
        if isinstance(node, ast.Call) and dotted(node.func) == [function.name]:
            yield node
        waiting.extend(ast.iter_child_nodes(node))


def dotted(node: ast.expr) -> list[str]:
    """Return the parts of ``a.b.c``; empty if it is anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else []


def imported_there(node: ast.expr) -> str:
    """Return ``re.sub`` for ``__import__("re").sub``; empty if it is anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Call) or not parts:
        return ""
    by_text = dotted(node.func)[-1:] in (["__import__"], ["import_module"])
    module = constant_text(node.args[:1]) if by_text else None
    return ".".join([module, *reversed(parts)]) if module else ""


def constant_text(nodes: Sequence[ast.expr]) -> str | None:
    """Return text that is written out, also in pieces; None where it is made at run time."""
    if not nodes:
        return None
    node = nodes[0]
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = constant_text([node.left]), constant_text([node.right])
        return None if left is None or right is None else left + right
    if isinstance(node, ast.JoinedStr):
        return _joined(node.values, "")
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "join"
        and len(node.args) == 1
    ):
        glue = constant_text([node.func.value])
        items = node.args[0]
        if glue is not None and isinstance(items, (ast.List, ast.Tuple)):
            return _joined(items.elts, glue)
    return None


def looked_up(owner: ast.expr, text: str) -> ast.expr:
    """Return the expression that a look-up by text stands for: ``m.map`` for ``getattr(m, "map")``.

    Args:
        owner: Whose name it is; ``__builtins__`` has the names that stand for themselves.
        text: The name.
    """
    bare = isinstance(owner, ast.Name) and owner.id == "__builtins__"
    made: ast.expr = ast.Name(text) if bare else ast.Attribute(owner, text)
    return ast.copy_location(made, owner)


def owner_of_names(node: ast.expr) -> ast.expr | None:
    """Return what a table of names is of: ``m`` of ``vars(m)``, ``m.__dict__``; None for others."""
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return node.value
    if isinstance(node, ast.Call) and dotted(node.func) == ["vars"] and len(node.args) == 1:
        return node.args[0]
    return node if isinstance(node, ast.Name) and node.id == "__builtins__" else None


def _joined(nodes: Sequence[ast.expr], glue: str) -> str | None:
    parts = [constant_text([node]) for node in nodes]
    known = [part for part in parts if part is not None]
    return glue.join(known) if len(known) == len(parts) else None


@dataclass
class Scan:
    """What one function says by itself.

    Attributes:
        own: Uses of names of the file: name, depth of loops there, position.
        recursion: What it is where it calls itself: it goes through dimensions, and makes numbers
            alone.
    """

    name: str
    constructs: list[Construct] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    opaque: list[Mention] = field(default_factory=list)
    own: list[tuple[str, int, SourcePlace]] = field(default_factory=list)
    indexings: int = 0
    slice_assignments: int = 0
    recursion: tuple[bool, bool] = (False, False)


def first_line(node: ast.stmt) -> int:
    """Return the line on which a statement begins, its decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def place_of(node: ast.AST) -> SourcePlace:
    """Return where a node stands."""
    line = getattr(node, "lineno", 0)
    return SourcePlace(
        line, getattr(node, "col_offset", -1) + 1, getattr(node, "end_lineno", line) or 0
    )
