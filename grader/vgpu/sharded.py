"""Tensors that are spread over processes: device meshes, DTensor, tensor parallelism, FSDP2.

Torch makes them of each process's own part, an ordinary device tensor, and of collectives. What is
wrapped around the part stays on the host for C++, as every tensor here; it says the part's device.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from types import ModuleType
from typing import Any

import torch
import torch.distributed
import torch.nn.functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from grader.vgpu import words
from grader.vgpu.machine import HOST, machine
from grader.vgpu.patches import Patches
from grader.vgpu.spec import ordinal_from
from grader.vgpu.tensor import part_of


def _mesh(original: Any) -> Any:
    @wraps(original)
    def __init__(self: Any, device_type: str, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        """Give a rank that has not used its devices the one of its number, as torch does."""
        here = machine()
        rank = os.environ.get("LOCAL_RANK")
        if device_type == "cuda" and rank is not None and not here.trace.count:
            torch.cuda.set_device(int(rank) % here.count)
        original(self, device_type, *args, **kwargs)

    return __init__


def _accelerator(*_: Any) -> torch.device:
    # Inside an exchange C++ is told where it is to work: on the host.
    return torch.device(HOST if machine().local.exchanging else "cuda")


def _wrapper(original: Any) -> Any:
    def make(cls: type, *args: Any, **kwargs: Any) -> Any:
        """Make a tensor around others; for C++ it is on the host, as these are."""
        if ordinal_from(kwargs.get("device")) is not None:
            if not cls.__module__.startswith("torch.distributed."):
                raise words.unsupported(
                    "Tensor._make_wrapper_subclass with device='cuda'",
                    "make the subclass by Tensor._make_subclass, or on the CPU",
                )
            kwargs["device"] = HOST
        return original(cls, *args, **kwargs)

    return staticmethod(make)


def _attention(original: Any) -> Any:
    def attention(query: Any, *args: Any, **kwargs: Any) -> Any:
        """Take apart what torch can only spread as CUDA's kernel: here it would be the CPU's."""
        if part_of(query) is None:
            return original(query, *args, **kwargs)
        # Known by now: there is a DTensor. A causal mask is made inside, the same everywhere.
        spreading = import_module("torch.distributed.tensor.experimental")
        with sdpa_kernel(SDPBackend.MATH), spreading.implicit_replication():
            return original(query, *args, **kwargs)

    return attention


def _of_part(name: str, attribute: str) -> property:
    return property(lambda self: getattr(getattr(self, name), attribute))


def _say_devices(kind: type, part: str, patches: Patches) -> None:
    for attribute in ("device", "is_cuda", "is_cpu"):
        patches.set(kind, attribute, _of_part(part, attribute))
    patches.set(kind, "get_device", lambda self: getattr(self, part).get_device())


def _spread(module: ModuleType, patches: Patches) -> None:
    _say_devices(module.DTensor, "_local_tensor", patches)


def _under_way(module: ModuleType, patches: Patches) -> None:
    _say_devices(module.AsyncCollectiveTensor, "elem", patches)


def _drawn(module: ModuleType, patches: Patches) -> None:
    # Torch would set offsets into Philox's numbers; the generator here is another. As on the CPU,
    # each process draws for its own part.
    patches.set(module, "is_rng_supported_mesh", lambda _: False)


LATE: dict[str, Callable[[ModuleType, Patches], None]] = {
    "torch.distributed.tensor._api": _spread,
    "torch.distributed._functional_collectives": _under_way,
    "torch.distributed.tensor._random": _drawn,
}
"""Modules that nobody may have imported yet, and what is changed in them."""


def patch(patches: Patches) -> None:
    """Let tensors be spread over processes."""
    patches.set(torch._C, "_get_accelerator", _accelerator)
    wrapper = _wrapper(torch.Tensor._make_wrapper_subclass)
    patches.set(torch.Tensor, "_make_wrapper_subclass", wrapper)
    for place in (torch.nn.functional, torch._C._nn):
        patches.wrap(place, "scaled_dot_product_attention", _attention)
    if not torch.distributed.is_available():
        return
    patches.wrap(torch.distributed.device_mesh.DeviceMesh, "__init__", _mesh)
    for name, change in LATE.items():
        if name in sys.modules:
            change(sys.modules[name], patches)
