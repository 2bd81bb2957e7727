"""A trace in plain, bounded values: what the probe ``devices`` tells of real and virtual GPUs.

::

    {"real": False, "devices": ["cuda:0"],
     "kernels": [{"op": "mm", "device": "cuda:0", "count": 1, "flops": 16, "bytes": 48}],
     "transfers": [{"source": "cpu", "target": "cuda:0", "count": 2, "bytes": 32, "parameters": 0}],
     "each": [{"source": "cpu", "target": "cuda:0", "bytes": 16, "shape": [2, 2],
               "parameter": False}, …],
     "memory": {"cuda:0": {"before": 0, "after": 512, "peak": 1536, "limit": None,
                           "allocations": 3, "allocated": 1536}},
     "synchronisations": {"cuda:0": 1}}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from grader.vgpu.trace import (
    Allocation,
    Collective,
    Event,
    Kernel,
    Release,
    Synchronisation,
    Transfer,
)
from grader.wire.values import Value

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
    """Copies from one device to another."""

    count: int = 0
    bytes: int = 0
    parameters: int = 0

    def add(self, transfer: Transfer) -> None:
        """Count a copy in."""
        self.count += 1
        self.bytes += transfer.bytes
        self.parameters += transfer.parameter


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
        before = after - blocks.live
        return Held(before, after, before + blocks.peak, limit, blocks.count, blocks.bytes)

    def report(self, held: dict[str, Held], real: bool) -> dict[Value, Value]:
        """Return everything as plain values; of very many kinds of kernels the heaviest.

        Args:
            held: Device → its memory; names all devices.
            real: The devices are real ones.
        """
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
            "memory": {name: _memory(item) for name, item in held.items()},
            "synchronisations": dict(self.waits.items()),
        }  # fmt: skip


def summarise(events: Iterable[Event]) -> Summary:
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


def held_during(events: Iterable[Event], after: int, limit: int | None, device: str) -> Held:
    """Return the memory of a device over the time of some events; see ``Summary.held``."""
    return summarise(events).held(device, after, limit)


def _memory(held: Held) -> dict[Value, Value]:
    return {
        "before": held.before, "after": held.after, "peak": held.peak, "limit": held.limit,
        "allocations": held.allocations, "allocated": held.allocated,
    }  # fmt: skip
