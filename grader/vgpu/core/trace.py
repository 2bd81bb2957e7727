"""What the virtual devices did: kernels, transfers, allocations, waits, in order of their issue.

Every event says which thread issued it and on which stream, so that a timeline can be laid out from
it later: one stream runs in order, threads issue on their own.

A program may issue millions of events. It repeats itself: step after step it issues the same
operations on the same shapes. So what an event is (its *row*) is kept once, under a number. The
*tape* is a sequence of such numbers; where an event has a number of its own, such as a block of
memory, that stands beside it. Full stretches are compressed. A training loop takes less than a byte
an event, one that never repeats a shape some ten. An event is made only when somebody looks.
"""

from __future__ import annotations

import json
import threading
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Any, TypeVar

import numpy as np

Row = tuple[Any, ...]
"""What an event is, but for its own number: hashable, of plain values but for the first."""

CHUNK = 1 << 15
"""Events that are kept as they are before they are compressed."""
TABLE = 1 << 14
"""Rows of a part of the table; the two latest parts are kept as they are."""
_OWN = 32
_LOW = (1 << _OWN) - 1
_FLAG = 1 << 31


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A stretch of the tape: the number of its first event, how many, and both columns packed."""

    first: int
    count: int
    rows: bytes
    numbers: bytes

    def read(self) -> Iterator[tuple[int, int]]:
        """Yield row and own number (−1: none) of each event."""
        flagged = np.frombuffer(zlib.decompress(self.rows), np.uint32)
        steps = np.frombuffer(zlib.decompress(self.numbers), np.uint32)
        numbers = np.full(self.count, -1, np.int64)
        # In 32 bits, as the steps were taken: where numbers fall, both wrap round alike.
        numbers[flagged >= _FLAG] = np.cumsum(steps, dtype=np.uint32).astype(np.int64) - 1
        return zip((flagged & (_FLAG - 1)).tolist(), numbers.tolist(), strict=True)


class Tape:
    """Events of all threads, in order; noting one takes no lock."""

    def __init__(self) -> None:
        self._pending = array("Q")
        self._known: dict[Row, int] = {}
        self._rows: dict[int, Row] = {}
        self._folded: dict[int, bytes] = {}
        # The part that was looked at last.
        self._open: tuple[int, list[Row]] = -1, []
        self._kinds: list[Any] = []
        self._chunks: list[_Chunk] = []
        self._numbers = count()
        # Of the first pending event.
        self._first = 0
        self._lock = threading.Lock()

    def note(self, row: Row, number: int = -1) -> None:
        """Take down an event.

        Args:
            row: What it is.
            number: Its own, where it has one: 0 to 2**32 − 2.
        """
        known = self._known.get(row)
        if known is None:
            known = self._describe(row)
        pending = self._pending
        # Plus one, so that 0 means none.
        pending.append(known if number < 0 else known | (number + 1) << _OWN)
        if len(pending) >= CHUNK:
            self._pack()

    @property
    def count(self) -> int:
        """Number that the next event gets."""
        return self._first + len(self._pending)

    def read(self, first: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Yield the number of each event, of its row, and its own (−1: none).

        Args:
            first: Number of the first that is wanted.
            end: And of the first that no longer is.
        """
        with self._lock:
            # Copies, all of one moment: another thread may pack meanwhile, and an event would come
            # twice.
            chunks, start, rest = list(self._chunks), self._first, self._pending[:]
        for chunk in chunks:
            if chunk.first + chunk.count > first and chunk.first < end:
                for at, (known, number) in enumerate(chunk.read(), chunk.first):
                    if first <= at < end:
                        yield at, known, number
        low = max(first, start)
        for at, word in enumerate(rest[low - start : max(end - start, 0)], low):
            yield at, word & _LOW, (word >> _OWN) - 1

    def row(self, number: int) -> Row:
        """Return a row by its number."""
        found = self._rows.get(number)
        if found is not None:
            return found
        part, rows = self._open
        if part != number // TABLE:
            part = number // TABLE
            self._open = part, (rows := self._unfold(part))
        return rows[number % TABLE]

    def clear(self) -> None:
        """Forget all events; numbers go on rising."""
        with self._lock:
            # Counted first: what other threads note meanwhile stays.
            gone = len(self._pending)
            self._first += gone
            del self._pending[:gone]
            self._chunks.clear()

    def _describe(self, row: Row) -> int:
        # Two threads may describe the same row at once: then it stands there twice.
        number = next(self._numbers)
        # Before it is known: a thread that finds the number must find its row.
        self._rows[number] = row
        self._known[row] = number
        if number >= 2 * TABLE and number % TABLE == 0:
            self._fold(number // TABLE - 2)
        return number

    def _pack(self) -> None:
        """Compress what is pending; whoever comes while that is done goes on."""
        # A storage may end while this thread is inside, and be noted: waiting would be for ever.
        if not self._lock.acquire(blocking=False):
            return
        try:
            words = np.array(self._pending[:CHUNK], np.uint64)
            numbers = (words >> _OWN).astype(np.uint32)
            own = numbers > 0
            rows = (words & _LOW).astype(np.uint32) | (own * _FLAG).astype(np.uint32)
            # Steps and not the numbers: these rise by little each time, which compresses well.
            steps = np.diff(numbers[own], prepend=np.zeros(1, np.uint32))
            packed = (zlib.compress(column.tobytes(), 1) for column in (rows, steps))
            self._chunks.append(_Chunk(self._first, len(words), *packed))
            # In this order a look at ``count`` meanwhile sees too many, never too few.
            self._first += len(words)
            del self._pending[: len(words)]
        finally:
            self._lock.release()

    def _fold(self, part: int) -> None:
        """Compress a part of the table."""
        rows = []
        for number in range(part * TABLE, (part + 1) * TABLE):
            row = self._rows[number]
            if row[0] not in self._kinds:
                self._kinds.append(row[0])
            rows.append((self._kinds.index(row[0]), *row[1:]))
        self._folded[part] = zlib.compress(json.dumps(rows).encode(), 1)
        for number in range(part * TABLE, (part + 1) * TABLE):
            row = self._rows.pop(number)
            # A row that stands there twice may be known by its other number.
            if self._known.get(row) == number:
                del self._known[row]

    def _unfold(self, part: int) -> list[Row]:
        rows = json.loads(zlib.decompress(self._folded[part]))
        return [
            # JSON has no tuples, and a row has to be hashable.
            (self._kinds[kind], *(tuple(each) if isinstance(each, list) else each for each in rest))
            for kind, *rest in rows
        ]


COMMUNICATION = -1
"""Number of the stream of each device on which NCCL works."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceEvent:
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
class Kernel(TraceEvent):
    """An operation ran on a device.

    Attributes:
        op: ATen's name, ``mm`` or ``add_``.
        device: ``cuda:N``.
        flops: Floating-point operations, as ``grader.vgpu.core.execution`` counts them.
        bytes: Bytes of all tensors read and written.
    """

    op: str
    device: str
    flops: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Transfer(TraceEvent):
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
class Allocation(TraceEvent):
    """A block of device memory was taken.

    Attributes:
        device: ``cuda:N``.
        bytes: As counted, rounded up (``grader.vgpu.core.machine``).
        block: Its number on the machine, never used again.
    """

    device: str
    bytes: int
    block: int


@dataclass(frozen=True, slots=True)
class Release(TraceEvent):
    """A block of device memory was given back; attributes as of ``Allocation``."""

    device: str
    bytes: int
    block: int


@dataclass(frozen=True, slots=True)
class Synchronisation(TraceEvent):
    """The host waited for a device; ``why`` is the call or the operation that made it wait."""

    device: str
    why: str


@dataclass(frozen=True, slots=True)
class Mark(TraceEvent):
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
class Collective(TraceEvent):
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


_E = TypeVar("_E", bound=TraceEvent)

# Their numbers mean something: who waits for whom.
_NUMBERED = (Mark, Collective)
_OF_MEMORY = (Allocation, Release)
# Which of a kind's own fields is another number each time, and so no part of its row.
_OWN_NUMBER: dict[type[TraceEvent], int] = {
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
        self._alike = lru_cache(TABLE)(lambda row: _event(self._tape.row(row), 0))
        self.note = self._tape.note

    def add(self, kind: type[TraceEvent], stream: int, phase: str, *what: Any) -> None:
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
    def events(self) -> list[TraceEvent]:
        """The events so far, made anew at each look."""
        return [
            _event(self._tape.row(row), number, sequence)
            for sequence, row, number in self._tape.read(0, self.count)
        ]

    def since(self, first: int, end: int | None = None) -> Iterator[TraceEvent]:
        """Yield events without their sequence numbers; those that are alike are the same object.

        Nor do they tell their blocks of memory: a look at a million events costs no million
        objects.

        Args:
            first: Number of the first event, as ``count`` gave it.
            end: Of the first that is no longer wanted; by default all are.
        """
        for _, row, number in self._tape.read(first, self.count if end is None else end):
            event = self._alike(row)
            yield _event(self._tape.row(row), number) if type(event) in _NUMBERED else event

    def rows(self, first: int) -> array[int]:
        """Return what was issued from a number on, but for blocks of memory: a number for each.

        Equal numbers stand for equal events.
        """
        read = self._tape.read(first, self.count)
        return array("q", (row for _, row, _ in read if self._tape.row(row)[0] not in _OF_MEMORY))

    def of(self, kind: type[_E]) -> list[_E]:
        """Return the events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]

    def clear(self) -> None:
        """Forget all events; numbers go on rising."""
        self._tape.clear()


def _event(row: Row, number: int, sequence: int = 0) -> TraceEvent:
    kind, thread, stream, phase, *what = row
    if kind in _OWN_NUMBER:
        what.insert(_OWN_NUMBER[kind], number)
    made: TraceEvent = kind(*what, sequence=sequence, thread=thread, stream=stream, phase=phase)
    return made
