"""Text that a file writes out, also in pieces: what ``exec`` of it would run can be read."""

from __future__ import annotations

import ast
from collections.abc import Sequence


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
    if _is_join(node):
        assert isinstance(node, ast.Call)
        assert isinstance(node.func, ast.Attribute)
        glue = constant_text([node.func.value])
        items = node.args[0]
        if glue is not None and isinstance(items, (ast.List, ast.Tuple)):
            return _joined(items.elts, glue)
    return None


def _is_join(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "join"
        and len(node.args) == 1
    )


def _joined(nodes: Sequence[ast.expr], glue: str) -> str | None:
    parts = [constant_text([node]) for node in nodes]
    known = [part for part in parts if part is not None]
    return glue.join(known) if len(known) == len(parts) else None
