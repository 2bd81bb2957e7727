"""Shapes without elements (FakeTensorMode) say which device they would be on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.nn import functional

from grader.vgpu import virtual_gpus

MADE: dict[str, Callable[[], torch.Tensor]] = {
    "filled": lambda: torch.ones(2, device="cuda:1", requires_grad=True),
    "drawn": lambda: torch.randn(2, device="cuda:1", requires_grad=True),
    # It ended the process: there are no elements to copy.
    "of data": lambda: torch.tensor([1.0, 2.0], device="cuda:1", requires_grad=True),
    "moved": lambda: torch.ones(2).cuda(1).requires_grad_(),
    "to another": lambda: torch.ones(2).to(torch.ones(1, device="cuda:1")).requires_grad_(),
    "between two": lambda: torch.ones(2, device="cuda").to("cuda:1").requires_grad_(),
    "like another": lambda: torch.ones_like(torch.ones(2), device="cuda:1", requires_grad=True),
    "a layer's": lambda: nn.Linear(1, 2, device="cuda:1").bias,
}


@pytest.mark.parametrize("name", MADE)
def test_shapes_and_their_gradients_are_on_the_device_and_take_no_memory(name: str) -> None:
    with virtual_gpus(2) as machine:
        with FakeTensorMode():
            made = MADE[name]()
            (made * 2).sum().backward()
        assert isinstance(made, FakeTensor)
        assert made.device == made.grad.device == torch.device("cuda:1")
        assert (made.is_cuda, made.is_cpu, made.get_device()) == (True, False, 1)
        assert (made.shape, made.grad.shape) == ((2,), (2,))
        assert machine.memory(0).peak == machine.memory(1).peak == 0


def test_a_gradient_goes_home_to_the_host() -> None:
    with virtual_gpus(2), FakeTensorMode():
        x = torch.ones(2, requires_grad=True)
        there = x.cuda() * 2
        back = there.to("cuda:1").cpu()
        back.sum().backward()
        assert [str(each.device) for each in (there, back, x.grad)] == ["cuda:0", "cpu", "cpu"]


def network() -> tuple[nn.Module, torch.Tensor]:
    with torch.device("cuda"):
        layers = (
            nn.Conv2d(1, 2, 3),
            nn.BatchNorm2d(2),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(8, 2),
        )
        return nn.Sequential(*layers), torch.ones(2, 1, 6, 6)


def recurrent() -> tuple[nn.Module, torch.Tensor]:
    return nn.LSTM(4, 3, 2, device="cuda"), torch.ones(5, 2, 4, device="cuda")


def attending() -> tuple[nn.Module, torch.Tensor]:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, device="cuda")
    return layer, torch.ones(2, 5, 8, device="cuda")


@pytest.mark.parametrize("make", [network, recurrent, attending])
def test_a_step_of_training_stays_on_the_device(
    make: Callable[[], tuple[nn.Module, torch.Tensor]],
) -> None:
    with virtual_gpus(1), FakeTensorMode():
        model, x = make()
        optimizer = torch.optim.Adam(model.parameters())
        found = model(x)
        (found[0] if isinstance(found, tuple) else found).sum().backward()
        optimizer.step()
        kept = [each for state in optimizer.state.values() for each in state.values() if each.dim()]
        gradients = [each.grad for each in model.parameters()]
        assert {str(each.device) for each in (*kept, *gradients)} == {"cuda:0"}


def test_devices_that_may_not_meet_are_refused_in_torchs_words() -> None:
    with virtual_gpus(1), FakeTensorMode(), pytest.raises(RuntimeError, match="cuda:0 and cpu!"):
        torch.ones(3, device="cuda") + torch.ones(3)


def test_autocast_casts_by_the_gpus_lists() -> None:
    with virtual_gpus(1), FakeTensorMode(), torch.autocast("cuda"):
        x = torch.ones(2, 2, device="cuda")
        assert functional.linear(x, x).dtype is torch.float16
        assert torch.softmax(x.half(), 0).dtype is torch.float32


def test_a_shape_of_a_device_tensor() -> None:
    with virtual_gpus(1):
        mode = FakeTensorMode()
        shape = mode.from_tensor(torch.ones(3, device="cuda"))
        with mode:
            assert str((shape + 1).device) == "cuda:0"


META: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "like": lambda x: torch.zeros_like(x, device="meta"),
    "full": lambda x: torch.full_like(x, 1.0, device="meta"),
    "new": lambda x: x.new_ones(2, device="meta"),
    "as": lambda x: torch.as_tensor(x, device="meta"),
}


@pytest.mark.parametrize("name", META)
def test_what_is_made_on_meta_is_there(name: str) -> None:
    with virtual_gpus(1):
        assert META[name](torch.ones(2, device="cuda")).device.type == "meta"


def test_without_devices_the_mode_is_as_it_was() -> None:
    with virtual_gpus(1):
        pass
    with FakeTensorMode():
        x = torch.ones(2, requires_grad=True)
        (x * 2).sum().backward()
        assert (str(x.device), str(x.grad.device), x.is_cuda) == ("cpu", "cpu", False)
        assert x.get_device() == -1
