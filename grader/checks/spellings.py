"""How Python text spells operations: names, operators, and what torch's modes see of them.

Most of it is in ``spellings.json``. That table comes from torch itself
(``tests/torch_spellings.py``); the host never imports torch.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pkgutil import get_data
from typing import Any

from grader.errors import nearest
from grader.static_analysis.facts import ASSIGNS, ASSIGNS_NUMBER, INDEXES, Mention

_OPERATORS: Mapping[str, frozenset[str]] = {
    "@": frozenset({"matmul", "__matmul__", "__rmatmul__"}),
    "**": frozenset({"pow", "__pow__", "__rpow__", "__ipow__", "pow_"}),
    "+": frozenset({"add", "__add__", "__radd__", "__iadd__", "add_"}),
    "-": frozenset({"sub", "__sub__", "__rsub__", "__isub__", "sub_", "rsub"}),
    "*": frozenset({"mul", "__mul__", "__rmul__", "__imul__", "mul_"}),
    "/": frozenset(
        {"div", "true_divide", "__truediv__", "__rtruediv__", "__itruediv__", "div_", "__rdiv__"}
    ),
    "//": frozenset(
        {"floor_divide", "__floordiv__", "__rfloordiv__", "__ifloordiv__", "floor_divide_"}
    ),
    "%": frozenset({"remainder", "__mod__", "__rmod__", "__imod__", "remainder_"}),
    "-x": frozenset({"neg"}),
    "+x": frozenset({"positive"}),
    "~": frozenset({"bitwise_not", "__invert__"}),
    # ``2 < x`` is asked of the tensor, as ``x > 2``.
    "<": frozenset({"lt", "gt"}),
    ">": frozenset({"lt", "gt"}),
    "<=": frozenset({"le", "ge"}),
    ">=": frozenset({"le", "ge"}),
    "==": frozenset({"eq", "__eq__"}),
    "!=": frozenset({"ne", "__ne__"}),
    "in": frozenset({"__contains__"}),
    "&": frozenset({"bitwise_and", "__and__", "__rand__", "__iand__"}),
    "|": frozenset({"bitwise_or", "__or__", "__ror__", "__ior__"}),
    "^": frozenset({"bitwise_xor", "__xor__", "__rxor__", "__ixor__"}),
    "<<": frozenset({"__lshift__", "__rlshift__", "__ilshift__"}),
    ">>": frozenset({"__rshift__", "__rrshift__", "__irshift__"}),
    "reversed": frozenset({"__reversed__"}),
    INDEXES: frozenset({"__getitem__"}),
    ASSIGNS: frozenset({"__setitem__"}),
    ASSIGNS_NUMBER: frozenset({"__setitem__"}),
}
_TO_CALLS = "put it under “calls”"
OF_SIZES = frozenset({"numel"})
"""Methods of ``torch.Size`` too, which no mode sees. Of a tensor they would have been seen."""
_UNSEEN = ("torch.masked.", "numpy.", "scipy.", "statistics.", "pandas.")
"""What torch's modes do not see under its own name: the text decides."""


def spells(mention: Mention, through: frozenset[str]) -> bool:
    """Tell whether a name or operator in the text is one of the functions that torch was asked for.

    Args:
        mention: In the text.
        through: Names as torch's modes see them, and the operation's own.
    """
    named = _OPERATORS.get(mention.name) or _OPERATORS.get(mention.last)
    if named and named & through:
        return True
    return any(name in through for name in _told_as(mention.last))


def unseen(mention: Mention) -> bool:
    """Tell whether torch's modes do not see a function when it is called."""
    return mention.name.startswith(_UNSEEN)


def refusal(pattern: str, *, composite: bool = False, instead: str = _TO_CALLS) -> str:
    """Return why no operation that reaches the dispatcher matches a pattern; empty if one does.

    Args:
        pattern: An ATen name, or part of one.
        composite: Whether names will do that reach it in inference mode only.
        instead: What to do about such a name where it will not.
    """
    table = _table()
    bare = pattern.split(".", 1)[0]
    if any(fnmatchcase(name, bare) for name in table["dispatched"]):
        return ""
    if any(fnmatchcase(name, bare) for name in table["composite"]):
        if composite:
            return ""
        return f"“{pattern}” is made of others before the dispatcher; {instead}"
    near = nearest(pattern, table["dispatched"])
    return f"no operation that reaches the dispatcher is called “{pattern}”{near}"


def _told_as(name: str) -> Iterator[str]:
    yield name
    yield from _table()["functions"].get(name, ())
    for function in _table()["modules"].get(name, ()):
        yield function
        yield from _table()["functions"].get(function, ())


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(get_data("grader.checks", "spellings.json") or b"")
    return table
