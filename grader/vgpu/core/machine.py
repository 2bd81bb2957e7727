"""The machine in force: its devices, their memory, streams and random generators, and its trace.

A tensor's storage counts once, however many views look at it, from the operation that made it
until torch frees it. A block is rounded up to 512 bytes, as torch's caching allocator does
(``kMinBlockSize`` in c10/core/AllocatorConfig.h), and a large one to 2 MiB where too little would
remain. Which free block is used again, the allocator's cache, its fragments, the workspaces of
libraries and the driver's own context are not modelled.
"""

from __future__ import annotations

import os
import re
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from math import inf
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING, Any, Protocol, cast

import torch

from grader.vgpu.core.trace import (
    Allocation,
    Kernel,
    Release,
    Synchronisation,
    Trace,
    TraceEvent,
    Transfer,
)
from grader.vgpu.patches import Patches, invalid_ordinal, out_of_memory, while_capturing

BLOCK = 512
# c10/cuda/CUDACachingAllocator.cpp: from ``kMinLargeAlloc`` on a block has a segment of its own, of
# a multiple of ``kRoundLarge``. What would remain is cut off if it is more than ``kSmallSize``.
_OWN_SEGMENT, _SEGMENT, _LEAST_REST = 10 * 2**20, 2 * 2**20, 2**20


