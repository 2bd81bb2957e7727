"""A log, read and checked: its entries, what each reads and writes, what descends from what.

Defends against: logs that are no logs (numbers without a description, memory that nobody made,
layouts beyond their memory, tensors of several devices in one operation). Nothing is computed here.
Does not defend against: operations that fail, or take long. That is for the process that runs them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from grader.vgpu.listed import READS, operation
from grader.wire.values import ITEMSIZE

MOST_ENTRIES = 500_000
MOST_MEMORY = 2**31
"""Bytes that one storage may have."""
_MOST_RANK = 16
_MOST_DEPTH = 8
_HOST = -1
_INDEXING = frozenset({
    "index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index", "_unsafe_index_put",
})  # fmt: skip
_STATISTICS = frozenset({"running_mean", "running_var"})
_OVERWRITES = frozenset({"copy_", "fill_", "zero_", "normal_", "uniform_"})
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


@dataclass(slots=True)
class _Memory:
    """What is known of a storage without running anything.

    Attributes:
        device: Number of the device; −1 is the host.
        size: Bytes.
        pure: It follows from nothing that was given: a factory made it.
    """

    device: int
    size: int
    pure: bool


@dataclass(slots=True)
class Ancestry:
    """What something descends from.

    Attributes:
        entries: Their numbers.
        memory: All that they use.
        outside: Elements from outside torch are among it.
    """

    entries: set[int] = field(default_factory=set)
    memory: set[int] = field(default_factory=set)
    outside: bool = False


@dataclass(slots=True)
class Program:
    """A log.

    Attributes:
        entries: In order.
        devices: Device of each operation's work, by the number of its entry.
        taken: Number of entry, device, bytes and handle of what is taken and given back.
        homes: Device of all memory, as it was at last.
        sizes: Bytes of all memory, likewise.
        impure_homes: Entries by which memory with given data counts as a device's without a copy.
        reads: The process could see what it computed from what was given.
    """

    entries: list[Entry]
    devices: dict[int, int] = field(default_factory=dict)
    taken: list[tuple[int, int, int, int]] = field(default_factory=list)
    homes: dict[int, int] = field(default_factory=dict)
    sizes: dict[int, int] = field(default_factory=dict)
    impure_homes: set[int] = field(default_factory=set)
    reads: bool = False

    def window(self, name: str) -> tuple[int, int]:
        """Return the numbers of the entries that begin and end a part.

        Raises:
            MalformedError: It is not there once, or the wrong way round.
        """
        found = [
            number for number, entry in enumerate(self.entries)
            if entry.what.kind in ("begin", "end") and entry.what.fields[1] == name
        ]  # fmt: skip
        kinds = [self.entries[number].what.kind for number in found]
        if kinds != ["begin", "end"]:
            raise MalformedError(f"the part {name!r:.50} does not begin and end once")
        return found[0], found[1]

    def ancestry(self, targets: Iterable[int]) -> Ancestry:
        """Return from what targets descend.

        Args:
            targets: Numbers of entries that say what is judged.
        """
        wanted = set(targets)
        found = Ancestry()
        # Whose elements are needed, and what only has to be there since it is written anew.
        needed, bare = set[int](), set[int]()
        for number in range(max(wanted, default=-1), -1, -1):
            entry = self.entries[number]
            taken = set(entry.handles) if number in wanted else _taken(entry, needed, bare)
            if taken is None:
                continue
            found.entries.add(number)
            if entry.what.kind == "constant" and entry.handles[0] in needed:
                found.outside = True
            anew = self._overwritten(entry)
            bare |= anew
            needed -= anew
            needed |= taken - anew
            needed.difference_update(entry.fresh())
            bare.difference_update(entry.fresh())
            found.memory |= taken
        return found

    def _overwritten(self, entry: Entry) -> set[int]:
        """Return memory all of whose elements an operation writes without a look at them."""
        what = entry.what
        if what.kind != "op" or what.fields[1] not in _OVERWRITES or not entry.handles:
            return set()
        layout, handle = what.layouts[0], entry.handles[0]
        assert layout is not None
        elements = torch.Size(layout.shape).numel() * layout.dtype.itemsize
        whole = layout.offset == 0 and elements == layout.end == self.sizes[handle]
        return {handle} if whole and handle not in entry.read()[1:] else set()

    def following(self, names: Iterable[str], kept: set[int]) -> set[int]:
        """Return those of some entries that follow from leaves."""
        leaves, marked, found = set(names), set[int](), set[int]()
        for number in sorted(kept):
            entry = self.entries[number]
            if entry.what.kind == "leaf":
                marked.update(entry.handles if entry.what.fields[1] in leaves else ())
            elif entry.what.kind in ("op", "move") and not marked.isdisjoint(entry.read()):
                found.add(number)
                marked.update(entry.fresh())
                marked.update(entry.changed())
        return found


def _taken(entry: Entry, needed: set[int], bare: set[int]) -> set[int] | None:
    """Return what an entry needs, or None if nobody needs what it does."""
    kind = entry.what.kind
    if kind in ("leaf", "constant", "home", "size"):
        return None if (needed | bare).isdisjoint(entry.handles) else set()
    if kind not in ("op", "move"):
        return None
    makes = not (needed | bare).isdisjoint(entry.fresh())
    return set(entry.read()) if makes or not needed.isdisjoint(entry.changed()) else None


# -- reading ---------------------------------------------------------------------------------------


def read_program(told: Mapping[Any, Any]) -> Program:
    """Return the log that a process told.

    Raises:
        MalformedError: It is none.
    """
    try:
        descriptors = [_described(json.loads(line)) for line in told["descriptors"].splitlines()]
        entries = list(_entries(descriptors, told["entries"].tolist(), told["numbers"].tolist()))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
        raise MalformedError(f"{type(error).__name__}: {error}"[:200]) from None
    program = Program(entries)
    _follow(program)
    return program


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
            yield from _places(given[item.name])


def _places(node: Any) -> Iterator[int]:
    if node[0] == "t":
        yield node[1]
    elif node[0] == "l":
        for item in node[1]:
            yield from _places(item)


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


# -- following memory, without running anything ----------------------------------------------------


def _follow(program: Program) -> None:
    """Check that memory is made before it is used, and note where it is.

    Raises:
        MalformedError: It is not, or tensors of several devices meet.
    """
    memory: dict[int, _Memory] = {}
    for number, entry in enumerate(program.entries):
        kind = entry.what.kind
        _known(entry, memory, program.homes)
        device, pure = _where(program, number, entry, memory)
        for layout, handle in zip(entry.what.layouts, entry.handles, strict=True):
            if layout is not None and layout.size is not None:
                home = device if isinstance(device, int) else device[handle]
                memory[handle] = _Memory(home, layout.size, pure)
                program.homes[handle], program.sizes[handle] = home, layout.size
                # What comes from outside was there before anybody looked.
                first = number if kind != "constant" else -1
                program.taken.append((first, home, layout.size, handle))
        _changed(program, number, entry, memory, pure)
        if kind == "free":
            ended = memory.pop(entry.handles[0])
            program.taken.append((number, ended.device, -ended.size, entry.handles[0]))


def _known(entry: Entry, memory: Mapping[int, _Memory], homes: Mapping[int, int]) -> None:
    fresh = set(entry.fresh())
    if not fresh.isdisjoint(homes):
        raise MalformedError("memory that is made twice")
    for layout, handle in zip(entry.what.layouts, entry.handles, strict=True):
        if handle not in fresh and handle not in memory:
            raise MalformedError("memory that nobody made")
        if layout is not None and handle in memory and layout.end > memory[handle].size:
            raise MalformedError("a layout beyond its memory")


def _where(
    program: Program, number: int, entry: Entry, memory: Mapping[int, _Memory]
) -> tuple[int | dict[int, int], bool]:
    """Return the device of what an entry makes, and whether it follows from nothing given."""
    what = entry.what
    if what.kind == "constant":
        return what.fields[3], False
    if what.kind == "move":
        pure = memory[entry.handles[0]].pure
        program.reads |= what.fields[3] == _HOST and not pure
        return what.fields[3], pure
    if what.kind != "op":
        return _HOST, False
    operands = [memory[handle] for handle in entry.read()]
    pure = all(item.pure for item in operands)
    program.reads |= what.fields[1] in READS and not pure
    lists = what.fields[1].startswith("_foreach_")
    if not lists:
        home = next((item.device for item in operands if item.device != _HOST), _HOST)
        _meet(entry, memory, home)
        program.devices[number] = home
        return home, pure
    program.devices[number] = operands[0].device if operands else _HOST
    columns = [memory[entry.handles[place]].device for place in _places(what.fields[2][1][0])]
    made = entry.handles[what.made :]
    return dict(zip(made, columns, strict=False)), pure


def _meet(entry: Entry, memory: Mapping[int, _Memory], home: int) -> None:
    name = entry.what.fields[1]
    if name == "copy_":
        return
    for place, handle in enumerate(entry.read()):
        layout, item = entry.what.layouts[place], memory[handle]
        assert layout is not None
        number = not layout.shape and place not in entry.what.written
        index = name in _INDEXING and not layout.dtype.is_floating_point
        on_host = item.device == _HOST and (number or index or item.pure)
        if item.device != home and not on_host:
            raise MalformedError(f"tensors of several devices in {name}")


def _changed(
    program: Program, number: int, entry: Entry, memory: dict[int, _Memory], pure: bool
) -> None:
    kind, handles = entry.what.kind, entry.handles
    if kind == "op" and not pure:
        for handle in entry.changed():
            memory[handle].pure = False
    elif kind == "home":
        item = memory[handles[0]]
        if not item.pure:
            program.impure_homes.add(number)
        program.taken.append((number, item.device, -item.size, handles[0]))
        item.device = program.homes[handles[0]] = entry.what.fields[1]
        program.taken.append((number, item.device, item.size, handles[0]))
    elif kind == "size":
        item = memory[handles[0]]
        if entry.what.fields[1] > MOST_MEMORY:
            raise MalformedError(f"memory of more than {MOST_MEMORY} bytes")
        change = entry.what.fields[1] - item.size
        item.size = program.sizes[handles[0]] = entry.what.fields[1]
        program.taken.append((number, item.device, change, handles[0]))
