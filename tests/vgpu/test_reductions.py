"""What NCCL sums, averages and refuses, and what gloo in its place would do otherwise."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import distributed
from torch.distributed import ReduceOp

from grader.vgpu import virtual_gpus

AVERAGES = """
import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank = dist.get_rank()
torch.cuda.set_device(rank)
x = torch.tensor([1, -4, 3], device="cuda") + rank
told = []
for options in ({}, {"async_op": True}):
    y = x.clone()
    work = dist.all_reduce(y, op=dist.ReduceOp.AVG, **options)
    if work is not None:
        work.wait()
    told.append(y.tolist())
y = x.clone()
dist.reduce(y, 0, op=dist.ReduceOp.AVG)
told.append(y.tolist() if rank == 0 else [])
part = torch.empty(1, dtype=torch.long, device="cuda")
dist.reduce_scatter(part, list(x[:2].clone().chunk(2)), op=dist.ReduceOp.AVG)
told.append(part.tolist())
for turn in range(2):
    dist.barrier()
    if turn == rank:
        print(told, flush=True)
dist.destroy_process_group()
"""


def ranks(program: str, folder: Path) -> list[str]:
    (folder / "script.py").write_text(program)
    command = [sys.executable, "-m", "grader.vgpu", "--gpus", "2", "--nproc", "2", "script.py"]
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, cwd=folder
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_averages_of_integers_leave_out_what_follows_the_point(tmp_path: Path) -> None:
    """Lightning's Trainer averages how many rows it has logged."""
    whole = [1, -3, 3]
    assert ranks(AVERAGES, tmp_path) == [
        str([whole, whole, whole, [1]]),
        str([whole, whole, [], [-3]]),
    ]


def ones(dtype: torch.dtype) -> torch.Tensor:
    return torch.ones(2, dtype=dtype, device="cuda")


REFUSED: dict[str, tuple[type[Exception], Callable[[], object]]] = {
    "Cannot use ReduceOp.BXOR with NCCL": (
        ValueError, lambda: distributed.all_reduce(ones(torch.int64), op=ReduceOp.BXOR)
    ),
    "Cannot use ReduceOp.AVG with boolean inputs": (
        TypeError, lambda: distributed.all_reduce(ones(torch.bool), op=ReduceOp.AVG)
    ),
    "PreMulSum Data type must be half, float, or double": (
        TypeError,
        lambda: distributed.all_reduce(
            ones(torch.int64), op=distributed._make_nccl_premul_sum(2.0)  # type: ignore[attr-defined]
        ),
    ),
    "Input tensor data type is not supported for NCCL process group: Short": (
        TypeError, lambda: distributed.broadcast(ones(torch.int16), 0)
    ),
}  # fmt: skip


@pytest.mark.parametrize("words", REFUSED)
def test_what_nccl_lacks_is_refused_in_torchs_words(words: str, tmp_path: Path) -> None:
    kind, exchange = REFUSED[words]
    with virtual_gpus(1):
        distributed.init_process_group(
            "nccl", init_method=f"file://{tmp_path / 'group'}", rank=0, world_size=1
        )
        try:
            with pytest.raises(kind) as caught:
                exchange()
        finally:
            distributed.destroy_process_group()
    assert str(caught.value) == words


OFFLOADED = """
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullStateDictConfig, StateDictType
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("nccl")
rank = dist.get_rank()
torch.cuda.set_device(rank)
model = FSDP(nn.Linear(4, 2), device_id=rank, use_orig_params=True)
model(torch.ones(2, 4, device="cuda")).sum().backward()
config = FullStateDictConfig(offload_to_cpu=True, rank0_only=True)
with FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT, config):
    state = model.state_dict()
again = model(torch.ones(2, 4, device="cuda"))
where = {str(each.device) for each in (again, *model.parameters())} == {f"cuda:{rank}"}
for turn in range(2):
    dist.barrier()
    if turn == rank:
        print(where, [str(each.device) for each in state.values()], flush=True)
dist.destroy_process_group()
"""


def test_a_whole_checkpoint_goes_to_the_host_and_its_parameters_back(tmp_path: Path) -> None:
    assert ranks(OFFLOADED, tmp_path) == ["True ['cpu', 'cpu']", "True []"]
