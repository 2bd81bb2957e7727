"""Runs entries of a log: the arithmetic, and what virtual devices would note of it.

A call's log is also followed back from what it returned: a submission may compute its answer on the
CPU and drop a product on the GPU. Both happen, and the trace says so, but a device's work beside
the result is no part of the call's work. Like the trace, this is the word of the process that the
call runs in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch

from grader.vgpu.core.dispatch import _WITHOUT_KERNEL
from grader.vgpu.core.execution import flops_of
from grader.vgpu.core.machine import Machine
from grader.vgpu.core.tensor import UnwritableError, VirtualTensor, tensors_in
from grader.vgpu.core.trace import Kernel, Mark, Synchronisation, TraceEvent, Transfer
from grader.vgpu.core.values import Value
from grader.vgpu.recording.descriptors import (
    READS,
    Entry,
    LoggedLayout,
    Made,
    MalformedError,
    UnsafeError,
    check_arguments,
)
from grader.vgpu.recording.program import Program, read_program
from grader.vgpu.recording.recorder import Log, logged
from grader.vgpu.recording.summary import DeviceWatch, summarise

HOST = -1
"""The number of the host among devices."""
_EMPTY = frozenset({"empty", "empty_strided", "empty_permuted"})
_ACTIONS = ("record", "wait", "host")


class UnlistedError(Exception):
    """An operation that is not run again here."""


class UnrepeatableError(Exception):
    """A log that other inputs lead astray: what has which shape depends on the elements."""


def outputs_of(entry: Entry) -> Iterator[tuple[Any, LoggedLayout | None, int]]:
    """Yield name, layout and memory of what a part ends with and is compared."""
    return zip(entry.what.fields[2], entry.what.layouts, entry.handles, strict=False)


def name_of(device: int) -> str:
    """Return ``cpu`` or ``cuda:N``."""
    return "cpu" if device == HOST else f"cuda:{device}"


@dataclass(slots=True)
class Player:
    """Runs entries.

    Attributes:
        outputs: What is judged, by name.
        events: What the devices did, each with the number of its entry.
    """

    program: Program
    leaves: Mapping[str, torch.Tensor]
    constants: torch.Tensor
    outputs: dict[str, Any] = field(default_factory=dict)
    events: list[tuple[int, TraceEvent]] = field(default_factory=list)
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
            # The kind is one of `descriptors`' own: no text of a log leads to another method.
            getattr(self, f"_{kind}")(number, entry)

    # -- memory ------------------------------------------------------------------------------------

    def _leaf(self, _: int, entry: Entry) -> None:
        name, layout = entry.what.fields[1], entry.what.layouts[0]
        assert layout is not None
        value = self.leaves.get(name)
        if value is None:
            raise MalformedError(f"there is no leaf {name!r:.50}")
        whole = LoggedLayout(
            value.dtype, 0, tuple(value.shape), value.contiguous().stride(), layout.size
        )
        if whole != layout or layout.size != value.numel() * value.element_size():
            raise MalformedError(f"the leaf {name!r:.50} has another form")
        # A copy: operations in place would change the inputs for the next part.
        self._memory[entry.handles[0]] = value.detach().clone().contiguous().untyped_storage()

    def _constant(self, _: int, entry: Entry) -> None:
        _, offset, size, _ = entry.what.fields
        # A slice beyond the end is shorter, and no error; hence the check of its size.
        found = self.constants[offset : offset + size]
        if found.dtype is not torch.uint8 or found.numel() != size:
            raise MalformedError("bytes that are not there")
        # A copy, too: the log may be run a second time.
        self._memory[entry.handles[0]] = found.clone().untyped_storage()

    def _size(self, _: int, entry: Entry) -> None:
        # Bounded when the program was read (`program`).
        self._memory[entry.handles[0]].resize_(entry.what.fields[1])

    def _free(self, _: int, entry: Entry) -> None:
        self._memory.pop(entry.handles[0], None)

    def _home(self, number: int, entry: Entry) -> None:
        """Memory that torch itself made on the host counts as a device's; given data is copied."""
        if number in self.program.impure_homes:
            size = self._memory[entry.handles[0]].nbytes()
            target = name_of(entry.what.fields[1])
            self._note(number, Transfer("cpu", target, size, True, (size,)))

    def _output(self, _: int, __: Entry) -> None:
        """Do nothing: what it descends from has run, and only outputs of parts are compared."""

    def _end(self, _: int, entry: Entry) -> None:
        for (name, _), layout, handle in outputs_of(entry):
            # As it is now: a later entry may write there.
            self.outputs[str(name)] = self._tensor(layout, handle).clone()

    def _tensor(self, layout: LoggedLayout | None, handle: int) -> torch.Tensor:
        assert layout is not None
        memory = self._memory.get(handle)
        # Checked at each use: a log may resize memory after the layout was read.
        if memory is None or layout.end > memory.nbytes():
            raise MalformedError("memory that is not there")
        bare = torch.empty(0, dtype=layout.dtype)
        return bare.set_(memory, layout.offset, layout.shape, layout.stride)

    def _make(self, layout: LoggedLayout, handle: int) -> torch.Tensor:
        assert layout.size is not None
        # Zeros, or a log could read what an earlier run left in this memory.
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
            name_of(here), name_of(device), size, bool(blocking), source.shape, bool(parameter),
            there, **_course(number, place),
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
        numbers = self._numbers_of(entry)
        args = tuple(_filled(what.fields[2], tensors, numbers))
        named = {name: _filled(node, tensors, numbers) for name, node in what.fields[3].items()}
        check_arguments(what.fields[1], args, named, self._made)
        try:
            result = self._called(what.function, args, named)
        except (RuntimeError, TypeError, IndexError, ValueError, NotImplementedError) as error:
            # What these select depends on elements, so on other inputs an honest log may fail here.
            if any(name in what.fields[1] for name in ("index", "masked", "put", "where")):
                raise UnrepeatableError(str(error)[:200]) from None
            raise MalformedError(f"{what.fields[1]}: {error}"[:200]) from None
        self._bind(entry, list(tensors_in(result)), tensors)
        self._worked(number, entry, tensors, args, result)

    def _numbers_of(self, entry: Entry) -> tuple[float, ...]:
        return entry.numbers

    def _called(self, function: Any, args: Any, named: Any) -> Any:
        return function(*args, **named)

    def _bind(self, entry: Entry, results: list[torch.Tensor], tensors: list[torch.Tensor]) -> None:
        what = entry.what
        places = range(what.made, len(entry.handles))
        if len(results) != len(places):
            raise MalformedError(f"{what.fields[1]} has {len(results)} results")
        for handle in entry.changed():
            # Its elements are no longer those that an operation has made, on which guards rely.
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
                # Later entries refer to this memory by offset and stride; laid out otherwise, they
                # would read other elements.
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
                    name_of(origin), name_of(target), size, blocking, tuple(tensors[0].shape),
                    **_course(number, place),
                ))  # fmt: skip
                return
        every = [*tensors, *tensors_in(result)]
        size = sum(item.numel() * item.element_size() for item in every)
        greatest = max((item.numel() for item in every), default=0)
        # A factory computes nothing.
        flops = flops_of(name, args, result, greatest) if tensors else 0
        self._note(number, Kernel(name, name_of(home), flops, size, **_course(number, place)))

    def _event(self, number: int, entry: Entry) -> None:
        kind, what, place = entry.what.fields
        device, *rest = what
        if kind == "Synchronisation" and len(rest) == 1:
            made: TraceEvent = Synchronisation(str(device), str(rest[0]), **_course(number, place))
        elif kind == "Mark" and len(rest) == 2 and rest[1] in _ACTIONS and type(rest[0]) is int:
            made = Mark(str(device), rest[0], rest[1], **_course(number, place))
        else:
            raise MalformedError("an event of no known kind")
        self._note(number, made)

    def _note(self, number: int, event: TraceEvent) -> None:
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


