"""What virtual devices do not do, and say so by name."""

from __future__ import annotations

import re
import sys
from functools import wraps
from types import FunctionType
from typing import Any

import torch
import torch.utils.dlpack

from grader.vgpu import words
from grader.vgpu.patches import Patches
from grader.vgpu.tensor import VirtualTensor


def _on_host_only(name: str) -> Any:
    def wrapped(original: Any) -> Any:
        def call(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            # What it makes would be where the C++ device is.
            if isinstance(tensor, VirtualTensor):
                raise words.unsupported(name, "use Tensor.cpu() first")
            return original(tensor, *args, **kwargs)

        return call

    return wrapped


_BELOW = re.compile(
    r"module 'torch\._C' has no|dummy base class|torch\._C\._\w+ is not supported|'NoneType' object"
)
_OF_CUDA = (
    "torch.cuda", "torch.cuda.memory", "torch.cuda.nccl", "torch.cuda.tunable", "torch.cuda.gds",
    "torch.cuda.profiler", "torch.cuda.green_contexts",
)  # fmt: skip


def _by_name(name: str) -> Any:
    def wrapped(original: Any) -> Any:
        @wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return original(*args, **kwargs)
            except (AttributeError, RuntimeError) as error:
                # What it would call in C++ is not in a build without CUDA.
                if _BELOW.search(str(error)) is None:
                    raise
            raise words.unsupported(name)

        return call

    return wrapped


def _rest(patches: Patches) -> None:
    """Refuse by name what nothing else stands for: torch's own functions that end in C++."""
    for module in [sys.modules[name] for name in _OF_CUDA if name in sys.modules]:
        for name, value in list(vars(module).items()):
            theirs = isinstance(value, FunctionType) and value.__module__.startswith("torch.cuda")
            if theirs and name[0] != "_" and not hasattr(value, "__wrapped__"):
                patches.wrap(module, name, _by_name(f"{module.__name__}.{name}"))


def patch(patches: Patches) -> None:
    """Refuse them."""
    _rest(patches)
    patches.wrap(torch, "vander", _on_host_only("torch.vander"))
    for module in (torch, torch.utils.dlpack):
        patches.wrap(module, "to_dlpack", _on_host_only("torch.to_dlpack"))
