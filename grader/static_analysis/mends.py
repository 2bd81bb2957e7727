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
from itertools import pairwise, zip_longest
from typing import Any

from grader.static_analysis.mutation_operators import (
    Alternative,
    Variant,
    alternatives,
    variants,
    with_fields,
)
from grader.static_analysis.scope import first_line

_Maker = Callable[[ast.AST], Iterator[Alternative]]

MOST = 240
"""Changes of one function that are tried."""

_LONGEST = 20_000
"""Characters of a function. Students' have a thousand or two."""
_LARGEST = 2_000
"""Nodes of a function's syntax tree. Students' have hundreds, and each change writes all anew."""
_SAME_SLIPS = 4
"""Places with the same slip, at most, that are changed together."""
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
    "must have its parameters and buffers on device": ("cuda()",),
    "to have the same dtype": ("to({argument}.dtype)", "float()", "double()"),
    "bool tensor is not supported": ("to({argument}.dtype)", "float()", "long()"),
}
"""Part of what an exception says → what may be missing in its line, after a dot."""
_TAKES_A_TUPLE = "invalid combination of arguments"
_TAKES_A_TENSOR = (
    "'list' object has no attribute",
    "'tuple' object has no attribute",
    "must be Tensor, not ",
)
_TO_TENSORS = ("tensor", "stack", "cat")
"""Functions of torch that make one tensor of a list."""
_TAKES_A_MATRIX = "must be a matrix"
_OUT_OF_BOUNDS = re.compile(
    r"index -?\d+ is out of bounds .* with size (\d+)|list index out of range"
)
_ROOM = 1000
"""Places where there were too few."""


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception of a function, or of what works with its result.

    Attributes:
        line: Where the function raised it, in its file, from 1; 0 where it did not.
        says: Its message.
    """

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

    def text_in(self, source: str) -> str:
        """Return its own text."""
        return "\n".join(_lines(source)[self.first - 1 : self.last])

    def replaced(self, source: str, text: str) -> str:
        """Return the file with another text in its place."""
        lines = _lines(source)
        return "\n".join([*lines[: self.first - 1], text, *lines[self.last :]])


def _lines(source: str) -> list[str]:
    # As Python counts them: a form feed, for one, begins none.
    return re.split(r"\r\n|\r|\n", source)


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
    return Definition(node, first_line(node), node.end_lineno or node.lineno)


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
        remedied = partial(_remedied, remedies=_remedies(raised, node), line=raised.line)
        yield from variants(node, remedied)
        for kind in (_made_fit, _with_more_room):
            yield from variants(node, partial(kind, raised=raised))
    unread = _never_read(node)
    yield from variants(node, partial(_read_instead, names=unread))
    # Of these there are few.
    for made in (
        _returning, _constructing, _at_another_depth, _mixed_up_values, _turned, _along_others,
        _named_apart,
    ):  # fmt: skip
        yield from made(node)
    kinds: list[_Maker] = [
        partial(exchanged, near=True), _left_out, _mixed_up, _swapped, _small,
    ]  # fmt: skip
    if raised is not None:
        for distance in (0, _NEAR):
            around = (partial(_around, raised, distance, kind) for kind in kinds)
            yield from _in_turn(variants(node, kind) for kind in around)
    seldom = _in_turn(
        [
            variants(node, partial(_looked_up, names=unread)),
            _preparing(node),
        ]
    )
    # One of each kind in turn: where only some are tried, they are of every kind.
    every = [*(variants(node, kind) for kind in kinds), _in_another_order(node), seldom]
    yield from _in_turn(every)
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


def _remedies(raised: Raised, node: ast.AST) -> Sequence[str]:
    texts = [text for part, found in _REMEDIES.items() if part in raised.says for text in found]
    texts += [_TAKES_A_TUPLE] if _TAKES_A_TUPLE in raised.says else []
    named = (each.arg for each in ast.walk(node) if isinstance(each, ast.arg))
    first = next((name for name in named if name != "self"), "")
    return [text.replace("{argument}", first) for text in texts if first or "{" not in text]


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
    if line and getattr(node, "lineno", None) != line:
        return
    if isinstance(node, _VALUES) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        for text in remedies:
            if text == _TAKES_A_TUPLE:
                yield "made a tuple", ast.Tuple([node], ast.Load())
            else:
                yield f"added {text}", _followed(node, text)
    if "unsqueeze(1)" in remedies and isinstance(node, ast.Compare):
        yield from _compared_one_by_one(node)


def _with_more_room(node: ast.AST, raised: Raised) -> Iterator[Alternative]:
    """Yield more room for an index that was out of bounds."""
    bounds = _OUT_OF_BOUNDS.search(raised.says)
    if bounds is None:
        return
    size = node.value if isinstance(node, ast.Constant) and type(node.value) is int else 0
    if size > 1 and bounds[1] in {None, str(size)}:
        yield "more room", ast.Constant(_ROOM)
    # A method, a function of torch's, or Python's own.
    if isinstance(node, ast.Call) and _called(node) in {"max", "amax"}:
        yield "added one", ast.BinOp(node, ast.Add(), ast.Constant(1))


def _called(node: ast.Call) -> str:
    """Return the name of what is called, without what is before its dot."""
    return getattr(node.func, "attr", "") or getattr(node.func, "id", "")


def _made_fit(node: ast.AST, raised: Raised) -> Iterator[Alternative]:
    """Yield a call, in an exception's line, without a keyword that it names.

    And one tensor for a list, and a product for what is no matrix.
    """
    if raised.line and getattr(node, "lineno", None) != raised.line:
        return
    if isinstance(node, ast.Call):
        named = set(re.findall(r"\w+", raised.says))
        for each in node.keywords:
            if each.arg in named:
                rest = [other for other in node.keywords if other is not each]
                yield f"dropped {each.arg}", with_fields(node, keywords=rest)
    if any(part in raised.says for part in _TAKES_A_TENSOR) and isinstance(node, _VALUES):
        for name in _TO_TENSORS:
            made = ast.Attribute(ast.Name("torch", ast.Load()), name, ast.Load())
            yield f"made one by {name}", ast.Call(made, [node], [])
    is_product = isinstance(node, ast.Attribute) and node.attr == "mm"
    if is_product and _TAKES_A_MATRIX in raised.says:
        yield "other product", with_fields(node, attr="matmul")


_VALUES = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Compare, ast.BinOp)


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
    if node.func.attr == "t" and not node.args:  # of matrices alone: not of a batch of them
        yield "other transpose", ast.Attribute(node.func.value, "mT", ast.Load())
    if node.func.attr == "append" and node.args:
        yield "added item", with_fields(node, args=[_followed(node.args[0], "item()")])


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
        yield "added item", ast.Return(_followed(node.value, "item()"))
    if isinstance(node, ast.Subscript):
        yield from _along_another_axis(node)


def _along_another_axis(node: ast.Subscript) -> Iterator[Alternative]:
    """Yield ``x[:, i]`` for ``x[i]``, the reverse, and ``x[range(len(y)), y]`` for ``x[:, y]``.

    That too as a column, ``x[range(len(y)), y, None]``, which broadcasts against rows.
    """
    whole = ast.Slice()
    if not isinstance(node.slice, (ast.Tuple, ast.Slice, ast.Constant)):
        across: Any = ast.Tuple([whole, node.slice], ast.Load())
        yield "other axis", with_fields(node, slice=across)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
    if len(parts) == 2 and ast.dump(parts[0]) == ast.dump(whole):
        yield "other axis", with_fields(node, slice=parts[1])
        rows = ast.parse("range(len(_))", mode="eval").body
        rows.args[0].args[0] = parts[1]  # type: ignore[attr-defined]
        for one in ([rows, parts[1]], [rows, parts[1], ast.Constant(None)]):
            yield "row by row", with_fields(node, slice=ast.Tuple(one, ast.Load()))


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


def _text_with(node: ast.AST, *changes: tuple[ast.AST, str, Any]) -> str:
    """Return a function's text with other fields of some of its nodes; it is as it was afterwards.

    Args:
        node: The function.
        changes: Node, name of its field, and what stands there.
    """
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in changes]
    try:
        for owner, name, value in changes:
            setattr(owner, name, value)
        return ast.unparse(ast.fix_missing_locations(node))
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)


def _at_another_depth(node: ast.FunctionDef | ast.ClassDef) -> Iterator[Variant]:
    """Yield the text with a loop's last statement behind it, or the next one in it."""
    for each in ast.walk(node):
        body = getattr(each, "body", None)
        if not isinstance(body, list) or isinstance(each, ast.ClassDef):
            continue
        for at, loop in enumerate(body):
            if not isinstance(loop, (ast.For, ast.While)):
                continue
            inner = loop.body
            moves = [(inner[:-1], [inner[-1]], at + 1)] if len(inner) > 1 else []
            if at + 1 < len(body) and not isinstance(body[at + 1], ast.Return):
                moves.append(([*inner, body[at + 1]], [], at + 2))
            for inside, behind, rest in moves:
                outside = [*body[: at + 1], *behind, *body[rest:]]
                text = _text_with(node, (loop, "body", inside), (each, "body", outside))
                yield Variant("moved statement", (behind or [body[rest - 1]])[0].lineno, text)


