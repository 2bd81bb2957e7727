"""Between torch's objects and the wire's values."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from grader import vgpu
from grader.vgpu.core.tensor import VirtualTensor
from grader.wire.values import (
    ITEMSIZE,
    ActorHandle,
    Device,
    DType,
    FilePath,
    Layout,
    Opaque,
    Tensor,
    Value,
)

# Said once a process, on standard error, where students would take it for their own function's.
warnings.filterwarnings("ignore", "The given buffer is not writable", UserWarning)

MAX_DEPTH = 32
MAX_ITEMS = 50_000
MAX_BYTES = 2**29
"""The most that one returned tensor or string may take on the wire."""

# Those that this torch has: older releases lack some.
_DTYPES: dict[str, torch.dtype] = {
    name: getattr(torch, name) for name in ITEMSIZE if hasattr(torch, name)
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


def tensor_to_torch(value: Tensor) -> torch.Tensor:
    """Return a new tensor that owns its memory, on the device that the value names."""
    # Memory of its own: a submission that writes to an argument must not change the frame, from
    # which other arguments are still read.
    result = torch.empty(value.shape, dtype=_DTYPES[value.dtype])
    if result.numel():
        raw = torch.frombuffer(value.data, dtype=torch.uint8)
        # A bool other than 0 or 1 in memory makes torch misbehave later, far from the cause.
        raw = raw.ne(0).view(torch.uint8) if value.dtype == "bool" else raw
        result.view(-1).view(torch.uint8).copy_(raw)
    if value.device != "cpu":
        result = result.to(value.device)
    return result.requires_grad_() if value.requires_grad else result


def to_torch(
    value: Value,
    handles: dict[int, Any],
    tensor: Callable[[Tensor], torch.Tensor] = tensor_to_torch,
) -> Any:
    """Return what a wire value stands for: fresh tensors, and the objects behind handles.

    Args:
        value: A tree.
        handles: Kept objects, by number.
        tensor: Makes a tensor.

    Raises:
        KeyError: A handle names no kept object, or a dtype is not in this torch.
    """
    if isinstance(value, Tensor):
        return tensor(value)
    if isinstance(value, ActorHandle):
        return handles[value.id]
    if isinstance(value, DType):
        return _DTYPES[value.name]
    if isinstance(value, FilePath):
        return Path(value.name)
    if isinstance(value, Device):
        return torch.device(value.name)
    if isinstance(value, (tuple, list)):
        whole = set(map(type, value)) == {int}
        return type(value)(value if whole else (to_torch(item, handles, tensor) for item in value))
    if isinstance(value, dict):
        pairs = value.items()
        return {to_torch(key, handles): to_torch(item, handles, tensor) for key, item in pairs}
    return bytes(value) if isinstance(value, memoryview) else value


class Storages:
    """Numbers the storages of the tensors of one reply: equal numbers share memory.

    Numbers the tensors too, as Python objects. All of them are alive until the reply is written.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, int], int] = {}
        self._objects: dict[int, int] = {}

    def layout(self, tensor: torch.Tensor, itself: object) -> Layout:
        """Return where a strided tensor's elements lie.

        Args:
            tensor: The tensor, without a subclass.
            itself: The object that the submission has of it.
        """
        storage = tensor.untyped_storage()
        # By address, for numpy and torch share memory through two storages. An empty one has no
        # address; it is told by itself.
        address = storage.data_ptr() or -storage._cdata
        number = self._numbers.setdefault((str(tensor.device), address), len(self._numbers))
        one = self._objects.setdefault(id(itself), len(self._objects))
        return Layout(number, int(tensor.storage_offset()), tuple(tensor.stride()), one)


class _Budget:
    """Bounds the tree that one result may be; an honest result never comes near."""

    def __init__(self, storages: Storages | None) -> None:
        self.items = MAX_ITEMS
        self.storages = storages


def to_wire(value: Any, storages: Storages | None = None) -> Value:
    """Return the wire value of what a submission returned; what cannot cross becomes ``Opaque``.

    Args:
        value: Anything.
        storages: Of the whole reply, where it is to say how tensors lie in memory.
    """
    budget = _Budget(storages)
    converted = _convert(value, 0, budget)
    if budget.items < 0:
        # All of it, or the host would have tens of thousands of placeholders to read.
        return Opaque(_type_name(value), "too many items")
    return converted


def _convert(value: Any, depth: int, budget: _Budget) -> Value:
    budget.items -= 1
    if depth > MAX_DEPTH or budget.items < 0:
        return Opaque(_type_name(value), "nested too deep or too many items")
    for kind, convert in _CONVERTERS:
        # By its type, not isinstance: a value may claim another __class__ than it has.
        if issubclass(type(value), kind):
            return convert(value, depth, budget)
    return Opaque(_type_name(value), "this type cannot leave the process", _number(value))


