"""Which expressions may be a module or class of others, where a file does not say so by name.

``torch.bmm = mine`` is plain to see. ``change([torch][0])`` with ``def change(m): m.bmm = mine``
does the same. So what is imported is followed through assignments, loops, containers and the file's
own functions: by name, whatever the scope and the order in which lines run.

Does not see: what goes through somebody else's function and comes back.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Union

from grader.static_analysis.scope import dotted

_PACKAGES = frozenset({
    "autograd", "backends", "cuda", "data", "distributed", "fft", "functional", "init", "linalg",
    "modules", "multiprocessing", "nn", "optim", "parallel", "random", "special", "utils",
    "autocast", "enable_grad", "inference_mode", "no_grad", "set_grad_enabled",
})  # fmt: skip
"""Last parts of modules and classes that begin with a small letter."""

_HAND_BACK = frozenset({
    "copy", "dict", "enumerate", "filter", "iter", "list", "map", "max", "min", "next", "reversed",
    "set", "sorted", "tuple", "zip", "pop", "get", "items", "values",
})  # fmt: skip
"""Functions and methods that hand back what they are given, or what they belong to."""

_OWN = ("self", "cls")

_Named = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda]
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Lent:
    """What a file's names and attributes may hold.

    Args:
        tree: The file.
        imports: Local name → dotted name of imports.
    """

    def __init__(self, tree: ast.Module, imports: Mapping[str, str]) -> None:
        self._imports = imports
        self._held: set[str] = set()
        nodes = list(ast.walk(tree))
        functions = dict(_named(nodes))
        flows = [pair for node in nodes for pair in _flows(node, functions)]
        before = -1
        # Until nothing is added: a name may hold what a later line binds.
        while before != len(self._held):
            before = len(self._held)
            for target, value in flows:
                if self.may_be(value):
                    self._held.update(_names(target))

    def may_be(self, node: ast.AST) -> bool:
        """Return whether an expression may be a module or class that the file does not own."""
        if isinstance(node, ast.Name):
            return self._imported(node) or node.id in self._held
        if isinstance(node, ast.Attribute):
            # That of “self” is a class of the file's; that of anything else may be torch's.
            if node.attr == "__class__":
                return not _is_own(node.value)
            return self._imported(node) or f".{node.attr}" in self._held
        if isinstance(node, ast.Call):
            return self._comes_back(node)
        return any(map(self.may_be, _parts(node)))

    def _imported(self, node: ast.Name | ast.Attribute) -> bool:
        parts = dotted(node)
        whole = self._imports.get(parts[0], "") if parts else ""
        if not whole:
            return False
        # A module that was imported whole. Of a member, its name has to tell what it is.
        if len(parts) == 1 and "." not in whole:
            return True
        last = [*whole.split("."), *parts[1:]][-1]
        return last[:1].isupper() or last in _PACKAGES

    def _comes_back(self, call: ast.Call) -> bool:
        """Return whether a call may hand out what is lent, and not something made of it."""
        handed = [*call.args, *(item.value for item in call.keywords)]
        if isinstance(call.func, ast.Name):
            name = call.func.id
            if name == "type" and len(handed) == 1:
                return not _is_own(handed[0])
            return f"{name}()" in self._held or (
                name in _HAND_BACK and any(map(self.may_be, handed))
            )
        if isinstance(call.func, ast.Attribute):
            name = call.func.attr
            inside = [call.func.value, *handed] if name in _HAND_BACK else []
            return f"{name}()" in self._held or any(map(self.may_be, inside))
        return self.may_be(call.func)


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of an expression that it may evaluate to."""
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        yield node.elt
    elif isinstance(node, ast.Subscript):
        yield node.value
    elif isinstance(node, ast.Lambda):
        yield node.body
    # These make something new, which nobody has lent.
    elif not isinstance(node, (ast.Constant, ast.Compare, ast.JoinedStr)):
        yield from ast.iter_child_nodes(node)


