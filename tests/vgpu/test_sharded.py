"""Tensors spread over processes say their devices; their collectives are taken down."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import distributed, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

from grader.vgpu import virtual_gpus
from grader.vgpu.core.trace import Collective, Kernel

CUDA = torch.device("cuda:0")


@pytest.fixture
def spreading() -> ModuleType:
    """``torch.distributed.tensor``: its import takes as long as torch's own."""
    return import_module("torch.distributed.tensor")


@pytest.fixture
def mesh(tmp_path: Path) -> Iterator[tuple[Any, DeviceMesh]]:
    with virtual_gpus(2) as machine:
        distributed.init_process_group("nccl", f"file://{tmp_path}/group", rank=0, world_size=1)
        try:
            yield machine, init_device_mesh("cuda", (1,))
        finally:
            distributed.destroy_process_group()


def test_it_says_the_device_of_its_part(mesh, spreading) -> None:
    spread = spreading.distribute_tensor(torch.ones(2, 2), mesh[1], [spreading.Shard(0)])
    assert (spread.device, spread.is_cuda, spread.is_cpu, spread.get_device()) == (
        CUDA, True, False, 0,
    )  # fmt: skip
    assert (spread + 1).device == spread.full_tensor().device == CUDA


def test_collectives_between_parts_are_no_kernels(mesh) -> None:
    machine, there = mesh
    part = torch.ones(4, device="cuda")
    machine.trace.clear()
    # What DTensor calls; with one process alone it would not.
    collectives = import_module("torch.distributed._functional_collectives")
    assert collectives.all_reduce(part, "sum", (there, 0)).tolist() == [1.0] * 4
    told = [(event.op, event.bytes, event.device) for event in machine.trace.of(Collective)]
    assert told == [("all_reduce", 16, "cuda:0")]
    assert "all_reduce" not in {event.op for event in machine.trace.of(Kernel)}


def test_a_model_without_elements_gets_them_on_the_device(mesh) -> None:
    sharding = pytest.importorskip("torch.distributed.fsdp")
    with torch.device("meta"):
        model = nn.Linear(2, 2)
    sharding.fully_shard(model, mesh=mesh[1])
    model.to_empty(device="cuda")
    nn.init.ones_(model.weight)
    assert model.weight.device == CUDA
    assert model.weight.full_tensor().tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_a_move_that_would_cut_a_graph_is_refused(mesh, spreading) -> None:
    spread = spreading.distribute_tensor(torch.ones(2), mesh[1], [spreading.Replicate()])
    spread.requires_grad_()
    with pytest.raises(NotImplementedError, match="moving a DTensor that a graph is built on"):
        spread.cpu()
    with torch.no_grad():
        home = spread.cpu()
    assert (home.device.type, home.to_local().tolist()) == ("cpu", [1.0, 1.0])


def test_a_mesh_gives_a_rank_its_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_RANK", "1")
    with virtual_gpus(2):
        distributed.init_process_group("nccl", f"file://{tmp_path}/group", rank=0, world_size=1)
        try:
            init_device_mesh("cuda", (1,))
            assert torch.cuda.current_device() == 1
            torch.cuda.set_device(0)
            kept = torch.ones(1, device="cuda")
            init_device_mesh("cuda", (1,))
            assert (torch.cuda.current_device(), kept.device) == (0, CUDA)
        finally:
            distributed.destroy_process_group()