def _number(value: Any) -> bool | int | float | None:
    """Return the number that one of numpy's scalars is."""
    # By numpy's own method: a subclass may have another.
    number = np.generic.item(value) if issubclass(type(value), np.generic) else None
    return number if type(number) in (bool, int, float) else None


def _sequence(value: Any, depth: int, budget: _Budget) -> Value:
    # By the base class's own iterator: a subclass's may never end.
    if isinstance(value, tuple):
        return tuple(_convert(item, depth + 1, budget) for item in tuple.__iter__(value))
    return [_convert(item, depth + 1, budget) for item in list.__iter__(value)]


def _mapping(value: Any, depth: int, budget: _Budget) -> Value:
    result: dict[Value, Value] = {}
    # By the base class's own method, as above.
    for key, item in dict.items(value):
        wire_key = _convert(key, depth + 1, budget)
        if not _is_key(wire_key):
            return Opaque("dict", f"a key of type {_type_name(key)}")
        result[wire_key] = _convert(item, depth + 1, budget)
    return result


def _is_key(value: Value) -> bool:
    plain = value is None or isinstance(value, (bool, int, float, str))
    return plain or (isinstance(value, tuple) and all(map(_is_key, value)))


def _text(value: str, _: int, __: _Budget) -> Value:
    return str.__str__(value) if len(value) <= MAX_BYTES else Opaque("str", "too long")


def tensor_to_wire(tensor: torch.Tensor, storages: Storages | None = None) -> Value:
    """Return a tensor's bytes in C order, or ``Opaque`` for what has none."""
    device, wants_grad, itself = "", False, tensor
    if issubclass(type(tensor), VirtualTensor):
        # That class and no other: one that a submission makes of it may say what it likes.
        if type(tensor) is VirtualTensor:
            device, wants_grad = vgpu.device_of(tensor), tensor.requires_grad
        tensor = vgpu.plain(tensor)
    tensor = _plain(tensor)
    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_nested:
        return Opaque(_type_name(tensor), f"a tensor with layout {tensor.layout}")
    if tensor.device.type == "meta":
        return Opaque(_type_name(tensor), "a meta tensor has no values")
    if tensor.dtype not in _NAMES:
        return Opaque(_type_name(tensor), f"dtype {tensor.dtype}")
    if tensor.numel() * tensor.element_size() > MAX_BYTES:
        # Checked before .contiguous(): an expanded tensor is small until it is written out.
        return Opaque(_type_name(tensor), f"{tensor.numel()} elements are too many")
    # Conjugate and negative views keep the original bytes. Unresolved, they would be compared as
    # the numbers they were made from.
    plain = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    data = plain.view(-1).view(torch.uint8).numpy().data if plain.numel() else memoryview(b"")
    return Tensor(
        _NAMES[tensor.dtype],
        tuple(tensor.shape),
        data,
        device or str(tensor.device),
        wants_grad or tensor.requires_grad,
        None if storages is None else storages.layout(tensor, itself),
    )


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    """Return the same memory without the subclass, whose shape, device and methods may lie."""
    if type(tensor) is torch.Tensor:
        return tensor
    # Else this very call would go through the subclass's __torch_function__.
    with torch._C.DisableTorchFunctionSubclass():
        return torch._C.TensorBase.as_subclass(tensor, torch.Tensor)


def _type_name(value: Any) -> str:
    kind = type(value)
    module = getattr(kind, "__module__", "")
    name = str(getattr(kind, "__qualname__", "object"))
    return (name if module in ("builtins", "torch") else f"{module}.{name}")[:200]


# Base-class methods instead of int(value) or float(value): a subclass may override those.
_CONVERTERS: tuple[tuple[Any, Callable[[Any, int, _Budget], Value]], ...] = (
    (torch.Tensor, lambda value, _, budget: tensor_to_wire(value, budget.storages)),
    # Before int: a bool is one to Python, and would arrive as 0 or 1.
    ((type(None), bool), lambda value, _, __: value),
    (int, lambda value, _, __: int.__int__(value)),
    (float, lambda value, _, __: float.__float__(value)),
    (str, _text),
    ((tuple, list), _sequence),
    (dict, _mapping),
    (torch.dtype, lambda value, _, __: DType(_NAMES.get(value, str(value)))),
    (torch.device, lambda value, _, __: Device(str(value))),
    ((bytes, Opaque), lambda value, _, __: value),
)
