"""Page-locked host memory, from which a copy to a device need not wait: a mark on a storage."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch

_pinned: weakref.WeakSet[torch.UntypedStorage] = weakref.WeakSet()


def pin(tensor: torch.Tensor) -> None:
    """Mark a host tensor's memory as page-locked."""
    _pinned.add(tensor.untyped_storage())


def made(original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call one of torch's functions that make a host tensor, with ``pin_memory`` or without."""
    if not kwargs.get("pin_memory"):
        return original(*args, **kwargs)
    tensor = original(*args, **{**kwargs, "pin_memory": False})
    pin(tensor)
    return tensor


def is_pinned(tensor: torch.Tensor) -> bool:
    """Whether a host tensor's memory is page-locked."""
    return bool(_pinned) and tensor.untyped_storage() in _pinned


def forget() -> None:
    """Mark nothing any longer."""
    _pinned.clear()
