"""Devices that hold without being named."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from gpu.programs.base import linear, numbers, program


@program("`with torch.device(...)`, `set_default_device`")
def device_context() -> Any:
    with torch.device("cuda"):
        made = [
            torch.zeros(2), torch.tensor([1.0]), torch.arange(2), torch.rand(2).device,
            nn.Linear(2, 2).weight.device, torch.zeros(1, device="cpu"),
            torch.zeros_like(numbers().cpu()), torch.as_tensor([1]),
        ]  # fmt: skip
    return made, torch.zeros(1)


@program("`with torch.device(...)`, `set_default_device`")
def default_device() -> Any:
    try:
        torch.set_default_device("cuda")
        made = [torch.zeros(2), nn.Linear(2, 2).weight.device, torch.get_default_device().type]
        clipped = linear()
        clipped(torch.ones(1, 3)).sum().backward()
        made.append(nn.utils.clip_grad_norm_(clipped.parameters(), 0.5))
    finally:
        torch.set_default_device(None)
    return made, torch.zeros(2)


@program("`with torch.device(...)`, `set_default_device`")
def device_values() -> Any:
    d = torch.device("cuda:0")
    g = torch.zeros(1, device=d)
    return (
        g.device == d, g.device == torch.device("cuda"), d.type, d.index, str(d), torch.device(0),
        torch.device("cuda").index, isinstance(g.device, torch.device), d in {g.device},
        torch.device(d), torch.device(type="cuda", index=0),
    )  # fmt: skip


@program("`with torch.device(...)`, `set_default_device`")
def loader_under_a_default_device() -> Any:
    with torch.device("cuda"):
        data = torch.utils.data.TensorDataset(torch.arange(4.0))
        generator = torch.Generator("cuda")
        loader = torch.utils.data.DataLoader(data, 2, shuffle=True, generator=generator)
        return sum(row.sum() for (row,) in loader)
