"""Moving tensors, and working with them where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from gpu.programs.base import numbers, program


@program("`.to` in all its forms")
def to_forms() -> Any:
    x = numbers()
    return [
        x.to("cuda"), x.to("cuda:0"), x.to(torch.device("cuda")), x.to(0), x.to(device="cuda"),
        x.to("cuda", torch.float64), x.to("cuda", dtype=torch.float16, non_blocking=True),
        x.to(x.cuda().double()), x.to("cuda").to(torch.int64), x.to("cuda").to("cpu"),
        x.to("cuda").to("cpu", torch.double), x.to(torch.ones(1, device="cuda", dtype=torch.int32)),
        x.cuda().to(dtype=torch.float64, copy=True), x.to(tensor=x.cuda()),
    ]  # fmt: skip


@program("`.to` in all its forms")
def to_returns_itself() -> Any:
    x = numbers()
    g = x.cuda()
    return [
        x.to("cpu") is x, x.cpu() is x, g.to("cuda") is g, g.to("cuda:0") is g, g.cuda() is g,
        g.to("cuda", copy=True) is g, g.to(torch.float32) is g, g.to(g) is g,
        x.to("cpu", copy=True) is x, g.to("cuda", torch.float32) is g, g.to(0) is g,
    ]  # fmt: skip


@program("`.to` in all its forms")
def to_keeps_layout() -> Any:
    x = torch.arange(24.0).reshape(1, 2, 3, 4)
    last = x.contiguous(memory_format=torch.channels_last)
    return (
        x.t if False else x.mT.cuda().stride(), last.cuda().stride(),
        x.to("cuda", memory_format=torch.channels_last).stride(),
        x[:, :, ::2].cuda().stride(), x[..., 1].cuda(),
    )  # fmt: skip


@program("`.to` in all its forms")
def to_meta() -> Any:
    return numbers().to("meta").device, numbers().cuda().to("meta").device


@program("`.cuda()`, `.cpu()`, `.type(torch.cuda.FloatTensor)`")
def cuda_and_cpu() -> Any:
    x = numbers()
    g = x.cuda()
    return [
        g, x.cuda(0), x.cuda("cuda:0"), x.cuda(device=torch.device("cuda:0")), g.cpu(),
        x.cuda(non_blocking=True), g.double().cpu(), g.device, g.is_cuda, x.is_cuda,
        g.get_device(), x.get_device(), g.cpu().device,
    ]  # fmt: skip


@program("`.cuda()`, `.cpu()`, `.type(torch.cuda.FloatTensor)`")
def legacy_types() -> Any:
    x = torch.tensor([1, 2])
    g = x.cuda()
    return [
        x.type(torch.cuda.FloatTensor), g.type(torch.FloatTensor),
        g.type("torch.cuda.DoubleTensor"), x.type(), g.type(), g.type(torch.float64),
        torch.cuda.FloatTensor([1, 2]),
        torch.LongTensor([3]), isinstance(g, torch.cuda.LongTensor),
        isinstance(g, torch.LongTensor), isinstance(x, torch.LongTensor),
        isinstance(x, torch.cuda.LongTensor), torch.cuda.FloatTensor(2, 2).zero_(),
    ]  # fmt: skip


@program("`.cuda()`, `.cpu()`, `.type(torch.cuda.FloatTensor)`")
def cuda_to_the_host() -> Any:
    return numbers().cuda("cpu")


@program("Views, aliasing, in-place operations, indexing")
def moved_is_a_copy() -> Any:
    x = numbers()
    g = x.cuda()
    g.add_(1)
    x.mul_(2)
    return x, g, g.cpu()


@program("Views, aliasing, in-place operations, indexing")
def views() -> Any:
    g = numbers().cuda()
    row, flat, across = g[0], g.view(-1), g.t()
    row.mul_(10)
    flat[5] = -1
    across[1, 1] = 99
    narrow = g.narrow(1, 0, 2)
    return (
        g, row._base is g, flat.data_ptr() == g.data_ptr(), narrow.is_contiguous(), g._version,
        g.detach().add_(1) is not g, g, [v.device for v in g.split(1)], g.unsqueeze(0).shape,
    )  # fmt: skip


@program("Views, aliasing, in-place operations, indexing")
def indexing() -> Any:
    g = numbers().cuda()
    return [
        g[1], g[:, 1], g[g > 2], g[[0, 1], [1, 2]], g[torch.tensor([1])], g[..., None].shape,
        g[torch.tensor([1], device="cuda")], g.gather(1, torch.zeros(2, 1, device="cuda").long()),
        g.index_select(0, torch.tensor([0], device="cuda")), g.masked_fill(g > 3, 0),
        torch.where(g > 2, g, 0.0), g.take_along_dim(g.argmax(1, keepdim=True), 1), g.nonzero(),
    ]  # fmt: skip


@program("Views, aliasing, in-place operations, indexing")
def index_assignment() -> Any:
    g = numbers().cuda()
    g[0] = 7
    g[1, 1] = torch.tensor(3.0)
    g[:, 2] = torch.tensor([8.0, 9.0])
    g[g > 8] = 0
    g[[0], [0]] = torch.tensor(1.0)
    g.scatter_(1, torch.tensor([[1], [0]], device="cuda"), 5.0)
    return g


@program("Views, aliasing, in-place operations, indexing")
def index_on_device_into_host() -> Any:
    return numbers()[torch.tensor([0], device="cuda")]


@program("Views, aliasing, in-place operations, indexing")
def in_place_and_out() -> Any:
    g = numbers().cuda()
    alias = g
    g += 1
    g.clamp_(max=4).sub_(torch.tensor(1.0))
    out = torch.empty(2, 3, device="cuda")
    same = torch.add(g, g, out=out) is out
    g.copy_(numbers())
    return (
        alias is g,
        g,
        same,
        out,
        g.fill_(2).zero_(),
        torch.empty(0, device="cuda").resize_(2).shape,
    )


@program("`cat`, `stack`, reductions, products")
def many_operations() -> Any:
    g = numbers().cuda()
    return [
        torch.cat([g, g]), torch.stack([g, g]).shape, g.sum(), g.mean(1), g.max(1), g.std(),
        g @ g.t(), torch.mm(g, g.t()), torch.bmm(g[None], g.t()[None]), torch.einsum("ij,kj", g, g),
        g.softmax(1), g.sort(descending=True), g.topk(1), torch.unique(g), g.cumsum(0), -g, g**2,
        2 / (g + 1), g.argmax(), torch.norm(g), g.T, torch.fft.fft(g[0]).abs(), g.quantile(0.5),
        torch.linalg.inv(torch.eye(2, device="cuda")), torch.cosine_similarity(g, g + 1),
    ]  # fmt: skip


@program("CPU scalars beside device tensors")
def host_scalars() -> Any:
    g = numbers().cuda()
    return (
        g + 1,
        g * torch.tensor(2.0),
        torch.tensor(1.0) - g,
        g / np.float64(2),
        g > torch.tensor(2),
    )


@program("CPU scalars beside device tensors")
def adding_onto_a_host_scalar() -> Any:
    total = torch.tensor(0.0)
    total += torch.ones((), device="cuda")
    return total


@program("CPU scalars beside device tensors")
def choosing_between_host_scalars() -> Any:
    g = numbers().cuda()
    return [
        torch.where(g > 2, 1.0, 0.0), torch.where(g > 2, torch.tensor(1.0), torch.tensor(0.0)),
        torch.where(g > 2, g, torch.tensor(0.0)),
    ]  # fmt: skip


@program("CPU scalars beside device tensors")
def too_many_host_scalars() -> Any:
    return torch.addcmul(numbers().cuda(), torch.tensor(1.0), torch.tensor(2.0))


@program("Storages")
def storages() -> Any:
    g = numbers().cuda()
    storage = g.untyped_storage()
    return (
        storage.device, storage.is_cuda, storage.nbytes(), g[0].untyped_storage().nbytes(),
        g.t().untyped_storage().data_ptr() == storage.data_ptr(), g[1].storage_offset(),
        numbers().untyped_storage().device, g.stride(), g.t().is_contiguous(),
    )  # fmt: skip


@program("Complex numbers")
def complex_numbers() -> Any:
    z = torch.tensor([1 + 2j, 3 - 1j], device="cuda")
    parts = torch.view_as_real(z.conj().resolve_conj()).flatten()
    return z.abs(), z.real, parts, torch.view_as_real(torch.fft.fft(z)), (z @ z.conj()).imag
