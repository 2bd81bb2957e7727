"""What virtual devices do not do, and say so by name."""

from __future__ import annotations

from typing import Any

import torch
import torch.utils.dlpack

from grader.vgpu import words
from grader.vgpu.patches import Patches
from grader.vgpu.tensor import VirtualTensor


def _entered(original: Any) -> Any:
    def enter(self: Any) -> Any:
        """Refuse mixed precision on a device: its choice of types is made in C++, by C++ device."""
        if self.device == "cuda" and self._enabled:
            raise words.unsupported("torch.autocast('cuda')", "leave it out, or say enabled=False")
        return original(self)

    return enter


def _compiled(original: Any) -> Any:
    def refuse(*_: Any, **__: Any) -> Any:
        raise words.unsupported(f"torch.{original.__name__}", "run the function as it is")

    return refuse


def _on_host_only(name: str) -> Any:
    def wrapped(original: Any) -> Any:
        def call(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            # What it makes would be where the C++ device is.
            if isinstance(tensor, VirtualTensor):
                raise words.unsupported(name, "use Tensor.cpu() first")
            return original(tensor, *args, **kwargs)

        return call

    return wrapped


def patch(patches: Patches) -> None:
    """Refuse them."""
    autocast = torch.amp.autocast_mode.autocast
    patches.set(autocast, "__enter__", _entered(autocast.__enter__))
    patches.set(torch, "compile", _compiled(torch.compile))
    patches.wrap(torch, "vander", _on_host_only("torch.vander"))
    for module in (torch, torch.utils.dlpack):
        patches.wrap(module, "to_dlpack", _on_host_only("torch.to_dlpack"))
