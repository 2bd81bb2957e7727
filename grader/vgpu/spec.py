"""What may be written for a device: ``"cuda"``, ``"cuda:1"``, ``1``, a ``torch.device``."""

from __future__ import annotations

from typing import Any

import torch

from grader.vgpu.machine import machine
from grader.vgpu.patches import Patches

# Torch's own, before anything is patched.
_Device = torch.device


def ordinal_from(device: Any) -> int | None:
    """Return the ordinal that ``device`` means; None for no device, the host's or a foreign one.

    Raises:
        RuntimeError: Not a device at all, or one that the machine does not have (torch's words).
    """
    if device is None:
        return None
    if isinstance(device, int) and not isinstance(device, bool):
        return machine().check(device)
    named = device if isinstance(device, _Device) else _Device(device)
    if named.type != "cuda":
        return None
    return current() if named.index is None else machine().check(named.index)


def ordinal_or_current(device: Any) -> int:
    """Return the ordinal that ``device`` means, by default the current one.

    Raises:
        ValueError: It is no CUDA device.
        RuntimeError: The machine does not have it.
    """
    if device is None:
        return current()
    ordinal = ordinal_from(device)
    if ordinal is None:
        raise ValueError(f"Expected a cuda device, but got: {device}")
    return ordinal


def current() -> int:
    """Return the thread's current device."""
    return machine().local.device


class _Devices(type):
    """Makes ``isinstance(x, torch.device)`` true of torch's own devices."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _Device)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        # An ordinal alone means the machine's accelerator; C++ sees none on a CPU build.
        first = args[0] if args else kwargs.get("index", kwargs.get("device"))
        if isinstance(first, int) and len(args) + len(kwargs) == 1:
            return _Device("cuda", first)
        return _Device(*args, **kwargs)


class device(metaclass=_Devices):  # noqa: N801
    """Stands for ``torch.device``."""

    __module__ = "torch"


def patch(patches: Patches) -> None:
    """Let ``torch.device(0)`` be a CUDA device."""
    patches.set(torch, "device", device)
