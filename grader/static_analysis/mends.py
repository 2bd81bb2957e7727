"""What a student's function may have been meant to be: its text with one small change each.

A teaching assistant mends a slip to see whether the rest is right. These are the changes that are
tried: all of ``alternatives``, which go both ways, and what is often left out or mixed up.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Any

from grader.static_analysis.mutation_operators import (
    Alternative,
    Variant,
    alternatives,
    variants,
    with_fields,
)

_Maker = Callable[[ast.AST], Iterator[Alternative]]

MOST = 240
"""Changes of one function that are tried."""

_LONGEST = 20_000
"""Characters of a function. Students' have a thousand or two."""
_LARGEST = 2_000
"""Nodes of a function's syntax tree. Students' have hundreds, and each change writes all anew."""
_NEAR = 3
"""Lines from an exception, in which changes come first."""

_REDUCTIONS = frozenset({
    "sum", "mean", "max", "min", "amax", "amin", "argmax", "argmin", "prod", "std", "var", "norm",
    "any", "all", "softmax", "cumsum",
})  # fmt: skip
_TAKES = {"dim": _REDUCTIONS, "keepdim": _REDUCTIONS, "stable": frozenset({"sort", "argsort"})}
"""Keyword → functions that take it."""
_KEYWORDS = (("dim", 0), ("dim", 1), ("dim", -1), ("keepdim", True), ("stable", True))
_PAIRS = frozenset({"max", "min", "topk", "sort", "median", "mode", "kthvalue"})
"""Methods that return values and indices."""

_ALSO_WRITTEN = {
    "square": "sqrt", "T": "mT", "imap_unordered": "imap", "randn": "rand", "rand": "randn",
    "mm": "bmm", "bmm": "mm", "dot": "mm", "mul": "matmul", "view": "reshape", "mean": "sum",
    "log": "exp", "exp": "log", "values": "indices", "indices": "values", "prod": "sum",
    "train": "eval", "eval": "train", "vstack": "hstack", "hstack": "vstack",
}  # fmt: skip
_DEVICES = ("cpu", "cuda:0", "cuda:1")
_REMEDIES = {
    "requires grad": ("detach()",),
    "device type tensor to numpy": ("cpu()",),
    "on the same device": ("cuda()", "cuda(1)", "cpu()"),
    "must match": ("unsqueeze(1)", "unsqueeze(0)"),
    "shapes cannot be multiplied": ("flatten(1)", "T"),
    "view size is not compatible": ("contiguous()",),
}
"""Part of what an exception says → what may be missing in its line, after a dot."""


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception of a function: where it was raised, and what it says."""

    line: int
    says: str


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or class of a file, and where it stands.

    Attributes:
        node: Its syntax tree.
        first: Its first line, decorators included, from 1.
        last: Its last line.
    """

    node: ast.FunctionDef | ast.ClassDef
    first: int
    last: int

    def replaced(self, source: str, text: str) -> str:
        """Return the file with another text in its place."""
        # As Python counts lines: a form feed, for one, begins none.
        lines = re.split(r"\r\n|\r|\n", source)
        return "\n".join([*lines[: self.first - 1], text, *lines[self.last :]])


