"""What virtual devices do not do, they refuse by name: never a wrong result."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from grader.vgpu import virtual_gpus
from grader.vgpu.patches.cuda import _REFUSED


def ones() -> torch.Tensor:
    return torch.ones(2, 2, device="cuda")


def move_what_a_graph_holds() -> None:
    host = torch.ones(2, requires_grad=True)
    kept = host * host
    host.data = torch.ones(2, device="cuda")
    raise AssertionError(kept)


class Around(torch.Tensor):
    """A subclass that a program wraps around others, on their device."""


REFUSALS: dict[str, Callable[[], object]] = {
    "torch.export.export": lambda: torch.export.export(nn.Linear(2, 2).cuda(), (ones(),)),
    "Tensor._make_wrapper_subclass": lambda: torch.Tensor._make_wrapper_subclass(
        Around, (2,), device=torch.device("cuda")
    ),
    "quantize_per_tensor": lambda: torch.quantize_per_tensor(ones(), 0.1, 0, torch.qint8),
    "moving a tensor of dtype torch.qint8": lambda: torch.quantize_per_tensor(
        torch.ones(2), 0.1, 0, torch.qint8
    ).cuda(),
    "torch.sparse.to_sparse_semi_structured": lambda: torch.sparse.to_sparse_semi_structured(
        torch.eye(64, device="cuda").half()
    ),
    "torch.cuda.jiterator._create_jit_fn": lambda: torch.cuda.jiterator._create_jit_fn("")(ones()),
    "torch.vander": lambda: torch.vander(ones()[0]),
    "layout torch.sparse_coo": lambda: ones().to_sparse(),
    "moving a tensor of layout torch.sparse_coo": lambda: torch.eye(2).to_sparse().cuda(),
    "torch.sparse_coo_tensor with device='cuda'": lambda: torch.sparse_coo_tensor(
        [[0]], [1.0], device="cuda"
    ),
    "torch.to_dlpack": lambda: torch.utils.dlpack.to_dlpack(ones()),
    "Tensor.__dlpack__": lambda: ones().__dlpack__(),
    "Tensor.__cuda_array_interface__": lambda: ones().__cuda_array_interface__,
    "moving a nested tensor": lambda: torch.nested.nested_tensor([torch.ones(2)]).cuda(),
    "to a device that a graph still holds": move_what_a_graph_holds,
}


@pytest.mark.parametrize("name", REFUSALS)
def test_it_is_refused_by_name(name: str) -> None:
    with virtual_gpus(1), pytest.raises(NotImplementedError, match="virtual CUDA dev") as caught:
        REFUSALS[name]()
    assert name in str(caught.value)


@pytest.mark.parametrize("name", _REFUSED)
def test_cuda_functions_are_refused_by_name(name: str) -> None:
    if not hasattr(torch.cuda, name):
        pytest.skip(f"this torch has no torch.cuda.{name}")
    with virtual_gpus(1), pytest.raises(NotImplementedError) as caught:
        getattr(torch.cuda, name)()
    assert f"torch.cuda.{name} is not supported" in str(caught.value)