def _mixed_up_values(node: ast.FunctionDef | ast.ClassDef) -> Iterator[Variant]:
    """Yield the text with the values of two lines swapped that call the same."""
    for each in ast.walk(node):
        body = getattr(each, "body", None)
        for one, other in pairwise(body if isinstance(body, list) else ()):
            if not (isinstance(one, ast.Assign) and isinstance(other, ast.Assign)):
                continue
            first, second = one.value, other.value
            calls = [ast.dump(v.func) for v in (first, second) if isinstance(v, ast.Call)]
            if len(calls) == 2 and calls[0] == calls[1]:
                text = _text_with(node, (one, "value", second), (other, "value", first))
                yield Variant("swapped values", one.lineno, text)


def _turned(node: ast.FunctionDef | ast.ClassDef) -> Iterator[Variant]:
    """Yield the text with ``x[:, i]`` for each ``x[i]`` of a name, or the reverse."""
    found: dict[str, list[ast.Subscript]] = {}
    for each in ast.walk(node):
        if isinstance(each, ast.Subscript) and isinstance(each.value, ast.Name):
            found.setdefault(each.value.id, []).append(each)
    for places in found.values():
        others = [dict(_along_another_axis(each)).get("other axis") for each in places]
        turned = [other.slice for other in others if isinstance(other, ast.Subscript)]
        if len(turned) < len(places) or len(places) < 2:
            continue
        changes = ((each, "slice", after) for each, after in zip(places, turned, strict=True))
        text = _text_with(node, *changes)
        yield Variant("other axis", places[0].lineno, text, places=len(places))


