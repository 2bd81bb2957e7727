"""A log of one call on plain tensors, and running it again on other inputs.

A call's log holds views too: what a function indexes is part of what it does, and where an
operation's result has as many elements as the data say (``x[x > 0]``), a view can only be taken
anew. Numbers that leave torch at the end (``.item()``) are outputs. Where one comes back in, the
log says which it may be, by its value. Whoever runs the log takes it at this word, or takes the
number as it was: the second is tried first.

Defends against: layouts beyond their memory, memory left over from other work, and whatever
``descriptors`` and ``program`` refuse.
Does not defend against: operations that take long, or much memory. Limits on the process do.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import torch

from grader.vgpu.core.tensor import UnwritableError, named_items
from grader.vgpu.core.values import Value
from grader.vgpu.recording.descriptors import NO_LINK, READ, Entry, LoggedLayout, MalformedError
from grader.vgpu.recording.evidence import key_of, place_of
from grader.vgpu.recording.player import Player, UnrepeatableError
from grader.vgpu.recording.program import Program
from grader.vgpu.recording.recorder import Log, dtype_name, skipped, written_to

LOG = "log"
"""Where a call's record holds the log (``grader.wire.messages.LOG``)."""
CALL = "call"
"""Name of the only part of such a log."""

_VIEWS = frozenset({"_unsafe_view", "_reshape_alias"})
"""Views that torch does not call so. Their sources have no other use."""
_SAME = frozenset({"detach", "alias", "lift_fresh"})
"""They return what they are given, laid out the same."""
_JOINS = frozenset({"cat", "stack"})
_EMPTY = frozenset({
    "empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided",
})  # fmt: skip


Call = Callable[[Any, Any, Any, bool], Any]


class CallLog(Log):
    """What is computed in a call, on the host."""

    most_numbers = 200_000
    most_bytes = 4 * 2**20
    # Where numbers come back in, and what they are then, such a log says itself.
    follows_copies = False

    def __init__(self) -> None:
        super().__init__(None)
        self._read: list[bool | int | float] = []
        self._last: dict[tuple[bool, bool | int | float], int] = {}
        self._links: list[int] = []
        self._linked = False
        # A collection may end in an operation of torch's, in this thread.
        self._reading = threading.RLock()

    def skips(self, func: Any) -> bool:
        """Tell whether an operation has no entry; views have."""
        return _has_no_entry(func)

    def operation(self, func: Any, args: Any, kwargs: dict[str, Any], result: Any) -> None:
        """Write an operation down, and note a number that leaves torch. Never raises."""
        with self._reading:
            super().operation(func, args, kwargs, result)
            if func.overloadpacket.__name__ == READ:
                self._last[isinstance(result, bool), result] = len(self._read)
                self._read.append(result)

    def returned(self, value: Any) -> None:
        """Write down what the call returned."""
        self.end(CALL, value)
        for name, item in named_items(value):
            place = self._place_of(item) if isinstance(item, (bool, int, float)) else None
            if place is not None:
                self._add(("number", name, place), [])

    def _place_of(self, number: bool | int | float) -> int | None:
        """Return which of the numbers that left torch it is: the last that equals it."""
        # ``float(x.sum())`` of whole numbers is another type, and the same number.
        return self._last.get((isinstance(number, bool), number))

    def as_values(self) -> dict[Value, Any]:
        """Return the log in values, with what its numbers may be."""
        links = torch.tensor(self._links, dtype=torch.int64)
        return {**super().as_values(), "links": links, "linked": self._linked}

    def _add(self, key: Any, handles: list[int], numbers: list[float] | None = None) -> None:
        with self._lock:
            before = len(self._numbers)
            super()._add(key, handles, numbers)
            for number in self._numbers[before:]:
                place = self._place_of(number)
                self._links.append(NO_LINK if place is None else place)
                self._linked = self._linked or place is not None

    def _constant(self, handle: int, tensor: torch.Tensor, ordinal: int) -> None:
        super()._constant(handle, tensor, ordinal)
        places = self._places_in(tensor)
        if places:
            self._add(("link", dtype_name(tensor.dtype), tuple(places)), [handle])
            self._linked = True

    def _places_in(self, tensor: torch.Tensor) -> list[int]:
        """Return which of the numbers that left torch a tensor holds; none unless all are such."""
        whole = tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size()
        if tensor.is_complex() or not (whole and tensor.is_contiguous()):
            return []
        if not 0 < tensor.numel() <= len(self._read):
            return []
        with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction(), torch.no_grad():
            numbers = tensor.flatten().tolist()
        places = [self._place_of(number) for number in numbers]
        if None in places:
            return []
        # ``torch.tensor([row.sum().item() for row in x])``: of equal numbers each its own.
        last = places[-1]
        assert last is not None
        row = range(last - len(numbers) + 1, last + 1)
        if row[0] >= 0 and [self._read[place] for place in row] == numbers:
            return list(row)
        return [place for place in places if place is not None]


@functools.cache
def _has_no_entry(func: Any) -> bool:
    name = func.overloadpacket.__name__
    if name in _SAME:
        return True
    return not (func.is_view or name in _VIEWS) and skipped(func)


