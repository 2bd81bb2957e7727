"""What a program is, and what several of them use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

Run = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Program:
    """One of them.

    Attributes:
        feature: What of torch it shows: a row of the table in docs/vgpu-support.md.
        run: The program.
        devices: How many it needs.
    """

    feature: str
    run: Run
    devices: int

    @property
    def name(self) -> str:
        return self.run.__name__


PROGRAMS: list[Program] = []


def program(feature: str, devices: int = 1) -> Callable[[Run], Run]:
    def add(run: Run) -> Run:
        PROGRAMS.append(Program(feature, run, devices))
        return run

    return add


def numbers() -> torch.Tensor:
    return torch.arange(6.0).reshape(2, 3)


def linear(device: str | None = None) -> nn.Linear:
    made = nn.Linear(3, 2)
    with torch.no_grad():
        made.weight.copy_(torch.tensor([[0.5, -1.0, 2.0], [1.0, 0.25, -0.5]]))
        made.bias.copy_(torch.tensor([0.125, -0.25]))
    return made if device is None else made.to(device)


def stepped(make: Callable[[Any], torch.optim.Optimizer], device: str = "cuda:0") -> Any:
    """Two steps of training; parameters, and the state's devices."""
    model = linear(device)
    optimizer = make(model.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        loss = nn.MSELoss()(model(numbers().to(device)), torch.ones(2, 2, device=device))
        loss.backward()
        optimizer.step()
    state = optimizer.state[model.weight]
    places = {name: str(value.device) for name, value in state.items() if torch.is_tensor(value)}
    return loss, model.weight, model.weight.grad, places
