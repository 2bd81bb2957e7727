"""Rewrites of a function that keep its meaning, as students write the same thing differently.

Each takes a function's tree, changes it in place and says whether it found anything to change. Each
rests on Python's or torch's own rules, not on what the function is for; ``probes`` compares results
all the same. Here: what moves code and leaves each operation; ``respellings`` has the others.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from random import Random

Function = ast.FunctionDef


@dataclass
class Site:
    """Where a rewrite happens.

    Attributes:
        module: The whole submission.
        function: What is rewritten: a function of the module, or a method.
        dice: Chooses where there is a choice.
        owner: The class of a method.
        ops_ruled: A rule of the question names operations; they must stay the same.
        loops_ruled: A rule of the question counts loops.
        views: Whether something is a view is what the question asks.
    """

    module: ast.Module
    function: Function
    dice: Random
    owner: ast.ClassDef | None = None
    ops_ruled: bool = False
    loops_ruled: bool = False
    views: bool = False

    @property
    def body(self) -> list[ast.stmt]:
        """Statements after the docstring."""
        return self.function.body

    @property
    def arguments(self) -> list[str]:
        """Names of the arguments."""
        given = self.function.args
        return [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]

    @property
    def locals(self) -> list[str]:
        """Names that are bound in the function, its arguments left out."""
        stored = {
            node.id: None
            for node in ast.walk(self.function)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        return [name for name in stored if name not in self.arguments]

    def before(self, *nodes: ast.stmt) -> None:
        """Put definitions in front of the function, or of its class."""
        place = self.module.body.index(self.owner or self.function)
        self.module.body[place:place] = nodes


Rewrite = Callable[[Site], bool]


def code(text: str, **parts: ast.expr) -> ast.expr:
    """Return the expression that a text stands for, with trees for its names."""
    return _Fill(parts).visit(ast.parse(text, mode="eval").body)


class _Fill(ast.NodeTransformer):
    def __init__(self, parts: dict[str, ast.expr]) -> None:
        self._parts = parts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self._parts.get(node.id, node))


class Replace(ast.NodeTransformer):
    """Puts another node in the place of each that a function has something for."""

    def __init__(self, other: Callable[[ast.AST], ast.AST | None]) -> None:
        self._other = other
        self.count = 0

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        found = self._other(node)
        self.count += found is not None
        return node if found is None else found


def everywhere(site: Site, other: Callable[[ast.AST], ast.AST | None]) -> bool:
    replace = Replace(other)
    site.function.body = [replace.visit(statement) for statement in site.function.body]
    return replace.count > 0


def _bare(site: Site) -> bool:
    """Whether a function may be moved: no ``super()``, no generator, no ``nonlocal``."""
    refused = (ast.Yield, ast.YieldFrom, ast.Await, ast.Nonlocal, ast.Global)
    return not any(
        isinstance(node, refused) or (isinstance(node, ast.Name) and node.id == "super")
        for node in ast.walk(site.function)
    )


def _free(site: Site, expression: ast.expr) -> list[str]:
    """Return the function's own names that an expression reads."""
    own = {*site.arguments, *site.locals}
    own |= {node.name for node in ast.walk(site.function)
            if isinstance(node, ast.FunctionDef) and node is not site.function}  # fmt: skip
    own |= {(alias.asname or alias.name).partition(".")[0] for node in ast.walk(site.function)
            if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names}  # fmt: skip
    inner = {
        node.id for node in ast.walk(expression)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    } | {node.arg for node in ast.walk(expression) if isinstance(node, ast.arg)}  # fmt: skip
    read = {node.id: None for node in ast.walk(expression) if isinstance(node, ast.Name)}
    return [name for name in read if name in own and name not in inner]


def _returns(site: Site) -> list[ast.Return]:
    """Return the returns of the function itself that are worth a name."""
    found: list[ast.Return] = []

    def look(statements: Collection[ast.stmt]) -> None:
        for statement in statements:
            if isinstance(statement, ast.Return) and statement.value is not None:
                if not isinstance(statement.value, (ast.Name, ast.Constant)):
                    found.append(statement)
            elif not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                for name in ("body", "orelse", "finalbody"):
                    look(getattr(statement, name, ()))

    look(site.body)
    return found


