"""One function's text: its loops, the names it uses and calls, and how deep in loops it does so."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from grader.static_analysis.dims import Comprehension, Dims, Handed
from grader.static_analysis.facts import (
    ASSIGNS,
    ASSIGNS_NUMBER,
    INDEXES,
    Construct,
    Mention,
    Role,
    SourcePlace,
)
from grader.static_analysis.rules import (
    ITERATING_BUILTINS,
    OPAQUE_MODULES,
    OPAQUE_NAMES,
    PROTOCOL,
    REPEATED_BY_DUNDER,
    more_levels,
    repeating,
)
from grader.static_analysis.scope import (
    Function,
    Scan,
    calls_of_itself,
    constant_text,
    dotted,
    imported,
    imported_there,
    local_names,
    looked_up,
    owner_of_names,
    place_of,
)

_OPERATORS: dict[type, str] = {
    ast.MatMult: "@", ast.Pow: "**", ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/",
    ast.FloorDiv: "//", ast.Mod: "%", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.LShift: "<<", ast.RShift: ">>", ast.USub: "-x", ast.UAdd: "+x", ast.Invert: "~",
    ast.Lt: "<", ast.Gt: ">", ast.LtE: "<=", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.In: "in", ast.NotIn: "in",
}  # fmt: skip
_MAX_TEXTS = 4
"""How deep text is followed that is run by text that is run."""


_STATEMENTS = frozenset({"body", "orelse", "finalbody"})
_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)


class NameScanner:
    """Goes through text and notes names, operators, calls and indexings."""

    handlers: ClassVar[dict[type, Callable[[Any, Any], None]]] = {}

    def __init__(
        self,
        name: str,
        imports: Mapping[str, str],
        own: frozenset[str],
        handed: Mapping[int, Handed] | None = None,
    ) -> None:
        self.found = Scan(name)
        self._imports = dict(imports)
        self._own = own
        self._handed = handed or {}
        self._locals: list[frozenset[str]] = []
        self._recursive: dict[int, tuple[bool, bool]] = {}
        self._depth = 0
        self._texts = 0
        self._dims = Dims()
        self._maybe = 0
        self._shift: SourcePlace | None = None

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

    def _place(self, node: ast.AST) -> SourcePlace:
        return self._shift or place_of(node)

    def _construct(
        self,
        kind: str,
        node: ast.AST,
        role: Role,
        repeated: tuple[int, int] = (0, 0),
        over_dims: bool = False,
    ) -> int:
        """Note a loop; return how many more levels it stands for (``product`` of several)."""
        over_dims = over_dims or self._dims.over(node)
        extra = more_levels(node.iter if isinstance(node, (ast.For, ast.AsyncFor)) else None)
        where = self._place(node)
        if self._shift is not None:
            repeated = (where.line, where.last_line)
        for level in range(1, extra + 2):
            depth = self._depth + (level if role is Role.LOOP else 0)
            branch = self._maybe > 0
            self.found.constructs.append(
                Construct(kind, role, where, depth, self.found.name, repeated, branch, over_dims)
            )
        return extra

    def _call(self, node: ast.Call) -> None:
        name = self._resolve(node.func)
        last = name.rsplit(".", 1)[-1]
        again = self._recursive.get(id(node))
        repeats = "recursion" if again else repeating(name, node, self._own)
        over_dims, numbers = again or self._dims.calls(node)
        deeper = bool(repeats) and not numbers
        if repeats:
            where = place_of(node)
            inner = (where.line, where.last_line)
            role = Role.EXEMPT if numbers else Role.LOOP
            self._construct(repeats, node, role, repeated=inner, over_dims=over_dims)
        elif name == f"builtins.{last}" and last in ITERATING_BUILTINS:
            self._construct(last, node, Role.ITERATES)
        self._mention(node.func, called=True)
        if isinstance(node.func, ast.Attribute):
            self._visit(node.func.value)
        elif not isinstance(node.func, ast.Name):
            self._visit(node.func)
        # What it is handed runs once a turn.
        self._depth += deeper
        self._block([*node.args, *(keyword.value for keyword in node.keywords)])
        self._depth -= deeper
        if name in ("builtins.exec", "builtins.eval", "builtins.compile"):
            self._text(node)
        elif name == "builtins.getattr":
            text = constant_text(node.args[1:2])
            if text:
                self._mention(looked_up(node.args[0], text), called=False)
            else:
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
        hides = last in OPAQUE_NAMES or root in OPAQUE_MODULES
        if hides and name not in self._own:
            self.found.opaque.append(mention)
        if name in self._own:
            self.found.own.append((name, self._depth, where))
        # Handed on to something else, map and filter are loops all the same.
        elif name.startswith("builtins.") and last in ("map", "filter") and not called:
            self._construct(last, node, Role.LOOP, repeated=(where.line, where.last_line))
        self.found.mentions.append(mention)

    def _resolve(self, node: ast.expr) -> str:
        """Return a name as ``Mention.name`` writes it; empty for what has none."""
        parts = dotted(node)
        if not parts:
            bare = f".{node.attr}" if isinstance(node, ast.Attribute) else ""
            return imported_there(node) or bare
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
            text, owner = constant_text([node.slice]), owner_of_names(node.value)
            if text and owner is not None:
                self._mention(looked_up(owner, text), called=False)
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

    def _operator(self, node: ast.BinOp | ast.AugAssign | ast.UnaryOp | ast.Compare) -> None:
        used = node.ops if isinstance(node, ast.Compare) else [node.op]
        for name in filter(None, (_OPERATORS.get(type(each)) for each in used)):
            self.found.mentions.append(Mention(name, self._place(node), True))

    def _operation(self, node: ast.BinOp | ast.UnaryOp | ast.Compare) -> None:
        # A number with a sign is a number; no tensor is negated.
        if not _is_literal(node):
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
        # All of it counts as standing here: its own lines are none of the file's.
        outer, self._shift = self._shift, self._shift or place_of(node)
        self._texts += 1
        self._block(tree.body, "body")
        self._texts -= 1
        self._shift = outer


def _is_literal(node: ast.expr | None) -> bool:
    """Tell whether an expression is a number as it stands there, maybe with a sign."""
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant)


_KINDS: dict[type, str] = {
    ast.ListComp: "list comprehension",
    ast.SetComp: "set comprehension",
    ast.DictComp: "dict comprehension",
    ast.GeneratorExp: "generator expression",
}


class CodeScanner(NameScanner):
    """Goes through one function, nested functions and lambdas included."""

    def _function(self, node: Function, method: bool = False) -> None:
        # Decorators and defaults run outside: names of the function's own mean nothing there.
        if not isinstance(node, ast.Lambda):
            self._block(node.decorator_list)
        arguments = node.args
        self._block([*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)])
        # Of the file's own functions the walk tells it. A method's name means nothing in its body.
        nested = bool(self._locals) and not method
        self._locals.append(local_names(node))
        outer, self._dims = self._dims, Dims(node, self._handed.get(id(node)), self._resolve)
        recursion = self._dims.recursion(node)
        if nested and not isinstance(node, ast.Lambda):
            self._recursive.update((id(call), recursion) for call in calls_of_itself(node))
        elif getattr(node, "name", "") == self.found.name:
            self.found.recursion = recursion
        if isinstance(node, ast.Lambda):
            self._perhaps(node.body)  # on the line that makes it
        else:
            self._block(node.body, "body")
        self._dims = outer
        self._locals.pop()
        if isinstance(node, ast.AsyncFunctionDef):
            self._construct("coroutine", node, Role.LOOP)

    def _class(self, node: ast.ClassDef) -> None:
        self._block([*node.decorator_list, *node.bases, *node.keywords])
        for item in node.body:
            if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if item.name in PROTOCOL:
                    body = (item.body[0].lineno, place_of(item).last_line)
                    self._construct(f"{item.name} of a class", item, Role.LOOP, repeated=body)
                elif item.name in REPEATED_BY_DUNDER:
                    self.found.opaque.append(Mention(item.name, self._place(item), False))
                self._function(item, method=True)
            else:
                self._visit(item)

    def _if(self, node: ast.If | ast.IfExp) -> None:
        # Only what can run: a loop behind `if 0:` is none.
        if isinstance(node.test, ast.Constant):
            taken = node.body if node.test.value else node.orelse
            self._block(taken if isinstance(taken, list) else [taken], "body")
        elif isinstance(node, ast.IfExp):
            self._visit(node.test)
            self._perhaps(node.body, node.orelse)
        elif node.body[0].lineno == (node.test.end_lineno or node.lineno):
            self._visit(node.test)
            self._perhaps(*node.body)
            self._block(node.orelse, "body")
        else:
            self._children(node)

    def _perhaps(self, *nodes: ast.AST) -> None:
        """Go through what may not have run though its line did."""
        self._maybe += 1
        self._block(nodes, "body")
        self._maybe -= 1

    def _either(self, node: ast.BoolOp) -> None:
        self._visit(node.values[0])
        self._perhaps(*node.values[1:])

    def _assert(self, node: ast.Assert) -> None:
        self._visit(node.test)
        self._perhaps(*([node.msg] if node.msg else []))

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        self._imports.update(imported(node))

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        # Before the depth rises: it is evaluated once.
        self._visit(node.iter)
        kind = "for" if isinstance(node, ast.For) else "async for"
        role = Role.EXEMPT if self._dims.turns(node) else Role.LOOP
        extra = self._construct(kind, node, role, _lines(node.body))
        with_depth = 1 + extra if role is Role.LOOP else 0
        self._depth += with_depth
        self._visit(node.target)
        self._block(node.body, "body")
        self._depth -= with_depth
        self._block(node.orelse, "body")

    def _while(self, node: ast.While) -> None:
        if isinstance(node.test, ast.Constant) and not node.test.value:
            self._block(node.orelse, "body")
            return
        role = Role.EXEMPT if self._dims.turns(node) else Role.LOOP
        self._construct("while", node, role, repeated=_lines(node.body))
        deeper = role is Role.LOOP
        self._depth += deeper
        # After the depth has risen: the test runs once a turn, too.
        self._visit(node.test)
        self._block(node.body, "body")
        self._depth -= deeper
        self._block(node.orelse, "body")

    def _comprehension(self, node: Comprehension) -> None:
        role = Role.EXEMPT if self._dims.only(node) else Role.LOOP
        first = node.generators[0]
        # The first one alone is evaluated once; the others run once a turn of it.
        self._visit(first.iter)
        where = place_of(node)
        deep = 0 if role is Role.EXEMPT else len(node.generators)
        for number in range(max(deep, 1)):
            self._depth += number
            self._construct(_KINDS[type(node)], node, role, repeated=(where.line, where.last_line))
            self._depth -= number
        self._depth += deep
        self._locals.append(frozenset(
            n.id for part in node.generators for n in ast.walk(part.target)
            if isinstance(n, ast.Name)
        ))  # fmt: skip
        for part in node.generators:
            if part is not first:
                self._visit(part.iter)
            self._block(part.ifs)
        self._block([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])
        self._locals.pop()
        self._depth -= deep

    def _await(self, node: ast.Await) -> None:
        self._construct("await", node, Role.LOOP)
        self._children(node)


def _lines(body: list[ast.stmt]) -> tuple[int, int]:
    return place_of(body[0]).line, place_of(body[-1]).last_line


_HANDLERS: dict[Callable[..., None], tuple[type, ...]] = {
    CodeScanner._function: (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda),
    CodeScanner._class: (ast.ClassDef,),
    CodeScanner._if: (ast.If, ast.IfExp),
    CodeScanner._either: (ast.BoolOp,),
    CodeScanner._assert: (ast.Assert,),
    CodeScanner._import: (ast.Import, ast.ImportFrom),
    CodeScanner._for: (ast.For, ast.AsyncFor),
    CodeScanner._while: (ast.While,),
    CodeScanner._comprehension: tuple(_KINDS),
    CodeScanner._call: (ast.Call,),
    CodeScanner._name: (ast.Name,),
    CodeScanner._attribute: (ast.Attribute,),
    CodeScanner._subscript: (ast.Subscript,),
    CodeScanner._assign: (ast.Assign, ast.AugAssign, ast.AnnAssign),
    CodeScanner._operation: (ast.BinOp, ast.UnaryOp, ast.Compare),
    CodeScanner._await: (ast.Await,),
}
CodeScanner.handlers = {node: handler for handler, nodes in _HANDLERS.items() for node in nodes}