def rounded(size: int) -> int:
    """Return the bytes that a block for ``size`` bytes takes."""
    block = -(-size // BLOCK) * BLOCK
    if block < _OWN_SEGMENT:
        return block
    segment = -(-block // _SEGMENT) * _SEGMENT
    return segment if segment - block <= _LEAST_REST else block


def _segments_grow() -> bool:
    """Tell whether the allocator was told to have segments that it can cut anywhere."""
    settings = (os.environ.get(name, "") for name in ("PYTORCH_ALLOC_CONF", _FORMER_SETTING))
    return any("expandable_segments:true" in each.lower().replace(" ", "") for each in settings)


_FORMER_SETTING = "PYTORCH_CUDA_ALLOC_CONF"


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
        on_change: Called for each block taken or given back.
        on_full: Makes the exception for a device and a size that no longer fits.
    """

    def __init__(
        self,
        memories: list[Memory],
        on_change: Callable[[type[TraceEvent], Block], None],
        on_full: Callable[[int, int], Exception],
    ) -> None:
        self._memories = memories
        self._on_change = on_change
        self._on_full = on_full
        self._live: dict[int, Block] = {}
        self._numbers = count()
        # Asked once, as torch does: a program cannot change it while it runs.
        self._large = inf if _segments_grow() else _OWN_SEGMENT
        # A storage may be freed, and so its end be told, while this thread is inside already.
        self._lock = threading.RLock()

    def owner(self, storage: torch.UntypedStorage) -> int | None:
        """Return the ordinal of the device that a storage is on, None for the host's."""
        block = self._live.get(storage._cdata)
        return None if block is None else block.ordinal

    def number(self, storage: torch.UntypedStorage) -> int | None:
        """Return the number of a storage's block, None for the host's."""
        block = self._live.get(storage._cdata)
        return None if block is None else block.number

    @property
    def taken(self) -> int:
        """Blocks taken so far: the number of the next one."""
        return sum(memory.taken for memory in self._memories)

    def hold(self, storage: torch.UntypedStorage, ordinal: int) -> None:
        """Count a storage, unless it is counted already; look again at one that has grown.

        Raises:
            torch.OutOfMemoryError: The device is full.
        """
        # As ``rounded``, without the call: every result comes here.
        size = -(-storage.nbytes() // BLOCK) * BLOCK
        if size >= self._large:
            size = rounded(size)
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


if TYPE_CHECKING:
    from grader.vgpu.advice import Places
    from grader.vgpu.memory import MemoryNotes
    from grader.vgpu.recording.recorder import Log

HOST = "cpu"
_graph_task = torch._C._current_graph_task_id
# Capacity that is reported where no limit was set: it must be some number.
UNBOUNDED = 16 * 2**30
_HOST_IS_FULL = re.compile(r"DefaultCPUAllocator: .*you tried to allocate (\d+) bytes")


class _PerThread(threading.local):
    """What CUDA keeps for each thread: the current device, and each device's current stream."""

    def __init__(self) -> None:
        self.device = 0
        self.streams: dict[int, int] = {}
        # A function of several operations is running, whose own host tensors count as the device's.
        self.adopting = False
        # A scripted module moves: its parameters are replaced, not exchanged.
        self.replacing = False
        # An exchange between processes is under way, of what is below the devices.
        self.exchanging = False
        # The CUDA graph that is being captured, or None.
        self.capture: Any = None
        # Contexts of streams that were entered as such, ``with stream:``.
        self.entered: list[Any] = []


class DeviceClock(Protocol):
    """The time of virtual devices, in seconds since it began to run."""

    def now(self) -> float:
        """Return the host's time."""

    def time_of(self, mark: int) -> float:
        """Return the time at which a stream reached a recorded event, by the event's number."""


@dataclass(frozen=True, slots=True)
class Shared:
    """What all processes of a program have in common.

    Attributes:
        folder: Where each leaves what it did (``processes.Account``).
        card: Whose time they take (``timeline.profiles``), or None.
        arithmetic: Whether anything is computed.
        modules: Whether each notes whose its memory is (``memory.MemoryNotes``).
        process: Number of the process that made its devices itself, and is no fork of another.
    """

    folder: Path
    card: Any = None
    arithmetic: bool = True
    modules: bool = False
    process: int = field(default_factory=os.getpid)


class Machine:
    """A machine with virtual devices, in force until ``uninstall``.

    Attributes:
        count: Number of devices.
        trace: What they did.
        blocks: Live storages.
        generators: Random generator of each device, by ordinal.
        patches: What was changed in torch.
        local: What each thread has of its own.
        forked: This process is a fork of one that had used its devices: they are not its own.
        clock: Tells the devices' own time while there is a timeline (``grader.vgpu.timeline``).
        arithmetic: Whether anything is computed; without it, tensors have shapes and no elements.
        blanks: There may be such tensors.
        log: Takes down all that is computed while there is one
        (``grader.vgpu.recording.recorder``).
        shared: What the processes that the program starts have in common with it, or None.
        rank: Of this process in its group of processes (``torch.distributed``), if it is in one.
        exchanges: Name of a group → collectives that it has begun.
        exchanged: Takes down a collective that is an operation (``torch.distributed`` sets it).
        places: Lines of the program that wait and copy, while they are noted.
        memory_notes: Whose the memory is, while that is noted.
        reducing: A ``DistributedDataParallel`` gathers gradients in buckets that C++ makes.
    """

    def __init__(self, count: int, limit: int | None, undo: Callable[[Machine], None]) -> None:
        self.count = count
        self.trace = Trace()
        self.names = [f"cuda:{ordinal}" for ordinal in range(count)]
        self.generators: Sequence[torch.Generator] = ()
        self.local = _PerThread()
        self.forked = False
        self.clock: DeviceClock | None = None
        self.arithmetic = True
        self.blanks = False
        self.log: Log | None = None
        self.shared: Shared | None = None
        self.rank: int | None = None
        self.exchanges: Counter[str] = Counter()
        self.exchanged: Callable[[str, Any, Any], None] = lambda *_: None
        self.reducing = False
        self.places: Places | None = None
        self.memory_notes: MemoryNotes | None = None
        self._memories = [Memory(limit) for _ in range(count)]
        self.blocks = Blocks(self._memories, self._changed, self._full)
        self._undo = undo
        self.patches = Patches()

    def compute(self, arithmetic: bool) -> None:
        """Compute from now on, or only keep shapes, memory and time."""
        self.arithmetic = arithmetic
        self.blanks = self.blanks or not arithmetic

    def memory(self, ordinal: int) -> Memory:
        """Return the memory of a device.

        Raises:
            RuntimeError: No such device (torch's words).
        """
        self.check(ordinal)
        return self._memories[ordinal]

    def check(self, ordinal: int) -> int:
        """Return ``ordinal``.

        Raises:
            RuntimeError: No such device (torch's words).
        """
        if not 0 <= ordinal < self.count:
            raise invalid_ordinal()
        return ordinal

    def uninstall(self) -> None:
        """Put torch back as it was. What is still on a device can no longer be used."""
        self._undo(self)

    def __enter__(self) -> Machine:
        return self

    def __exit__(self, *_: object) -> None:
        self.uninstall()

    def note(self, kind: type[TraceEvent], ordinal: int, *what: Any) -> None:
        """Take down an event on a device, on the thread's current stream there."""
        self.trace.add(kind, self.local.streams.get(ordinal, 0), _phase(), *what)
        if self.log is not None:
            self.log.event(kind, ordinal, what)

    def note_kernel(self, op: str, ordinal: int, flops: int, size: int) -> None:
        """Take down a kernel; the same as ``note``, for the event that there are most of."""
        row = (
            Kernel, get_ident(), self.local.streams.get(ordinal, 0), _phase(),
            op, self.names[ordinal], flops, size,
        )  # fmt: skip
        self.trace.note(row)

    def wait(self, ordinal: int, why: str) -> None:
        """Take down that the host waits for a device.

        Raises:
            RuntimeError: A graph is being captured: its operations are yet to run (CUDA's words).
        """
        if self.local.capture is not None:
            raise while_capturing()
        self.note(Synchronisation, ordinal, self.names[ordinal], why)
        if self.places is not None:
            self.places.note(why, self.timed_event)

    @property
    def timed_event(self) -> int:
        """Number of the event that was noted last, where there is a timeline; else −1."""
        return -1 if self.clock is None else self.trace.count - 1

    def transfer(self, tensor: torch.Tensor, source: str, target: str, blocking: bool) -> None:
        """Take down that a tensor's elements go from one device to another."""
        if blocking and self.local.capture is not None:
            raise while_capturing()
        # A copy runs on a stream of the device at its end that is one; of two, on the source's.
        end = source if source != HOST else target
        size, shape = tensor.numel() * tensor.element_size(), tuple(tensor.shape)
        parameter = isinstance(tensor, torch.nn.Parameter)
        there = 0 if target == HOST else self.local.streams.get(self.names.index(target), 0)
        what = (source, target, size, blocking, shape, parameter, there)
        self.note(Transfer, self.names.index(end), *what)

    def _changed(self, kind: type[TraceEvent], block: Block) -> None:
        # Storages are freed wherever the last reference goes: that is on no stream of its own.
        row = (kind, get_ident(), 0, _phase(), self.names[block.ordinal], block.bytes)
        self.trace.note(row, block.number)

    def full_or(self, error: RuntimeError, ordinal: int) -> Exception:
        """Return what a device says where the host has no memory left; else the error itself."""
        found = _HOST_IS_FULL.search(str(error))
        return error if found is None else self._full(ordinal, int(found[1]))

    def _full(self, ordinal: int, size: int) -> Exception:
        memory = self._memories[ordinal]
        return out_of_memory(ordinal, size, memory.live, memory.limit or UNBOUNDED)


def _phase() -> str:
    # −1 outside a backward pass; here it runs in the thread that called ``backward``.
    return "forward" if _graph_task() < 0 else "backward"


_in_force: list[Machine] = []


def _after_fork() -> None:
    for each in _in_force:
        # As CUDA has it: devices that nobody used before the fork may be used after it.
        each.forked = any(each.memory(ordinal).taken for ordinal in range(each.count))


os.register_at_fork(after_in_child=_after_fork)


def machine() -> Machine:
    """Return the machine in force.

    Raises:
        RuntimeError: None is: a device tensor has outlived its machine.
    """
    if not _in_force:
        raise RuntimeError("no virtual CUDA devices are installed any more (grader.vgpu.install)")
    return _in_force[-1]


def installed() -> Machine | None:
    """Return the machine in force, or None."""
    return _in_force[-1] if _in_force else None


def set_machine(value: Machine | None) -> None:
    """Make a machine the one in force, or none."""
    if value is not None and _in_force:
        raise RuntimeError("virtual CUDA devices are installed already; uninstall them first")
    _in_force[:] = [] if value is None else [value]