class Recording:
    """A context around a call in which a log of it is written, if one is wanted.

    Args:
        inputs: The tensors that the call gets, in order: other values will take their places.
        wanted: Whether anybody asks for it.
    """

    def __init__(self, inputs: Iterable[torch.Tensor], wanted: bool) -> None:
        self._log = CallLog() if wanted else None
        # Held until the call is over: memory that is given back would be another's.
        self._inputs = list(inputs)
        self._stack = ExitStack()

    def __enter__(self) -> Recording:
        if self._log is not None:
            try:
                for number, item in enumerate(self._inputs):
                    self._log.leaf(leaf_name(number), item.detach())
            except (ValueError, UnwritableError) as error:
                self._log.why = str(error)
            self._log.begin(CALL)
            self._stack.enter_context(written_to(self._log))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def report(self, result: Any) -> dict[str, Any]:
        """Return the log by the name of its probe; nothing where none was wanted."""
        if self._log is None:
            return {}
        try:
            self._log.returned(result)
        except Exception as error:  # noqa: BLE001  a log must not change what it looks at
            self._log.why = self._log.why or f"the result: {error}"
        return {LOG: self._log.as_values()}


def leaf_name(number: int) -> str:
    """Return the name of an input, by its place among the tensors of the arguments."""
    return f"x{number}"


def _bytes_in(memory: torch.UntypedStorage) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8).set_(memory)


@dataclass(slots=True)
class CallPlayer(Player):
    """Runs the entries of a call.

    A tensor that an entry made is handed on as it is, whatever its shape. Only a layout that no
    entry made (``resize_``, ``t_``, ``set_``) is laid over memory, whose shape must not have
    changed.

    Attributes:
        call: Calls an operation, with its arguments and keywords; the last argument tells whether
            it works on the inputs, or on what was made of them.
        numbers: That left torch, in order, each with whether it follows from the inputs.
        unnamed: Tensors that no entry made.
    """

    call: Call = field(default=lambda op, args, named, _: op(*args, **named))
    numbers: list[tuple[Any, bool]] = field(default_factory=list)
    unnamed: int = 0
    _tensors: dict[tuple[Any, ...], torch.Tensor] = field(default_factory=dict)
    _loose: set[int] = field(default_factory=set)
    _given: set[int] = field(default_factory=set)
    _drawn: set[int] = field(default_factory=set)
    _inputs: dict[str, torch.UntypedStorage] = field(default_factory=dict)
    _on_inputs: bool = False

    def run(self) -> None:
        """Run everything."""
        # As for the reference's own calls: both draw the same random numbers.
        torch.default_generator.manual_seed(0)
        with torch.no_grad():
            for number, entry in enumerate(self.program.entries):
                self.play(number, entry)

    def changed(self) -> set[int]:
        """Return the inputs that hold something else now, by their places."""
        now = {name: _bytes_in(memory) for name, memory in self._inputs.items()}
        given = {name: _bytes_in(self.leaves[name].clone().untyped_storage()) for name in now}
        return {place_of(name) for name in now if not torch.equal(now[name], given[name])}

    def _begin(self, _: int, __: Entry) -> None:
        """Do nothing: a call's log has one part."""

    def _number(self, _: int, entry: Entry) -> None:
        _, name, place = entry.what.fields
        if type(place) is not int or not 0 <= place < len(self.numbers):
            raise MalformedError("a number that nobody read")
        self.outputs[str(name)], _ = self.numbers[place]

    def _size(self, _: int, entry: Entry) -> None:
        handle, size = entry.handles[0], entry.what.fields[1]
        memory = self._memory.get(handle)
        if memory is None or handle in self._loose:
            raise UnrepeatableError("memory whose size depends on the elements")
        before = memory.nbytes()
        memory.resize_(size)
        if size > before:
            # As with ``empty``: what was left there is nobody's.
            torch.empty(0, dtype=torch.uint8).set_(memory)[before:].zero_()
        self._tensors = {key: item for key, item in self._tensors.items() if key[0] != handle}

    def _free(self, _: int, entry: Entry) -> None:
        handle = entry.handles[0]
        self._memory.pop(handle, None)
        for key in [key for key in self._tensors if key[0] == handle]:
            del self._tensors[key]

    def _tensor(self, layout: LoggedLayout | None, handle: int) -> torch.Tensor:
        assert layout is not None
        made = self._tensors.get(key_of(handle, layout))
        if made is not None:
            return made
        if handle in self._loose:
            raise UnrepeatableError("what has which shape depends on the elements")
        # A constant has no entry that lays it out.
        self.unnamed += handle not in self._given
        return Player._tensor(self, layout, handle)

    def _leaf(self, number: int, entry: Entry) -> None:
        Player._leaf(self, number, entry)
        layout, handle = entry.what.layouts[0], entry.handles[0]
        assert layout is not None
        self._tensors[key_of(handle, layout)] = Player._tensor(self, layout, handle)
        self._drawn.add(handle)
        self._inputs[entry.what.fields[1]] = self._memory[handle]

    def _constant(self, number: int, entry: Entry) -> None:
        Player._constant(self, number, entry)
        self._given.add(entry.handles[0])

    def _link(self, _: int, entry: Entry) -> None:
        """Put numbers that left torch where they came back in."""
        _, dtype, places = entry.what.fields
        memory = self._memory.get(entry.handles[0])
        found = [self.numbers[place] for place in places]
        if memory is None or memory.nbytes() != len(found) * dtype.itemsize:
            raise MalformedError("numbers in memory of another size")
        try:
            made = torch.tensor([number for number, _ in found]).to(dtype)
        except (RuntimeError, TypeError, ValueError, OverflowError) as error:
            raise UnrepeatableError(str(error)[:200]) from None
        torch.empty(0, dtype=dtype).set_(memory).copy_(made)
        if any(follows for _, follows in found):
            self._drawn.add(entry.handles[0])

    def _numbers_of(self, entry: Entry) -> tuple[float, ...]:
        return tuple(
            number if place == NO_LINK else self.numbers[place][0]
            for number, place in zip(entry.numbers, entry.links, strict=True)
        )

    def _operation(self, number: int, entry: Entry) -> None:
        numbers = (self.numbers[place] for place in entry.links if place != NO_LINK)
        follow = any(follows for _, follows in numbers)
        self._on_inputs = follow or not self._drawn.isdisjoint(entry.read())
        Player._operation(self, number, entry)
        if self._on_inputs:
            self._drawn.update(entry.handles)

    def _called(self, function: Any, args: Any, named: Any) -> Any:
        return self.call(function, args, named, self._on_inputs)

    def _bind(self, entry: Entry, results: list[torch.Tensor], tensors: list[torch.Tensor]) -> None:
        what = entry.what
        places = range(what.made, len(entry.handles))
        # ``unbind`` of what has another length has other results.
        if len(results) != len(places):
            raise UnrepeatableError(f"{what.fields[1]} has {len(results)} results")
        if what.fields[1] in _EMPTY:
            # Or a log could read what earlier work left in this memory.
            for result in results:
                result.zero_()
        for handle in entry.changed():
            self._makers.pop(handle, None)
        shape = tuple(max(tensors, key=torch.Tensor.numel).shape) if tensors else ()
        for count, (place, result) in enumerate(zip(places, results, strict=True)):
            layout, handle = what.layouts[place], entry.handles[place]
            assert layout is not None
            self._keep(layout, handle, result)
            if layout.size is not None:
                self._makers[handle] = (what.fields[1], count, shape)

    def _keep(self, layout: LoggedLayout, handle: int, result: torch.Tensor) -> None:
        """Keep what an operation made, in memory of its own or as a view."""
        if (result.dtype, result.dim()) != (layout.dtype, len(layout.shape)):
            raise UnrepeatableError("an operation has a result of another form")
        memory = result.untyped_storage()
        if layout.size is not None:
            self._memory[handle] = memory
            if not _lies_as(result, layout):
                self._loose.add(handle)
        elif handle not in self._memory or self._memory[handle]._cdata != memory._cdata:
            raise UnrepeatableError("what was a view is a copy")
        self._tensors[key_of(handle, layout)] = result

    def _worked(
        self, number: int, entry: Entry, tensors: list[torch.Tensor], args: Any, result: Any
    ) -> None:
        """Keep a number; nothing else is asked of the work."""
        if entry.what.fields[1] == READ:
            self.numbers.append((result, self._on_inputs))


