"""Memory at its peak by module and kind: parameters, gradients, activations, optimizer state.

Each block of device memory has a number, in the order in which blocks are taken. While a
``MemoryNotes`` counts, it writes down which module began or ended at which number, so a block that
was taken inside a module's forward pass is an activation of that module. Parameters, gradients and
optimizer state are looked up where they are known: before a model runs, and around an optimizer's
step. ``at_peak`` plays a process's events again up to the moment at which most was held.
"""

from __future__ import annotations

import threading
import weakref
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.modules import module as torch_modules
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from grader.vgpu.core.machine import Machine
from grader.vgpu.core.tensor import VirtualTensor
from grader.vgpu.core.trace import Allocation, Release

KINDS = "parameters", "gradients", "activations", "optimizer state", "others"


class Owner(NamedTuple):
    """Whose a block is: a module's name in its model, and one of ``KINDS``."""

    module: str
    kind: str


Peak = Mapping[Owner, int]
"""What a device held when it held most: bytes of each owner."""


class MemoryNotes:
    """Notes whose the blocks of memory are.

    Args:
        machine: Whose devices they are on.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._owners: dict[int, Owner] = {}
        self._begins: list[tuple[int, str]] = []
        self._names: weakref.WeakKeyDictionary[nn.Module, str] = weakref.WeakKeyDictionary()
        # Parameter → its module's name. By identity: tensors compare element by element.
        self._modules_of: dict[int, str] = {}
        self._models: weakref.WeakSet[nn.Module] = weakref.WeakSet()
        self._running = threading.local()

    def at_peak(self, device: str, since: int = 0) -> Peak:
        """Return what a device held when it held most.

        Args:
            device: ``cuda:N``.
            since: Sequence number of the first event that counts.
        """
        # Gradients that no optimizer has seen.
        for model in list(self._models):
            self._look_at(model)
        changes = [
            event for event in self._machine.trace.events
            if isinstance(event, (Allocation, Release))
            and event.device == device
            and event.sequence >= since
        ]  # fmt: skip
        owners = Counter[Owner]()
        begins = [number for number, _ in self._begins]
        for block, size in _most(changes).items():
            owners[self._owners.get(block) or self._taken_in(block, begins)] += size
        return owners

    def _taken_in(self, block: int, begins: Sequence[int]) -> Owner:
        place = bisect_right(begins, block) - 1
        module = self._begins[place][1] if place >= 0 else ""
        # What it takes for itself are buckets of gradients.
        kind = "gradients" if module == "DistributedDataParallel" else "activations"
        return Owner(module, kind if module else "others")

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Follow modules and optimizers."""
        handles = [
            torch_modules.register_module_forward_pre_hook(self._enters),
            torch_modules.register_module_forward_hook(self._leaves, always_call=True),
            register_optimizer_step_pre_hook(self._steps),
            register_optimizer_step_post_hook(self._stepped),
        ]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _enters(self, module: nn.Module, *_: Any) -> None:
        inside = self._inside()
        if not inside and next(module.parameters(), None) is not None:
            self._look_at(module)
        inside.append(self._names.get(module) or type(module).__name__)
        self._mark(inside[-1])

    def _leaves(self, *_: Any) -> None:
        inside = self._inside()
        del inside[-1:]
        self._mark(inside[-1] if inside else "")

    def _inside(self) -> list[str]:
        if not hasattr(self._running, "modules"):
            self._running.modules = []
        modules: list[str] = self._running.modules
        return modules

    def _mark(self, name: str) -> None:
        number = self._machine.blocks.taken
        if self._begins and self._begins[-1][0] == number:
            self._begins[-1] = number, name
        else:
            self._begins.append((number, name))

    def _look_at(self, model: nn.Module) -> None:
        """Learn the names of a model's modules, and whose its tensors are."""
        self._models.add(model)
        for name, module in model.named_modules():
            # The only module of a DistributedDataParallel is the model.
            short = name.removeprefix("module").removeprefix(".")
            self._names[module] = own = short or type(module).__name__
            for parameter in module._parameters.values():
                if parameter is not None:
                    self._modules_of[id(parameter)] = own
                    self._label(parameter, own, "parameters")
                    self._label(parameter.grad, own, "gradients")
            for buffer in module._buffers.values():
                self._label(buffer, own, "parameters")

    def _steps(self, optimizer: Any, *_: Any) -> None:
        for parameter in _parameters_of(optimizer):
            self._label(parameter.grad, self._module_of(parameter), "gradients")

    def _stepped(self, optimizer: Any, *_: Any) -> None:
        for parameter, state in list(optimizer.state.items()):
            values = state.values() if isinstance(state, Mapping) else ()
            for value in values:
                self._label(value, self._module_of(parameter), "optimizer state")

    def _module_of(self, parameter: Any) -> str:
        return self._modules_of.get(id(parameter), "")

    def _label(self, tensor: Any, module: str, kind: str) -> None:
        # A part of a tensor that is spread over ranks is a tensor itself.
        tensor = getattr(tensor, "_local_tensor", tensor)
        if isinstance(tensor, VirtualTensor):
            number = self._machine.blocks.number(tensor.untyped_storage())
            # The first owner stays: weights that are shared, or gradients in one bucket.
            if number is not None:
                self._owners.setdefault(number, Owner(module, kind))


def _parameters_of(optimizer: Any) -> Iterator[torch.Tensor]:
    for group in optimizer.param_groups:
        yield from group["params"]


def _most(changes: Sequence[Allocation | Release]) -> dict[int, int]:
    """Return the bytes of each block that was held when most was."""
    most, live, until = 0, 0, 0
    for number, event in enumerate(changes, 1):
        live += event.bytes if isinstance(event, Allocation) else -event.bytes
        if live > most:
            most, until = live, number
    held: dict[int, int] = {}
    for event in changes[:until]:
        if isinstance(event, Allocation):
            held[event.block] = event.bytes
        else:
            # One that a fork has of its parent's is not known here.
            held.pop(event.block, None)
    return held
