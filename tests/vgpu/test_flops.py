"""Operations counted beside torch's own counter."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 as everybody calls it
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from grader.vgpu import virtual_gpus
from grader.vgpu.core.execution import flops_of
from grader.vgpu.core.trace import Kernel

COUNTED = {
    "mm", "addmm", "bmm", "baddbmm", "convolution", "convolution_backward",
}  # fmt: skip


def training(device: str) -> torch.Tensor:
    net = nn.Sequential(nn.Conv2d(2, 4, 3), nn.Flatten(), nn.Linear(16, 3)).to(device)
    net(torch.ones(2, 2, 4, 4, device=device)).sum().backward()
    return torch.ones(0)


@pytest.mark.parametrize("work", [
    lambda d: torch.ones(3, 4, device=d) @ torch.ones(4, 5, device=d),
    lambda d: torch.bmm(torch.ones(2, 3, 4, device=d), torch.ones(2, 4, 5, device=d)),
    lambda d: nn.Linear(4, 5).to(d)(torch.ones(3, 4, device=d)),
    lambda d: nn.Conv2d(4, 6, 3, stride=2, groups=2).to(d)(torch.ones(2, 4, 9, 9, device=d)),
    lambda d: nn.ConvTranspose2d(4, 6, 3).to(d)(torch.ones(2, 4, 5, 5, device=d)),
    training,
])  # fmt: skip
def test_products_count_as_torch_counts_them(work: Callable[[str], torch.Tensor]) -> None:
    with FlopCounterMode(display=False) as torchs:
        work("cpu")
    with virtual_gpus(1) as machine:
        work("cuda")
        ours = sum(k.flops for k in machine.trace.of(Kernel) if k.op in COUNTED)
    assert ours == torchs.get_total_flops() > 0


def test_attention_counts_its_products() -> None:
    """Torch's counter knows attention on real devices alone; by hand: Q·Kᵀ and P·V."""
    with virtual_gpus(1) as machine:
        query, key = (torch.ones(1, 2, length, 8, device="cuda") for length in (3, 5))
        machine.trace.clear()
        F.scaled_dot_product_attention(query, key, key)
        assert sum(k.flops for k in machine.trace.of(Kernel)) == 2 * (2 * 3 * 5) * (8 + 8)


def test_other_operations_count_one_an_element() -> None:
    x = torch.ones(3, 4)
    assert flops_of("add", (x, x), x, 12) == 12
    assert flops_of("clone", (x,), x, 12) == 0
    assert flops_of("mv", (x, x[0]), x[:, 0], 12) == 24
