"""The one comprehension that the rules let pass: it builds dimensions from dimensions."""

from __future__ import annotations

import ast
from typing import Union

Comprehension = Union[ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp]

_SIZES = frozenset({"shape", "ndim"})
_ASKED = frozenset({"dim", "size", "ndimension"})
_ARITHMETIC = (
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.operator, ast.unaryop,
    ast.boolop, ast.cmpop, ast.Load, ast.Constant, ast.Tuple,
)  # fmt: skip


def only_dims(node: Comprehension) -> bool:
    """Whether a comprehension goes through dimensions only, and makes whole numbers of them."""
    if isinstance(node, ast.DictComp):
        return False
    bound: set[str] = set()
    for part in node.generators:
        if part.is_async or not _goes_through_dims(part.iter):
            return False
        bound |= {n.id for n in ast.walk(part.target) if isinstance(n, ast.Name)}
        if not all(_is_number(test, bound) for test in part.ifs):
            return False
    return _is_number(node.elt, bound)


def _goes_through_dims(node: ast.expr) -> bool:
    if isinstance(node, ast.Subscript):
        return _goes_through_dims(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr == "shape"
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr == "size" and not node.args
    if not isinstance(function, ast.Name) or len(node.args) > 3:
        return False
    if function.id in ("enumerate", "reversed", "sorted", "zip"):
        return bool(node.args) and all(_goes_through_dims(item) for item in node.args)
    return function.id == "range" and bool(node.args) and all(map(_counts_dims, node.args))


def _counts_dims(node: ast.expr) -> bool:
    """``x.dim()``, ``x.ndim``, ``len(x.shape)`` and arithmetic on these; never a size itself."""
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        return all(
            _counts_dims(child)
            for child in ast.iter_child_nodes(node)
            if isinstance(child, ast.expr)
        )
    if isinstance(node, ast.Constant):
        return type(node.value) is int and abs(node.value) <= 8
    if isinstance(node, ast.Attribute):
        return node.attr == "ndim"
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute):
        return node.func.attr in ("dim", "ndimension")
    length = isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1
    return length and _goes_through_dims(node.args[0])


def _is_number(node: ast.expr, bound: set[str]) -> bool:
    """Whether an expression is made of the loop's own variables, sizes and arithmetic."""
    if isinstance(node, ast.Name):
        return node.id in bound
    if isinstance(node, ast.Attribute):
        return node.attr in _SIZES
    if isinstance(node, ast.Subscript):
        sized = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        return sized and _is_number(node.slice, bound)
    if isinstance(node, ast.Call):
        asked = isinstance(node.func, ast.Attribute) and node.func.attr in _ASKED
        return asked and all(_is_number(item, bound) for item in node.args)
    if not isinstance(node, _ARITHMETIC):
        return False
    return all(
        _is_number(child, bound)
        for child in ast.iter_child_nodes(node)
        if isinstance(child, ast.expr)
    )
