"""``torch.cuda.Stream``, ``Event``, the contexts around them, and CUDA graphs.

Work is done at once, so nothing ever has to be waited for; what was recorded on which stream, and
who waits for whom, goes into the trace.

While a graph is captured a GPU computes nothing. Here each operation runs as it is recorded, for
the program goes on with what it returns; what it changed in tensors that were there before is put
back at the end. A replay runs the operations again, in order, and writes into the tensors of the
first time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from types import TracebackType
from typing import Any

import torch
import torch.cuda.graphs

from grader.vgpu.core.device import current, ordinal_from
from grader.vgpu.core.dispatch import run
from grader.vgpu.core.machine import Machine, machine
from grader.vgpu.core.tensor import VirtualTensor, plain, tensors_in
from grader.vgpu.core.trace import Mark
from grader.vgpu.patches import Patches, unsupported

# From 1: number 0 is the default stream of every device.
_numbers = count(1)
_pools = count(1)


class Stream:
    """A queue of work on a device; number 0 is the default one."""

    def __init__(self, device: Any = None, priority: int = 0, **more: Any) -> None:
        ordinal = current() if device is None else ordinal_from(device)
        self.ordinal = current() if ordinal is None else ordinal
        self.priority = priority
        self.stream_id = more.get("stream_id", next(_numbers))

    @property
    def device(self) -> torch.device:
        """``cuda:N``."""
        return torch.device("cuda", self.ordinal)

    @property
    def device_index(self) -> int:
        """N."""
        return self.ordinal

    @property
    def cuda_stream(self) -> int:
        """The stream's handle: its number."""
        return int(self.stream_id)

    def query(self) -> bool:
        """Tell whether all work is done: always."""
        return True

    def is_capturing(self) -> bool:
        """Tell whether a graph is being captured."""
        return machine().local.capture is not None

    def synchronize(self) -> None:
        """Make the host wait."""
        # In the context: a wait is noted for the stream that is the current one.
        with StreamContext(self):
            machine().wait(self.ordinal, "Stream.synchronize")

    def wait_event(self, event: Event) -> None:
        """Let later work on this stream wait for an event."""
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Let later work on this stream wait for what another has so far."""
        self.wait_event(stream.record_event())

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event here."""
        event = event or Event()
        event.record(self)
        return event

    def __enter__(self) -> Stream:
        context = StreamContext(self)
        context.__enter__()
        # On a stack of the thread's: a stream may be entered again while it is entered already.
        machine().local.entered.append(context)
        return self

    def __exit__(self, *error: Any) -> None:
        machine().local.entered.pop().__exit__(*error)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[int, int]:
        return self.ordinal, self.stream_id

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.stream_id:#x}>"


class Event:
    """A mark on a stream that the host or another stream can wait for.

    Times are those of the timeline where there is one (``grader.vgpu.timeline``), else the host's
    own: this machine has no other clock.
    """

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        self.enable_timing = enable_timing
        self.number = next(_numbers)
        self.ordinal: int | None = None
        self.recorded = 0

    def record(self, stream: Stream | None = None) -> None:
        """Mark where a stream is, by default the current one."""
        stream = stream or current_stream()
        self.ordinal = stream.ordinal
        self.recorded = time.perf_counter_ns()
        with StreamContext(stream):
            name = str(stream.device)
            machine().note(Mark, stream.ordinal, name, self.number, "record")

    def wait(self, stream: Stream | None = None) -> None:
        """Let later work on a stream wait for this event."""
        stream = stream or current_stream()
        # As with CUDA, an event that was never recorded holds nobody up.
        if self.ordinal is not None:
            with StreamContext(stream):
                name = str(stream.device)
                machine().note(Mark, stream.ordinal, name, self.number, "wait")

    def query(self) -> bool:
        """Tell whether the work before it is done: always."""
        return True

    def synchronize(self) -> None:
        """Make the host wait for the event."""
        if self.ordinal is not None:
            here = machine()
            here.note(Mark, self.ordinal, here.names[self.ordinal], self.number, "host")
            here.wait(self.ordinal, "Event.synchronize")

    def elapsed_time(self, end_event: Event) -> float:
        """Return the milliseconds between two recorded events.

        Raises:
            ValueError: One was not recorded.
            RuntimeError: One was made without timing.
        """
        if self.ordinal is None or end_event.ordinal is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        clock = machine().clock
        if clock is not None:
            return 1e3 * (clock.time_of(end_event.number) - clock.time_of(self.number))
        return (end_event.recorded - self.recorded) / 1e6

    def __repr__(self) -> str:
        return f"<torch.cuda.Event {'recorded' if self.ordinal is not None else 'uninitialized'}>"