def _lies_as(result: torch.Tensor, layout: LoggedLayout) -> bool:
    found = (tuple(result.shape), result.stride(), result.storage_offset())
    room = layout.end <= result.untyped_storage().nbytes()
    return room and found == (layout.shape, layout.stride, layout.offset)


def size_of(program: Program) -> dict[str, Value]:
    """Return how much a log holds, however it came about.

    ``entries`` are operations, views among them. ``references`` are tensors that these work on.
    Left out are those that are a whole input, for a list of inputs may be long, and those that are
    only put together.
    """
    whole: dict[int, tuple[Any, ...]] = {}
    entries = references = 0
    for entry in program.entries:
        what = entry.what
        if what.kind == "leaf" and what.layouts[0] is not None:
            whole[entry.handles[0]] = key_of(entry.handles[0], what.layouts[0])
        elif what.kind == "op":
            entries += 1
            if what.fields[1] not in _JOINS:
                references += sum(
                    layout is not None and whole.get(handle) != key_of(handle, layout)
                    for layout, handle in zip(what.layouts[: what.made], entry.read(), strict=True)
                )
    return {"entries": entries, "references": references}


def played(
    program: Program,
    constants: torch.Tensor,
    inputs: Sequence[torch.Tensor],
    call: Call,
) -> CallPlayer:
    """Run a call's log on inputs, each operation by ``call``; return the player, then."""
    leaves: Mapping[str, torch.Tensor] = {
        leaf_name(number): item for number, item in enumerate(inputs)
    }
    player = CallPlayer(program, leaves, constants, call=call)
    player.run()
    return player
