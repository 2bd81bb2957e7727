"""Making tensors on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from gpu.programs.base import numbers, program


@program("Factories with `device=`")
def factories() -> Any:
    d = "cuda:0"
    return [
        torch.zeros(2, device=d), torch.ones(2, 2, device=d), torch.full((2,), 7, device=d),
        torch.arange(3, device=d), torch.linspace(0, 1, 3, device=d), torch.eye(2, device=d),
        torch.tensor([1, 2], device=d), torch.as_tensor(np.ones(2), device=d),
        torch.empty(0, device=d), torch.scalar_tensor(2.0, device=d),
        torch.tensor([1.5], dtype=torch.float64, device=torch.device("cuda", 0)),
        torch.zeros(1, device=0), torch.asarray([1, 2], device=d),
        torch.tril_indices(2, 2, device=d), torch.hann_window(3, device=d),
    ]  # fmt: skip


@program("Factories with `device=`")
def likes() -> Any:
    x = numbers()
    g = x.cuda()
    return [
        torch.zeros_like(g), torch.ones_like(x, device="cuda"), torch.full_like(g, 2.0),
        torch.zeros_like(g, device="cpu"), torch.empty_like(g).shape, g.new_zeros(2),
        g.new_ones(2, dtype=torch.int64), g.new_tensor([1, 2]), g.new_full((1,), 3.0),
        x.new_zeros(2, device="cuda"), g.new_zeros(1, device="cpu"), g.new_empty(2).device,
    ]  # fmt: skip


@program("Factories with `device=`")
def requires_grad_in_factories() -> Any:
    a = torch.ones(2, device="cuda", requires_grad=True)
    b = torch.tensor([1.0, 2.0], device="cuda", requires_grad=True)
    (a * b).sum().backward()
    return a.is_leaf, b.is_leaf, a.grad, b.grad


@program("Random numbers and `Generator('cuda')`")
def random_draws() -> Any:
    torch.manual_seed(1)
    first = [torch.rand(3, device="cuda"), torch.randn(3, device="cuda")]
    torch.manual_seed(1)
    again = [torch.rand(3, device="cuda"), torch.randn(3, device="cuda")]
    dropped = nn.functional.dropout(torch.ones(8, device="cuda"))
    like = torch.rand_like(numbers(), device="cuda")
    return (
        [torch.equal(a, b) for a, b in zip(first, again, strict=True)],
        torch.randint(0, 5, (4,), device="cuda").device, torch.randperm(4, device="cuda").sum(),
        dropped.device, like.device, torch.randn_like(like).device,
        torch.normal(0.0, 1.0, (2,), device="cuda").shape,
        torch.multinomial(torch.ones(3, device="cuda"), 2).device,
        torch.empty(3, device="cuda").uniform_().device,
    )  # fmt: skip


@program("Random numbers and `Generator('cuda')`")
def host_draws_are_apart() -> Any:
    torch.manual_seed(3)
    alone = torch.rand(3)
    torch.manual_seed(3)
    torch.rand(3, device="cuda")
    torch.rand_like(torch.ones(3, device="cuda"))
    return torch.equal(alone, torch.rand(3))


@program("Random numbers and `Generator('cuda')`")
def generators() -> Any:
    g = torch.Generator("cuda").manual_seed(4)
    a = torch.rand(3, device="cuda", generator=g)
    b = torch.rand(3, device="cuda", generator=torch.Generator(device="cuda").manual_seed(4))
    torch.cuda.manual_seed(5)
    c = torch.rand(2, device="cuda")
    torch.cuda.manual_seed_all(5)
    return (
        torch.equal(a, b), torch.equal(c, torch.rand(2, device="cuda")), g.device.type,
        isinstance(g, torch.Generator), isinstance(torch.Generator(), torch.Generator),
        torch.Generator().device,
    )  # fmt: skip


@program("Random numbers and `Generator('cuda')`")
def host_generator_for_device() -> Any:
    return torch.rand(2, device="cuda", generator=torch.Generator())


@program("Random numbers and `Generator('cuda')`")
def device_generator_for_host() -> Any:
    return torch.rand(2, generator=torch.Generator("cuda"))


@program("Random numbers and `Generator('cuda')`")
def generator_in_place() -> Any:
    g = torch.Generator("cuda").manual_seed(4)
    a = torch.empty(3, device="cuda").normal_(generator=g)
    g.manual_seed(4)
    return torch.equal(a, torch.empty(3, device="cuda").normal_(generator=g))


@program("Random numbers and `Generator('cuda')`", devices=2)
def generator_of_another_device() -> Any:
    return torch.rand(2, device="cuda:1", generator=torch.Generator("cuda:0"))


@program("Random numbers and `Generator('cuda')`")
def device_generator_in_place_on_the_host() -> Any:
    return torch.empty(2).uniform_(generator=torch.Generator("cuda"))
