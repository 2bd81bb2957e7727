"""Which calls are loops: what they are called with is called back once for each item."""

from __future__ import annotations

import ast

from grader.static_analysis import words
from grader.static_analysis.scope import dotted


def repeating(name: str, node: ast.Call, own: frozenset[str]) -> str:
    """Return what kind of loop a call is, or an empty string.

    Args:
        name: Resolved name of what is called, as ``Mention.name`` writes it.
        node: The call.
        own: Names that the file itself binds: ``submit`` may be a function of its own.
    """
    root, last = name.split(".", 1)[0], name.rsplit(".", 1)[-1]
    if last in words.KEYED and any(keyword.arg == "key" for keyword in node.keywords):
        return f"{last}(key=)"
    if last == "vmap" and any(keyword.arg == "chunk_size" for keyword in node.keywords):
        return "vmap(chunk_size=)"
    if root in words.MODULE_ITERATORS:
        return name if last in words.MODULE_ITERATORS[root] else ""
    if name == "builtins.iter" and len(node.args) == 2:
        return "iter(callable, …)"
    if root == "torch":
        return last if last in words.TORCH_CALLS_BACK else ""
    return last if last in words.CALLS_BACK and name not in own else ""


def more_levels(node: ast.expr | None) -> int:
    """Return how many loops ``product(a, b, …)`` saves."""
    if not isinstance(node, ast.Call) or (dotted(node.func) or [""])[-1] != "product":
        return 0
    repeat = next((word.value for word in node.keywords if word.arg == "repeat"), None)
    times = repeat.value if isinstance(repeat, ast.Constant) else 1
    levels = len(node.args) * times if type(times) is int and 0 < times < 9 else len(node.args)
    return max(levels - 1, 0)