def definition_of(source: str, name: str) -> Definition | None:
    """Return a function or class at the top of a file; None where it has none of that name."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found = [each for each in body if isinstance(each, (ast.FunctionDef, ast.ClassDef))]
    node = next((each for each in reversed(found) if each.name == name), None)
    if node is None:
        return None
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    return Definition(node, first, node.end_lineno or node.lineno)


def mends_of(defined: Definition, raised: Raised | None = None) -> list[Variant]:
    """Return a function's text with one change each; at most ``MOST``, the likeliest first.

    Args:
        defined: As the student wrote it.
        raised: The exception that it ended with, if it did: changes near that line come first.
    """
    node = defined.node
    found: dict[str, Variant] = {}
    try:
        if sum(1 for _ in ast.walk(node)) > _LARGEST or len(ast.unparse(node)) > _LONGEST:
            return []
        for variant in _in_order(node, raised):
            found.setdefault(variant.text, variant)
            if len(found) == MOST:
                break
    # Some numbers and characters are read by Python and cannot be written by it.
    except (RecursionError, ValueError, MemoryError):
        return []
    return list(found.values())


def _in_order(node: ast.FunctionDef | ast.ClassDef, raised: Raised | None) -> Iterator[Variant]:
    """Yield changes, the likeliest first."""
    exchanged = partial(_exchanged, names=_names(node), attributes=_attributes(node))
    if raised is not None:
        remedied = partial(_remedied, remedies=_remedies(raised), line=raised.line)
        yield from variants(node, remedied)
    kinds: list[_Maker] = [
        partial(exchanged, near=True), _left_out, _mixed_up, _swapped, _small,
    ]  # fmt: skip
    if raised is not None:
        for distance in (0, _NEAR):
            around = (partial(_around, raised, distance, kind) for kind in kinds)
            yield from _in_turn(variants(node, kind) for kind in around)
    yield from _returning(node)
    yield from _constructing(node)
    seldom = _in_turn(
        [
            variants(node, partial(_looked_up, names=_never_read(node))),
            _preparing(node),
            _in_another_order(node),
        ]
    )
    # One of each kind in turn: where only some are tried, they are of every kind.
    yield from _in_turn([*(variants(node, kind) for kind in kinds), seldom])
    yield from variants(node, partial(exchanged, near=False))


def _in_turn(makers: Iterable[Iterator[Variant]]) -> Iterator[Variant]:
    """Yield one change of each maker in turn."""
    for turn in zip_longest(*makers):
        yield from (variant for variant in turn if variant is not None)


def _around(
    raised: Raised,
    distance: int,
    kind: _Maker,
    node: ast.AST,
) -> Iterator[Alternative]:
    """Yield the changes of a kind, so many lines from where something was raised, at most."""
    line = getattr(node, "lineno", None)
    if line is not None and abs(line - raised.line) <= distance:
        yield from kind(node)


def _swapped(node: ast.AST) -> Iterator[Alternative]:
    """Yield what is the other way round, of the alternatives to a node."""
    yield from (each for each in alternatives(node) if each[0].startswith("swapped"))


def _small(node: ast.AST) -> Iterator[Alternative]:
    """Yield the alternatives to a node, but not to a whole method or loop that nothing is there."""
    whole = isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.For, ast.While, ast.With))
    yield from (
        each for each in alternatives(node) if not (whole and isinstance(each[1], ast.Pass))
    )


def _remedies(raised: Raised | None) -> Sequence[str]:
    says = raised.says if raised else ""
    return [name for part, names in _REMEDIES.items() if part in says for name in names]


def _names(node: ast.AST, unused: bool = False) -> list[str]:
    """Return the names that a function has for what it works with.

    Args:
        node: The function.
        unused: Those too that it makes and never uses.
    """
    found = [each.arg for each in ast.walk(node) if isinstance(each, ast.arg)]
    named = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
    used = {each.id for each in named if isinstance(each.ctx, ast.Load)}
    # What is made and never used is no name that was mixed up: it would be a guess.
    made = [each.id for each in named if isinstance(each.ctx, ast.Store)]
    found += [name for name in made if unused or name in used]
    return [name for name in dict.fromkeys(found) if name != "self"]


def _attributes(node: ast.AST) -> list[str]:
    """Return the attributes of ``self`` that a class has."""
    found = [each.attr for each in ast.walk(node) if _is_own(each)]  # type: ignore[attr-defined]
    return list(dict.fromkeys(found))


def _is_own(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )


def _followed(node: ast.AST, text: str) -> Any:
    """Return an expression with an attribute, or a call of a method, after its dot."""
    after: Any = ast.parse(f"_.{text}", mode="eval").body
    last: Any = after.func if isinstance(after, ast.Call) else after
    last.value = node
    return after


def _remedied(node: ast.AST, remedies: Sequence[str], line: int) -> Iterator[Alternative]:
    """Yield what an exception asks for, in its line."""
    if getattr(node, "lineno", None) != line:
        return
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) and isinstance(
        getattr(node, "ctx", ast.Load()), ast.Load
    ):
        for text in remedies:
            yield f"added {text}", _followed(node, text)
    if "unsqueeze(1)" in remedies and isinstance(node, ast.Compare):
        yield from _compared_one_by_one(node)


def _compared_one_by_one(node: ast.Compare) -> Iterator[Alternative]:
    """Yield ``any(x is each for each in y)`` for ``x in y``, which compares tensors by element."""
    if len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        among: Any = ast.parse("any(_ is each for each in _)", mode="eval").body
        among.args[0].elt.left = node.left
        among.args[0].generators[0].iter = node.comparators[0]
        negated = isinstance(node.ops[0], ast.NotIn)
        yield "one by one", ast.UnaryOp(ast.Not(), among) if negated else among


def _left_out(node: ast.AST) -> Iterator[Alternative]:
    """Yield a call with a keyword that is often forgotten, and what is often forgotten after it."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    given = {each.arg for each in node.keywords}
    for name, value in _KEYWORDS:
        if node.func.attr in _TAKES[name] and name not in given:
            added = ast.keyword(name, ast.Constant(value))
            yield f"added {name}", with_fields(node, keywords=[*node.keywords, added])
    for part in ("values", "indices") if node.func.attr in _PAIRS else ():
        yield f"added {part}", _followed(node, part)


