"""What a device held when it held most, by module and kind, adds up to the peak."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from grader.vgpu import virtual_gpus
from grader.vgpu.core.machine import Machine
from grader.vgpu.memory import MemoryNotes, Owner, Peak
from grader.vgpu.processes import account_of, read_accounts, write_account
from grader.vgpu.show import by_module

ROWS = 4096


class Net(nn.Module):
    """A layer, an activation of the model's own, and a second layer."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(512, 1024), nn.Linear(1024, 128)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.relu(self.first(x)))


def trained(machine: Machine, steps: int) -> Peak:
    machine.memory_notes = MemoryNotes(machine)
    with machine.memory_notes.counting():
        net = Net().cuda()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        x = torch.ones(ROWS, 512, device="cuda")
        for _ in range(steps):
            loss = net(x).sum()
            loss.backward()
            optimizer.step()
        return machine.memory_notes.at_peak("cuda:0")


def test_each_kind_is_told_of_its_module() -> None:
    with virtual_gpus(1) as machine:
        peak = trained(machine, 2)
        assert sum(peak.values()) == machine.memory(0).peak
    first, second = 4 * (512 * 1024 + 1024), 4 * (1024 * 128 + 128)
    for kind in ("parameters", "gradients", "optimizer state"):
        assert peak[Owner("first", kind)] == first, kind
        assert peak[Owner("second", kind)] == second, kind
    # The backward pass needs what relu made in the model, and not the product before it.
    assert peak[Owner("first", "activations")] == 0
    assert peak[Owner("Net", "activations")] == 4 * ROWS * 1024
    # The inputs belong to nobody.
    assert peak[Owner("", "others")] >= 4 * ROWS * 512


def test_gradients_that_no_optimizer_has_seen_are_found() -> None:
    with virtual_gpus(1) as machine:
        machine.memory_notes = MemoryNotes(machine)
        with machine.memory_notes.counting():
            net = nn.Sequential(nn.Linear(64, 64)).cuda()
            net(torch.ones(1, 64, device="cuda")).sum().backward()
            peak = machine.memory_notes.at_peak("cuda:0")
    assert peak[Owner("0", "gradients")] == 4 * 64 * 64 + 512  # blocks of 512 bytes


def test_hooks_are_taken_away_again() -> None:
    before = len(nn.modules.module._global_forward_hooks)
    with virtual_gpus(1) as machine, MemoryNotes(machine).counting():
        assert len(nn.modules.module._global_forward_hooks) == before + 1
    assert len(nn.modules.module._global_forward_hooks) == before


def test_an_account_keeps_it_and_the_table_adds_up(tmp_path: Path) -> None:
    with virtual_gpus(2) as machine:
        trained(machine, 1)
        account = account_of(machine)
    write_account(tmp_path, account)
    (again,) = read_accounts(tmp_path)
    assert again.peaks == account.peaks
    (text,) = by_module([again])
    rows = [line.split() for line in text.splitlines()]
    assert rows[0][:3] == ["cuda:0", "held", "most,"]
    assert [row[0] for row in rows[2:5]] == ["Net", "first", "second"]
    assert rows[-1][:2] == ["in", "all"]


RANKS = """
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank())
net = DistributedDataParallel(nn.Sequential(nn.Linear(256, 256)).cuda())
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(4, 256, device="cuda")).sum().backward()
optimizer.step()
dist.destroy_process_group()
"""


@pytest.mark.heavy
def test_each_rank_has_a_table(tmp_path: Path) -> None:
    (tmp_path / "ranks.py").write_text(RANKS)
    command = [sys.executable, "-m", "grader.vgpu", "--gpus", "2", "--nproc", "2", "--modules"]
    ran = subprocess.run(
        [*command, "ranks.py"], capture_output=True, text=True, check=True, cwd=tmp_path,
        timeout=300, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert "cuda:0 held most for rank 0" in ran.stderr
    assert "cuda:1 held most for rank 1" in ran.stderr
    # Weights and gradients of 257 KiB, and a bucket of as much.
    row = next(line for line in ran.stderr.splitlines() if line.startswith("0 "))
    assert row.split()[1:5] == ["257", "KiB", "257", "KiB"]
