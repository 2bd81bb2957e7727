"""Run a log again, on other inputs, and tell what came of it and what the devices did meanwhile.

Only operations from which the judged outputs descend are run, and only those count. So work beside
the result earns nothing, and a log that gives right outputs on inputs that were drawn after it was
written is itself a right program: where it ran, what it copied and what it held is what happened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from grader.vgpu.dispatch import _WITHOUT_KERNEL
from grader.vgpu.flops import flops_of
from grader.vgpu.listed import Made, UnsafeError, guard
from grader.vgpu.memory import rounded
from grader.vgpu.program import Entry, Layout, MalformedError, Program, read_program
from grader.vgpu.summary import held_during, summarise
from grader.vgpu.timeline.clock import afterwards
from grader.vgpu.timeline.profiles import Profile
from grader.vgpu.trace import (
    Allocation,
    Event,
    Kernel,
    Mark,
    Release,
    Synchronisation,
    Transfer,
)
from grader.wire.values import Value

_HOST = -1
_EMPTY = frozenset({"empty", "empty_strided", "empty_permuted"})
_ACTIONS = ("record", "wait", "host")
_UNUSED = "unused on "
"""Stands before the device of a parameter on which nothing that is judged rests."""


class UnlistedError(Exception):
    """An operation that is not run again here."""


class UnrepeatableError(Exception):
    """A log that other inputs lead astray: what has which shape depends on the elements."""


def replay(
    told: Mapping[Any, Any],
    leaves: Mapping[str, torch.Tensor],
    own: Mapping[str, torch.Tensor],
    gpus: int,
    card: Profile | None = None,
) -> dict[str, Any]:
    """Run a log again, and return everything in plain values.

    ::

        {"state": "ran", "why": "", "outputs": {…}, "own": None, "outside": False, "reads": False,
         "parts": {"forward": {…}}, "times": {"forward": {…}}, "placement": {…}}

    Args:
        told: What ``Log.told`` said, by way of a process that may be hostile.
        leaves: New values by the names of leaves.
        own: The values that the process had, for a log that other inputs lead astray.
        gpus: Number of devices.
        card: Profile of every device, for times.
    """
    result: dict[str, Any] = {
        "state": "ran", "why": "", "outputs": {}, "own": None, "outside": False, "reads": False,
        "parts": {}, "times": {}, "placement": {},
    }  # fmt: skip
    try:
        if told.get("why"):
            raise UnlistedError(str(told["why"])[:200])
        program = read_program(told)
        result |= _run_again(program, _Plan(program, gpus), told, (leaves, own), card)
    except UnlistedError as error:
        result |= {"state": "unlisted", "why": str(error)}
    except UnrepeatableError as error:
        result |= {"state": "unrepeatable", "why": str(error)}
    except (MalformedError, UnsafeError) as error:
        result |= {"state": "malformed", "why": str(error)}
    return result


Leaves = Mapping[str, torch.Tensor]


def _run_again(
    program: Program, plan: _Plan, told: Any, leaves: tuple[Leaves, Leaves], card: Profile | None
) -> dict[str, Any]:
    """Run a program on the first leaves; where it depends on what it read, on the second too."""
    result: dict[str, Any] = {"reads": program.reads, "outside": plan.outside}
    events: list[tuple[int, Event]] = []
    if program.reads:
        result["own"], events = _run(program, plan, told, leaves[1])
    try:
        result["outputs"], events = _run(program, plan, told, leaves[0])
    except UnrepeatableError as error:
        if not program.reads:
            raise
        result |= {"state": "unrepeatable", "why": str(error)}
    parts = [_Part(program, plan, name, events) for name in plan.parts]
    result["placement"] = plan.placement()
    result["parts"] = {part.name: part.report() for part in parts}
    if card is not None:
        result["times"] = {part.name: part.times(card) for part in parts}
    return result


def _run(
    program: Program, plan: _Plan, told: Any, leaves: Leaves
) -> tuple[dict[str, Any], list[tuple[int, Event]]]:
    player = _Player(program, leaves, told["constants"])
    torch.default_generator.manual_seed(0)
    with torch.no_grad():
        for number, entry in enumerate(program.entries):
            if number in plan.kept or entry.what.kind == "free":
                player.play(number, entry)
    return player.outputs, player.events


class _Plan:
    """What of a program is run, and what for.

    Attributes:
        parts: Name → numbers of the entries that begin and end it.
        kept: Entries to run.
        outside: Bytes from outside torch are among what the outputs rest on.
    """

    def __init__(self, program: Program, gpus: int) -> None:
        self._program = program
        entries = program.entries
        if any(home >= gpus for home in program.homes.values()):
            raise MalformedError("a device that there is not")
        ends = [n for n, entry in enumerate(entries) if entry.what.kind in ("output", "end")]
        names = {entries[n].what.fields[1] for n in ends if entries[n].what.kind == "end"}
        self.parts = {str(name): program.window(name) for name in sorted(names)}
        origin = program.ancestry(ends)
        self._used, self.outside = origin.memory, origin.outside
        self.kept = origin.entries | {n for n, entry in enumerate(entries)
                      if entry.what.kind in ("Synchronisation", "Mark")}  # fmt: skip
        self._judged = {handle for n in ends for handle in entries[n].handles}

    def placement(self) -> dict[str, Any]:
        """Return where the tensors of a model lie, and those that it returned."""
        found: dict[str, Any] = {}
        for entry in self._program.entries:
            what = entry.what
            if what.kind == "place":
                _, name, kind, _, wants = what.fields
                found[str(name)] = self._placed(kind, what.layouts[0], entry.handles[0], wants)
            elif what.kind == "end":
                for (name, _), layout, handle in _outputs(entry):
                    found[str(name)] = self._placed("output", layout, handle, False)
        return found

    def _placed(self, kind: str, layout: Layout | None, handle: int, wants: Any) -> dict[str, Any]:
        assert layout is not None
        device = _name(self._program.homes[handle])
        if not self._counts(kind, layout, handle):
            device = _UNUSED + device
        shape = list(layout.shape)
        size = torch.Size(shape).numel() * layout.dtype.itemsize
        return {"kind": str(kind), "device": device, "shape": shape, "bytes": size,
                "requires_grad": bool(wants)}  # fmt: skip

    def _counts(self, kind: str, layout: Layout, handle: int) -> bool:
        """Whether it is this very memory on which something judged rests, or which is judged."""
        if kind in ("gradient", "output"):
            return handle in self._judged
        # A count of batches is a buffer, too; in eval mode nobody reads it.
        return handle in self._used or not layout.dtype.is_floating_point or 0 in layout.shape


class _Part:
    """What devices did in a part of the course, for its outputs alone."""

    def __init__(
        self, program: Program, plan: _Plan, name: str, events: list[tuple[int, Event]]
    ) -> None:
        self._program = program
        self.name = name
        begin, end = plan.parts[name]
        kept = program.ancestry([end]).entries
        inputs = program.entries[begin].what.fields[2]
        following = program.following(inputs, kept)
        self._begin, self._end = begin, end
        waits = (Synchronisation, Mark)
        # Work on the inputs counts wherever it stands: it could have been done before. Only what
        # an earlier part rests on as well was counted there.
        for _, other in plan.parts.values():
            if other < begin:
                following -= program.ancestry([other]).entries
        self.events = [
            event
            for number, event in events
            if (begin < number < end and (number in kept or isinstance(event, waits)))
            or (number < begin and number in following and _weighs(event))
        ]
        self._devices = sorted({home for home in program.homes.values() if home != _HOST})

    def report(self) -> dict[Value, Value]:
        """Return it in the form of ``grader.vgpu.summary``."""
        changes = list(self._changes())
        live = dict.fromkeys(self._devices, 0)
        for number, device, size, _ in self._program.taken:
            if number < self._end and device != _HOST:
                live[device] += _blocks(size)
        held = {
            _name(device): held_during(changes, live[device], None, _name(device))
            for device in self._devices
        }
        return summarise(self.events).report(held, real=False)

    def times(self, card: Profile) -> dict[Value, Value]:
        """Return it on a timeline."""
        on_devices = [
            event for event in self.events
            if not (isinstance(event, Kernel) and event.device == _name(_HOST))
        ]  # fmt: skip
        return afterwards(on_devices, card, [_name(device) for device in self._devices])

    def _changes(self) -> Iterator[Event]:
        for number, device, size, handle in self._program.taken:
            if self._begin < number < self._end and device != _HOST:
                kind = Allocation if size >= 0 else Release
                yield kind(_name(device), abs(_blocks(size)), handle)


def _outputs(entry: Entry) -> Iterator[tuple[Any, Layout | None, int]]:
    """Yield name, layout and memory of what a part ends with and is compared."""
    return zip(entry.what.fields[2], entry.what.layouts, entry.handles, strict=False)


def _blocks(size: int) -> int:
    return rounded(size) if size >= 0 else -rounded(-size)


def _weighs(event: Event) -> bool:
    return isinstance(event, Kernel) and event.flops > 0


def _name(device: int) -> str:
    return "cpu" if device == _HOST else f"cuda:{device}"


@dataclass(slots=True)
class _Player:
    """Runs entries.

    Attributes:
        outputs: What is judged, by name.
        events: What the devices did, each with the number of its entry.
    """

    program: Program
    leaves: Mapping[str, torch.Tensor]
    constants: torch.Tensor
    outputs: dict[str, Any] = field(default_factory=dict)
    events: list[tuple[int, Event]] = field(default_factory=list)
    _memory: dict[int, torch.UntypedStorage] = field(default_factory=dict)
    _devices: dict[int, int] = field(default_factory=dict)
    _makers: dict[int, Made] = field(default_factory=dict)

    def play(self, number: int, entry: Entry) -> None:
        """Run an entry."""
        kind = entry.what.kind
        if kind == "op":
            self._operation(number, entry)
        elif kind == "move":
            self._move(number, entry)
        elif kind in ("Synchronisation", "Mark"):
            self._event(number, entry)
        else:
            getattr(self, f"_{kind}")(number, entry)

    # -- memory ------------------------------------------------------------------------------------

    def _leaf(self, _: int, entry: Entry) -> None:
        name, layout = entry.what.fields[1], entry.what.layouts[0]
        assert layout is not None
        value = self.leaves.get(name)
        if value is None:
            raise MalformedError(f"there is no leaf {name!r:.50}")
        whole = Layout(value.dtype, 0, tuple(value.shape), value.contiguous().stride(), layout.size)
        if whole != layout or layout.size != value.numel() * value.element_size():
            raise MalformedError(f"the leaf {name!r:.50} has another form")
        self._memory[entry.handles[0]] = value.detach().clone().contiguous().untyped_storage()

    def _constant(self, _: int, entry: Entry) -> None:
        _, offset, size, _ = entry.what.fields
        found = self.constants[offset : offset + size]
        if found.dtype is not torch.uint8 or found.numel() != size:
            raise MalformedError("bytes that are not there")
        self._memory[entry.handles[0]] = found.clone().untyped_storage()

    def _size(self, _: int, entry: Entry) -> None:
        self._memory[entry.handles[0]].resize_(entry.what.fields[1])

    def _free(self, _: int, entry: Entry) -> None:
        self._memory.pop(entry.handles[0], None)

    def _home(self, number: int, entry: Entry) -> None:
        """Memory that torch itself made on the host counts as a device's; given data is copied."""
        if number in self.program.impure_homes:
            size = self._memory[entry.handles[0]].nbytes()
            target = _name(entry.what.fields[1])
            self._note(number, Transfer("cpu", target, size, True, (size,)))

    def _output(self, _: int, __: Entry) -> None:
        """What it descends from has run; only the outputs of parts are compared."""

    def _end(self, _: int, entry: Entry) -> None:
        for (name, _), layout, handle in _outputs(entry):
            self.outputs[str(name)] = self._tensor(layout, handle).clone()

    def _tensor(self, layout: Layout | None, handle: int) -> torch.Tensor:
        assert layout is not None
        memory = self._memory.get(handle)
        if memory is None or layout.end > memory.nbytes():
            raise MalformedError("memory that is not there")
        bare = torch.empty(0, dtype=layout.dtype)
        return bare.set_(memory, layout.offset, layout.shape, layout.stride)

    def _make(self, layout: Layout, handle: int) -> torch.Tensor:
        assert layout.size is not None
        self._memory[handle] = torch.zeros(layout.size, dtype=torch.uint8).untyped_storage()
        return self._tensor(layout, handle)

    # -- work --------------------------------------------------------------------------------------

    def _move(self, number: int, entry: Entry) -> None:
        what = entry.what
        source, target = what.layouts
        assert source is not None
        assert target is not None
        if source.shape != target.shape:
            raise MalformedError("a copy of another shape")
        given = self._tensor(source, entry.handles[0])
        self._make(target, entry.handles[1]).copy_(given)
        _, _, _, device, blocking, parameter, there, place = what.fields
        here = self.program.homes[entry.handles[0]]
        if here == device:
            return
        size = given.numel() * given.element_size()
        moved = Transfer(
            _name(here), _name(device), size, bool(blocking), source.shape, bool(parameter), there,
            **_course(number, place),
        )  # fmt: skip
        self._note(number, moved)

    def _operation(self, number: int, entry: Entry) -> None:
        what = entry.what
        if what.function is None:
            raise UnlistedError(f"{what.fields[1]}"[:200])
        tensors = [
            self._tensor(layout, handle)
            for layout, handle in zip(what.layouts[: what.made], entry.read(), strict=True)
        ]
        args = tuple(_filled(what.fields[2], tensors, entry.numbers))
        named = {name: _filled(node, tensors, entry.numbers)
                 for name, node in what.fields[3].items()}  # fmt: skip
        guard(what.fields[1], args, self._made)
        try:
            result = what.function(*args, **named)
        except (RuntimeError, TypeError, IndexError, ValueError, NotImplementedError) as error:
            if any(name in what.fields[1] for name in ("index", "masked", "put", "where")):
                raise UnrepeatableError(str(error)[:200]) from None
            raise MalformedError(f"{what.fields[1]}: {error}"[:200]) from None
        self._bind(entry, list(_tensors(result)), tensors)
        self._worked(number, entry, tensors, args, result)

    def _bind(self, entry: Entry, results: list[torch.Tensor], tensors: list[torch.Tensor]) -> None:
        what = entry.what
        places = range(what.made, len(entry.handles))
        if len(results) != len(places):
            raise MalformedError(f"{what.fields[1]} has {len(results)} results")
        for handle in entry.changed():
            self._makers.pop(handle, None)
        shape = tuple(max(tensors, key=torch.Tensor.numel).shape) if tensors else ()
        for count, (place, result) in enumerate(zip(places, results, strict=True)):
            layout, handle = what.layouts[place], entry.handles[place]
            assert layout is not None
            found = (result.dtype, tuple(result.shape))
            if found != (layout.dtype, layout.shape):
                raise UnrepeatableError(f"{what.fields[1]} has a result of another shape")
            if layout.size is not None:
                self._memory[handle] = result.untyped_storage()
                self._makers[handle] = (what.fields[1], count, shape)
                room = layout.end <= result.untyped_storage().nbytes()
                if result.stride() != layout.stride or not room:
                    raise MalformedError(f"{what.fields[1]} has a result laid out otherwise")

    def _made(self, tensor: torch.Tensor) -> Made | None:
        key = tensor.untyped_storage()._cdata
        return next(
            (made for handle, made in self._makers.items()
             if handle in self._memory and self._memory[handle]._cdata == key), None,
        )  # fmt: skip

    def _worked(
        self, number: int, entry: Entry, tensors: list[torch.Tensor], args: Any, result: Any
    ) -> None:
        """Note the work as virtual devices do."""
        name, place = entry.what.fields[1], entry.what.fields[4]
        if name in _WITHOUT_KERNEL or name in _EMPTY:
            return
        home = self.program.devices[number]
        if name == "copy_":
            origin, target = (self.program.homes[handle] for handle in entry.handles[1::-1])
            if origin != target:
                size = tensors[0].numel() * tensors[0].element_size()
                blocking = not (len(args) > 2 and args[2])
                self._note(number, Transfer(
                    _name(origin), _name(target), size, blocking, tuple(tensors[0].shape),
                    **_course(number, place),
                ))  # fmt: skip
                return
        every = [*tensors, *_tensors(result)]
        size = sum(item.numel() * item.element_size() for item in every)
        greatest = max((item.numel() for item in every), default=0)
        # A factory computes nothing.
        flops = flops_of(name, args, result, greatest) if tensors else 0
        self._note(number, Kernel(name, _name(home), flops, size, **_course(number, place)))

    def _event(self, number: int, entry: Entry) -> None:
        kind, what, place = entry.what.fields
        device, *rest = what
        if kind == "Synchronisation" and len(rest) == 1:
            made: Event = Synchronisation(str(device), str(rest[0]), **_course(number, place))
        elif kind == "Mark" and len(rest) == 2 and rest[1] in _ACTIONS and type(rest[0]) is int:
            made = Mark(str(device), rest[0], rest[1], **_course(number, place))
        else:
            raise MalformedError("an event of no known kind")
        self._note(number, made)

    def _note(self, number: int, event: Event) -> None:
        self.events.append((number, event))


def _course(number: int, place: Any) -> dict[str, Any]:
    thread, stream, backward = place
    phase = "backward" if backward else "forward"
    return {"sequence": number, "thread": thread, "stream": stream, "phase": phase}


def _filled(node: Any, tensors: list[torch.Tensor], numbers: tuple[float, ...]) -> Any:
    sort, value = node
    if sort == "t":
        return tensors[value]
    if sort == "f":
        return numbers[value]
    if sort == "l":
        return [_filled(item, tensors, numbers) for item in value]
    return value


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)
