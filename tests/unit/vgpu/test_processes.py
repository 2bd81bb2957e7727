"""Process groups and started processes, as the documents' distributed training has them."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from grader.vgpu import installed, virtual_gpus
from grader.vgpu.processes import Started


@contextmanager
def group(backend: str, file: Path, rank: int = 0, world_size: int = 1) -> Iterator[None]:
    distributed.init_process_group(
        backend, init_method=f"file://{file}", rank=rank, world_size=world_size
    )
    try:
        yield
    finally:
        distributed.destroy_process_group()


@pytest.mark.parametrize("backend", ["nccl", "gloo"])
def test_distributed_data_parallel_on_a_device(backend: str, tmp_path: Path) -> None:
    with virtual_gpus(1), group(backend, tmp_path / "group"):
        torch.cuda.set_device(0)
        model = DistributedDataParallel(nn.Linear(3, 2).cuda(0), device_ids=[0])
        model(torch.ones(2, 3).cuda(0)).sum().backward()
        assert model.module.weight.grad.device == torch.device("cuda:0")
        assert model.module.weight.grad.tolist() == [[2.0] * 3] * 2
        total = torch.ones(2, device="cuda")
        distributed.all_reduce(total)
        gathered = [torch.zeros(2, device="cuda")]
        distributed.all_gather(gathered, total + 1)
        assert gathered[0].tolist() == [2.0, 2.0]
        assert distributed.get_backend() == backend


def rank(number: int, file: Path, found: Path) -> None:
    # Whoever waits for the interpreter's lock gets it late: what ends a group must not hold it.
    sys.setswitchinterval(100)
    with group("nccl", file, number, torch.cuda.device_count()):
        torch.cuda.set_device(number)
        model = DistributedDataParallel(
            nn.Linear(1, 1, bias=False).cuda(number), device_ids=[number]
        )
        with torch.no_grad():
            model.module.weight.fill_(1.0)
        model(torch.full((1, 1), float(number), device=number)).sum().backward()
        gradient = model.module.weight.grad
        (found / str(number)).write_text(f"{gradient.device} {gradient.item()}")


@pytest.mark.heavy
def test_a_process_for_each_device(tmp_path: Path) -> None:
    with virtual_gpus(2):
        torch.multiprocessing.spawn(rank, nprocs=2, args=(tmp_path / "group", tmp_path))
    assert [(tmp_path / name).read_text() for name in "01"] == ["cuda:0 0.5", "cuda:1 0.5"]


def test_a_started_process_gets_devices_and_gives_them_back() -> None:
    def work(number: int) -> tuple[int, int, int | None]:
        here = installed()
        assert here is not None
        return number, here.count, here.memory(0).limit

    assert Started(work, 3, 2**20)(7) == (7, 3, 2**20)
    assert installed() is None
    with virtual_gpus(2):
        assert Started(work, 3, None)(7) == (7, 2, None)
        assert installed() is not None


def square(x: int) -> int:
    return x * x


def test_a_pool_beside_virtual_devices() -> None:
    with virtual_gpus(1):
        kept = torch.ones(1, device="cuda")
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(square, [1, 2, 3]) == [1, 4, 9]
        assert (kept + 1).item() == 2.0
