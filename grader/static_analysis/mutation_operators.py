"""Texts with one change: what a student might have written instead of a piece of the solution.

And the other way round: what might have stood there instead of a piece of a student's.
"""

from __future__ import annotations

import ast
import copy
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Alternative = tuple[str, ast.AST]
"""Kind of the mistake, and the node that stands there instead."""

_ARITHMETIC: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_COMPARISON: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
_NAMES = {
    "min": "max", "max": "min", "amin": "amax", "amax": "amin", "argmin": "argmax",
    "argmax": "argmin", "zeros": "ones", "ones": "zeros", "new_zeros": "new_ones", "sum": "prod",
    "sqrt": "square", "cumsum": "cumprod", "any": "all", "all": "any", "ceil": "floor",
    "floor": "ceil", "reshape": "flatten", "stack": "cat", "cat": "stack", "float32": "float64",
    "float64": "float32", "int64": "float32", "append": "remove", "sorted": "list",
    "topk": "sort", "bincount": "unique",
}  # fmt: skip
# Swapping the operands of any other does the same: a mutant that no check can catch.
_ORDERED = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)


@dataclass(frozen=True, slots=True)
class Variant:
    """A function or class with one change.

    Attributes:
        kind: Of the change, such as ``operator`` or ``dropped statement``.
        line: Where the change is, in the file, from 1.
        text: The whole function or class, as Python writes it.
        start_of: The function that begins with a new line; empty where the change is in a line.
        places: Where the same is changed; ``line`` is the first of them.
    """

    kind: str
    line: int
    text: str
    start_of: str = ""
    places: int = 1


def alternatives(node: ast.AST) -> Iterator[Alternative]:
    """Yield what might stand in place of a node; nothing for most kinds of node."""
    for kind, maker in _MAKERS.items():
        if isinstance(node, kind):
            yield from maker(node)


def variants(
    block: ast.stmt, others: Callable[[ast.AST], Iterator[Alternative]] = alternatives
) -> Iterator[Variant]:
    """Yield a function or class with one change each, no two alike; not each is valid Python.

    Nothing is compiled here: a text of some lines can take Python minutes.

    Args:
        block: The function or class; it is as it was when this has ended.
        others: Yields what might stand in place of a node.
    """
    seen = {ast.unparse(block)}
    for node, put in _places(block):
        for kind, other in others(node):
            put(ast.fix_missing_locations(other))
            try:
                text = ast.unparse(block)
            except ValueError:
                continue
            finally:
                put(node)
            if text not in seen:
                seen.add(text)
                yield Variant(kind, getattr(node, "lineno", block.lineno), text)


def _places(block: ast.AST) -> Iterator[tuple[ast.AST, Callable[[ast.AST], None]]]:
    """Yield each node below a block, with what puts another into its place."""
    for parent in ast.walk(block):
        for name, value in ast.iter_fields(parent):
            if isinstance(value, ast.AST):
                yield value, functools.partial(setattr, parent, name)
            elif isinstance(value, list):
                for index, item in enumerate(value):
                    if isinstance(item, ast.AST):
                        yield item, functools.partial(value.__setitem__, index)


def with_fields(node: ast.AST, **changes: Any) -> Any:
    """Return a copy of a node with other fields."""
    other = copy.copy(node)
    for name, value in changes.items():
        setattr(other, name, value)
    return other


def _binary(node: ast.BinOp) -> Iterator[Alternative]:
    if type(node.op) in _ARITHMETIC:
        yield "operator", with_fields(node, op=_ARITHMETIC[type(node.op)]())
    if isinstance(node.op, _ORDERED):
        yield "swapped operands", with_fields(node, left=node.right, right=node.left)
    yield "dropped operand", node.left
    yield "dropped operand", node.right


def _unary(node: ast.UnaryOp) -> Iterator[Alternative]:
    yield "dropped sign", node.operand


def _comparison(node: ast.Compare) -> Iterator[Alternative]:
    for other in _COMPARISON.get(type(node.ops[0]), ()):
        yield "comparison", with_fields(node, ops=[other(), *node.ops[1:]])


def _logic(node: ast.BoolOp) -> Iterator[Alternative]:
    yield "logic", with_fields(node, op=ast.And() if isinstance(node.op, ast.Or) else ast.Or())


def _condition(node: ast.If | ast.IfExp | ast.While) -> Iterator[Alternative]:
    # A loop with its condition negated may never end, and would take a whole time limit each time.
    if not isinstance(node, ast.While):
        yield "negated condition", with_fields(node, test=ast.UnaryOp(ast.Not(), node.test))
    yield "condition never holds", with_fields(node, test=ast.Constant(False))


def _constant(node: ast.Constant) -> Iterator[Alternative]:
    value = node.value
    # Before int: True is one, and would be off by one.
    if isinstance(value, bool):
        yield "constant", ast.Constant(not value)
    elif isinstance(value, int):
        yield "off by one", ast.Constant(value + 1)
        # −1 written as people write it, so that it reads as an index from the end.
        less = ast.UnaryOp(ast.USub(), ast.Constant(1)) if value == 0 else ast.Constant(value - 1)
        yield "off by one", less
    elif isinstance(value, float):
        yield "constant", ast.Constant(value + 1.0)
        yield "constant", ast.Constant(value / 2)


