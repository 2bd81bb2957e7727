"""Millions of events that are mostly alike, in little memory.

A program repeats itself: step after step it issues the same operations on the same shapes. So what
an event is (its *row*) is kept once, under a number. The tape is a sequence of such numbers; where
an event has a number of its own, such as a block of memory, that stands beside it. Full stretches
are compressed. A training loop takes less than a byte an event, one that never repeats a shape
some ten.
"""

from __future__ import annotations

import json
import threading
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

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
            gone = len(self._pending)
            self._first += gone
            del self._pending[:gone]
            self._chunks.clear()

    def _describe(self, row: Row) -> int:
        # Two threads may describe the same row at once: then it stands there twice.
        number = next(self._numbers)
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
            if self._known.get(row) == number:
                del self._known[row]

    def _unfold(self, part: int) -> list[Row]:
        told = json.loads(zlib.decompress(self._folded[part]))
        return [
            (self._kinds[kind], *(tuple(each) if isinstance(each, list) else each for each in rest))
            for kind, *rest in told
        ]