def _is_own(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in _OWN


def _named(nodes: list[ast.AST]) -> Iterator[tuple[str, _Named]]:
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            for target in node.targets:
                yield from ((name, node.value) for name in _names(target))
        elif isinstance(node, ast.ClassDef):
            # Who calls the class hands its arguments to this method.
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef) and inner.name == "__init__":
                    yield node.name, inner


def _flows(node: ast.AST, functions: Mapping[str, _Named]) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Yield where values go: (target, value)."""
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value is not None:
        yield node.target, node.value
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        yield node.target, node.iter
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield node.optional_vars, node.context_expr
    elif isinstance(node, ast.Call):
        yield from _arguments(node, functions)
    elif isinstance(node, _FUNCTIONS):
        yield from _inside(node)


def _inside(function: _Named) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Yield what a function returns, under its own name, and the defaults of its parameters."""
    places = [*function.args.posonlyargs, *function.args.args]
    defaults = function.args.defaults
    # Defaults belong to the last parameters.
    yield from zip(places[len(places) - len(defaults) :], defaults, strict=True)
    if isinstance(function, ast.Lambda):
        return
    for node in ast.walk(function):
        if isinstance(node, (ast.Return, ast.Yield)) and node.value is not None:
            yield function, node.value


def _arguments(
    call: ast.Call, functions: Mapping[str, _Named]
) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Yield parameters of the file's own functions with what they are given."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    handed = [*call.args, *(item.value for item in call.keywords)]
    target = functions.get(name)
    if target is not None:
        yield from _given(target, call)
    # Whoever is handed a function of the file's may hand it the rest: map(change, [torch]).
    for item in handed:
        other = functions.get(item.id) if isinstance(item, ast.Name) else None
        inner = other or (item if isinstance(item, ast.Lambda) else None)
        if inner is not None:
            yield from ((inner.args, value) for value in handed if value is not item)
    if isinstance(call.func, ast.Attribute) and name in ("append", "add", "update", "setdefault"):
        yield from ((call.func.value, value) for value in handed)


def _given(function: _Named, call: ast.Call) -> Iterator[tuple[ast.AST, ast.expr]]:
    places = [*function.args.posonlyargs, *function.args.args]
    if _is_bound(call.func, function) and places and places[0].arg in _OWN:
        places = places[1:]
    yield from zip(places, call.args, strict=False)
    others = [*places, *function.args.kwonlyargs]
    known = {item.arg: item for item in others}
    others += [item for item in (function.args.vararg, function.args.kwarg) if item is not None]
    loose = [item.value for item in call.keywords if item.arg not in known]
    for keyword in call.keywords:
        if keyword.arg in known:
            yield known[keyword.arg], keyword.value
    # Behind a star nobody can tell which parameter gets what: each of them may.
    if any(isinstance(value, ast.Starred) for value in call.args) or len(call.args) > len(places):
        loose += call.args
    yield from ((place, value) for place in others for value in loose)


def _is_bound(called: ast.expr, function: _Named) -> bool:
    """Return whether a method is called of an object, which then is the first argument."""
    # Called of its class, a method is handed its object like any other argument.
    of_object = isinstance(called, ast.Attribute) and not (
        isinstance(called.value, ast.Name) and called.value.id[:1].isupper()
    )
    return of_object or getattr(function, "name", "") == "__init__"


def _names(target: ast.AST) -> Iterator[str]:
    """Yield what is held where something is assigned: names, ``.attributes``, ``functions()``."""
    if isinstance(target, ast.arg):
        yield target.arg
    elif isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Attribute):
        yield f".{target.attr}"
    elif isinstance(target, ast.Subscript):
        yield from _names(target.value)
    elif isinstance(target, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield f"{target.name}()"
    elif not isinstance(target, ast.Lambda):
        for child in ast.iter_child_nodes(target):
            yield from _names(child)