def _call(node: ast.Call) -> Iterator[Alternative]:
    if len(node.args) >= 2 and not any(isinstance(item, ast.Starred) for item in node.args):
        first, second, *rest = node.args
        yield "swapped arguments", with_fields(node, args=[second, first, *rest])
    for index, keyword in enumerate(node.keywords):
        rest_of = [*node.keywords[:index], *node.keywords[index + 1 :]]
        yield f"dropped {keyword.arg}", with_fields(node, keywords=rest_of)
    if isinstance(node.func, ast.Attribute):
        yield from _method(node, node.func)
    if isinstance(node.func, ast.Name) and node.func.id == "range":
        short = ast.BinOp(node.args[-1], ast.Sub(), ast.Constant(1))
        if len(node.args) < 3:
            yield "off by one", with_fields(node, args=[*node.args[:-1], short])
    if len(node.args) == 1 and not isinstance(node.args[0], ast.Starred):
        yield "dropped call", node.args[0]


def _method(node: ast.Call, function: ast.Attribute) -> Iterator[Alternative]:
    is_module = isinstance(function.value, ast.Name) and function.value.id == "torch"
    if not is_module:
        yield "dropped call", function.value
    if function.attr.endswith("_"):
        yield (
            "dropped in-place",
            with_fields(node, func=with_fields(function, attr=function.attr[:-1])),
        )


def _attribute(node: ast.Attribute) -> Iterator[Alternative]:
    if node.attr in _NAMES:
        yield "other name", with_fields(node, attr=_NAMES[node.attr])
    if node.attr in ("T", "mT"):
        yield "dropped transpose", node.value


def _name(node: ast.Name) -> Iterator[Alternative]:
    if node.id in ("min", "max", "any", "all", "sorted") and isinstance(node.ctx, ast.Load):
        yield "other name", with_fields(node, id=_NAMES[node.id])


def _slice(node: ast.Slice) -> Iterator[Alternative]:
    for name in ("lower", "upper", "step"):
        bound = getattr(node, name)
        if bound is None:
            continue
        yield f"dropped {name} bound", with_fields(node, **{name: None})
        if not isinstance(bound, ast.Constant):
            further = ast.BinOp(bound, ast.Add(), ast.Constant(1))
            yield "off by one", with_fields(node, **{name: further})


def _subscript(node: ast.Subscript) -> Iterator[Alternative]:
    if not isinstance(node.slice, ast.Tuple) or len(node.slice.elts) != 2:
        return
    first, second = node.slice.elts
    yield "swapped indices", with_fields(node, slice=with_fields(node.slice, elts=[second, first]))


def _sequence(node: ast.Tuple | ast.List) -> Iterator[Alternative]:
    if isinstance(node.ctx, ast.Load) and len(node.elts) >= 2:
        first, second, *rest = node.elts
        yield "swapped entries", with_fields(node, elts=[second, first, *rest])
        yield "dropped entry", with_fields(node, elts=node.elts[:-1])


def _comprehension(node: ast.ListComp | ast.GeneratorExp | ast.DictComp) -> Iterator[Alternative]:
    for index, loop in enumerate(node.generators):
        if loop.ifs:
            loops = list(node.generators)
            loops[index] = with_fields(loop, ifs=[])
            yield "dropped filter", with_fields(node, generators=loops)


def _statement(node: ast.stmt) -> Iterator[Alternative]:
    is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    if not is_docstring and not isinstance(node, (ast.Pass, ast.Return, ast.Global)):
        yield "dropped statement", ast.Pass()


def _return(node: ast.Return) -> Iterator[Alternative]:
    if node.value is not None:
        yield "dropped return", ast.Expr(node.value)


def _augmented(node: ast.AugAssign) -> Iterator[Alternative]:
    """Yield another operator, and x = x + y for x += y, which leaves the caller's tensor alone."""
    if type(node.op) in _ARITHMETIC:
        yield "operator", with_fields(node, op=_ARITHMETIC[type(node.op)]())
    yield "overwritten", ast.Assign([node.target], node.value)
    loaded = with_fields(node.target, ctx=ast.Load())
    if isinstance(node.target, ast.Name):
        yield (
            "dropped in-place",
            ast.Assign([node.target], ast.BinOp(loaded, node.op, node.value)),
        )


def _loop(node: ast.For) -> Iterator[Alternative]:
    yield "first turn only", with_fields(node, body=[*node.body, ast.Break()])


_MAKERS: dict[Any, Callable[[Any], Iterator[Alternative]]] = {
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _comparison,
    ast.BoolOp: _logic,
    (ast.If, ast.IfExp, ast.While): _condition,
    ast.Constant: _constant,
    ast.Call: _call,
    ast.Attribute: _attribute,
    ast.Name: _name,
    ast.Slice: _slice,
    ast.Subscript: _subscript,
    (ast.Tuple, ast.List): _sequence,
    (ast.ListComp, ast.GeneratorExp, ast.DictComp): _comprehension,
    ast.Return: _return,
    ast.AugAssign: _augmented,
    ast.For: _loop,
    ast.stmt: _statement,
}
