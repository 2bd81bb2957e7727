"""The one comprehension that the rules let pass: it builds dimensions from dimensions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Union

Comprehension = Union[ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp]

_SIZES = frozenset({"shape", "ndim"})
_ASKED = frozenset({"dim", "size", "ndimension"})
_ARITHMETIC = (
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.operator, ast.unaryop,
    ast.boolop, ast.cmpop, ast.Load, ast.Constant, ast.Tuple,
)  # fmt: skip


class Dims:
    """Tells comprehensions that go through dimensions from loops, inside one function.

    Args:
        body: The function, or nothing: names that it binds once, to a shape (``s = x.shape``) or to
            a number of dimensions (``rank = len(x.shape)``), stand for these.
    """

    def __init__(self, body: ast.AST | None = None) -> None:
        self._shapes: set[str] = set()
        self._ranks: set[str] = set()
        for name, value in _bound_once(body):
            if self._goes_through_dims(value):
                self._shapes.add(name)
            elif self._counts_dims(value):
                self._ranks.add(name)

    def only(self, node: Comprehension) -> bool:
        """Whether a comprehension goes through dimensions only, and makes whole numbers of them."""
        if isinstance(node, ast.DictComp):
            return False
        bound = set(self._ranks)
        for part in node.generators:
            if part.is_async or not self._goes_through_dims(part.iter):
                return False
            bound |= {n.id for n in ast.walk(part.target) if isinstance(n, ast.Name)}
            if not all(self._is_number(test, bound) for test in part.ifs):
                return False
        return self._is_number(node.elt, bound)

    def _goes_through_dims(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self._shapes
        if isinstance(node, ast.Subscript):
            return self._goes_through_dims(node.value)
        if isinstance(node, ast.Attribute):
            return node.attr == "shape"
        if not isinstance(node, ast.Call):
            return False
        function = node.func
        if isinstance(function, ast.Attribute):
            return function.attr == "size" and not node.args
        if not isinstance(function, ast.Name) or len(node.args) > 3:
            return False
        if function.id in ("enumerate", "reversed", "sorted", "zip", "list", "tuple"):
            return bool(node.args) and all(map(self._goes_through_dims, node.args))
        return function.id == "range" and bool(node.args) and all(map(self._counts_dims, node.args))

    def _counts_dims(self, node: ast.expr) -> bool:
        """``x.dim()``, ``x.ndim``, ``len(x.shape)`` and arithmetic on these; never a size."""
        if isinstance(node, (ast.BinOp, ast.UnaryOp)):
            return all(map(self._counts_dims, _expressions(node)))
        if isinstance(node, ast.Constant):
            return type(node.value) is int and abs(node.value) <= 8
        if isinstance(node, ast.Name):
            return node.id in self._ranks
        if isinstance(node, ast.Attribute):
            return node.attr == "ndim"
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Attribute):
            return node.func.attr in ("dim", "ndimension")
        length = isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1
        return length and self._goes_through_dims(node.args[0])

    def _is_number(self, node: ast.expr, bound: set[str]) -> bool:
        """Whether an expression is made of the loop's own variables, sizes and arithmetic."""
        if isinstance(node, ast.Name):
            return node.id in bound
        if isinstance(node, ast.Attribute):
            return node.attr in _SIZES
        if isinstance(node, ast.Subscript):
            sized = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
            named = isinstance(node.value, ast.Name) and node.value.id in self._shapes
            return (sized or named) and self._is_number(node.slice, bound)
        if isinstance(node, ast.Call):
            asked = isinstance(node.func, ast.Attribute) and node.func.attr in _ASKED
            return asked and all(self._is_number(item, bound) for item in node.args)
        if not isinstance(node, _ARITHMETIC):
            return False
        return all(self._is_number(child, bound) for child in _expressions(node))


def _expressions(node: ast.AST) -> Iterator[ast.expr]:
    return (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))


def _bound_once(body: ast.AST | None) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that a function binds once and for all, with their values, in order."""
    if body is None:
        return
    nodes = list(ast.walk(body))
    bound = [n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]
    bound += [n.arg for n in nodes if isinstance(n, ast.arg)]
    assigned = [n for n in nodes if isinstance(n, ast.Assign) and len(n.targets) == 1]
    for node in sorted(assigned, key=lambda item: item.lineno):
        target = node.targets[0]
        if isinstance(target, ast.Name) and bound.count(target.id) == 1:
            yield target.id, node.value
