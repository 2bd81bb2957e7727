"""Device memory: what is live, what was live at most, and when it is full.

A tensor's storage counts once, however many views look at it, from the operation that made it
until torch frees it. A block is rounded up to 512 bytes, as torch's caching allocator does
(``kMinBlockSize`` in c10/core/AllocatorConfig.h); the allocator's cache, its fragments, the
workspaces of libraries and the driver's own context are not modelled.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from itertools import count
from typing import Any, cast

import torch

from grader.vgpu.trace import Allocation, Event, Release

BLOCK = 512


def rounded(size: int) -> int:
    """Return the bytes that a block for ``size`` bytes takes."""
    return -(-size // BLOCK) * BLOCK


class Memory:
    """One device's memory.

    Attributes:
        live: Bytes in use now.
        peak: The most that were in use at one time since the last ``reset_peak``.
        limit: Bytes that the device has, or None for no bound.
        taken: Number of blocks taken so far.
        given_back: Number of blocks given back so far.
    """

    def __init__(self, limit: int | None) -> None:
        self.live = 0
        self.peak = 0
        self.limit = limit
        self.taken = 0
        self.given_back = 0

    def reset_peak(self) -> None:
        """Forget the peak: from here on it is the most since now."""
        self.peak = self.live


class Block(weakref.ref[Any]):
    """A live storage: what tells of its end, whose it is, how large, and its number.

    Attributes:
        key: Address of the storage.
        ordinal: Its device.
        bytes: As counted.
        number: Never used again.
    """

    __slots__ = ("bytes", "key", "number", "ordinal")

    key: int
    ordinal: int
    bytes: int
    number: int


class Blocks:
    """The live storages of all devices, found by the address of torch's storage object.

    Args:
        memories: By ordinal.
        on_change: Told of each block taken or given back.
        on_full: Makes the exception for a device and a size that no longer fits.
    """

    def __init__(
        self,
        memories: list[Memory],
        on_change: Callable[[type[Event], Block], None],
        on_full: Callable[[int, int], Exception],
    ) -> None:
        self._memories = memories
        self._on_change = on_change
        self._on_full = on_full
        self._live: dict[int, Block] = {}
        self._numbers = count()
        # A storage may be freed, and so its end be told, while this thread is inside already.
        self._lock = threading.RLock()

    def owner(self, storage: torch.UntypedStorage) -> int | None:
        """Return the ordinal of the device that a storage is on, None for the host's."""
        block = self._live.get(storage._cdata)
        return None if block is None else block.ordinal

    def hold(self, storage: torch.UntypedStorage, ordinal: int) -> None:
        """Count a storage, unless it is counted already; look again at one that has grown.

        Raises:
            torch.OutOfMemoryError: The device is full.
        """
        # As ``rounded``, without the call: every result comes here.
        size = -(-storage.nbytes() // BLOCK) * BLOCK
        key = storage._cdata
        known = self._live.get(key)
        if known is not None and known.bytes == size and known.ordinal == ordinal:
            return
        with self._lock:
            if known is not None:
                self._drop(known)
            memory = self._memories[ordinal]
            if memory.limit is not None and memory.live + size > memory.limit:
                raise self._on_full(ordinal, size)
            block = Block(storage, self._ended)
            block.key, block.ordinal, block.bytes = key, ordinal, size
            block.number = next(self._numbers)
            # Making a block may end another one: from here on nothing can come in between.
            self._live[key] = block
            memory.live += size
            memory.taken += 1
            memory.peak = max(memory.peak, memory.live)
            self._on_change(Allocation, block)

    def _ended(self, ref: weakref.ref[Any]) -> None:
        block = cast("Block", ref)
        with self._lock:
            # Another storage may live at the same address by now.
            if self._live.get(block.key) is block:
                self._drop(block)

    def _drop(self, block: Block) -> None:
        del self._live[block.key]
        memory = self._memories[block.ordinal]
        memory.live -= block.bytes
        memory.given_back += 1
        self._on_change(Release, block)