def _mixed_up(node: ast.AST) -> Iterator[Alternative]:
    """Yield another name or device, and a result that lacks its last step."""
    if isinstance(node, ast.Attribute) and node.attr in _ALSO_WRITTEN:
        yield "other name", with_fields(node, attr=_ALSO_WRITTEN[node.attr])
    if isinstance(node, ast.Constant) and node.value in _DEVICES:
        for other in _DEVICES:
            yield "other device", ast.Constant(other)
    if isinstance(node, ast.Return) and node.value is not None:
        yield "added transpose", ast.Return(_followed(node.value, "mT"))
        yield "added cpu", ast.Return(_followed(node.value, "cpu()"))


def _exchanged(
    node: ast.AST, names: Sequence[str], attributes: Sequence[str], near: bool
) -> Iterator[Alternative]:
    """Yield another name of the function's, or another attribute of ``self``.

    Args:
        node: What is looked at.
        names: Of the function.
        attributes: Of ``self``.
        near: Whether names that are alike are wanted, or all others.
    """
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
        for name in names:
            if _are_alike(name, node.id) is near:
                yield "other name", ast.Name(name, ast.Load())
    if near and _is_own(node) and isinstance(getattr(node, "ctx", None), ast.Load):
        for name in attributes:
            yield "other name", with_fields(node, attr=name)


def _are_alike(one: str, other: str) -> bool:
    """Tell names that share a word, as X and X_batch, or are single letters, as i and j."""
    shared = set(one.lower().split("_")) & set(other.lower().split("_"))
    return bool(shared) or len(one) == len(other) == 1


def _in_another_order(node: ast.FunctionDef | ast.ClassDef) -> Iterator[Variant]:
    """Yield the text with two statements swapped, one of them the other's neighbour."""
    for each in ast.walk(node):
        body = getattr(each, "body", None)
        if not isinstance(body, list) or isinstance(each, ast.ClassDef):
            continue
        for at in range(len(body) - 1):
            body[at], body[at + 1] = body[at + 1], body[at]
            text = ast.unparse(node)
            body[at], body[at + 1] = body[at + 1], body[at]
            yield Variant("swapped statements", body[at].lineno, text)


