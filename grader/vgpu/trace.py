"""What the virtual devices did: kernels, transfers, allocations, waits, in order of their issue.

Every event says which thread issued it and on which stream, so that a timeline can be laid out from
it later: one stream runs in order, threads issue on their own.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Where in the course of things an event stands.

    Attributes:
        sequence: Rises by one from each event to the next, over all threads.
        thread: Identity of the thread that issued it.
        stream: Number of the stream on its device; 0 is the default stream.
        phase: ``forward``, or ``backward`` while autograd runs in that thread.
    """

    sequence: int = 0
    thread: int = 0
    stream: int = 0
    phase: str = "forward"


@dataclass(frozen=True, slots=True)
class Kernel(Event):
    """An operation ran on a device.

    Attributes:
        op: ATen's name, ``mm`` or ``add_``.
        device: ``cuda:N``.
        flops: Floating-point operations, as ``grader.vgpu.flops`` counts them.
        bytes: Bytes of all tensors read and written.
    """

    op: str
    device: str
    flops: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Transfer(Event):
    """Elements went from one device to another.

    Attributes:
        source: ``cpu`` or ``cuda:N``.
        target: Likewise.
        bytes: Bytes of the elements that went.
        blocking: The host waited until they had arrived.
        shape: Of the tensor that went.
        parameter: It is a model's parameter.
        target_stream: Between two devices, the stream of the target that waits for the copy, and
            that the copy waits for.
    """

    source: str
    target: str
    bytes: int
    blocking: bool
    shape: tuple[int, ...] = ()
    parameter: bool = False
    target_stream: int = 0


@dataclass(frozen=True, slots=True)
class Allocation(Event):
    """A block of device memory was taken.

    Attributes:
        device: ``cuda:N``.
        bytes: As counted, rounded up (``grader.vgpu.memory``).
        block: Its number on the machine, never used again.
    """

    device: str
    bytes: int
    block: int


@dataclass(frozen=True, slots=True)
class Release(Event):
    """A block of device memory was given back; attributes as of ``Allocation``."""

    device: str
    bytes: int
    block: int


@dataclass(frozen=True, slots=True)
class Synchronisation(Event):
    """The host waited for a device; ``why`` is the call or the operation that made it wait."""

    device: str
    why: str


@dataclass(frozen=True, slots=True)
class Mark(Event):
    """A ``torch.cuda.Event`` on a stream.

    Attributes:
        device: ``cuda:N``.
        event: The event's number.
        action: ``record``; ``wait``: the stream goes on only after the event; ``host``: the host
            does.
    """

    device: str
    event: int
    action: str


_E = TypeVar("_E", bound=Event)


class Trace:
    """Events of all threads in the order of their issue."""

    def __init__(self) -> None:
        self._numbers = count()
        self._taken: list[tuple[type[Event], tuple[int, int, int, str], tuple[Any, ...]]] = []
        self._events: list[Event] = []
        self._lock = threading.Lock()

    def add(self, kind: type[Event], stream: int, phase: str, *what: Any) -> None:
        """Take down an event; ``what`` are the fields of ``kind`` in order.

        The event itself is made when somebody looks: making a frozen value takes longer than all
        else that is done for an operation.
        """
        placed = (next(self._numbers), threading.get_ident(), stream, phase)
        self._taken.append((kind, placed, what))

    @property
    def count(self) -> int:
        """Number that the next event has at least."""
        events = self.events
        return events[-1].sequence + 1 if events else 0

    @property
    def events(self) -> list[Event]:
        """The events so far; the list is the trace's own and grows on the next look."""
        with self._lock:
            taken, self._taken = self._taken, []
            for kind, (sequence, thread, stream, phase), what in taken:
                self._events.append(
                    kind(*what, sequence=sequence, thread=thread, stream=stream, phase=phase)
                )
            return self._events

    def of(self, kind: type[_E]) -> list[_E]:
        """Return the events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]

    def clear(self) -> None:
        """Forget all events; numbers go on rising."""
        with self._lock:
            self._taken = []
            self._events = []
