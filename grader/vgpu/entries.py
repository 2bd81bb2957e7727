"""Entries of a log, read and checked one by one: numbers, layouts and sizes within bounds.

Defends against: descriptions and numbers that no honest process writes. Nothing is computed here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from grader.vgpu.listed import operation
from grader.wire.values import ITEMSIZE

MOST_ENTRIES = 500_000
MOST_MEMORY = 2**31
"""Bytes that one storage may have."""
_MOST_RANK = 16
_MOST_DEPTH = 8
_STATISTICS = frozenset({"running_mean", "running_var"})
# Everything that an entry has beside an operation's, by the number of its fields.
_FIELDS = {
    "leaf": 4, "constant": 4, "move": 9, "home": 2, "size": 2, "free": 1, "begin": 3, "end": 4,
    "output": 3, "place": 5, "op": 6, "Synchronisation": 3, "Mark": 3,
}  # fmt: skip


class MalformedError(ValueError):
    """A log that no honest process writes."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a tensor lies in its memory.

    Attributes:
        size: Bytes of memory that is made here; None where it is there already.
    """

    dtype: torch.dtype
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    size: int | None = None

    @property
    def end(self) -> int:
        """Bytes of memory that it needs."""
        last = sum((n - 1) * step for n, step in zip(self.shape, self.stride, strict=True))
        elements = self.offset + last + 1 if 0 not in self.shape else 0
        return elements * self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class Described:
    """An entry without its numbers.

    Attributes:
        kind: ``op``, ``move`` and so on, as ``grader.vgpu.log`` writes them.
        fields: What it says, layouts replaced by numbers of ``layouts``.
        layouts: Of the memory that it names, in order.
        floats: Numbers that it takes.
        function: Of an operation: torch's own, None where it is not on the list.
        written: Of an operation: places in ``layouts`` that it writes to.
        made: Of an operation: the first place in ``layouts`` of its results.
    """

    kind: str
    fields: tuple[Any, ...]
    layouts: tuple[Layout | None, ...]
    floats: int = 0
    function: Any = None
    written: frozenset[int] = frozenset()
    made: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: its description, the memory it names, its numbers."""

    what: Described
    handles: tuple[int, ...]
    numbers: tuple[float, ...]

    def read(self) -> tuple[int, ...]:
        """Return the memory that an operation is given."""
        return self.handles[: self.what.made]

    def changed(self) -> Iterator[int]:
        """Yield the memory that an operation writes to."""
        for place, handle in enumerate(self.handles):
            if place in self.what.written:
                yield handle

    def fresh(self) -> Iterator[int]:
        """Yield the memory that it makes."""
        for layout, handle in zip(self.what.layouts, self.handles, strict=True):
            if layout is not None and layout.size is not None:
                yield handle


def read_entries(told: Mapping[Any, Any]) -> list[Entry]:
    """Return the entries that a process told.

    Raises:
        MalformedError: They are none.
    """
    try:
        descriptors = [_described(json.loads(line)) for line in told["descriptors"].splitlines()]
        return list(_entries(descriptors, told["entries"].tolist(), told["numbers"].tolist()))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
        raise MalformedError(f"{type(error).__name__}: {error}"[:200]) from None


def _entries(
    descriptors: list[Described], stream: list[int], numbers: list[float]
) -> Iterator[Entry]:
    place = used = count = 0
    while place < len(stream):
        count += 1
        number = stream[place]
        if not 0 <= number < len(descriptors) or count > MOST_ENTRIES:
            raise MalformedError("an entry without a description, or too many")
        what = descriptors[number]
        handles = tuple(stream[place + 1 : place + 1 + len(what.layouts)])
        if len(handles) != len(what.layouts) or min(handles, default=0) < 0:
            raise MalformedError("an entry is not complete")
        yield Entry(what, handles, tuple(numbers[used : used + what.floats]))
        place, used = place + 1 + len(handles), used + what.floats
    if used != len(numbers):
        raise MalformedError("numbers that belong to no entry")


