"""Counts that a student process reports of a function, and the text that may stand behind them.

A rule on operations has two witnesses: counts, and the text of the submission. Which text stands
for which operation is mostly in ``spellings.json``. That table comes from torch itself
(``tests/torch_spellings.py``); the host never imports torch.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pkgutil import get_data
from typing import Any

import numpy as np

from grader.checks.arrays import Array, to_numpy
from grader.checks.base import Probe
from grader.checks.compare_trees import Leaf, leaves
from grader.checks.traces import items, mapping, natural
from grader.errors import nearest
from grader.observation import Observation, Outcome
from grader.static_analysis.facts import ASSIGNS, ASSIGNS_NUMBER, INDEXES, Mention, SourcePlace
from grader.wire.values import Tensor, Value

Works = Mapping[str, int]
"""Operation and the work of one, as in ``mm 40`` → the work of all such in a call."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of one call. Claims, all of them.

    Attributes:
        events: Lines of the submission that were run and functions entered.
        lines: Lines that were run, each with its file: empty for the one that is called.
        calls: Torch function → number of calls.
        ops: ATen operation → number.
        under: ATen operation → functions through which it was reached.
        bare: Operations that no Python call asked for.
        escapes: Way out of torch → number.
        greatest: Bytes of the greatest tensor computed.
        descended: Of the work, what the result descends from.
        left: The same, and what numbers that left torch descend from.
    """

    events: int
    lines: frozenset[tuple[str, int]]
    calls: Mapping[str, int]
    ops: Mapping[str, int]
    under: Mapping[str, frozenset[str]]
    bare: int
    escapes: Mapping[str, int]
    greatest: int
    descended: Works = field(default_factory=dict)
    left: Works = field(default_factory=dict)

    def ran(self, place: SourcePlace) -> bool:
        """Tell whether the first line of something was run."""
        return (place.file, place.line) in self.lines


def counts_of(observation: Observation | None) -> Counts | None:
    """Return the counts of a call that was made to be counted; None if it has none to be read."""
    if observation is None or observation.outcome is not Outcome.COMPLETED:
        return None
    probe = observation.claims.probes.get(Probe.COUNTING.value)
    if not isinstance(probe, dict):
        return None
    try:
        return Counts(
            natural(probe["events"]),
            frozenset(_lines({"": probe["lines"], **mapping(probe.get("beside", {}))})),
            _table(probe["calls"]),
            _table(probe["ops"]),
            {_word(op): frozenset(map(_word, items(through)))
             for op, through in mapping(probe["under"]).items()},
            natural(probe["bare"]),
            _table(probe["escapes"]),
            natural(probe["greatest"]),
            works_of(probe.get("descended", {})),
            works_of(probe.get("left", {})),
        )  # fmt: skip
    except (KeyError, TypeError):
        return None


def _lines(by_file: Mapping[Value, Value]) -> Iterator[tuple[str, int]]:
    for file, lines in by_file.items():
        yield from ((_word(file), natural(line)) for line in items(lines))


_ROUGH = 0.01


def returns_otherwise(reference: Observation, submission: Observation) -> bool:
    """Tell whether calls that were counted returned something quite different from the reference.

    Roughly, for other checks say whether numbers are right. A function that does nothing where it
    is counted returns numbers that are far off. One that is wrong in the plain call, too, is wrong,
    or chooses otherwise where that is free.
    """
    if any(map(_is_far_off, leaves(submission.claims.value, reference.claims.value))):
        return False
    both = [
        (submission.counted[name], item)
        for name, item in reference.counted.items()
        if name in submission.counted
    ]
    return any(
        _is_far_off(leaf)
        for own, item in both
        if own.outcome is item.outcome is Outcome.COMPLETED and item.claims.value is not None
        for leaf in leaves(own.claims.value, item.claims.value)
    )


def _is_far_off(leaf: Leaf) -> bool:
    expected, actual = _numbers_in(leaf.expected), _numbers_in(leaf.actual)
    if expected is None or not expected.size:
        return False
    if actual is None or actual.size != expected.size:
        return True
    scale = float(np.abs(expected[np.isfinite(expected)]).max(initial=0))
    near = np.isclose(actual, expected, rtol=_ROUGH, atol=_ROUGH * scale, equal_nan=True)
    # Half of them: where votes tie, say, honest code may choose otherwise.
    return bool(2 * near.sum() < near.size)


def _numbers_in(value: Value) -> Array | None:
    if isinstance(value, (bool, int, float)):
        return np.array([float(value)])
    if not isinstance(value, Tensor):
        return None
    numbers = to_numpy(value).ravel()
    return numbers if np.iscomplexobj(numbers) else numbers.astype(np.float64)


def _word(value: Value) -> str:
    if not isinstance(value, str):
        raise TypeError(type(value))
    return value


def works_of(value: Value) -> dict[str, int]:
    """Return the work of operations, as a process reports it.

    Raises:
        TypeError: It is none.
    """
    works = _table(value)
    if not all(name.rpartition(" ")[2].isdecimal() for name in works):
        raise TypeError(value)
    return works


def _table(value: Value) -> dict[str, int]:
    return {_word(name): natural(count) for name, count in mapping(value).items()}


_OPERATORS: Mapping[str, frozenset[str]] = {
    "@": frozenset({"matmul", "__matmul__", "__rmatmul__"}),
    "**": frozenset({"pow", "__pow__", "__rpow__", "__ipow__", "pow_"}),
    "+": frozenset({"add", "__add__", "__radd__", "__iadd__", "add_"}),
    "-": frozenset({"sub", "__sub__", "__rsub__", "__isub__", "sub_", "rsub"}),
    "*": frozenset({"mul", "__mul__", "__rmul__", "__imul__", "mul_"}),
    "/": frozenset(
        {"div", "true_divide", "__truediv__", "__rtruediv__", "__itruediv__", "div_", "__rdiv__"}
    ),
    "//": frozenset(
        {"floor_divide", "__floordiv__", "__rfloordiv__", "__ifloordiv__", "floor_divide_"}
    ),
    "%": frozenset({"remainder", "__mod__", "__rmod__", "__imod__", "remainder_"}),
    "-x": frozenset({"neg"}),
    "+x": frozenset({"positive"}),
    "~": frozenset({"bitwise_not", "__invert__"}),
    # ``2 < x`` is asked of the tensor, as ``x > 2``.
    "<": frozenset({"lt", "gt"}),
    ">": frozenset({"lt", "gt"}),
    "<=": frozenset({"le", "ge"}),
    ">=": frozenset({"le", "ge"}),
    "==": frozenset({"eq", "__eq__"}),
    "!=": frozenset({"ne", "__ne__"}),
    "in": frozenset({"__contains__"}),
    "&": frozenset({"bitwise_and", "__and__", "__rand__", "__iand__"}),
    "|": frozenset({"bitwise_or", "__or__", "__ror__", "__ior__"}),
    "^": frozenset({"bitwise_xor", "__xor__", "__rxor__", "__ixor__"}),
    "<<": frozenset({"__lshift__", "__rlshift__", "__ilshift__"}),
    ">>": frozenset({"__rshift__", "__rrshift__", "__irshift__"}),
    "reversed": frozenset({"__reversed__"}),
    INDEXES: frozenset({"__getitem__"}),
    ASSIGNS: frozenset({"__setitem__"}),
    ASSIGNS_NUMBER: frozenset({"__setitem__"}),
}
_TO_CALLS = "put it under “calls”"
OF_SIZES = frozenset({"numel"})
"""Methods of ``torch.Size`` too, which no mode sees. Of a tensor they would have been seen."""
_UNSEEN = ("torch.masked.", "numpy.", "scipy.", "statistics.", "pandas.")
"""What torch's modes do not see under its own name: the text decides."""