_CALL = "call"


class CallWatch:
    """Watches a call; of the kernels on virtual devices, those that its result descends from.

    Copies, memory and waits are all that there were: what is copied for nothing costs time as well.
    On real GPUs, and where the log cannot be followed, the kernels too are all that there were.

    Args:
        machine: Virtual devices; None for real ones.
        target: What is called.
        inputs: Tensors that the call gets.

    Attributes:
        report: As of ``DeviceWatch``. ``dropped`` are the FLOPs of the kernels that are left out.
    """

    def __init__(
        self, machine: Machine | None, target: Callable[..., Any], inputs: Iterable[torch.Tensor]
    ) -> None:
        self.report: dict[Value, Value] = {}
        self._machine = machine
        self._target = target
        self._leaves = {f"x{number}": item for number, item in enumerate(inputs)}

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Make the call, and return what it returns."""
        # Copies: a call may change its arguments, and the log is followed once it is over.
        before = {name: item.clone() for name, item in self._leaves.items()}
        follows = self._machine is not None and all(map(_alone, self._leaves.values()))
        with logged() if follows else nullcontext() as log, DeviceWatch(self._machine) as watch:
            if log:
                self._begin(log)
            result = self._target(*args, **kwargs)
            if log:
                _end(log, result)
        self.report = watch.report
        used = _descended(log, before) if log else None
        if used is not None:
            dropped = max(0, _flops(self.report["kernels"]) - _flops(used))
            self.report = {**self.report, "kernels": used, "dropped": dropped}
        return result

    def _begin(self, log: Log) -> None:
        for name, item in self._leaves.items():
            log.leaf(name, item)
        log.begin(_CALL, *self._leaves)


def _end(log: Log, result: Any) -> None:
    try:
        log.end(_CALL, result)
    except UnwritableError as error:
        # A result that no log can hold, a sparse tensor say, is for the checks of values to judge.
        log.why = str(error)


def _alone(tensor: torch.Tensor) -> bool:
    """Tell whether a tensor has memory of its own, on the host, as a leaf has."""
    whole = tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size()
    return whole and tensor.is_contiguous() and not isinstance(tensor, VirtualTensor)


def _flops(kernels: Any) -> int:
    return sum(item["flops"] for item in kernels)


def _descended(log: Log, leaves: dict[str, torch.Tensor]) -> Value | None:
    """Return the kernels on devices from which the result descends; None if nobody can tell."""
    values = log.as_values()
    if values["why"]:
        return None
    try:
        program = read_program(values)
        kept = _kept(program)
        player = Player(program, leaves, values["constants"])
        with torch.no_grad():
            for number, entry in enumerate(program.entries):
                if number in kept or entry.what.kind == "free":
                    player.play(number, entry)
    # An honest call may do what no log can hold. Then the trace is believed, as on a real GPU.
    except (UnlistedError, UnrepeatableError, MalformedError, UnsafeError):
        return None
    host = name_of(HOST)
    work = (event for _, event in player.events
            if isinstance(event, Kernel) and event.device != host)  # fmt: skip
    return summarise(work).report({}, real=False)["kernels"]


def _kept(program: Program) -> set[int]:
    _, end = program.window(_CALL)
    found = program.ancestry([end])
    if found.outside or not program.entries[end].handles:
        # The result went through NumPy or a list. Elements of a device leave torch only after they
        # came home, so what came home may be in it.
        found = program.ancestry([end, *_homecomings(program)])
    return found.entries


def _homecomings(program: Program) -> Iterable[int]:
    for number, entry in enumerate(program.entries):
        if entry.what.kind in ("op", "move") and _comes_home(program, entry):
            yield number


def _comes_home(program: Program, entry: Entry) -> bool:
    homes = program.homes
    if all(homes[handle] == HOST for handle in entry.read()):
        return False
    reads = entry.what.kind == "op" and entry.what.fields[1] in READS
    return reads or any(homes[handle] == HOST for handle in (*entry.fresh(), *entry.changed()))
