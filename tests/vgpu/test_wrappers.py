"""Tensor subclasses that are wrapped around others: they move, or are refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import distributed, nn
from torch.nn import functional

from grader.vgpu import virtual_gpus


class Pair(torch.Tensor):
    """Two tensors as one, as libraries for quantisation have them."""

    @staticmethod
    def __new__(cls, first: torch.Tensor, second: torch.Tensor) -> Pair:
        return torch.Tensor._make_wrapper_subclass(cls, first.shape, dtype=first.dtype)

    def __init__(self, first: torch.Tensor, second: torch.Tensor) -> None:
        self.first, self.second = first, second

    def __tensor_flatten__(self) -> Any:
        return ["first", "second"], None

    @staticmethod
    def __tensor_unflatten__(inner: dict[str, torch.Tensor], *_: Any) -> Pair:
        return Pair(inner["first"], inner["second"])

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise AssertionError(func)


class Closed(torch.Tensor):
    """A tensor of which nobody knows what it is wrapped around."""

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> Closed:
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise AssertionError(func)


def test_both_parts_go_to_the_device_and_home() -> None:
    with virtual_gpus(2):
        pair = Pair(torch.ones(3), torch.zeros(3))
        there = pair.to("cuda:1")
        assert (str(there.first.device), str(there.second.device)) == ("cuda:1", "cuda:1")
        assert there.cuda(1) is there
        back = there.cpu()
        assert (str(back.first.device), back.first.tolist()) == ("cpu", [1.0, 1.0, 1.0])


def test_what_cannot_be_looked_into_is_refused() -> None:
    with virtual_gpus(1), pytest.raises(NotImplementedError, match="moving a Closed"):
        Closed(torch.ones(3)).cuda()


@pytest.mark.parametrize(
    "go",
    [
        lambda tensor: tensor.cpu(),
        lambda tensor: tensor.to("cpu"),
        lambda tensor: tensor.to("cuda:1"),
    ],
)
def test_what_a_collective_brings_goes_elsewhere(
    go: Callable[[torch.Tensor], torch.Tensor], tmp_path: Any
) -> None:
    from torch.distributed import _functional_collectives as collectives  # noqa: PLC0415

    with virtual_gpus(2):
        distributed.init_process_group(
            "nccl", init_method=f"file://{tmp_path / 'group'}", rank=0, world_size=1
        )
        try:
            x = torch.ones(4, device="cuda:0")
            coming = collectives.all_reduce(x, "sum", distributed.group.WORLD)
            assert type(coming) is collectives.AsyncCollectiveTensor
            there = go(coming)
            assert type(there) is not collectives.AsyncCollectiveTensor
            assert there.device != coming.device
            assert there.tolist() == [1.0] * 4
            assert coming.cuda().sum().item() == 4.0
        finally:
            distributed.destroy_process_group()


def rows(device: str = "cpu") -> list[torch.Tensor]:
    return [torch.ones(2, 4, device=device), torch.ones(3, 4, device=device)]


def from_mask() -> object:
    mask = torch.tensor([[True, False], [True, True]], device="cuda")
    return torch._nested_tensor_from_mask(torch.ones(2, 2, 4, device="cuda"), mask)


def under_a_default_device() -> object:
    torch.set_default_device("cuda")
    return torch.nested.nested_tensor([[1.0], [1.0, 2.0]])


def in_attention() -> object:
    whole = torch.ones(5, 2, 4, device="cuda")
    parts = torch.nested.nested_tensor_from_jagged(whole, torch.tensor([0, 2, 5], device="cuda"))
    return functional.scaled_dot_product_attention(parts, parts, parts)


def in_a_transformer() -> object:
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).cuda().eval()
    return layer(torch.nested.nested_tensor(rows("cuda")))


NESTED: dict[str, Callable[[], object]] = {
    "made there": lambda: torch.nested.nested_tensor(rows(), device="cuda"),
    "made there, jagged": lambda: torch.nested.nested_tensor(
        rows(), layout=torch.jagged, device="cuda"
    ),
    "of rows": lambda: torch.nested.nested_tensor(rows("cuda")),
    "as one": lambda: torch.nested.as_nested_tensor(rows("cuda"), layout=torch.jagged),
    "narrow": lambda: torch.nested.narrow(
        torch.ones(2, 5, 4, device="cuda"), 1, torch.tensor([0, 1]), torch.tensor([1, 2]),
        layout=torch.jagged,
    ),
    "from a mask": from_mask,
    "under a default device": under_a_default_device,
    "in attention": in_attention,
    "in a transformer": in_a_transformer,
    "moved": lambda: torch.nested.nested_tensor(rows(), layout=torch.jagged).cuda(),
}  # fmt: skip


@pytest.mark.parametrize("case", NESTED)
def test_nested_tensors_are_refused_as_they_are_made(case: str) -> None:
    with virtual_gpus(1), pytest.raises(NotImplementedError, match=r"pad the rows"):
        NESTED[case]()


def test_nested_tensors_of_the_host_are_torchs_own_business() -> None:
    with virtual_gpus(1):
        nested = torch.nested.nested_tensor(rows(), layout=torch.jagged)
        assert nn.Linear(4, 2)(nested).unbind()[1].shape == (3, 2)
        assert nested.cpu() is nested


def test_a_transformer_that_makes_them_inside_gives_the_cpus_numbers() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    model = nn.TransformerEncoder(layer, 2).eval()
    x, padded = torch.randn(2, 3, 8), torch.tensor([[False, False, True], [False] * 3])
    with torch.no_grad():
        expected = model(x, src_key_padding_mask=padded)
        with virtual_gpus(1):
            found = model.cuda()(x.cuda(), src_key_padding_mask=padded.cuda()).cpu()
            model.cpu()
    assert torch.equal(found, expected)
    assert found[0, 2].tolist() == [0.0] * 8
