"""Which loops go through the dimensions of a tensor, not through its data.

Their turns are as many as a shape has sizes, whatever these are. Where all that they make is
numbers, from sizes and from other such numbers, they can do none of the work: they are no loops by
the rules. Where they do more, this module tells no more than what they go through.

Does not see: what a class of the file returns for ``shape`` or ``size``. Behaviour shows it.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from typing import Union

from grader.static_analysis.scope import Function

Comprehension = Union[ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp]

_SIZES = frozenset({"shape", "ndim"})
_ASKED = frozenset({"dim", "size", "ndimension", "numel", "stride"})
_OF_NUMBERS = frozenset({
    "builtins.abs", "builtins.bool", "builtins.float", "builtins.int", "builtins.len",
    "builtins.max", "builtins.min", "builtins.str", "builtins.sum", "math.prod", "operator.add",
    "operator.floordiv", "operator.mod", "operator.mul", "operator.neg", "operator.sub",
})  # fmt: skip
"""Functions that make numbers of numbers."""

_ARITHMETIC = (
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.operator, ast.unaryop,
    ast.boolop, ast.cmpop, ast.Load, ast.Constant, ast.Tuple, ast.List, ast.Slice,
)  # fmt: skip
_OF_A_SIGNATURE = frozenset({"arguments", "parameters", "__annotations__"})
"""What a signature has, one each for a parameter: not called, and so no method of a module."""
_AROUND = frozenset({"enumerate", "reversed", "sorted", "zip", "list", "tuple"})
_MOST_ROUNDS = 8
_COLLECTS = frozenset({"append", "insert"})


@dataclass(frozen=True, slots=True)
class Handed:
    """Parameters of a function that get the like in each of its calls.

    Attributes:
        shapes: Those that get dimensions.
        numbers: Those that get sizes, or numbers made of these.
        arguments: Those that get all further arguments, as many as a call writes out.
    """

    shapes: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    arguments: frozenset[str] = frozenset()


class Dims:
    """Tells what goes through dimensions from loops, inside one function.

    Args:
        body: The function, or nothing: names that it binds once, to a shape (``s = x.shape``) or to
            a number of dimensions (``rank = len(x.shape)``), stand for these.
        handed: What its parameters stand for.
        resolve: Returns the whole name of what is called, as ``Mention.name`` writes it.
    """

    def __init__(
        self,
        body: ast.AST | None = None,
        handed: Handed | None = None,
        resolve: Callable[[ast.expr], str] = lambda _: "",
    ) -> None:
        handed = handed or Handed()
        nodes = [] if body is None else list(ast.walk(body))
        bound = _bound(nodes)
        self._shapes = {name for name in handed.shapes if bound[name] == 1}
        self._told = set(self._shapes)
        self._ranks: set[str] = set()
        self._numbers: set[str] | None = None
        self._nodes, self._handed = nodes, handed.numbers
        self._arguments = {name for name in handed.arguments if bound[name] == 1}
        self._resolve = resolve
        self._itself = body.name if isinstance(body, ast.FunctionDef) and self._shapes else ""
        for name, value in _bound_once(nodes):
            if self._goes_through(value):
                self._shapes.add(name)
            elif self._counts_dims(value):
                self._ranks.add(name)
            if self._is_of_something(value):
                self._told.add(name)

    def only(self, node: Comprehension) -> bool:
        """Tell whether a comprehension goes through dimensions only, and makes numbers of them."""
        if isinstance(node, ast.DictComp) or not self._all_through(node, self._goes_through):
            return False
        bound = {name for part in node.generators for name in _names(part.target)}
        # A condition can call anything as well: it runs once a turn like the element.
        tests = [test for part in node.generators for test in part.ifs]
        again = all(_is_read(part.iter) for part in node.generators[1:])
        return again and all(self.is_number(item, bound) for item in (*tests, node.elt))

    def over(self, node: ast.AST) -> bool:
        """Tell whether each part of a loop or comprehension goes through dimensions.

        Or through what is written out: there, as in ``for x in (query, key)``, or where a function
        is defined or called, as its parameters and arguments are.
        """
        if isinstance(node, ast.For):
            return self._is_fixed(node.iter)
        if isinstance(node, ast.While):
            return self._compares_dims(node.test)
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            return self._all_through(node, self._is_fixed)
        return False

    def _is_fixed(self, node: ast.expr) -> bool:
        if isinstance(node, (ast.Tuple, ast.List)):
            parts = (item.value for item in node.elts if isinstance(item, ast.Starred))
            return all(map(self._goes_through_arguments, parts))
        return self.goes_through(node) or self._goes_through_arguments(node)

    def _goes_through_arguments(self, node: ast.expr) -> bool:
        """``args``, ``kwargs.items()``, ``bound.arguments.values()``; also with names beside."""
        if isinstance(node, ast.Name):
            return node.id in self._arguments
        if isinstance(node, ast.Attribute):
            return node.attr in _OF_A_SIGNATURE
        if not isinstance(node, ast.Call):
            return False
        function = node.func
        if isinstance(function, ast.Attribute):
            views = function.attr in ("items", "keys", "values") and not node.args
            return views and self._goes_through_arguments(function.value)
        around = isinstance(function, ast.Name) and function.id in _AROUND
        # The shortest one ends a zip.
        return around and any(map(self._goes_through_arguments, node.args[:3]))

    def _all_through(self, node: Comprehension, goes: Callable[[ast.expr], bool]) -> bool:
        return all(not part.is_async and goes(part.iter) for part in node.generators)

    def _compares_dims(self, test: ast.expr) -> bool:
        """``d < x.dim()``, ``x.ndim > 1``: never a size, but for what a name stands for."""
        if not isinstance(test, ast.Compare):
            return False
        sides = (test.left, *test.comparators)
        counts = [self._counts_dims(side) and self._is_of_something(side) for side in sides]
        named = (isinstance(side, ast.Name) and self.is_number(side) for side in sides)
        return any(counts) and all(
            one or own or isinstance(side, ast.Constant)
            for one, own, side in zip(counts, named, sides, strict=True)
        )

    def turns(self, node: ast.For | ast.AsyncFor | ast.While) -> bool:
        """Tell whether all that a loop does is to make numbers, from dimensions."""
        return not isinstance(node, ast.AsyncFor) and self._turns(node, set())

    def calls(self, node: ast.Call) -> tuple[bool, bool]:
        """Tell of ``reduce`` and its like: they go through dimensions, and make only numbers."""
        if len(node.args) < 2 or not self.goes_through(node.args[1]):
            return False, False
        function, others = node.args[0], (*node.args[2:], *(word.value for word in node.keywords))
        if isinstance(function, ast.Lambda):
            numbers = self.is_number(function.body, {item.arg for item in function.args.args})
        else:
            numbers = self._resolve(function) in _OF_NUMBERS
        return True, numbers and all(
            self._goes_through(item) or self.is_number(item) for item in others
        )

    def recursion(self, node: ast.AST) -> tuple[bool, bool]:
        """Tell of a function that calls itself: it goes through dimensions, and makes numbers."""
        if not self._itself or not isinstance(node, ast.FunctionDef):
            return False, False
        return True, self._block(node.body, set())

    def goes_through(self, node: ast.expr) -> bool:
        """Tell whether going through this is going through the dimensions of something."""
        # `range(3)` is of nothing.
        return self._goes_through(node) and self._is_of_something(node)

    def _is_of_something(self, node: ast.expr) -> bool:
        return any(
            part.attr in _SIZES | _ASKED
            if isinstance(part, ast.Attribute)
            else isinstance(part, ast.Name) and part.id in self._told
            for part in ast.walk(node)
        )

    def _goes_through(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self._shapes
        if isinstance(node, ast.Subscript):
            return self._goes_through(node.value)
        if isinstance(node, ast.Attribute):
            return node.attr == "shape"
        if not isinstance(node, ast.Call):
            return False
        function = node.func
        if isinstance(function, ast.Attribute):
            return function.attr == "size" and not node.args
        if not isinstance(function, ast.Name) or len(node.args) > 3:
            return False
        if function.id in _AROUND:
            return bool(node.args) and all(map(self._goes_through, node.args))
        return function.id == "range" and bool(node.args) and all(map(self._counts_dims, node.args))

    def _counts_dims(self, node: ast.expr) -> bool:
        """``x.dim()``, ``x.ndim``, ``len(x.shape)`` and arithmetic on these; never a size."""
        # Both sides have to count dimensions: one size among them makes the range as long as data.
        if isinstance(node, (ast.BinOp, ast.UnaryOp)):
            return all(map(self._counts_dims, _expressions(node)))
        if isinstance(node, ast.Constant):
            # Small ones only: `range(x.dim() + 1000)` is a loop.
            return type(node.value) is int and abs(node.value) <= 8
        if isinstance(node, ast.Name):
            return node.id in self._ranks
        if isinstance(node, ast.Attribute):
            return node.attr == "ndim"
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Attribute):
            return node.func.attr in ("dim", "ndimension")
        length = isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1
        return length and self._goes_through(node.args[0])

    def is_number(self, node: ast.expr, bound: Set[str] = frozenset()) -> bool:
        """Tell whether an expression is made of sizes, arithmetic and a loop's own variables."""
        if isinstance(node, ast.Name):
            known = node.id in bound or node.id in self._ranks or node.id in self._shapes
            return known or node.id in self._made_of_numbers()
        if not _is_read(node):
            return False
        if isinstance(node, ast.Attribute):
            return node.attr in _SIZES
        if isinstance(node, ast.Subscript):
            return self._goes_through(node.value) and self.is_number(node.slice, bound)
        if isinstance(node, ast.Call):
            return self._counts_dims(node) or self._calls_for_number(node, bound)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self.only(node)
        if not isinstance(node, _ARITHMETIC):
            return False
        return all(self.is_number(child, bound) for child in _expressions(node))

    def _calls_for_number(self, node: ast.Call, bound: Set[str]) -> bool:
        function, given = node.func, (*node.args, *(word.value for word in node.keywords))
        called = self._resolve(function)
        # The length of anything is a number.
        if called == "builtins.len" and all(isinstance(item, ast.Name) for item in given):
            return True
        asked = isinstance(function, ast.Attribute) and function.attr in _ASKED
        itself = isinstance(function, ast.Name) and function.id == self._itself
        if not (asked or itself or called in _OF_NUMBERS):
            return False
        return all(
            self.is_number(item, bound) or (self._goes_through(item) and _is_read(item))
            for item in given
        )

    def _turns(self, node: ast.For | ast.While, bound: set[str]) -> bool:
        if isinstance(node, ast.While):
            told = self._compares_dims(node.test) and _is_read(node.test)
            return told and self._block([*node.body, *node.orelse], bound)
        # Inside another one it is asked for again in each turn.
        through = self.goes_through(node.iter) and (not bound or _is_read(node.iter))
        if not through or not _plain(node.target):
            return False
        return self._block([*node.body, *node.orelse], bound | {*_names(node.target)})

    def _block(self, body: list[ast.stmt], bound: set[str]) -> bool:
        return all(self._makes_numbers(item, bound) for item in body)

    def _makes_numbers(self, node: ast.stmt, bound: set[str]) -> bool:
        """Tell whether a statement makes numbers, and puts them under names or into lists."""
        if isinstance(node, (ast.Pass, ast.Break, ast.Continue)):
            return True
        if isinstance(node, (ast.If, ast.Assert)):
            inner = [*node.body, *node.orelse] if isinstance(node, ast.If) else []
            return self.is_number(node.test, bound) and self._block(inner, bound)
        if isinstance(node, (ast.For, ast.While)):
            return self._turns(node, bound)
        if isinstance(node, ast.AugAssign) and not self.is_number(node.target, bound):
            return False
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            stored = all(self._is_kept(target, bound) for target in targets)
            return stored and (node.value is None or self.is_number(node.value, bound))
        value = node.value if isinstance(node, (ast.Expr, ast.Return)) else None
        if isinstance(node, ast.Expr) and isinstance(value, ast.Call):
            method = value.func
            collects = isinstance(method, ast.Attribute) and method.attr in _COLLECTS
            return collects and all(self.is_number(item, bound) for item in value.args)
        if isinstance(node, ast.Return) and value is None:
            return True
        return value is not None and self.is_number(value, bound)

    def _is_kept(self, target: ast.expr | None, bound: set[str]) -> bool:
        if isinstance(target, ast.Subscript):
            return isinstance(target.value, ast.Name) and self.is_number(target.slice, bound)
        return target is not None and _plain(target)

    def _made_of_numbers(self) -> set[str]:
        """Return the names to which nothing but numbers is ever bound."""
        if self._numbers is not None:
            return self._numbers
        nodes = self._nodes
        values: dict[str, list[ast.expr]] = {}
        for node in nodes:
            for name, value in self._bindings(node):
                values.setdefault(name, []).append(value)
        inside = self._sizes_inside()
        bound = _bound(nodes)
        told = {name for name, given in values.items() if len(given) == bound[name]}
        self._numbers = told | {name for name in self._handed if bound[name] == 1}
        for _ in range(_MOST_ROUNDS):
            # One that rests on no number takes with it those that rest on it.
            wrong = {
                name for name in told & self._numbers
                if not all(self.is_number(one, inside.get(id(one), set())) for one in values[name])
            }  # fmt: skip
            if not wrong:
                return self._numbers
            self._numbers -= wrong
        # Text that rests on itself through so many names is nobody's arithmetic.
        self._numbers = set()
        return self._numbers

    def _sizes_inside(self) -> Mapping[int, set[str]]:
        """Return node → names that are sizes there, whatever they are elsewhere."""
        inside: dict[int, set[str]] = {}
        for node in self._nodes:
            if isinstance(node, ast.For) and self._goes_through(node.iter):
                for part in ast.walk(node):
                    inside.setdefault(id(part), set()).update(_names(node.target))
        return inside

    def _bindings(self, node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
        """Yield the names that a statement binds, with what; those alone of which that is told."""
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from self._in_parts(target, node.value)
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)):
            if node.value is not None:
                yield from self._in_parts(node.target, node.value)
        elif isinstance(node, (ast.For, ast.comprehension)):
            counted = isinstance(node.iter, ast.Call) and self._resolve(node.iter.func)
            if self._goes_through(node.iter) or counted == "builtins.range":
                yield from ((name, ast.Constant(0)) for name in _names(node.target))
            elif counted == "builtins.enumerate" and isinstance(node.target, ast.Tuple):
                yield from ((name, ast.Constant(0)) for name in _names(node.target.elts[0]))

    def _in_parts(self, target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
        if isinstance(target, (ast.Tuple, ast.List)) and self._goes_through(value):
            yield from ((name, ast.Constant(0)) for name in _names(target))
        else:
            yield from _parts(target, value)


def handed_dims(tree: ast.Module) -> Mapping[int, Handed]:
    """Return what functions of a file are handed, by the identity of their nodes."""
    found = dict(_handed_sizes(tree))
    nodes = list(ast.walk(tree))
    # A list that is spread out is as long as data may be.
    spread: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            words = any(word.arg is None for word in node.keywords)
            if words or any(isinstance(item, ast.Starred) for item in node.args):
                spread.add(node.func.id)
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and node.name not in spread:
            rest = (item for item in (node.args.vararg, node.args.kwarg) if item is not None)
            arguments = frozenset(item.arg for item in rest)
            if arguments:
                found[id(node)] = replace(found.get(id(node), Handed()), arguments=arguments)
    return found


def _handed_sizes(tree: ast.Module) -> Mapping[int, Handed]:
    """Return what functions are handed that have a name of their own, and are used by calling."""
    calls = _calls_by_name(tree)
    known = {
        id(function): Handed(*(frozenset(_parameters(function)),) * 2) for function, _ in calls
    }
    for _ in range(_MOST_ROUNDS):
        # Each function once a round, however many calls stand in it.
        around = {id(outer): outer for _, used in calls for _, outer in used}
        dims = {key: Dims(outer, known.get(key)) for key, outer in around.items()}
        found = {id(function): _agreed(function, used, known, dims) for function, used in calls}
        if found == known:
            return found
        known = found
    return {}


_Call = tuple[ast.Call, Union[Function, None]]


def _agreed(
    function: ast.FunctionDef,
    calls: list[_Call],
    known: Mapping[int, Handed],
    dims: Mapping[int, Dims],
) -> Handed:
    mine = known[id(function)]
    shapes, numbers = set(mine.shapes), set(mine.numbers)
    for call, around in calls:
        outer, given = dims[id(around)], _given(function, call)
        shapes = {name for name in shapes if name in given and outer.goes_through(given[name])}
        numbers = {name for name in numbers if name in given and outer.is_number(given[name])}
    return Handed(frozenset(shapes), frozenset(numbers))


def _given(function: ast.FunctionDef, call: ast.Call) -> Mapping[str, ast.expr]:
    """Return parameter → what a call hands to it; nothing where that cannot be told."""
    words = {word.arg: word.value for word in call.keywords if word.arg is not None}
    starred = any(isinstance(item, ast.Starred) for item in call.args)
    if starred or len(words) < len(call.keywords):
        return {}
    names, defaults = _parameters(function), function.args.defaults
    # Defaults are those of the last parameters.
    presets = dict(zip(reversed(names), reversed(defaults), strict=False))
    return {**presets, **dict(zip(names, call.args, strict=False)), **words}


def _parameters(function: ast.FunctionDef) -> list[str]:
    return [item.arg for item in (*function.args.posonlyargs, *function.args.args)]


def _calls_by_name(tree: ast.Module) -> list[tuple[ast.FunctionDef, list[_Call]]]:
    """Return functions whose every use is a call, one of them from outside, with these calls."""
    nodes = list(_within(tree))
    bound, loads = _bound([node for node, _ in nodes]), Counter[str]()
    calls: dict[str, list[_Call]] = {}
    for node, around in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            loads[node.id] += 1
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            calls.setdefault(node.func.id, []).append((node, around))
    return [
        (node, calls[node.name])
        for node, _ in nodes
        if isinstance(node, ast.FunctionDef)
        and not node.decorator_list
        and bound[node.name] == 1
        and len(calls.get(node.name, [])) == loads[node.name]
        and any(around is not node for _, around in calls.get(node.name, []))
    ]


def _within(tree: ast.Module) -> Iterator[tuple[ast.AST, Function | None]]:
    """Yield each node with the innermost function around it."""
    waiting: list[tuple[ast.AST, Function | None]] = [(tree, None)]
    while waiting:
        node, around = waiting.pop()
        yield node, around
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            around = node
        waiting += [(child, around) for child in ast.iter_child_nodes(node)]


def _expressions(node: ast.AST) -> Iterator[ast.expr]:
    return (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))