def blocks(site: Site) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(site.function):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                yield block


def renamed(site: Site) -> bool:
    """Other names for what is bound inside."""
    taken = {node.arg for node in ast.walk(site.function) if isinstance(node, ast.arg)}
    taken |= {
        name for node in ast.walk(site.function)
        if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names
    }  # fmt: skip
    words = ["a", "tmp", "res", "val", "cur", "out1", "buf", "item", "acc", "idx", "foo", "z9"]
    site.dice.shuffle(words)
    names = [name for name in site.locals if name not in taken and name != "_"]
    new = {name: f"{word}_{number}" for number, (name, word) in enumerate(zip(names, words * 3))}  # noqa: B905
    for node in ast.walk(site.function):
        if isinstance(node, ast.Name) and node.id in new:
            node.id = new[node.id]
    return bool(new)


def temporary(site: Site) -> bool:
    """``return f(x)`` as ``result = f(x); return result``."""
    wanted = {id(node) for node in _returns(site)}
    for block in blocks(site):
        for place, statement in enumerate(block):
            if id(statement) in wanted:
                name = ast.Name("answer_", ast.Store())
                block[place:place + 1] = [
                    ast.Assign([name], statement.value),
                    ast.Return(ast.Name("answer_", ast.Load())),
                ]  # fmt: skip
                return True
    return False


def walrus(site: Site) -> bool:
    """``return (answer := f(x))``."""
    for statement in _returns(site)[:1]:
        statement.value = ast.NamedExpr(ast.Name("answer_w", ast.Store()), statement.value)
        return True
    return False


def helper(site: Site) -> bool:
    """The returned expression in a function of the module."""
    for statement in _returns(site)[-1:]:
        refused = (ast.NamedExpr, ast.Await, ast.Yield)
        text = ast.unparse(statement.value)
        if any(isinstance(node, refused) for node in ast.walk(statement.value)) or "super(" in text:
            return False
        names = _free(site, statement.value)
        name = f"_part_of_{site.function.name.strip('_')}"
        site.before(*ast.parse(f"def {name}({', '.join(names)}):\n    return {text}").body)
        statement.value = ast.parse(f"{name}({', '.join(names)})", mode="eval").body
        return True
    return False


def _passed_on(site: Site) -> str:
    given = site.function.args
    if given.vararg or given.kwarg:
        return ""
    words = [each.arg for each in (*given.posonlyargs, *given.args)]
    return ", ".join([*words, *(f"{each.arg}={each.arg}" for each in given.kwonlyargs)])


def closure(site: Site) -> bool:
    """The body in a function inside the function."""
    passed = _passed_on(site)
    if not passed or not _bare(site):
        return False
    inner = copy.deepcopy(site.function)
    inner.name, inner.decorator_list = "compute", []
    site.function.body = [inner, *ast.parse(f"return compute({passed})").body]
    return True


def in_class(site: Site) -> bool:
    """The body as a method of a class."""
    passed = _passed_on(site)
    if site.owner or not passed or not _bare(site):
        return False
    inner = copy.deepcopy(site.function)
    inner.name, inner.decorator_list = "run", []
    inner.args.args.insert(0, ast.arg("self"))
    name = f"_Solver_{site.function.name}"
    site.before(ast.ClassDef(name, [], [], [inner], []))
    site.function.body = ast.parse(f"return {name}().run({passed})").body
    return True


def as_lambda(site: Site) -> bool:
    """A function of one expression as a lambda under its name."""
    alone = len(site.body) == 1 and isinstance(site.body[0], ast.Return)
    if site.owner or not alone or not _bare(site) or site.function.decorator_list:
        return False
    given = copy.deepcopy(site.function.args)
    for each in (*given.posonlyargs, *given.args, *given.kwonlyargs):
        each.annotation = None
    value = ast.Lambda(given, site.body[0].value)
    place = site.module.body.index(site.function)
    site.module.body[place] = ast.Assign([ast.Name(site.function.name, ast.Store())], value)
    return True