def _returning(node: ast.FunctionDef | ast.ClassDef) -> Iterator[Variant]:
    """Yield the text with a return at the end of a function that has none."""
    functions = [each for each in ast.walk(node) if isinstance(each, ast.FunctionDef)]
    for function in functions:
        if any(isinstance(each, ast.Return) for each in ast.walk(function)):
            continue
        if function.name == "__init__":
            continue
        body, last = function.body, function.body[-1]
        others = [[*body[:-1], ast.Return(last.value)]] if isinstance(last, ast.Expr) else []
        named = _names(function, unused=True)
        others += [[*body, ast.Return(ast.Name(name, ast.Load()))] for name in reversed(named)]
        for other in others:
            function.body = other
            text = ast.unparse(ast.fix_missing_locations(node))
            function.body = body
            yield Variant("added return", last.lineno, text)


def _constructing(node: ast.FunctionDef | ast.ClassDef) -> Iterator[Variant]:
    """Yield a class whose constructor keeps on ``self`` what its methods read there.

    And one whose constructor first calls that of the class that it is derived from.
    """
    if not isinstance(node, ast.ClassDef):
        return
    parts = (each for each in node.body if isinstance(each, ast.FunctionDef))
    made = next((each for each in parts if each.name == "__init__"), None)
    if made is None:
        return
    wanted, body = {*_attributes(node)}, made.body
    kept = [_kept_on_self(each, wanted) for each in body]
    if any(new is not old for new, old in zip(kept, body, strict=True)):
        made.body = kept
        text = ast.unparse(ast.fix_missing_locations(node))
        made.body = body
        yield Variant("added self", made.lineno, text)
    if node.bases and "super()" not in ast.unparse(made):
        made.body = [*ast.parse("super().__init__()").body, *body]
        text = ast.unparse(node)
        made.body = body
        yield Variant("added constructor", made.lineno, text)


def _kept_on_self(statement: ast.stmt, wanted: Collection[str]) -> ast.stmt:
    """Return ``self.x = …`` for ``x = …``, where ``self.x`` is wanted."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        (target,) = statement.targets
        if isinstance(target, ast.Name) and target.id in wanted:
            own = ast.Attribute(ast.Name("self", ast.Load()), target.id, ast.Store())
            kept: ast.stmt = with_fields(statement, targets=[own])
            return kept
    return statement


_PREPARED = ("{name}.flatten(1)", "{name}.T", "{name}.clone()")


def _preparing(node: ast.FunctionDef | ast.ClassDef) -> Iterator[Variant]:
    """Yield the text with arguments flattened first, turned round or copied."""
    for function in [each for each in ast.walk(node) if isinstance(each, ast.FunctionDef)]:
        arguments = function.args
        defaults = len(arguments.defaults)
        plain = arguments.args[: len(arguments.args) - defaults]
        names = [each.arg for each in plain if each.arg != "self"]
        if function.name == "__init__":
            continue
        alone = [(name,) for name in names]
        for form in _PREPARED:
            for chosen in [*alone, tuple(names)] if len(names) > 1 else alone:
                lines = "\n".join(f"{name} = {form.format(name=name)}" for name in chosen)
                body = function.body
                function.body = [*ast.parse(lines).body, *body]
                text = ast.unparse(node)
                function.body = body
                yield Variant("prepared argument", function.lineno, text)


def _never_read(node: ast.AST) -> list[str]:
    """Return the arguments that a function never reads: something was forgotten there."""
    arguments = [each.arg for each in ast.walk(node) if isinstance(each, ast.arg)]
    named = (each for each in ast.walk(node) if isinstance(each, ast.Name))
    read = {each.id for each in named if isinstance(each.ctx, ast.Load)}
    return [name for name in arguments if name not in read and name != "self"]


def _looked_up(node: ast.AST, names: Sequence[str]) -> Iterator[Alternative]:
    """Yield what an argument that is never read has in a place, for the place."""
    if isinstance(node, (ast.Name, ast.Subscript, ast.Call)) and isinstance(
        getattr(node, "ctx", ast.Load()), ast.Load
    ):
        for name in names:
            yield "added lookup", ast.Subscript(ast.Name(name, ast.Load()), node, ast.Load())
