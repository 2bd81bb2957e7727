"""``torch.cuda.Stream``, ``Event`` and the contexts around them.

Work is done at once, so nothing ever has to be waited for; what was recorded on which stream, and
who waits for whom, goes into the trace.
"""

from __future__ import annotations

import time
from itertools import count
from typing import Any

import torch

from grader.vgpu.core.device import current, ordinal_from
from grader.vgpu.core.machine import machine
from grader.vgpu.core.trace import Mark

# From 1: number 0 is the default stream of every device.
_numbers = count(1)


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


class device:  # noqa: N801
    """``with torch.cuda.device(1):``; a negative index or None changes nothing."""

    def __init__(self, device: Any) -> None:
        unchanged = device is None or (isinstance(device, int) and device < 0)
        self.idx = -1 if unchanged else ordinal_from(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        local = machine().local
        self.prev_idx = local.device
        if self.idx is not None and self.idx >= 0:
            local.device = self.idx

    def __exit__(self, *_: object) -> None:
        machine().local.device = self.prev_idx


class device_of(device):  # noqa: N801
    """``with torch.cuda.device_of(tensor):``; a tensor on the host changes nothing."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else -1)


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
