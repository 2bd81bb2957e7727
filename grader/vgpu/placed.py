"""Where the tensors of a model lie, and those that it returned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from grader.vgpu.tensor import device_of
from grader.wire.values import Value

_MOST = 5_000


def placement(model: torch.nn.Module | None, output: Any = None) -> dict[Value, Value]:
    """Return name → kind, device, shape, bytes and whether it requires a gradient.

    Args:
        model: Its parameters, their gradients (``NAME.grad``) and its buffers are told.
        output: Tensors in it are called ``output``, ``output[0]``, ``output[logits]``.
    """
    found = list(model_tensors(model)) if model is not None else []
    found += [(name, "output", tensor) for name, tensor in tensors_in(output)]
    return {name: _placed(kind, tensor) for name, kind, tensor in found[:_MOST]}


def model_tensors(model: torch.nn.Module) -> Iterator[tuple[str, str, torch.Tensor]]:
    """Yield name, kind and tensor of all that a model has."""
    # By torch's own methods: a hand-in's class may have others, which show what it likes.
    for name, parameter in torch.nn.Module.named_parameters(model):
        yield name, "parameter", parameter
        if parameter.grad is not None:
            yield f"{name}.grad", "gradient", parameter.grad
    for name, buffer in torch.nn.Module.named_buffers(model):
        yield name, "buffer", buffer


def tensors_in(value: Any, name: str = "output") -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors in what a model returned, with the names that ``placement`` gives them."""
    if isinstance(value, torch.Tensor):
        yield name, value
    elif isinstance(value, (tuple, list)):
        for index, item in enumerate(value):
            yield from tensors_in(item, f"{name}[{index}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from tensors_in(item, f"{name}[{key}]")


def _placed(kind: str, tensor: torch.Tensor) -> dict[Value, Value]:
    return {
        "kind": kind,
        "device": device_of(tensor),
        "shape": list(tensor.shape),
        "bytes": tensor.numel() * tensor.element_size(),
        "requires_grad": tensor.requires_grad,
    }