def spells(mention: Mention, through: frozenset[str]) -> bool:
    """Tell whether a name or operator in the text is one of the functions that torch was asked for.

    Args:
        mention: In the text.
        through: Names as torch's modes see them, and the operation's own.
    """
    named = _OPERATORS.get(mention.name) or _OPERATORS.get(mention.last)
    if named and named & through:
        return True
    return any(name in through for name in _told_as(mention.last))


def unseen(mention: Mention) -> bool:
    """Tell whether torch's modes do not see a function when it is called."""
    return mention.name.startswith(_UNSEEN)


@cache
def refusal(pattern: str, *, composite: bool = False, instead: str = _TO_CALLS) -> str:
    """Return why no operation that reaches the dispatcher matches a pattern; empty if one does.

    Args:
        pattern: An ATen name, or part of one.
        composite: Whether names will do that reach it in inference mode only.
        instead: What to do about such a name where it will not.
    """
    table = _spelled()
    bare = pattern.split(".", 1)[0]
    if any(fnmatchcase(name, bare) for name in table["dispatched"]):
        return ""
    if any(fnmatchcase(name, bare) for name in table["composite"]):
        if composite:
            return ""
        return f"“{pattern}” is made of others before the dispatcher; {instead}"
    near = nearest(pattern, table["dispatched"])
    return f"no operation that reaches the dispatcher is called “{pattern}”{near}"


_HOLDS: Mapping[str, frozenset[str]] = {
    "unique": frozenset({"_unique2", "unique_dim"}),
    "nanmean": frozenset({"nansum"}),
    "cov": frozenset({"mm"}),
    "corrcoef": frozenset({"mm"}),
    "instance_norm": frozenset({"native_batch_norm"}),
    "layer_norm": frozenset({"native_layer_norm"}),
    "group_norm": frozenset({"native_group_norm"}),
}
"""Functions that are made of others before the dispatcher → operations, one of which a log holds
wherever such a function was called."""


@cache
def told_by_log(pattern: str) -> bool:
    """Tell whether a log that is proved shows that no function of a name was called.

    What is not torch's is in no log, and such a log did without it.
    """
    if not refusal(pattern) or pattern in _HOLDS or pattern.startswith(_UNSEEN):
        return True
    table = _spelled()
    names = (*table["composite"], *table["others"])
    return not any(fnmatchcase(name, pattern.rpartition(".")[2]) for name in names)


def held_for(pattern: str) -> frozenset[str]:
    """Return operations that a log may hold because a function of a name was called."""
    return _HOLDS.get(pattern, frozenset())


def _told_as(name: str) -> Iterator[str]:
    yield name
    yield from _spelled()["functions"].get(name, ())
    for function in _spelled()["modules"].get(name, ()):
        yield function
        yield from _spelled()["functions"].get(function, ())


@cache
def _spelled() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(get_data("grader.checks", "spellings.json") or b"")
    return table
