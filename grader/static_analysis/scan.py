"""One function's text: its loops, the names it uses, and how deep in loops it uses them."""

from __future__ import annotations

import ast

from grader.static_analysis import words
from grader.static_analysis.dims import Comprehension, Dims
from grader.static_analysis.facts import Mention, Role
from grader.static_analysis.found import place_of
from grader.static_analysis.names import NameScanner
from grader.static_analysis.scope import Function, imported, local_names

_KINDS: dict[type, str] = {
    ast.ListComp: "list comprehension",
    ast.SetComp: "set comprehension",
    ast.DictComp: "dict comprehension",
    ast.GeneratorExp: "generator expression",
}


class Scanner(NameScanner):
    """Goes through one function, nested functions and lambdas included."""

    def _function(self, node: Function) -> None:
        if not isinstance(node, ast.Lambda):
            self._block(node.decorator_list)
        arguments = node.args
        self._block([*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)])
        self._locals.append(local_names(node))
        outer, self._dims = self._dims, Dims(node)
        if isinstance(node, ast.Lambda):
            self._visit(node.body)
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
                if item.name in words.PROTOCOL:
                    body = (item.body[0].lineno, place_of(item).last_line)
                    self._construct(f"{item.name} of a class", item, Role.LOOP, repeated=body)
                elif item.name in words.REPEATED_BY_DUNDER:
                    self.found.opaque.append(Mention(item.name, self._place(item), False))
            self._visit(item)

    def _if(self, node: ast.If | ast.IfExp) -> None:
        if isinstance(node.test, ast.Constant):
            taken = node.body if node.test.value else node.orelse
            self._block(taken if isinstance(taken, list) else [taken], "body")
        elif isinstance(node, ast.IfExp):
            self._visit(node.test)
            self._maybe += 1
            self._block([node.body, node.orelse])
            self._maybe -= 1
        else:
            self._children(node)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        self._imports.update(imported(node))

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        self._visit(node.iter)
        kind = "for" if isinstance(node, ast.For) else "async for"
        extra = self._construct(kind, node, Role.LOOP, node.iter, _lines(node.body))
        with_depth = 1 + extra
        self._depth += with_depth
        self._visit(node.target)
        self._block(node.body, "body")
        self._depth -= with_depth
        self._block(node.orelse, "body")

    def _while(self, node: ast.While) -> None:
        if isinstance(node.test, ast.Constant) and not node.test.value:
            self._block(node.orelse, "body")
            return
        self._construct("while", node, Role.LOOP, repeated=_lines(node.body))
        self._depth += 1
        self._visit(node.test)
        self._block(node.body, "body")
        self._depth -= 1
        self._block(node.orelse, "body")

    def _comprehension(self, node: Comprehension) -> None:
        role = Role.EXEMPT if self._dims.only(node) else Role.LOOP
        first = node.generators[0]
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
        self._children_of_element(node)
        self._locals.pop()
        self._depth -= deep

    def _children_of_element(self, node: Comprehension) -> None:
        if isinstance(node, ast.DictComp):
            self._visit(node.key)
            self._visit(node.value)
        else:
            self._visit(node.elt)

    def _await(self, node: ast.Await) -> None:
        self._construct("await", node, Role.LOOP)
        self._children(node)


def _lines(body: list[ast.stmt]) -> tuple[int, int]:
    return place_of(body[0]).line, place_of(body[-1]).last_line


Scanner.handlers = {
    ast.FunctionDef: Scanner._function, ast.AsyncFunctionDef: Scanner._function,
    ast.Lambda: Scanner._function, ast.ClassDef: Scanner._class, ast.If: Scanner._if,
    ast.IfExp: Scanner._if, ast.Import: Scanner._import, ast.ImportFrom: Scanner._import,
    ast.For: Scanner._for, ast.AsyncFor: Scanner._for, ast.While: Scanner._while,
    ast.ListComp: Scanner._comprehension, ast.SetComp: Scanner._comprehension,
    ast.DictComp: Scanner._comprehension, ast.GeneratorExp: Scanner._comprehension,
    ast.Call: Scanner._call, ast.Name: Scanner._name, ast.Attribute: Scanner._attribute,
    ast.Subscript: Scanner._subscript, ast.Assign: Scanner._assign,
    ast.AugAssign: Scanner._assign, ast.AnnAssign: Scanner._assign, ast.BinOp: Scanner._binary,
    ast.Await: Scanner._await,
}  # fmt: skip
