"""What GPUs and their links can do: published constants, one thing at a time, collectives.

A file ``profiles/NAME.json`` maps each field of ``Profile`` to its value and its source. They are
read when this module is imported: behind a student process's walls there may be no more reading.

On a ring each of n GPUs sends to the next one. What has to go over each link, and in how many
steps, is that of P. Patarasuk and X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
workstations" (J. Parallel Distrib. Comput. 69, 2009), and of NCCL's own account of its bandwidths
(github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md). What a step costs beside its bytes is NCCL's own
figure for its ring with the protocol Simple (github.com/NVIDIA/nccl, src/graph/tuning.cc: base
8.4 µs; a hop 3.4 µs over NVLink, 5.7 µs over PCI Express).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path

_OPTIONAL = {"sustained"}
FOLDER = Path(__file__).parent / "profiles"


@dataclass(frozen=True, slots=True)
class Profile:
    """A GPU, its links, and what the host spends on it.

    Attributes:
        name: Of the file.
        title: As its maker calls it.
        flops: Peak of float32 arithmetic without tensor cores, FLOP/s.
        bandwidth: Of device memory, bytes/s.
        floor: Shortest time of a kernel, s.
        launch: What the host spends on issuing one operation, s.
        memory: Bytes of device memory.
        peer: Bytes/s from one GPU to another, one way. Where GPUs cannot reach each other a copy
            goes through the host, which is slower: the file says which is meant.
        pinned: Bytes/s between a GPU and page-locked host memory, one way.
        pageable: Bytes/s between a GPU and ordinary host memory, one way.
        latency: Of a copy, beside the time of its bytes, s.
        sustained: The share of ``flops`` that a network reaches, where somebody has published a
            measurement; 1, the peak itself, where a file does not say.
    """

    name: str
    title: str
    flops: float
    bandwidth: float
    floor: float
    launch: float
    memory: int
    peer: float
    pinned: float
    pageable: float
    latency: float
    sustained: float = 1.0

    def slowed(self, factor: float, peer: float | None = None) -> Profile:
        """Return a card with ``factor`` times the peak and the bandwidth, and another link.

        Args:
            factor: Above 0.
            peer: Bytes/s between GPUs; as it is where None.
        """
        link = self.peer if peer is None else peer
        return replace(
            self, flops=self.flops * factor, bandwidth=self.bandwidth * factor, peer=link
        )


def profile(name: str) -> Profile:
    """Return the profile of that name, or of a file that ``vgpu measure`` has written.

    Raises:
        ValueError: There is none; says which there are.
    """
    if name.endswith(".json"):
        return _of_file(Path(name).resolve())
    try:
        return PROFILES[name]
    except KeyError:
        near = get_close_matches(name.lower(), PROFILES, n=1)
        hint = f"; did you mean “{near[0]}”?" if near else ""
        known = ", ".join(PROFILES)
        raise ValueError(f"“{name}” is no device profile; there are {known}{hint}") from None


def _of_file(path: Path) -> Profile:
    try:
        # Its whole path: processes that the program starts read it, too.
        return replace(read_profile(path), name=str(path))
    except (OSError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is no device profile: {error}") from None


def read_profile(path: Path) -> Profile:
    """Return the profile that a file holds.

    Raises:
        ValueError: A field is missing, unknown, not above 0, or without a source.
    """
    data = json.loads(path.read_text(encoding="utf-8"))
    return _checked(path.name, path.stem, data)


def _checked(file: str, name: str, data: Mapping[str, Mapping[str, object]]) -> Profile:
    wanted = {key.name for key in fields(Profile)} - {"name"}
    for key in sorted((wanted ^ set(data)) - _OPTIONAL):
        what = "is missing" if key in wanted else "is no field of a profile"
        raise ValueError(f"{file}: “{key}” {what}")
    values = {}
    for key, entry in data.items():
        value = entry.get("value")
        if key != "title" and not (isinstance(value, (int, float)) and value > 0):
            raise ValueError(f"{file}: “{key}” must be a number above 0, not {value!r}")
        if not entry.get("source"):
            raise ValueError(f"{file}: “{key}” names no source")
        values[key] = value
    return Profile(name=name, **values)  # type: ignore[arg-type]


PROFILES: Mapping[str, Profile] = {
    path.stem: read_profile(path) for path in sorted(FOLDER.glob("*.json"))
}


_BASE, _NVLINK_HOP, _PCI_HOP = 8.4e-6, 3.4e-6, 5.7e-6
# PCI Express 4.0 × 16 moves 31.5 GB/s one way: what is faster is NVLink.
_FASTEST_PCI = 32e9
# All ranks' data go all the way round, once or twice; one rank's data go down the line; each rank
# sends every other one its part.
_ROUND = frozenset({
    "all_gather", "all_gather_into_tensor", "all_gather_single", "reduce_scatter",
    "reduce_scatter_tensor", "reduce_scatter_single", "gather", "scatter", "all_to_all",
    "all_to_all_single",
})  # fmt: skip


def collective_bytes(op: str, size: int, ranks: int) -> float:
    """Return the bytes that go over each link of the ring.

    Args:
        op: ``torch.distributed``'s name.
        size: Bytes of the tensors of all ranks together, where each has a part of the whole; else
            of one of them.
        ranks: Number of GPUs.
    """
    if ranks < 2:
        return 0.0
    share = (ranks - 1) / ranks
    if op == "all_reduce":
        return 2 * share * size
    return share * size if op in _ROUND else float(size)


def collective_steps(op: str, ranks: int) -> int:
    """Return how many steps follow each other."""
    if op in {"send", "recv"}:
        return 1
    return (2 if op == "all_reduce" else 1) * (ranks - 1)


def collective_seconds(op: str, size: int, ranks: int, card: Profile) -> float:
    """Return how long all of it lasts; arguments as of ``collective_bytes``."""
    hop = _PCI_HOP if card.peer < _FASTEST_PCI else _NVLINK_HOP
    return _BASE + collective_steps(op, ranks) * hop + collective_bytes(op, size, ranks) / card.peer


@dataclass(slots=True)
class Engine:
    """Does one piece of work at a time; what comes later may fill a hole that was left before.

    A kernel that fills its device leaves nothing for another one, and the timeline takes every
    kernel for such a one: two streams of a device hide waiting, not computing.

    Attributes:
        end: Seconds at which it is done with all it was given.
        last: Number of the span that ends then.
        holes: Times before that at which it has nothing to do, first and last second of each.
    """

    end: float = 0.0
    last: int = -1
    holes: list[tuple[float, float]] = field(default_factory=list)

    def place(self, ready: float, lasts: float, issued: float, number: int) -> tuple[float, int]:
        """Find room for a piece of work.

        Args:
            ready: When it could begin.
            lasts: Seconds that it takes.
            issued: The host's time: nothing that comes later can begin before.
            number: Of its span.

        Returns:
            When it begins, and the span that it waits for; −1 where it begins when it is ready.
        """
        # Nothing can begin there any more; kept, the list would grow with the trace.
        if self.holes:
            self.holes = [hole for hole in self.holes if hole[1] > issued]
        for index, (first, last) in enumerate(self.holes):
            start = max(first, ready)
            if start + lasts <= last:
                left = (first, start), (start + lasts, last)
                self.holes[index : index + 1] = [hole for hole in left if hole[1] > hole[0]]
                return start, -1
        start, before = max(self.end, ready), self.last if self.end > ready else -1
        if start > self.end:
            self.holes.append((self.end, start))
        self.end, self.last = start + lasts, number
        return start, before