def _along_others(node: ast.FunctionDef | ast.ClassDef) -> Iterator[Variant]:
    """Yield the text with another ``dim=`` in each of a few places that have the same one."""
    found: dict[int, list[ast.Constant]] = {}
    for each in ast.walk(node):
        if isinstance(each, ast.keyword) and each.arg in {"dim", "axis"}:
            given = each.value
            if isinstance(given, ast.Constant) and type(given.value) is int:
                found.setdefault(given.value, []).append(given)
    for dim, places in found.items():
        for other in (0, 1) if 1 < len(places) <= _SAME_SLIPS else ():
            if other != dim:
                text = _text_with(node, *((each, "value", other) for each in places))
                yield Variant("other dim", places[0].lineno, text, places=len(places))


def _named_apart(node: ast.FunctionDef | ast.ClassDef) -> Iterator[Variant]:
    """Yield the text with ``x_new = x - y`` for ``x -= y`` in a loop, and that in its other lines.

    What a turn changes in place, the next one begins with.
    """
    for loop in (each for each in ast.walk(node) if isinstance(each, (ast.For, ast.While))):
        for at, change in enumerate(loop.body):
            if not (isinstance(change, ast.AugAssign) and isinstance(change.target, ast.Name)):
                continue
            name = change.target.id
            made = ast.Name(f"{name}_new", ast.Store())
            value = ast.BinOp(ast.Name(name, ast.Load()), change.op, change.value)
            after = [each for later in loop.body[at + 1 :] for each in ast.walk(later)]
            reads = [each for each in after if isinstance(each, ast.Name) and each.id == name]
            body = [*loop.body[:at], ast.Assign([made], value), *loop.body[at + 1 :]]
            if reads:
                renamed = ((each, "id", made.id) for each in reads)
                text = _text_with(node, (loop, "body", body), *renamed)
                yield Variant("named apart", change.lineno, text)


