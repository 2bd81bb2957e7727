"""Types of the old days: ``torch.cuda.FloatTensor`` as a name, a constructor and a conversion."""

from __future__ import annotations

from typing import Any

import torch

from grader.vgpu.machine import HOST
from grader.vgpu.patches import Patches
from grader.vgpu.spec import current
from grader.vgpu.tensor import VirtualTensor

KINDS = {
    "FloatTensor": torch.float32, "DoubleTensor": torch.float64, "HalfTensor": torch.float16,
    "BFloat16Tensor": torch.bfloat16, "ByteTensor": torch.uint8, "CharTensor": torch.int8,
    "ShortTensor": torch.int16, "IntTensor": torch.int32, "LongTensor": torch.int64,
    "BoolTensor": torch.bool,
}  # fmt: skip
_NAMES = {dtype: name for name, dtype in KINDS.items()}
# Torch's own, before anything is patched.
_HOST_TYPES = {name: getattr(torch, name) for name in KINDS}


class _TensorType(type):
    """``torch.FloatTensor`` or ``torch.cuda.FloatTensor``: makes tensors, and knows its own."""

    dtype: torch.dtype
    is_cuda: bool

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = _HOST_TYPES[cls.__name__](*args, **kwargs)
        return made.cuda() if cls.is_cuda else made

    def __instancecheck__(cls, instance: object) -> bool:
        return (
            isinstance(instance, torch.Tensor)
            and instance.dtype is cls.dtype
            and isinstance(instance, VirtualTensor) is cls.is_cuda
            and (cls.is_cuda or instance.device.type == HOST)
        )

    def __repr__(cls) -> str:
        return f"<class '{cls.__module__}.{cls.__name__}'>"


def _tensor_type(name: str, *, is_cuda: bool) -> type:
    body = {
        "dtype": KINDS[name],
        "is_cuda": is_cuda,
        "layout": torch.strided,
        "__module__": "torch.cuda" if is_cuda else "torch",
    }
    return _TensorType(name, (), body)


def type_name(tensor: torch.Tensor) -> str:
    """Return ``torch.cuda.FloatTensor`` or the like, as ``Tensor.type()`` does."""
    if not isinstance(tensor, VirtualTensor):
        return str(torch._C.TensorBase.type(tensor))
    name = _NAMES.get(tensor.dtype)
    return f"torch.cuda.{name}" if name else f"torch.cuda.{tensor.dtype}"


def dtype_and_device(kind: Any) -> tuple[torch.dtype, bool]:
    """Return what a tensor type stands for: its dtype, and whether it is on a device.

    Args:
        kind: A type, or its name ``'torch.cuda.FloatTensor'``.

    Raises:
        ValueError: No such type (torch's words).
    """
    name = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__name__}"
    prefix, _, short = name.rpartition(".")
    if short not in KINDS or prefix not in {"torch", "torch.cuda"}:
        raise ValueError(f"invalid type: '{name}'")
    return KINDS[short], prefix == "torch.cuda"


def _set_default_tensor_type(kind: Any) -> None:
    """Make new tensors of a type, and so of a device, unless told otherwise."""
    dtype, on_device = dtype_and_device(kind)
    torch.set_default_dtype(dtype)
    torch.set_default_device(f"cuda:{current()}" if on_device else HOST)


def patch(patches: Patches) -> None:
    """Give the types their devices."""
    for name in KINDS:
        patches.set(torch, name, _tensor_type(name, is_cuda=False))
        patches.set(torch.cuda, name, _tensor_type(name, is_cuda=True))
    patches.set(torch, "set_default_tensor_type", _set_default_tensor_type)