def _names(target: ast.expr) -> Iterator[str]:
    return (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _plain(target: ast.expr) -> bool:
    """Tell whether an assignment binds names alone."""
    return all(
        isinstance(node, (ast.Name, ast.Tuple, ast.List, ast.expr_context))
        for node in ast.walk(target)
    )


_READS = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Slice, ast.UnaryOp, ast.unaryop,
    ast.expr_context,
)  # fmt: skip


def _is_read(node: ast.expr) -> bool:
    """Tell whether that whose size is asked for is there already: `(x[d] @ y[d]).dim()` is work."""
    owners = (part.value for part in ast.walk(node) if isinstance(part, ast.Attribute))
    return all(isinstance(part, _READS) for owner in owners for part in ast.walk(owner))


_NAMED = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.arg, ast.alias, ast.ExceptHandler,
    ast.Global, ast.Nonlocal, ast.MatchAs, ast.MatchStar, ast.MatchMapping,
)  # fmt: skip


def _bound(nodes: list[ast.AST]) -> Counter[str]:
    """Return how often each name is bound, in whatever way."""
    found = Counter[str]()
    for node in nodes:
        if isinstance(node, ast.Name):
            found[node.id] += not isinstance(node.ctx, ast.Load)
        # Of an exception, an import, a pattern, “global”, a function: names that are plain text.
        elif isinstance(node, _NAMED):
            texts = [getattr(node, key, None) for key in ("name", "asname", "rest", "arg", "names")]
            for text in texts:
                found.update([text] if isinstance(text, str) else [])
                found.update(name for name in text or () if isinstance(text, list)
                             and isinstance(name, str))  # fmt: skip
    return found


def _bound_once(nodes: list[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that a function binds once and for all, with their values, in order."""
    bound = _bound(nodes)
    assigned = [n for n in nodes if isinstance(n, ast.Assign) and len(n.targets) == 1]
    # By line: ast.walk goes level by level, and one name may rest on an earlier one.
    for node in sorted(assigned, key=lambda item: item.lineno):
        for name, value in _parts(node.targets[0], node.value):
            if bound[name] == 1:
                yield name, value


def _parts(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names of a target with their parts of the value; what cannot be told is left out.

    Of ``a, *rest = x.shape``, ``rest`` goes with all: the rest of a shape is one.
    """
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, (ast.Tuple, ast.List)):
        if not isinstance(value, (ast.Tuple, ast.List)):
            rest = [part.value for part in target.elts if isinstance(part, ast.Starred)]
            yield from ((part.id, value) for part in rest if isinstance(part, ast.Name))
        elif len(value.elts) == len(target.elts):
            for part, one in zip(target.elts, value.elts, strict=True):
                yield from _parts(part, one)