def _in_another_order(node: ast.FunctionDef | ast.ClassDef) -> Iterator[Variant]:
    """Yield the text with two statements swapped, one of them the other's neighbour."""
    for each in ast.walk(node):
        body = getattr(each, "body", None)
        if not isinstance(body, list) or isinstance(each, ast.ClassDef):
            continue
        for at, (first, second) in enumerate(pairwise(body)):
            swapped = [*body[:at], second, first, *body[at + 2 :]]
            text = _text_with(node, (each, "body", swapped))
            yield Variant("swapped statements", first.lineno, text)


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
            text = _text_with(node, (function, "body", other))
            yield Variant("added return", last.lineno, text)


def _constructing(node: ast.FunctionDef | ast.ClassDef) -> Iterator[Variant]:
    """Yield a class whose constructor keeps on ``self`` what its methods read there.

    And one whose constructor first calls that of the class that it is derived from.
    """
    for inner in ast.walk(node):
        if not isinstance(inner, ast.ClassDef):
            continue
        parts = (each for each in inner.body if isinstance(each, ast.FunctionDef))
        made = next((each for each in parts if each.name == "__init__"), None)
        if made is None:
            continue
        wanted, body = {*_attributes(inner)}, made.body
        kept = [_kept_on_self(each, wanted) for each in body]
        if changed := [old for new, old in zip(kept, body, strict=True) if new is not old]:
            text = _text_with(node, (made, "body", kept))
            yield Variant("added self", changed[0].lineno, text)
        if inner.bases and "super()" not in ast.unparse(made):
            first = [*ast.parse("super().__init__()").body, *body]
            text = _text_with(node, (made, "body", first))
            yield Variant("added constructor", made.lineno, text, made.name)


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
                body = [*ast.parse(lines).body, *function.body]
                text = _text_with(node, (function, "body", body))
                yield Variant("prepared argument", function.lineno, text, function.name)


def _never_read(node: ast.AST) -> list[str]:
    """Return the arguments that a function never reads: something was forgotten there.

    What only its shape or dtype is read of is not read.
    """
    arguments = [each.arg for each in ast.walk(node) if isinstance(each, ast.arg)]
    named = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
    form = {
        id(each.value)
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute) and each.attr in _FORM
    }
    read = {each.id for each in named if isinstance(each.ctx, ast.Load) and id(each) not in form}
    return [name for name in arguments if name not in read and name != "self"]


_FORM = frozenset({"shape", "dtype", "device", "ndim"})


def _read_instead(node: ast.AST, names: Sequence[str]) -> Iterator[Alternative]:
    """Yield an argument that is never read for what is called, or as a factor of a step."""
    for name in names:
        argument = ast.Name(name, ast.Load())
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield "other name", with_fields(node, func=argument)
        part = {ast.BinOp: "right", ast.AugAssign: "value"}.get(type(node), "")
        if part and isinstance(node.op, (ast.Add, ast.Sub)):  # type: ignore[attr-defined]
            scaled = ast.BinOp(argument, ast.Mult(), getattr(node, part))
            yield "added factor", with_fields(node, **{part: scaled})


def _looked_up(node: ast.AST, names: Sequence[str]) -> Iterator[Alternative]:
    """Yield what an argument that is never read has in a place, for the place."""
    if isinstance(node, (ast.Name, ast.Subscript, ast.Call)) and isinstance(
        getattr(node, "ctx", ast.Load()), ast.Load
    ):
        for name in names:
            yield "added lookup", ast.Subscript(ast.Name(name, ast.Load()), node, ast.Load())