class StreamContext:
    """``with torch.cuda.stream(s):``; None changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        self._stream = stream
        self._device = 0
        self._before = 0

    def __enter__(self) -> None:
        local = machine().local
        if self._stream is not None:
            # Both are kept: set_stream changes the current device as well.
            self._device = local.device
            self._before = local.streams.get(self._stream.ordinal, 0)
            set_stream(self._stream)

    def __exit__(self, *_: object) -> None:
        local = machine().local
        if self._stream is not None:
            local.streams[self._stream.ordinal] = self._before
            local.device = self._device


def set_stream(stream: Stream | None) -> None:
    """Make a stream the current one of its device, and that the current device."""
    if stream is not None:
        local = machine().local
        local.device = stream.ordinal
        local.streams[stream.ordinal] = stream.stream_id


def current_stream(device: Any = None) -> Stream:
    """Return the current stream of a device, by default the current device."""
    ordinal = ordinal_from(device)
    ordinal = current() if ordinal is None else ordinal
    return Stream(ordinal, stream_id=machine().local.streams.get(ordinal, 0))


def default_stream(device: Any = None) -> Stream:
    """Return the default stream of a device, by default the current device."""
    ordinal = ordinal_from(device)
    return Stream(current() if ordinal is None else ordinal, stream_id=0)


def stream(stream: Stream | None) -> StreamContext:
    """Return the context in which a stream is the current one."""
    return StreamContext(stream)


@dataclass(frozen=True, slots=True)
class _Step:
    """An operation, its arguments and what it returned the first time."""

    func: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any

    def again(self) -> None:
        """Run it on the same tensors, and write into those that it returned."""
        found = run(self.func, self.args, self.kwargs)
        for old, new in zip(tensors_in((self.result,)), tensors_in((found,)), strict=True):
            # Written in place, the result is the very tensor of the first time.
            if old is not new:
                plain(old).copy_(plain(new))


@dataclass(frozen=True, slots=True)
class _Filled:
    """A tensor that a factory made, and what it put there."""

    tensor: VirtualTensor
    contents: torch.Tensor

    def again(self) -> None:
        """Fill it anew."""
        plain(self.tensor).copy_(self.contents)


class CUDAGraph:
    """Stands for ``torch.cuda.CUDAGraph``."""

    def __init__(self, keep_graph: bool = False) -> None:
        self._steps: list[_Step | _Filled] = []
        self._before: dict[int, tuple[Any, torch.Tensor]] = {}
        self._made: set[int] = set()
        self._states: list[torch.Tensor] = []
        self._pool = (0, next(_pools))
        self._ready = False

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
        """Begin to record; everything else that this thread does on devices is recorded too."""
        here = machine()
        if here.local.capture is not None:
            raise RuntimeError("a CUDA graph is being captured already in this thread")
        self._pool = pool or self._pool
        # The operations of a capture do run, and draw: the first replay must draw the same again.
        self._states = [generator.get_state() for generator in here.generators]
        here.local.capture = self
        VirtualTensor.run = staticmethod(_captured)

    def capture_end(self) -> None:
        """Put back what was changed: a GPU has only taken notes so far."""
        here = machine()
        _release(here)
        for storage, kept in self._before.values():
            _contents(storage).copy_(kept)
        for generator, state in zip(here.generators, self._states, strict=True):
            generator.set_state(state)
        self._before.clear()
        self._ready = True

    def replay(self) -> None:
        """Run what was recorded."""
        if not self._ready:
            raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
        # What was recorded had passed autograd: run above it, it would pass a second time.
        with torch.no_grad(), torch._C._AutoDispatchBelowAutograd():
            for step in self._steps:
                step.again()

    def reset(self) -> None:
        """Forget what was recorded."""
        self._steps.clear()
        self._ready = False

    def pool(self) -> tuple[int, int]:
        """Return the handle of the graph's memory."""
        return self._pool

    def instantiate(self) -> None:
        """Do nothing: there is nothing to prepare."""

    def enable_debug_mode(self) -> None:
        """Do nothing."""

    def debug_dump(self, debug_path: str) -> None:
        """Refuse: there is no CUDA graph to draw."""
        raise unsupported("CUDAGraph.debug_dump")

    def record(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run an operation and take it down."""
        # Before it runs: afterwards what was there is lost.
        for tensor in _written(func, args, kwargs):
            self._keep(tensor)
        result = run(func, args, kwargs)
        # A view looks at the same memory: made again, it would change nothing.
        if not func.is_view:
            self._steps.append(_Step(func, args, kwargs, result))
            self._made.update(each.untyped_storage()._cdata for each in tensors_in((result,)))
        return result

    def fill(self, name: str, tensor: VirtualTensor) -> None:
        """Take down that a factory filled a new tensor, such as ``torch.zeros``."""
        # Fillings are repeated as they are: each replay would give the same numbers.
        if name.startswith("rand") or name == "normal":
            raise unsupported(
                f"torch.{name} inside a CUDA graph", "draw into a tensor, Tensor.normal_()"
            )
        self._made.add(tensor.untyped_storage()._cdata)
        if not name.startswith("empty"):
            self._steps.append(_Filled(tensor, plain(tensor).clone()))

    def _keep(self, tensor: torch.Tensor) -> None:
        storage = tensor.untyped_storage()
        if storage._cdata not in self._made and storage._cdata not in self._before:
            # The storage is kept along: its address must not become another's during the capture.
            self._before[storage._cdata] = storage, _contents(storage).clone()


def _contents(storage: torch.UntypedStorage) -> torch.Tensor:
    with torch._C._DisableTorchDispatch():
        return torch.empty(0, dtype=torch.uint8, device="cpu").set_(storage)


def _written(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[torch.Tensor]:
    """Yield the tensors that an operation writes to."""
    for place, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = args[place] if place < len(args) else kwargs.get(argument.name)
            yield from tensors_in((value,))


def _captured(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    capture = machine().local.capture
    return run(func, args, kwargs) if capture is None else capture.record(func, args, kwargs)


def _release(here: Machine) -> None:
    here.local.capture = None
    VirtualTensor.run = staticmethod(run)


class graph:  # noqa: N801
    """Stands for ``torch.cuda.graph``: captures what is done inside."""

    def __init__(
        self, cuda_graph: CUDAGraph, pool: Any = None, stream: Stream | None = None, **_: Any
    ) -> None:
        self._graph = cuda_graph
        self._pool = pool
        self._context = StreamContext(stream or Stream())

    def __enter__(self) -> None:
        self._context.__enter__()
        self._graph.capture_begin(self._pool)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._graph.capture_end()
        else:
            _release(machine())
        self._context.__exit__(kind, error, trace)


def graph_pool_handle() -> tuple[int, int]:
    """Return a handle of memory that graphs share."""
    return (0, next(_pools))


def patch_graphs(patches: Patches) -> None:
    """Let ``torch.cuda`` capture graphs."""
    for name, value in {
        "CUDAGraph": CUDAGraph,
        "graph": graph,
        "graph_pool_handle": graph_pool_handle,
        "is_current_stream_capturing": lambda: machine().local.capture is not None,
    }.items():
        for module in (torch.cuda, torch.cuda.graphs):
            if hasattr(module, name):
                patches.set(module, name, value)
