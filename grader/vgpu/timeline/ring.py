"""What collectives between GPUs take on a ring.

Each of n GPUs sends to the next one. What has to go over each link, and in how many steps, is that
of P. Patarasuk and X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations"
(J. Parallel Distrib. Comput. 69, 2009), and of NCCL's own account of its bandwidths
(github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md). What a step costs beside its bytes is NCCL's own
figure for its ring with the protocol Simple (github.com/NVIDIA/nccl, src/graph/tuning.cc: base
8.4 µs; a hop 3.4 µs over NVLink, 5.7 µs over PCI Express).
"""

from __future__ import annotations

from grader.vgpu.timeline.profiles import Profile

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


def sent(op: str, size: int, ranks: int) -> float:
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


def steps(op: str, ranks: int) -> int:
    """Return how many steps follow each other."""
    if op in {"send", "recv"}:
        return 1
    return (2 if op == "all_reduce" else 1) * (ranks - 1)


def seconds(op: str, size: int, ranks: int, card: Profile) -> float:
    """Return how long all of it lasts; arguments as of ``sent``."""
    hop = _PCI_HOP if card.peer < _FASTEST_PCI else _NVLINK_HOP
    return _BASE + steps(op, ranks) * hop + sent(op, size, ranks) / card.peer
