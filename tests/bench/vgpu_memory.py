"""Compare the memory of virtual GPUs with figures that others have measured on real ones.

    python tests/bench/vgpu_memory.py

The models are built anew from what the sources say of them; nothing is fitted. Takes 4 GB.
"""

from __future__ import annotations

import itertools
import socket
from typing import Any, NamedTuple

import torch
import torch.multiprocessing as mp
from torch import nn
from torch.distributed import init_process_group
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

from grader.vgpu import virtual_gpus
from grader.vgpu.timeline import on_timeline

RECIPE = "PyTorch's recipe for ZeroRedundancyOptimizer"
STAGES = "local model", "DDP made", "before step()", "after step()"


class Figure(NamedTuple):
    """A figure that somebody measured, in units of so many bytes, rounded down."""

    source: str
    what: str
    measured: int
    unit: int


# The recipe prints ``max_memory_allocated() // 1e6`` on the first of two GPUs.
SHARDED = [335, 656, 992, 1361]
WHOLE = [335, 656, 992, 1697]
MEASURED = [
    Figure(RECIPE, f"{optimizer}, {stage}", measured, 10**6)
    for optimizer, figures in {"sharded Adam": SHARDED, "Adam": WHOLE}.items()
    for stage, measured in zip(STAGES, figures, strict=True)
]


def train(rank: int, port: int, sharded: bool, sizes: Any) -> None:
    """Take the recipe's one step of training as one of two ranks."""
    torch.manual_seed(0)
    method = f"tcp://127.0.0.1:{port}"
    init_process_group("gloo", init_method=method, rank=rank, world_size=2)
    found = []

    def note() -> None:
        found.append(torch.cuda.max_memory_allocated(rank))

    model = nn.Sequential(*[nn.Linear(2000, 2000).to(rank) for _ in range(20)])
    note()
    spread = DistributedDataParallel(model, device_ids=[rank])
    note()
    optimizer: Any = (
        ZeroRedundancyOptimizer(spread.parameters(), optimizer_class=torch.optim.Adam, lr=0.01)
        if sharded
        else torch.optim.Adam(spread.parameters(), lr=0.01)
    )
    outputs = spread(torch.randn(20, 2000).to(rank))
    nn.MSELoss()(outputs, torch.randn(20, 2000).to(rank)).backward()
    note()
    optimizer.step()
    note()
    if rank == 0:
        sizes.put(found)


def recipe(sharded: bool) -> list[int]:
    """Return the recipe's four peaks, in bytes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with virtual_gpus(2):
        sizes = mp.get_context("spawn").SimpleQueue()
        mp.spawn(train, (port, sharded, sizes), nprocs=2)
        return sizes.get()


COURSE = "a notebook on memory, github.com/tamera-lanham/mlab"
# ``memory_allocated() / 2**30``, to two digits: after the tensors, the model, its forward pass, the
# loss, ``backward()``. There is no arithmetic here, for it would take 16 GiB.
BY_LAYERS = [0.0, 8.0, 8.0, 8.0, 16.0]
LAYERS = [16, 2**5, 2**10, 2**20, 2**10, 2**5, 16]


def notebook() -> list[float]:
    """Return what the notebook's network holds at its five stages, in GiB."""
    found = []

    def note() -> None:
        found.append(torch.cuda.memory_allocated() / 2**30)

    with virtual_gpus(1), on_timeline("a100", arithmetic=False):
        inputs = torch.randn(LAYERS[0], device="cuda")
        labels = torch.randn(LAYERS[-1], device="cuda")
        note()
        pairs = itertools.pairwise(LAYERS)
        model = nn.Sequential(*[nn.Linear(*pair, bias=False, device="cuda") for pair in pairs])
        note()
        outputs = model(inputs)
        note()
        loss = nn.MSELoss()(labels, outputs)
        note()
        loss.backward()
        note()
    return found


if __name__ == "__main__":
    print("| measured by | what | there | here | off |\n|---|---|---:|---:|---:|")
    for figure, size in zip(MEASURED, recipe(sharded=True) + recipe(sharded=False), strict=True):
        here = size // figure.unit
        off = 100 * (here - figure.measured) / figure.measured
        print(
            f"| {figure.source} | {figure.what} | {figure.measured} MB | {here} MB | {off:+.1f} % |"
        )
    for stage, (there, held) in enumerate(zip(BY_LAYERS, notebook(), strict=True), 1):
        off = 100 * (held - there) / there if there else 0.0
        print(f"| {COURSE} | stage {stage} | {there:.2f} GiB | {held:.2f} GiB | {off:+.1f} % |")
