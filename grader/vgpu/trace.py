"""What the virtual devices did: kernels, transfers, allocations, waits, in order of their issue.

Every event says which thread issued it and on which stream, so that a timeline can be laid out from
it later: one stream runs in order, threads issue on their own.

A program may issue millions of events, most of them alike. An event is kept as the number of its
row (``grader.vgpu.tape``) and made when somebody looks: making a frozen value takes longer than all
else that is done for an operation.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from grader.vgpu.tape import TABLE, Row, Tape

COMMUNICATION = -1
"""Number of the stream of each device on which NCCL works."""


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


@dataclass(frozen=True, slots=True)
class Collective(Event):
    """Processes exchanged tensors; each of them notes its own part.

    Attributes:
        device: ``cuda:N``, where this process's part is.
        op: torch.distributed's name, ``all_reduce``; ``send`` and ``recv`` of a pair.
        bytes: Of the tensors of all ranks together where each has a part of the whole, else of one.
        ranks: The group's, in order.
        rank: This process's.
        group: Whose exchange it is; the same in all processes that take part.
        number: Of the group's exchanges.
    """

    device: str
    op: str
    bytes: int
    ranks: tuple[int, ...]
    rank: int
    group: str
    number: int

    @property
    def exchange(self) -> tuple[str, int]:
        """What all processes' parts in the same exchange have in common, and no others."""
        return self.group, self.number


_E = TypeVar("_E", bound=Event)

# Their numbers mean something: who waits for whom.
_NUMBERED = (Mark, Collective)
# Which of a kind's own fields is another number each time, and so no part of its row.
_OWN_NUMBER: dict[type[Event], int] = {
    Allocation: 2, Release: 2, Mark: 1, Collective: 6,
}  # fmt: skip


class Trace:
    """Events of all threads in the order of their issue.

    Attributes:
        note: Takes down an event by its row ``(kind, thread, stream, phase, *what)``, and its
            number where it has one. ``add`` puts these together; who is in a hurry does it alone.
    """

    def __init__(self) -> None:
        self._tape = Tape()
        self._alike: dict[int, Event] = {}
        self.note = self._tape.note

    def add(self, kind: type[Event], stream: int, phase: str, *what: Any) -> None:
        """Take down an event; ``what`` are the fields of ``kind`` in order."""
        at = _OWN_NUMBER.get(kind)
        number = -1
        if at is not None:
            number, what = what[at], what[:at] + what[at + 1 :]
        self.note((kind, threading.get_ident(), stream, phase, *what), number)

    @property
    def count(self) -> int:
        """Number that the next event has at least."""
        return self._tape.count

    @property
    def events(self) -> list[Event]:
        """The events so far, made anew at each look."""
        return [
            _event(self._tape.row(row), number, sequence)
            for sequence, row, number in self._tape.read(0, self.count)
        ]

    def since(self, first: int, end: int | None = None) -> Iterator[Event]:
        """Yield events without their sequence numbers; those that are alike are the same object.

        Nor do they tell their blocks of memory: a look at a million events costs no million
        objects.

        Args:
            first: Number of the first event, as ``count`` gave it.
            end: Of the first that is no longer wanted; by default all are.
        """
        for _, row, number in self._tape.read(first, self.count if end is None else end):
            event = self._alike.get(row) or self._kept(row)
            yield _event(self._tape.row(row), number) if type(event) in _NUMBERED else event

    def rows(self, first: int) -> array[int]:
        """Return what was issued from a number on, but for blocks of memory: a number for each.

        Equal numbers stand for equal events.
        """
        read = self._tape.read(first, self.count)
        return array("q", (row for _, row, _ in read if not self._is_of_memory(row)))

    def of(self, kind: type[_E]) -> list[_E]:
        """Return the events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]

    def clear(self) -> None:
        """Forget all events; numbers go on rising."""
        self._tape.clear()

    def _is_of_memory(self, row: int) -> bool:
        return isinstance(self._alike.get(row) or self._kept(row), (Allocation, Release))

    def _kept(self, row: int) -> Event:
        if len(self._alike) > TABLE:
            self._alike.clear()
        event = self._alike[row] = _event(self._tape.row(row), 0)
        return event


def _event(row: Row, number: int, sequence: int = 0) -> Event:
    kind, thread, stream, phase, *what = row
    if kind in _OWN_NUMBER:
        what.insert(_OWN_NUMBER[kind], number)
    made: Event = kind(*what, sequence=sequence, thread=thread, stream=stream, phase=phase)
    return made