def _described(told: Any) -> Described:
    kind = told[0]
    if not isinstance(kind, str) or len(told) != _FIELDS.get(kind):
        raise MalformedError("an entry of no known kind")
    layouts: list[Layout | None] = []
    if kind == "op":
        return _operation(told, layouts)
    if kind in ("home", "size", "free", "constant"):
        _naturals(told[1:], least=-1)
        return Described(kind, tuple(told), (None,) if kind != "constant" else (_bytes(told[2]),))
    if kind == "leaf":
        layouts.append(_layout([*told[2], told[3]]))
    elif kind == "move":
        layouts += _layout(told[1][1:]), _layout([*told[2], told[3]])
        _naturals((*told[4:8], *told[8]), least=-1)
        return Described(kind, ("move", None, None, *told[4:]), tuple(layouts), made=1)
    elif kind in ("output", "place"):
        layouts.append(_layout(told[2 if kind == "output" else 3][1:]))
    elif kind == "end":
        layouts += [_layout(item[1][1:]) for item in told[2]]
        layouts += [_layout(item[1:]) for item in told[3]]
    return Described(kind, tuple(told), tuple(layouts))


def _operation(told: Any, layouts: list[Layout | None]) -> Described:
    _, name, args, named, results, place = told
    function = operation(*name)
    floats = [0]
    given = _node(args, layouts, floats)
    kwargs = {str(key): _node(value, layouts, floats) for key, value in named}
    made = len(layouts)
    layouts += [_layout(item[1:]) for item in results]
    written = _written(function, given, kwargs) if function is not None else range(len(layouts))
    _naturals(place, least=0)
    fields = ("op", str(name[1]), given, kwargs, tuple(place))
    return Described("op", fields, tuple(layouts), floats[0], function, frozenset(written), made)


def _node(told: Any, layouts: list[Layout | None], floats: list[int], depth: int = 0) -> Any:
    """Return a value as it will be filled in: ``("t", place)`` for a tensor, and so on."""
    if depth > _MOST_DEPTH:
        raise MalformedError("arguments nested too deep")
    sort = told[0]
    if sort == "t":
        layouts.append(_layout(told[1:]))
        return "t", len(layouts) - 1
    if sort == "f":
        floats[0] += 1
        return "f", floats[0] - 1
    if sort == "l":
        return "l", [_node(item, layouts, floats, depth + 1) for item in told[1]]
    return "v", _STATIC[sort](*told[1:])


def _plain(value: Any) -> Any:
    if value is not None and type(value) not in (int, str):
        raise MalformedError("an argument of no known sort")
    return value


def _memory_format(name: Any) -> Any:
    if name not in ("contiguous_format", "preserve_format", "channels_last"):
        raise MalformedError("no memory format")
    return getattr(torch, name)


def _written(function: Any, args: Any, kwargs: Mapping[str, Any]) -> Iterator[int]:
    declared = function._schema.arguments
    given = dict(zip((item.name for item in declared), args[1], strict=False))
    given.update(kwargs)
    for item in declared:
        writes = item.alias_info is not None and item.alias_info.is_write
        # Their declaration does not say so.
        trains = item.name in _STATISTICS and given.get("training") == ("v", True)
        if (writes or trains) and item.name in given:
            yield from places(given[item.name])


def places(node: Any) -> Iterator[int]:
    """Yield the numbers of the tensors in an argument."""
    if node[0] == "t":
        yield node[1]
    elif node[0] == "l":
        for item in node[1]:
            yield from places(item)


def _layout(told: Any) -> Layout:
    name, offset, shape, stride, *size = told
    _naturals((offset, *shape, *stride, *size), least=0)
    if len(shape) != len(stride) or len(shape) > _MOST_RANK or len(size) > 1:
        raise MalformedError("a layout that is none")
    if size and size[0] > MOST_MEMORY:
        raise MalformedError(f"memory of more than {MOST_MEMORY} bytes")
    found = Layout(_dtype(name), offset, tuple(shape), tuple(stride), *size)
    if size and found.end > size[0]:
        raise MalformedError("a layout beyond its memory")
    return found


def _bytes(size: int) -> Layout:
    return _layout(("uint8", 0, (size,), (1,), size))


def _dtype(name: Any) -> torch.dtype:
    if name not in ITEMSIZE:
        raise MalformedError(f"no dtype: {name!r:.20}")
    found: torch.dtype = getattr(torch, name)
    return found


_STATIC: Mapping[str, Callable[..., Any]] = {
    "b": bool, "v": _plain, "d": _dtype, "m": _memory_format, "n": lambda: None,
}  # fmt: skip
"""Arguments that are the same in every call of a description."""


def _naturals(values: Iterable[Any], least: int) -> None:
    for value in values:
        if type(value) is not int or not least <= value < 2**40:
            raise MalformedError("a number out of bounds")
