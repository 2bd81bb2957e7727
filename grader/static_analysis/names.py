"""Names in a text: what is used, called and indexed, and which calls are loops."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from grader.static_analysis import words
from grader.static_analysis.calls import more_levels, repeating
from grader.static_analysis.dims import Dims
from grader.static_analysis.facts import (
    ASSIGNS,
    ASSIGNS_NUMBER,
    INDEXES,
    Construct,
    Mention,
    Place,
    Role,
)
from grader.static_analysis.found import Scan, place_of
from grader.static_analysis.scope import dotted
from grader.static_analysis.texts import constant_text

_OPERATORS: dict[type, str] = {
    ast.MatMult: "@", ast.Pow: "**", ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/",
    ast.FloorDiv: "//", ast.Mod: "%",
}  # fmt: skip
_MAX_TEXTS = 4
"""How deep text is followed that is run by text that is run."""


_STATEMENTS = frozenset({"body", "orelse", "finalbody"})
_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)


class NameScanner:
    """Goes through text and notes names, operators, calls and indexings.

    Args:
        name: The function's, for messages.
        imports: Names imported at the module level.
        own: Names bound at the module level.
    """

    handlers: ClassVar[dict[type, Callable[[Any, Any], None]]] = {}

    def __init__(self, name: str, imports: Mapping[str, str], own: frozenset[str]) -> None:
        self.found = Scan(name)
        self._imports = dict(imports)
        self._own = own
        self._locals: list[frozenset[str]] = []
        self._depth = 0
        self._texts = 0
        self._dims = Dims()
        self._maybe = 0
        self._shift: Place | None = None

    def scan(self, node: ast.AST) -> Scan:
        """Scan a function (its decorators and defaults too: they may wrap it) or anything else."""
        self._visit(node)
        return self.found

    def _visit(self, node: ast.AST) -> None:
        handler = self.handlers.get(type(node))
        if handler is not None:
            handler(self, node)
        else:
            self._children(node)

    def _children(self, node: ast.AST) -> None:
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                self._block(value, name)
            elif isinstance(value, ast.AST):
                self._visit(value)

    def _block(self, items: Sequence[object], name: str = "") -> None:
        for item in items:
            if isinstance(item, ast.AST):
                self._visit(item)
            if name in _STATEMENTS and isinstance(item, _LEAVES):
                return  # what follows in this block never runs

    def _place(self, node: ast.AST) -> Place:
        return self._shift or place_of(node)

    def _construct(
        self,
        kind: str,
        node: ast.AST,
        role: Role,
        over: ast.expr | None = None,
        repeated: tuple[int, int] = (0, 0),
    ) -> int:
        """Note a loop; return how many more levels it stands for (``product`` of several)."""
        extra = more_levels(over)
        where = self._place(node)
        if self._shift is not None:
            repeated = (where.line, where.last_line)
        if self._maybe:
            repeated = (0, 0)  # that its line ran does not show that it did
        for level in range(1, extra + 2):
            depth = self._depth + (level if role is Role.LOOP else 0)
            self.found.constructs.append(
                Construct(kind, role, where, depth, self.found.name, repeated)
            )
        return extra

    def _call(self, node: ast.Call) -> None:
        name = self._resolve(node.func)
        last = name.rsplit(".", 1)[-1]
        repeats = repeating(name, node, self._own)
        if repeats:
            where = place_of(node)
            inner = (where.line, where.last_line)
            self._construct(repeats, node, Role.LOOP, repeated=inner)
        elif name == f"builtins.{last}" and last in words.ITERATING_BUILTINS:
            self._construct(last, node, Role.ITERATES)
        self._mention(node.func, called=True)
        if isinstance(node.func, ast.Attribute):
            self._visit(node.func.value)
        elif not isinstance(node.func, ast.Name):
            self._visit(node.func)
        self._depth += bool(repeats)
        self._block([*node.args, *(keyword.value for keyword in node.keywords)])
        self._depth -= bool(repeats)
        if name in ("builtins.exec", "builtins.eval", "builtins.compile"):
            self._text(node)
        elif name == "builtins.getattr" and not constant_text(node.args[1:2]):
            self.found.opaque.append(Mention("getattr", self._place(node), True))

    def _name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._mention(node, called=False)

    def _attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Load):
            self._mention(node, called=False)
        self._visit(node.value)

    def _mention(self, node: ast.expr, called: bool) -> None:
        name = self._resolve(node)
        if not name:
            return
        where = self._place(node)
        mention = Mention(name, where, called)
        root, last = name.split(".", 1)[0], mention.last
        hides = last in words.OPAQUE_NAMES or root in words.OPAQUE_MODULES
        if hides and name not in self._own:
            self.found.opaque.append(mention)
        if name in self._own:
            self.found.own.append((name, self._depth, where))
        elif name.startswith("builtins.") and last in ("map", "filter") and not called:
            self._construct(last, node, Role.LOOP, repeated=(where.line, where.last_line))
        self.found.mentions.append(mention)

    def _resolve(self, node: ast.expr) -> str:
        """Return a name as ``Mention.name`` writes it; empty for what has none."""
        parts = dotted(node)
        if not parts:
            return f".{node.attr}" if isinstance(node, ast.Attribute) else ""
        first, rest = parts[0], parts[1:]
        if any(first in names for names in self._locals):
            if first in self._imports:
                return ".".join([self._imports[first], *rest])
            return f".{rest[-1]}" if rest else ""
        if first in self._own:
            return f".{rest[-1]}" if rest else first
        if first in self._imports:
            return ".".join([self._imports[first], *rest])
        return f".{rest[-1]}" if rest else f"builtins.{first}"

    def _subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.ctx, ast.Load):
            self.found.indexings += 1
            self.found.mentions.append(Mention(INDEXES, self._place(node), True))
        self._children(node)

    def _assign(self, node: ast.Assign | ast.AugAssign | ast.AnnAssign) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        slices = sum(
            isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store)
            for target in targets
            for part in ast.walk(target)
        )
        self.found.slice_assignments += slices
        if slices:
            name = ASSIGNS_NUMBER if _is_literal(node.value) else ASSIGNS
            self.found.mentions.append(Mention(name, self._place(node), True))
        if isinstance(node, ast.AugAssign):
            self._operator(node)
        self._children(node)

    def _operator(self, node: ast.BinOp | ast.AugAssign) -> None:
        name = _OPERATORS.get(type(node.op))
        if name is not None:
            self.found.mentions.append(Mention(name, self._place(node), True))

    def _binary(self, node: ast.BinOp) -> None:
        self._operator(node)
        self._children(node)

    def _text(self, node: ast.Call) -> None:
        """Follow text that is run, if it stands there; it is opaque anyway."""
        text = constant_text(node.args[:1])
        if text is None or self._texts >= _MAX_TEXTS:
            return
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            return
        outer, self._shift = self._shift, self._shift or place_of(node)
        self._texts += 1
        self._block(tree.body, "body")
        self._texts -= 1
        self._shift = outer


def _is_literal(node: ast.expr | None) -> bool:
    """Whether an expression is a number as it stands there, maybe with a sign."""
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant)
