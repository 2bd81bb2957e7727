"""What the log of one call shows beside its outputs: what it writes to, where outputs lie, why.

An operation that the outputs do not descend from was not needed, however often it ran. So what a
rule asks for at least counts only where an output descends from it.

Defends against: work for show whose results are thrown away.
Does not defend against: work that is added times nought. Descent is by memory, not by meaning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from grader.vgpu.core.values import Value
from grader.vgpu.recording.descriptors import Entry
from grader.vgpu.recording.player import outputs_of
from grader.vgpu.recording.program import Program

Key = tuple[Any, ...]
Work = tuple[str, int]
"""Name of an operation, and how much work it is."""

_BASIC = frozenset({"select", "slice", "unsqueeze"})
"""What numbers, slices and ``None`` in brackets come to: one entry each."""
_BY_ARRAYS = frozenset({"index", "_unsafe_index", "index_select", "gather", "take"})
_AT_PLACES = frozenset({
    "index_put_", "_index_put_impl_", "index_fill_", "index_copy_", "masked_fill_",
    "masked_scatter_", "scatter_",
})  # fmt: skip
_ASSIGNS = _AT_PLACES | {"copy_", "fill_", "zero_"}


def key_of(handle: int, layout: Any) -> Key:
    """Return what tells a tensor from others: its memory, and how it lies there."""
    return handle, layout.dtype, layout.offset, layout.shape, layout.stride


def place_of(name: str) -> int:
    """Return the place of an input, from the name that the log gives it (``x0``)."""
    return int(name[1:])


def evidence_of(program: Program, works: Sequence[Sequence[Work]]) -> dict[str, Value]:
    """Return what a log shows, by the names of ``grader.observation.Proof``.

    Args:
        program: The log.
        works: Work of each operation, in order, as it was when the log ran.
    """
    needed = _needed(program)
    return {**_memory(program), **_uses(program, needed), "works": _works(program, needed, works)}


def _needed(program: Program) -> set[int]:
    """Return the numbers of the entries from which the outputs descend, views among them."""
    found = program.ancestry(_targets(program)).entries
    named: set[Key] = set()
    for number in range(len(program.entries) - 1, -1, -1):
        entry = program.entries[number]
        read, made = _read(entry), _made(entry)
        is_view = entry.what.kind == "op" and not [*entry.fresh(), *entry.changed()]
        # Of equal views the last one before its use is the one that is used.
        if is_view and not named.isdisjoint(made):
            found.add(number)
            named.difference_update(made)
        if number in found:
            named.update(read)
    return found


def _targets(program: Program) -> Iterator[int]:
    """Yield what is an output: how the call ends, and where numbers were read that it returned."""
    for number, entry in enumerate(program.entries):
        kind = entry.what.kind
        if kind == "end":
            yield number
        elif kind == "number":
            # The player has refused a number that nobody read.
            yield program.numbers[entry.what.fields[2]]


def _read(entry: Entry) -> list[Key]:
    """Return the tensors that an operation is given, or that a call ends with."""
    first = entry.what.made if entry.what.kind == "op" else len(entry.handles)
    return list(_keys(entry, range(first)))


def _made(entry: Entry) -> list[Key]:
    return list(_keys(entry, range(entry.what.made, len(entry.handles))))


def _keys(entry: Entry, places: Iterable[int]) -> Iterator[Key]:
    for place in places:
        layout = entry.what.layouts[place]
        if layout is not None:
            yield key_of(entry.handles[place], layout)


def _memory(program: Program) -> dict[str, Value]:
    """Return which inputs are written to, and in whose memory each output lies."""
    leaves: dict[int, tuple[int, Key]] = {}
    written: set[int] = set()
    inside: dict[Value, Value] = {}
    same: list[Value] = []
    apart: list[Value] = []
    for entry in program.entries:
        kind = entry.what.kind
        if kind == "leaf":
            number = place_of(entry.what.fields[1])
            leaves[entry.handles[0]] = number, key_of(entry.handles[0], entry.what.layouts[0])
        elif kind in ("op", "size"):
            changed = entry.changed() if kind == "op" else entry.handles
            written.update(leaves[handle][0] for handle in changed if handle in leaves)
        elif kind == "end":
            for (name, _), layout, handle in outputs_of(entry):
                if handle not in leaves:
                    apart.append(str(name))
                    continue
                inside[str(name)], whole = leaves[handle]
                if key_of(handle, layout) == whole:
                    same.append(str(name))
    written_to = list[Value](sorted(written))
    return {"written": written_to, "inside": inside, "same": same, "apart": apart}


def _uses(program: Program, needed: set[int]) -> dict[str, Value]:
    """Return how often tensors are indexed and assigned to, and how often that was needed.

    ``x[0, 1]`` and ``x[0][1]`` are the same entries. They count as one: whoever wrote the second
    could have written the first. What is assigned to was not read.
    """
    found = Counter[Value]()
    indexed: set[Key] = set()
    before: list[Key] = []
    # Whether the brackets that were met last are needed; None outside of any.
    chain: bool | None = None
    for number, entry in enumerate(program.entries):
        if entry.what.kind != "op":
            continue
        name, read, made = entry.what.fields[1], _read(entry), _made(entry)
        goes_on = bool(before) and read[:1] == before
        if (name in _BASIC and made != read) or name in _BY_ARRAYS:
            chain = chain if goes_on else None
            if chain is None and name != "unsqueeze":
                # What goes on from here is needed only if this is.
                chain = number in needed
                found["indexings"] += 1
                found["needed_indexings"] += chain
            found["needed_array_indexings"] += number in needed and name in _BY_ARRAYS
            before = made if name in _BASIC else []
            indexed.update(before)
            continue
        if name in _ASSIGNS:
            if goes_on and chain is not None:
                found["indexings"] -= 1
                found["needed_indexings"] -= chain
            at_places = name in _AT_PLACES or not indexed.isdisjoint(read[:1])
            found["assignments"] += 1
            found["needed_assignments"] += number in needed and at_places
        before = []
    return {name: found[name] for name in USES}


USES = (
    "indexings",
    "needed_indexings",
    "needed_array_indexings",
    "assignments",
    "needed_assignments",
)


def _works(
    program: Program, needed: set[int], works: Sequence[Sequence[Work]]
) -> dict[Value, Value]:
    """Return the work from which the outputs descend: operation and work of one → of all such."""
    operations = (n for n, entry in enumerate(program.entries) if entry.what.kind == "op")
    found = Counter[Value]()
    for number, each in zip(operations, works, strict=True):
        for name, work in each if number in needed else ():
            found[f"{name} {work}"] += work
    return dict(found)
