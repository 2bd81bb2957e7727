"""Rewrites by what a language or a library offers twice: imports, casts, sizes, conditions."""

from __future__ import annotations

import ast

from respellings import RESPELLINGS, TENSORS_OWN, called
from rewrites import LAYOUT, Rewrite, Site, blocks, code, everywhere

_CASTS = {"float": "float32", "double": "float64", "long": "int64", "half": "float16"}
_SIZED = ("zeros", "ones", "empty")


def from_import(site: Site) -> bool:
    """``from torch import stack as stack_`` for ``torch.stack``."""
    found: dict[str, None] = {}

    def other(node: ast.AST) -> ast.AST | None:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return None
        space = node.func.value
        if not isinstance(space, ast.Name) or space.id != "torch":
            return None
        name = node.func.attr
        found[name] = None
        return ast.Call(ast.Name(f"{name}_", ast.Load()), node.args, node.keywords)

    done = everywhere(site, other)
    site.body[:0] = [ast.parse(f"from torch import {name} as {name}_").body[0] for name in found]
    return done


def unbound(site: Site) -> bool:
    """``torch.Tensor.sum(x)`` for ``x.sum()``."""

    def other(node: ast.AST) -> ast.AST | None:
        name, given, is_method = called(node)
        if not is_method or name not in TENSORS_OWN:
            return None
        function = ast.parse(f"torch.Tensor.{name}", mode="eval").body
        return ast.Call(function, given, node.keywords)

    return everywhere(site, other)


def cast_spelt(site: Site) -> bool:
    """``x.to(torch.float32)`` for ``x.float()``."""

    def other(node: ast.AST) -> ast.AST | None:
        name, given, is_method = called(node)
        if not is_method or name not in _CASTS or len(given) != 1:
            return None
        return code(f"X.to(torch.{_CASTS[name]})", X=given[0])

    return everywhere(site, other)


def sizes_together(site: Site) -> bool:
    """``torch.zeros((n, m))`` for ``torch.zeros(n, m)``."""

    def other(node: ast.AST) -> ast.AST | None:
        name, given, is_method = called(node)
        starred = any(isinstance(each, ast.Starred) for each in given)
        if is_method or name not in _SIZED or len(given) < 2 or starred:
            return None
        return ast.Call(node.func, [ast.Tuple(given, ast.Load())], node.keywords)

    return everywhere(site, other)


def transposed(site: Site) -> bool:
    """``x.T`` for ``x.t()``."""

    def other(node: ast.AST) -> ast.AST | None:
        name, given, _ = called(node)
        return code("X.T", X=given[0]) if name == "t" and len(given) == 1 else None

    return not site.ops_ruled and everywhere(site, other)


def range_spelt(site: Site) -> bool:
    """``range(0, n, 1)`` for ``range(n)``."""

    def other(node: ast.AST) -> ast.AST | None:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return None
        alone = node.func.id == "range" and len(node.args) == 1
        return code("range(0, N, 1)", N=node.args[0]) if alone else None

    return everywhere(site, other)


def conditional(site: Site) -> bool:
    """``a = x if c else y`` for an ``if`` that gives a name one of two values."""
    for block in blocks(site):
        for place, statement in enumerate(block):
            if not isinstance(statement, ast.If):
                continue
            ends = [*statement.body, *statement.orelse]
            if len(ends) == 2 and all(map(_gives, ends)) and _same_target(*ends):
                value = ast.IfExp(statement.test, ends[0].value, ends[1].value)
                block[place] = ast.Assign([ends[0].targets[0]], value)
                return True
    return False


def _gives(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and len(statement.targets) == 1


def _same_target(one: ast.Assign, other: ast.Assign) -> bool:
    return ast.dump(one.targets[0]) == ast.dump(other.targets[0])


def unpacked(site: Site) -> bool:
    """``f(*(a, b))`` for a returned ``f(a, b)``."""
    for node in ast.walk(site.function):
        call = node.value if isinstance(node, ast.Return) else None
        if isinstance(call, ast.Call) and call.args:
            if isinstance(call.func, ast.Name) and call.func.id == "super":
                continue
            call.args = [ast.Starred(ast.Tuple(call.args, ast.Load()), ast.Load())]
            return True
    return False


IDIOMS: dict[str, Rewrite] = {
    function.__name__: function
    for function in (
        from_import, unbound, cast_spelt, sizes_together, transposed, range_spelt, conditional,
        unpacked,
    )
}  # fmt: skip
HONEST = {**LAYOUT, **RESPELLINGS, **IDIOMS}
"""All rewrites, by name."""
