"""Whether a function is written at all, as its text shows it."""

from __future__ import annotations

import ast

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def is_stub(node: ast.AST) -> bool:
    """Return whether a function does nothing, or any method of a class only says so.

    Nothing is: ``pass``, a text, names set to None, these returned, and ``NotImplementedError``.
    """
    if isinstance(node, ast.ClassDef):
        methods = (item for item in node.body if isinstance(item, _FUNCTIONS))
        # A method of “pass” alone may be all that is asked for.
        bodies = [[item for item in method.body if not _is_text(item)] for method in methods]
        return any(len(body) == 1 and _not_implemented(body[0]) for body in bodies)
    return isinstance(node, _FUNCTIONS) and all(map(_idle, node.body))


def is_half_written(node: ast.ClassDef) -> bool:
    """Return whether any method of a class does nothing, or says at its end that it is not written.

    A starter may give the other half, such as the call of ``super().__init__()``.
    """
    methods = [item for item in node.body if isinstance(item, _FUNCTIONS)]
    return any(is_stub(method) or _not_implemented(method.body[-1]) for method in methods)


def _idle(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        targets = [part for each in statement.targets for part in _parts(each)]
        # `x[0] = 1` is work: it changes what others hold.
        written = any(isinstance(each, ast.Subscript) for each in targets)
        return _nothing(statement.value) or (_is_literal(statement.value) and not written)
    # What a starter gives above the place where the work is to stand.
    if isinstance(statement, ast.If):
        return all(map(_idle, [*statement.body, *statement.orelse]))
    if isinstance(statement, ast.Return):
        return statement.value is None or _nothing(statement.value, names=True)
    given = isinstance(statement, (ast.Pass, ast.Import, ast.ImportFrom))
    return given or _is_text(statement) or _not_implemented(statement)


def _parts(target: ast.expr) -> list[ast.expr]:
    return target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]


def _nothing(value: ast.expr, names: bool = False) -> bool:
    if isinstance(value, ast.Tuple):
        return all(_nothing(item, names) for item in value.elts)
    # Whatever such a function gives back under a name, it has set to None before.
    return (isinstance(value, ast.Constant) and value.value is None) or (
        names and isinstance(value, ast.Name)
    )


def _is_literal(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _not_implemented(statement: ast.stmt) -> bool:
    error = statement.exc if isinstance(statement, ast.Raise) else None
    name = error.func if isinstance(error, ast.Call) else error
    return isinstance(name, ast.Name) and name.id == "NotImplementedError"


def returns_something(function: ast.AST) -> bool:
    """Return whether a function's text returns or yields a value anywhere; True for a class."""
    if not isinstance(function, _FUNCTIONS):
        return True
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if isinstance(node, ast.Return) and node.value is not None:
            return True
        if not isinstance(node, (*DEFINITIONS, ast.Lambda)):
            waiting += ast.iter_child_nodes(node)
    return False