def decorated(site: Site) -> bool:
    """A decorator that passes everything on."""
    if site.owner or site.function.decorator_list:
        return False
    site.before(*ast.parse(
        "import functools as _functools\n"
        "def _logged(function):\n    @_functools.wraps(function)\n"
        "    def run(*args, **options):\n        return function(*args, **options)\n    return run"
    ).body)  # fmt: skip
    site.function.decorator_list = [ast.Name("_logged", ast.Load())]
    return True


def other_import(site: Site) -> bool:
    """``import torch as th`` at the top of the function."""

    def other(node: ast.AST) -> ast.AST | None:
        return (
            ast.Name("th", ast.Load())
            if isinstance(node, ast.Name) and node.id == "torch"
            else None
        )

    if not everywhere(site, other):
        return False
    site.body.insert(0, ast.parse("import torch as th").body[0])
    return True


def prints(site: Site) -> bool:
    """An unused print that was left behind."""
    names = site.arguments[bool(site.owner) :]
    if not names:
        return False
    name = site.dice.choice(names)
    text = site.dice.choice(
        [f"print('debug', type({name}))", f"print(f'{{type({name}).__name__}}')"]
    )
    site.body.insert(0, ast.parse(text).body[0])
    return True


def annotated(site: Site) -> bool:
    """Type annotations on locals."""
    done = False
    for block in blocks(site):
        for place, statement in enumerate(block):
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                target = statement.targets[0]
                if isinstance(target, ast.Name):
                    block[place] = ast.AnnAssign(target, ast.Constant("object"), statement.value, 1)
                    done = True
    return done


def f_string(site: Site) -> bool:
    """An unused message."""
    text = f"note_ = f'{site.function.name}: {{1 + 1:>4}}'"
    site.body.insert(0, ast.parse(text).body[0])
    return True


def if_else_swapped(site: Site) -> bool:
    """``if not c: B else: A``, and ``if c: return A else: B`` for an early return."""
    for block in blocks(site):
        for place, statement in enumerate(block):
            if not isinstance(statement, ast.If):
                continue
            if statement.orelse:
                statement.test = ast.UnaryOp(ast.Not(), statement.test)
                statement.body, statement.orelse = statement.orelse, statement.body
                return True
            if isinstance(statement.body[-1], ast.Return) and block[place + 1 :]:
                statement.orelse = block[place + 1 :]
                del block[place + 1 :]
                return True
    return False


def documented(site: Site) -> bool:
    """A docstring."""
    site.body.insert(0, ast.Expr(ast.Constant(f"Compute {site.function.name}, see the handout.")))
    return True


def asserted(site: Site) -> bool:
    """An assertion about an argument that always holds."""
    names = site.arguments[bool(site.owner) :]
    if names:
        test = f"assert not isinstance({site.dice.choice(names)}, Exception), 'no result'"
        site.body.insert(0, ast.parse(test).body[0])
    return bool(names)


def tried(site: Site) -> bool:
    """The body in ``try`` with a ``finally`` that does nothing."""
    site.function.body = [ast.Try(site.body, [], [], [ast.Pass()])]
    return True


def chain_split(site: Site) -> bool:
    """``step = x.f(); return step.g()`` for ``return x.f().g()``."""
    for block in blocks(site):
        for place, statement in enumerate(block):
            value = getattr(statement, "value", None)
            if not isinstance(statement, (ast.Assign, ast.Return)) or not _is_chain(value):
                continue
            first = ast.Assign([ast.Name("step_", ast.Store())], value.func.value)
            value.func.value = ast.Name("step_", ast.Load())
            block.insert(place, first)
            return True
    return False


def _is_chain(node: ast.AST | None) -> bool:
    method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return method and isinstance(node.func.value, ast.Call)


LAYOUT: dict[str, Rewrite] = {
    function.__name__: function
    for function in (
        renamed, temporary, walrus, helper, closure, in_class, prints, annotated, f_string,
        decorated, documented, asserted, tried, chain_split,
    )
}  # fmt: skip
"""Rewrites that change neither an operation nor a loop."""
