"""A log as a whole: where its memory is, what each entry reads and writes, what descends from what.

Defends against: memory that nobody made or that was given back, layouts beyond their memory,
tensors of several devices in one operation. Nothing is computed here.
Does not defend against: operations that fail, or take long. That is for the process that runs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.vgpu.recording.descriptors import (
    MOST_MEMORY,
    NO_LINK,
    READ,
    READS,
    Entry,
    MalformedError,
    places,
    read_entries,
)

_HOST = -1
_INDEXING = frozenset({
    "index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index", "_unsafe_index_put",
})  # fmt: skip
_OVERWRITES = frozenset({"copy_", "fill_", "zero_", "normal_", "uniform_"})


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
        numbers: Entries by which numbers leave torch.
        devices: Device of each operation's work, by the number of its entry.
        taken: Number of entry, device, bytes and handle of what is taken and given back.
        homes: Device of all memory, as it was at last.
        sizes: Bytes of all memory, likewise.
        impure_homes: Entries by which memory with given data counts as a device's without a copy.
        reads: The process could see what it computed from what was given.
    """

    entries: list[Entry]
    numbers: list[int] = field(default_factory=list)
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
        # Twice the same name would leave open which of the two is judged.
        if kinds != ["begin", "end"]:
            raise MalformedError(f"the part {name!r:.50} does not begin and end once")
        return found[0], found[1]

    def ancestry(self, targets: Iterable[int]) -> Ancestry:
        """Return from what targets descend."""
        wanted = set(targets)
        found = Ancestry()
        # Whose elements are needed, and what only has to be there since it is written anew.
        needed, bare = set[int](), set[int]()
        # From the end: an entry counts if a later one that counts needs what it makes.
        for number in range(max(wanted, default=-1), -1, -1):
            entry = self.entries[number]
            taken = set(entry.handles) if number in wanted else _taken(entry, needed, bare)
            if taken is None:
                continue
            found.entries.add(number)
            wanted.update(self.numbers[place] for place in entry.linked() if place != NO_LINK)
            if entry.what.kind == "constant" and entry.handles[0] in needed:
                found.outside = True
            anew = self.overwritten(entry)
            bare |= anew
            needed -= anew
            needed |= taken - anew
            needed.difference_update(entry.fresh())
            bare.difference_update(entry.fresh())
            found.memory |= taken
        return found

    def overwritten(self, entry: Entry) -> set[int]:
        """Return memory all of whose elements an operation writes without a look at them."""
        what = entry.what
        if what.kind != "op" or what.fields[1] not in _OVERWRITES or not entry.handles:
            return set()
        layout, handle = what.layouts[0], entry.handles[0]
        assert layout is not None
        whole = layout.offset == 0 and layout.dense and layout.end == self.sizes[handle]
        # One that also reads what it overwrites needs the elements that were there.
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
    if kind in ("leaf", "constant", "link", "home", "size"):
        unused = needed.isdisjoint(entry.handles) and bare.isdisjoint(entry.handles)
        return None if unused else set()
    if kind not in ("op", "move"):
        return None
    fresh = tuple(entry.fresh())
    makes = not (needed.isdisjoint(fresh) and bare.isdisjoint(fresh))
    return set(entry.read()) if makes or not needed.isdisjoint(entry.changed()) else None


def read_program(data: Mapping[Any, Any], *, linked: bool = False) -> Program:
    """Return the log that a process reported.

    Args:
        data: What it reported.
        linked: As of ``read_entries``.

    Raises:
        MalformedError: It is none.
    """
    program = Program(read_entries(data, linked=linked))
    _link(program)
    _follow(program)
    return program


def _link(program: Program) -> None:
    """Note where numbers leave torch, and check how they come back.

    Raises:
        MalformedError: One comes back before it left, or into other memory than a constant's.
    """
    for number, entry in enumerate(program.entries):
        before = program.entries[number - 1] if number else entry
        constant = before.what.kind == "constant" and before.handles == entry.handles
        if entry.what.kind == "link" and not constant:
            raise MalformedError("numbers that come back into memory of something else")
        if any(not NO_LINK <= place < len(program.numbers) for place in entry.linked()):
            raise MalformedError("a number that nobody read")
        if entry.what.kind == "op" and entry.what.fields[1] == READ:
            program.numbers.append(number)


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
            # Gone from here, but not from ``homes``: a later use is of memory that nobody made, and
            # making it again is making it twice.
            ended = memory.pop(entry.handles[0])
            program.taken.append((number, ended.device, -ended.size, entry.handles[0]))


def _known(entry: Entry, memory: Mapping[int, _Memory], homes: Mapping[int, int]) -> None:
    fresh = set(entry.fresh())
    # A handle that is used twice could stand for the outputs of one operation and the lineage of
    # another.
    if any(handle in homes for handle in fresh):
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
        # As in torch: it runs where its tensors on a device are, and plain numbers on the host may
        # come along.
        home = next((item.device for item in operands if item.device != _HOST), _HOST)
        _meet(entry, memory, home)
        program.devices[number] = home
        return home, pure
    program.devices[number] = operands[0].device if operands else _HOST
    columns = [memory[entry.handles[place]].device for place in places(what.fields[2][1][0])]
    made = entry.handles[what.made :]
    return dict(zip(made, columns, strict=False)), pure


def _meet(entry: Entry, memory: Mapping[int, _Memory], home: int) -> None:
    name = entry.what.fields[1]
    # The one operation that torch lets span two devices.
    if name == "copy_":
        return
    for place, handle in enumerate(entry.read()):
        layout, item = entry.what.layouts[place], memory[handle]
        assert layout is not None
        number = not layout.shape and place not in entry.what.written
        index = name in _INDEXING and not layout.dtype.is_floating_point
        on_host = item.device == _HOST and (number or index or item.pure)
        # torch would have refused this on real GPUs: no honest log has it, and its placement would
        # be made up.
        if item.device != home and not on_host:
            raise MalformedError(f"tensors of several devices in {name}")


def _changed(
    program: Program, number: int, entry: Entry, memory: dict[int, _Memory], pure: bool
) -> None:
    kind, handles = entry.what.kind, entry.handles
    if kind == "op" and not pure:
        anew = program.overwritten(entry)
        others = entry.read()[1:]
        for handle in entry.changed():
            # What is written anew holds nothing of what was given, unless that is written there.
            memory[handle].pure = handle in anew and all(memory[each].pure for each in others)
    elif kind == "home":
        item = memory[handles[0]]
        if not item.pure:
            program.impure_homes.add(number)
        # Given back on one device and taken on the other: the peak of each counts it while it was
        # there.
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
