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


FUNCTIONAL = """
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional

dist.init_process_group("nccl")
rank = dist.get_rank()
torch.cuda.set_device(rank)
x = torch.tensor([1, -4], device="cuda") + rank
there = dist.group.WORLD
averages = [
    functional.all_reduce(x, "avg", there),
    *functional.all_reduce_coalesced([x, x + 2], "avg", there),
    functional.reduce_scatter_tensor(x, "avg", 0, there),
    *functional.reduce_scatter_tensor_coalesced([x, x + 2], "avg", [0, 0], there),
]
told = [each.tolist() for each in averages]
first, second = functional.reduce_scatter_tensor_coalesced([x, x + 2], "sum", [0, 0], there)
first = functional.wait_tensor(first).mul_(10)
told += [functional.wait_tensor(second).tolist(), first.tolist()]
part = torch.empty(1, dtype=torch.long, device="cuda")
for op in (dist.ReduceOp.SUM, dist.ReduceOp.AVG):
    work = dist.reduce_scatter_tensor(part, x, op=op, async_op=True)
    work.wait()
    part.mul_(10)
    work.wait()
    told.append(part.tolist())
stacked = torch.empty(2, 2, dtype=torch.long, device="cuda")
dist.all_gather_into_tensor(stacked, x)
dist.reduce_scatter_tensor(x, stacked)
told += [stacked.tolist(), x.tolist()]
for turn in range(2):
    dist.barrier()
    if turn == rank:
        print(told, flush=True)
dist.destroy_process_group()
"""


def test_functional_collectives_average_integers_and_each_result_is_written_once(
    tmp_path: Path,
) -> None:
    whole, larger = [1, -3], [3, -1]
    assert ranks(FUNCTIONAL, tmp_path) == [
        str(
            [
                whole,
                whole,
                larger,
                [1],
                [1],
                [3],
                [7],
                [30],
                [30],
                [10],
                [[1, -4], [2, -3]],
                [2, -8],
            ]
        ),
        str(
            [
                whole,
                whole,
                larger,
                [-3],
                [-3],
                [-1],
                [-3],
                [-70],
                [-70],
                [-30],
                [[1, -4], [2, -3]],
                [4, -6],
            ]
        ),
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
