"""Functions that torch builds of others in C++, and that make a host tensor on the way.

They make a threshold or a mask where the C++ device is, which is the host. The caller's own tensors
are checked first; what joins them inside the call is torch's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional

from grader.vgpu import words
from grader.vgpu.machine import HOST, machine
from grader.vgpu.patches import Patches
from grader.vgpu.tensor import VirtualTensor, device_of, wrap

_PLACES = (
    (
        torch,
        (
            "cosine_similarity",
            "quantile",
            "nanquantile",
            "combinations",
            "pinverse",
            "stft",
            "istft",
        ),
    ),
    (torch.linalg, ("pinv", "matrix_rank")),
    (torch.nn.functional, ("cosine_similarity", "one_hot", "scaled_dot_product_attention")),
    (torch._C._nn, ("one_hot", "scaled_dot_product_attention")),
    (torch.Tensor, ("quantile", "nanquantile", "pinverse", "stft", "istft")),
)


def composite(original: Any) -> Any:
    """Return a function inside which torch's own host tensors count as the device's."""

    def call(*args: Any, **kwargs: Any) -> Any:
        local = machine().local
        if local.adopting or not on_one_device((*args, *kwargs.values())):
            return original(*args, **kwargs)
        local.adopting = True
        try:
            return original(*args, **kwargs)
        finally:
            local.adopting = False

    return call


def on_one_device(values: tuple[Any, ...]) -> bool:
    """Return whether the tensors are on one virtual device.

    Raises:
        RuntimeError: They are on several.
    """
    tensors = list(tensors_in(values))
    devices = [device_of(tensor) for tensor in tensors if tensor.dim() or device_of(tensor) != HOST]
    on_device = [device for device in devices if device != HOST]
    if not on_device:
        return False
    for device in devices:
        if device != on_device[0]:
            raise words.two_devices(on_device[0], device)
    return True


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """Yield the tensors in a value, lists and tuples looked into."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)


def _lengths_as_numbers(original: Any) -> Any:
    adopting = composite(original)

    def ctc_loss(scores: Any, targets: Any, length: Any, target_length: Any, *more: Any) -> Any:
        """Take lengths from anywhere, as torch does: the kernel reads them on the host."""
        lengths = [
            each.tolist() if isinstance(each, torch.Tensor) else each
            for each in (length, target_length)
        ]
        return adopting(scores, targets, *lengths, *more)

    return ctc_loss


def _check_gradients(tensors: Any, gradients: Any) -> None:
    given = () if gradients is None else list(tensors_in(gradients))
    for index, (tensor, gradient) in enumerate(zip(tensors_in(tensors), given, strict=False)):
        here, there = device_of(tensor), device_of(gradient)
        if gradient.dim() and here != there:
            raise words.wrong_gradient(index, here, there)


def _backward(original: Any) -> Any:
    def backward(tensors: Any, grad_tensors: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Refuse a gradient that is not where its tensor is."""
        _check_gradients(tensors, grad_tensors)
        return original(tensors, grad_tensors, *args, **kwargs)

    return backward


def _gradients(original: Any) -> Any:
    def grad(outputs: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Return gradients where their inputs are: a constant one is made on the host by C++."""
        _check_gradients(outputs, args[0] if args else kwargs.get("grad_outputs"))
        found = original(outputs, inputs, *args, **kwargs)
        wanted = (inputs,) if isinstance(inputs, torch.Tensor) else tuple(inputs)
        return tuple(at_home(gradient, tensor) for gradient, tensor in zip(found, wanted))  # noqa: B905

    return grad


def at_home(gradient: torch.Tensor | None, tensor: object) -> torch.Tensor | None:
    """Return a gradient as one on its tensor's device."""
    if isinstance(tensor, VirtualTensor) and type(gradient) is torch.Tensor:
        return wrap(gradient, tensor.ordinal)
    return gradient


def patch(patches: Patches) -> None:
    """See to these functions."""
    for owner, names in _PLACES:
        for name in names:
            patches.wrap(owner, name, composite)
    patches.wrap(torch, "ctc_loss", _lengths_as_numbers)
    patches.wrap(torch.autograd, "grad", _gradients)
    patches.wrap(torch.autograd, "backward", _backward)
