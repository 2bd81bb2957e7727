"""The machine in force: its devices, their memory, streams and random generators, and its trace."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import get_ident
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

import torch

from grader.vgpu import words
from grader.vgpu.memory import Block, Blocks, Memory
from grader.vgpu.patches import Patches
from grader.vgpu.trace import Event, Kernel, Synchronisation, Trace, Transfer

if TYPE_CHECKING:
    from grader.vgpu.log import Log

HOST = "cpu"
_graph_task = torch._C._current_graph_task_id
# Capacity that is reported where no limit was set: it must be some number.
UNBOUNDED = 16 * 2**30


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


class Clock(Protocol):
    """The time of virtual devices, in seconds since it began to run."""

    def now(self) -> float:
        """Return the host's time."""

    def time_of(self, mark: int) -> float:
        """Return the time at which a stream reached a recorded event, by the event's number."""


@dataclass(frozen=True, slots=True)
class Shared:
    """What all processes of a program have in common.

    Attributes:
        folder: Where each leaves what it did (``accounts``).
        card: Whose time they take (``timeline.profiles``), or None.
        arithmetic: Whether anything is computed.
        process: Number of the process that made its devices itself, and is no fork of another.
    """

    folder: Path
    card: Any = None
    arithmetic: bool = True
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
        log: Takes down all that is computed while there is one (``grader.vgpu.log``).
        shared: What the processes that the program starts have in common with it, or None.
        rank: Of this process in its group of processes (``torch.distributed``), if it is in one.
        exchanges: Name of a group → collectives that it has begun.
        exchanged: Takes down a collective that is an operation (``torch.distributed`` sets it).
        reducing: A ``DistributedDataParallel`` gathers gradients in buckets that C++ makes.
    """

    def __init__(self, count: int, limit: int | None, undo: Callable[[Machine], None]) -> None:
        self.count = count
        self.trace = Trace()
        self.names = [f"cuda:{ordinal}" for ordinal in range(count)]
        self.generators: Sequence[torch.Generator] = ()
        self.local = _PerThread()
        self.forked = False
        self.clock: Clock | None = None
        self.arithmetic = True
        self.blanks = False
        self.log: Log | None = None
        self.shared: Shared | None = None
        self.rank: int | None = None
        self.exchanges: Counter[str] = Counter()
        self.exchanged: Callable[[str, Any, Any], None] = lambda *_: None
        self.reducing = False
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
            raise words.invalid_ordinal()
        return ordinal

    def uninstall(self) -> None:
        """Put torch back as it was. What is still on a device can no longer be used."""
        self._undo(self)

    def __enter__(self) -> Machine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.uninstall()

    def note(self, kind: type[Event], ordinal: int, *what: Any) -> None:
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
            raise words.while_capturing()
        self.note(Synchronisation, ordinal, self.names[ordinal], why)

    def transfer(self, tensor: torch.Tensor, source: str, target: str, blocking: bool) -> None:
        """Take down that a tensor's elements go from one device to another."""
        if blocking and self.local.capture is not None:
            raise words.while_capturing()
        # A copy runs on a stream of the device at its end that is one; of two, on the source's.
        end = source if source != HOST else target
        size, shape = tensor.numel() * tensor.element_size(), tuple(tensor.shape)
        parameter = isinstance(tensor, torch.nn.Parameter)
        there = 0 if target == HOST else self.local.streams.get(self.names.index(target), 0)
        what = (source, target, size, blocking, shape, parameter, there)
        self.note(Transfer, self.names.index(end), *what)

    def _changed(self, kind: type[Event], block: Block) -> None:
        # Storages are freed wherever the last reference goes: that is on no stream of its own.
        row = (kind, get_ident(), 0, _phase(), self.names[block.ordinal], block.bytes)
        self.trace.note(row, block.number)

    def _full(self, ordinal: int, size: int) -> Exception:
        memory = self._memories[ordinal]
        return words.out_of_memory(ordinal, size, memory.live, memory.limit or UNBOUNDED)


def _phase() -> str:
    # −1 outside a backward pass; here it runs in the thread that called ``backward``.
    return "forward" if _graph_task() < 0 else "backward"


_in_force: list[Machine] = []


def _after_fork() -> None:
    for each in _in_force:
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
