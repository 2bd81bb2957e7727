"""What devices did, added up in plain, bounded values, and watching them for a while.

Virtual devices are watched where they are installed, else real ones, and reported in one form::

    {"real": False, "devices": ["cuda:0"],
     "kernels": [{"op": "mm", "device": "cuda:0", "count": 1, "flops": 16, "bytes": 48}],
     "transfers": [{"source": "cpu", "target": "cuda:0", "count": 2, "bytes": 32, "parameters": 0}],
     "each": [{"source": "cpu", "target": "cuda:0", "bytes": 16, "shape": [2, 2],
               "parameter": False}, …],
     "memory": {"cuda:0": {"before": 0, "after": 512, "peak": 1536, "limit": None,
                           "allocations": 3, "allocated": 1536}},
     "synchronisations": {"cuda:0": 1}}

On real GPUs operations are noted as the dispatcher sees them, memory as torch counts it. Operations
that autograd runs in threads of its own are seen too, for it takes the dispatch modes along. What a
library does below the dispatcher is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from grader.vgpu.core.dispatch import _WAITS, _WITHOUT_KERNEL
from grader.vgpu.core.execution import flops_of
from grader.vgpu.core.machine import Machine, installed
from grader.vgpu.core.tensor import tensors_in
from grader.vgpu.core.trace import (
    Allocation,
    Collective,
    Kernel,
    Release,
    Synchronisation,
    TraceEvent,
    Transfer,
)
from grader.vgpu.core.values import Value

MOST_KERNELS = 500
MOST_TRANSFERS = 200


@dataclass(frozen=True, slots=True)
class Held:
    """Memory of one device over a stretch of time, in bytes.

    Attributes:
        before: Live at its beginning.
        after: Live at its end.
        peak: The most that was live at one time.
        limit: What the device has, where that is bounded.
        allocations: Blocks taken.
        allocated: Bytes of these.
    """

    before: int
    after: int
    peak: int
    limit: int | None = None
    allocations: int = 0
    allocated: int = 0


@dataclass(slots=True)
class Work:
    """Kernels of one operation on one device."""

    count: int = 0
    flops: int = 0
    bytes: int = 0

    def add(self, kernel: Kernel) -> None:
        """Count a kernel in."""
        self.count += 1
        self.flops += kernel.flops
        self.bytes += kernel.bytes


@dataclass(slots=True)
class Copies:
    """Copies from one device to another; ``waits``: to the host, which waited for them."""

    count: int = 0
    bytes: int = 0
    parameters: int = 0
    waits: int = 0

    def add(self, transfer: Transfer) -> None:
        """Count a copy in."""
        self.count += 1
        self.bytes += transfer.bytes
        self.parameters += transfer.parameter
        self.waits += transfer.blocking and transfer.target == "cpu"


@dataclass(slots=True)
class BlocksTaken:
    """Blocks of memory on one device.

    Attributes:
        live: Bytes taken less bytes given back.
        peak: The most that this was.
        count: Blocks taken.
        bytes: Of these.
    """

    live: int = 0
    peak: int = 0
    count: int = 0
    bytes: int = 0

    def add(self, change: Allocation | Release) -> None:
        """Count a block in, or out."""
        if isinstance(change, Release):
            self.live -= change.bytes
            return
        self.live += change.bytes
        self.peak = max(self.peak, self.live)
        self.count += 1
        self.bytes += change.bytes


@dataclass(slots=True)
class Exchange:
    """Collectives of one operation between the same ranks.

    Attributes:
        marks: Each of them, by what its processes have in common.
        bytes: Of their tensors.
    """

    marks: set[tuple[str, int]] = field(default_factory=set)
    bytes: int = 0

    def add(self, event: Collective) -> None:
        """Count one in, unless another of its processes was counted."""
        if event.exchange not in self.marks:
            self.bytes += event.bytes
        self.marks.add(event.exchange)


@dataclass(slots=True)
class Summary:
    """Events added up.

    Attributes:
        work: (op, device) → kernels.
        routes: (source, target) → copies.
        first: The first copies, one by one.
        waits: Device → times that the host waited for it.
        blocks: Device → blocks of its memory.
        exchanges: (op, ranks) → collectives.
    """

    work: dict[tuple[str, str], Work] = field(default_factory=dict)
    routes: dict[tuple[str, str], Copies] = field(default_factory=dict)
    first: list[Transfer] = field(default_factory=list)
    waits: Counter[str] = field(default_factory=Counter)
    blocks: dict[str, BlocksTaken] = field(default_factory=dict)
    exchanges: dict[tuple[str, tuple[int, ...]], Exchange] = field(default_factory=dict)

    def held(self, device: str, after: int, limit: int | None) -> Held:
        """Return the memory of a device over the time of the events.

        Args:
            device: Its name.
            after: Bytes live there when the last event was over.
            limit: What the device has, or None.
        """
        blocks = self.blocks.get(device, BlocksTaken())
        # Backwards from the end: blocks of before this stretch have no event in it.
        before = after - blocks.live
        return Held(before, after, before + blocks.peak, limit, blocks.count, blocks.bytes)

    def report(self, held: dict[str, Held], real: bool) -> dict[Value, Value]:
        """Return everything as plain values; of very many kinds of kernels the heaviest.

        Args:
            held: Device → its memory; names all devices.
            real: The devices are real ones.
        """
        # Of equal work by name, so that a report is the same in every run.
        heaviest = sorted(self.work.items(), key=lambda item: (-item[1].flops, item[0]))
        return {
            "real": real,
            "devices": list(held),
            "kernels": [
                {"op": op, "device": device, "count": work.count, "flops": work.flops,
                 "bytes": work.bytes}
                for (op, device), work in heaviest[:MOST_KERNELS]
            ],
            "transfers": [
                {"source": source, "target": target, "count": copies.count,
                 "bytes": copies.bytes, "parameters": copies.parameters}
                for (source, target), copies in sorted(self.routes.items())
            ],
            "each": [
                {"source": item.source, "target": item.target, "bytes": item.bytes,
                 "shape": list(item.shape), "parameter": item.parameter}
                for item in self.first
            ],
            "memory": {name: dict(asdict(item).items()) for name, item in held.items()},
            "synchronisations": dict(self.waits.items()),
        }  # fmt: skip


def summarise(events: Iterable[TraceEvent]) -> Summary:
    """Add events up."""
    total = Summary()
    for event in events:
        if isinstance(event, Kernel):
            total.work.setdefault((event.op, event.device), Work()).add(event)
        elif isinstance(event, (Allocation, Release)):
            total.blocks.setdefault(event.device, BlocksTaken()).add(event)
        elif isinstance(event, Transfer):
            total.routes.setdefault((event.source, event.target), Copies()).add(event)
            if len(total.first) < MOST_TRANSFERS:
                total.first.append(event)
        elif isinstance(event, Synchronisation):
            total.waits[event.device] += 1
        elif isinstance(event, Collective):
            total.exchanges.setdefault((event.op, event.ranks), Exchange()).add(event)
    return total


_COPIES = frozenset({"_to_copy", "copy_", "_copy_from"})
_EMPTY = frozenset({"empty", "empty_strided"})


class RecordedOperations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes every operation with the device that it ran on.

    Args:
        device_of: Tells where a tensor is.
    """

    def __init__(self, device_of: Callable[[torch.Tensor], str]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.events: list[TraceEvent] = []
        self._device_of = device_of

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Run an operation, and note it."""
        result = func(*args, **(kwargs or {}))
        name = str(func.overloadpacket.__name__)
        given, made = (
            list(tensors_in((args, tuple((kwargs or {}).values())))),
            list(tensors_in(result)),
        )
        if name in _COPIES and made and given and self._copied(given, made[0]):
            return result
        if name in _WAITS and given:
            self.events.append(Synchronisation(self._device_of(given[0]), _WAITS[name]))
        if not (func.is_view or name in _WITHOUT_KERNEL or name in _EMPTY) and (made or given):
            device = self._device_of((made or given)[0])
            size = sum(item.numel() * item.element_size() for item in (*given, *made))
            greatest = max(item.numel() for item in (*given, *made))
            # A factory computes nothing.
            flops = flops_of(name, args, result, greatest) if given else 0
            self.events.append(Kernel(name, device, flops, size))
        return result

    def _copied(self, given: list[torch.Tensor], made: torch.Tensor) -> bool:
        """Note a copy from one device to another; False where it is none."""
        # ``copy_`` gets its target first, and returns it.
        origin = next((item for item in given if item is not made), made)
        source, target = self._device_of(origin), self._device_of(made)
        if source == target:
            return False
        size = origin.numel() * origin.element_size()
        parameter = isinstance(origin, torch.nn.Parameter)
        self.events.append(
            Transfer(source, target, size, True, tuple(origin.shape), parameter=parameter)
        )
        return True


class Recorder:
    """A context in which everything on real GPUs is noted; one may stand inside another."""

    _open: ClassVar[list[Recorder]] = []

    def __init__(self) -> None:
        self._operations = RecordedOperations(lambda tensor: str(tensor.device))
        self._before: dict[int, tuple[int, int, int]] = {}
        self._peaks: dict[int, int] = {}
        self._held: dict[str, Held] = {}

    def __enter__(self) -> Recorder:
        for ordinal in range(torch.cuda.device_count()):
            # Work that is still queued would take its memory after the look.
            torch.cuda.synchronize(ordinal)
            # The reset would lose the peak of those that stand around this one: they look first.
            for other in Recorder._open:
                other._look(ordinal)
            torch.cuda.reset_peak_memory_stats(ordinal)
            self._before[ordinal] = _statistics(ordinal)
        Recorder._open.append(self)
        self._operations.__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *failure: Any) -> None:
        self._operations.__exit__(*failure)  # type: ignore[no-untyped-call]
        Recorder._open.remove(self)
        for ordinal, (live, blocks, size) in self._before.items():
            torch.cuda.synchronize(ordinal)
            self._look(ordinal)
            now, all_blocks, all_size = _statistics(ordinal)
            peak = self._peaks[ordinal]
            limit = torch.cuda.get_device_properties(ordinal).total_memory
            taken = all_blocks - blocks, all_size - size
            self._held[f"cuda:{ordinal}"] = Held(live, now, peak, limit, *taken)

    def report(self) -> dict[Value, Value]:
        """Return what happened, once the context is left."""
        return summarise(self._operations.events).report(self._held, real=True)

    def _look(self, ordinal: int) -> None:
        """Remember the peak, which another recorder is about to reset."""
        peak = torch.cuda.max_memory_allocated(ordinal)
        self._peaks[ordinal] = max(peak, self._peaks.get(ordinal, 0))


def _statistics(ordinal: int) -> tuple[int, int, int]:
    """Return bytes live, and blocks and bytes ever taken."""
    statistics = torch.cuda.memory_stats(ordinal)
    names = ("allocated_bytes.all.current", "allocation.all.allocated",
             "allocated_bytes.all.allocated")  # fmt: skip
    live, blocks, size = (int(statistics.get(name, 0)) for name in names)
    return live, blocks, size


class DeviceWatch(AbstractContextManager["DeviceWatch"]):
    """A context in which is noted what devices do; one may stand inside another.

    Args:
        machine: Virtual devices to watch; where absent those in force, else the real ones.

    Attributes:
        report: What happened, in plain values (``grader.vgpu.recording.summary``); empty until the
        end.

    Raises:
        RuntimeError: There is no GPU, neither virtual nor real.
    """

    def __init__(self, machine: Machine | None = None) -> None:
        self.report: dict[Value, Value] = {}
        self._machine = machine or installed()
        if self._machine is None and not torch.cuda.is_available():
            raise RuntimeError("no GPU to watch; does the question say needs: {cuda: 1}?")
        self._recorder = Recorder() if self._machine is None else None
        self._start = 0

    def __enter__(self) -> DeviceWatch:
        if self._machine is not None:
            self._start = self._machine.trace.count
        if self._recorder is not None:
            self._recorder.__enter__()
        return self

    def __exit__(self, *failure: Any) -> None:
        if self._machine is not None:
            self.report = self._virtual(self._machine)
        if self._recorder is not None:
            self._recorder.__exit__(*failure)
            self.report = self._recorder.report()

    def _virtual(self, machine: Machine) -> dict[Value, Value]:
        total = summarise(machine.trace.since(self._start))
        memories = {name: machine.memory(number) for number, name in enumerate(machine.names)}
        held = {
            name: total.held(name, memory.live, memory.limit) for name, memory in memories.items()
        }
        return total.report(held, real=False)


def watching() -> DeviceWatch:
    """Watch what devices do inside a ``with`` block; ``.report`` of its target tells afterwards."""
    return DeviceWatch()
