"""Reading what is on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from gpu.programs.base import numbers, program


@program("`.item()`, `.tolist()`, printing, conversions")
def reading() -> Any:
    g = numbers().cuda()
    return (
        g[1, 2].item(), g.tolist(), float(g.sum()), int(g[0, 1]), bool((g > 1).any()), len(g),
        [float(v) for v in g[0]], g.shape, 3.0 in g, f"{g.sum():.2f}", torch.equal(g, g),
        torch.allclose(g, g), g.sum().tolist(), g.numel(), g.element_size(), g.nbytes,
        g.is_contiguous(), g.dtype, g.layout, g.cpu().numpy().tolist(), g.dim(),
    )  # fmt: skip


@program("`.item()`, `.tolist()`, printing, conversions")
def printing() -> Any:
    g = numbers().cuda()
    weight = nn.Parameter(g.clone())
    return [
        repr(g), str(g[0]), repr(g.double()), repr(g.sum()), repr(weight),
        repr((weight * 2).sum()), repr(torch.zeros(2, 0, device="cuda", dtype=torch.int32)),
        repr(torch.ones(2000, device="cuda")), repr(g.clone().requires_grad_()),
        repr(numbers().requires_grad_().cuda()), repr([g.bool()]), repr(g.device), f"{g[0]}",
        repr(torch.arange(60.0, device="cuda").reshape(2, 30)),
    ]  # fmt: skip


@program("`.item()`, `.tolist()`, printing, conversions")
def item_of_many() -> Any:
    return numbers().cuda().item()


@program("`.numpy()` on a device tensor raises")
def to_numpy() -> Any:
    return numbers().cuda().numpy()


@program("`.numpy()` on a device tensor raises")
def numpy_array() -> Any:
    return np.asarray(numbers().cuda())


@program("`.numpy()` on a device tensor raises")
def numpy_with_grad() -> Any:
    return numbers().requires_grad_().cuda().detach().cpu().numpy().tolist()
