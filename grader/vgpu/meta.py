"""Operations without arithmetic: shapes and types alone, on torch's meta device.

What an operation returns depends on the shapes of its arguments, not on their elements, so it is
worked out once for each signature and looked up afterwards. What the elements alone would tell (a
loss as a number, how many are nonzero) is not there: a number read from a device is NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import torch

from grader.vgpu import words
from grader.vgpu.machine import HOST
from grader.vgpu.tensor import VirtualTensor

UNKNOWN = float("nan")
"""What reading a number from a device gives: nobody has computed it."""

# Torch's own, before anything is patched.
_empty_strided = torch.empty_strided
_NUMBERS = {True: False, False: 0}
_known: dict[Any, Any] = {}
_BY_ELEMENTS = frozenset({
    "nonzero", "masked_select", "_unique2", "unique_dim", "unique_consecutive", "equal",
    "repeat_interleave",
})  # fmt: skip
# They share memory with their argument, or change it: nothing of that can be looked up.
_BY_STORAGE = frozenset({
    "set_", "resize_", "resize_as_", "as_strided_", "t_", "transpose_", "squeeze_", "unsqueeze_",
    "detach_", "_unsafe_view", "_reshape_alias", "lift_fresh", "alias", "detach",
})  # fmt: skip


class _Layout(NamedTuple):
    """What there is of a tensor without its elements."""

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype


def _layout(tensor: torch.Tensor) -> _Layout:
    return _Layout(tuple(tensor.shape), tensor.stride(), tensor.dtype)


def shapes_only(name: str, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run an ATen operation on tensors without elements.

    Args:
        name: Of the operation, without overload.
        func: The operation.
        args: Its arguments.
        kwargs: Its named arguments.

    Raises:
        NotImplementedError: Its result depends on elements.
        RuntimeError: The shapes do not fit (torch's words).
    """
    if name == "_local_scalar_dense":
        return _number(args[0].dtype)
    if name in _BY_ELEMENTS:
        raise words.unsupported(
            f"{name} on a timeline without arithmetic", "its result depends on the elements"
        )
    if name == "copy_" and _on_host(args[0]):
        # To the host: the elements that would be written there do not exist.
        return args[0]
    writes = func._schema.is_mutable
    if func.is_view or name in _BY_STORAGE:
        return _below(func, args, kwargs)
    key = func, _signature(args), tuple(kwargs), _signature(kwargs.values())
    try:
        made = _known.get(key)
    except TypeError:
        return _below(func, _bare(args), _bare(kwargs))
    if made is None:
        made = _known[key] = _mapped(_below(func, _bare(args), _bare(kwargs)), _layout)
    return args[0] if writes and made is not None and not _outs(kwargs) else _made(made)


def _outs(kwargs: dict[str, Any]) -> bool:
    return kwargs.get("out") is not None


def _number(dtype: torch.dtype) -> Any:
    if dtype.is_floating_point or dtype.is_complex:
        return UNKNOWN
    return _NUMBERS[dtype is torch.bool]


def _below(func: Any, args: Any, kwargs: Any) -> Any:
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        return func(*args, **kwargs)


def _signature(values: Iterable[Any], *, inside: bool = False) -> tuple[Any, ...]:
    """Return what results depend on: of tensors the layout, of all else the value.

    A number that an operation takes by itself changes no shape if it is no whole one; an optimiser
    has another one in each step. In a list (``inside``) it may be a scale of a size.
    """
    key: list[Any] = []
    for each in values:
        kind = type(each)
        if kind is VirtualTensor or isinstance(each, torch.Tensor):
            key += (each.shape, each.stride(), each.dtype)
        elif kind is tuple or kind is list:
            key.append(_signature(each, inside=True))
        elif kind is float and not inside:
            key.append(kind)
        else:
            # 1, 1.0 and True are equal, and of different types.
            key += (kind, each)
    return tuple(key)


def _mapped(value: Any, change: Callable[[torch.Tensor], Any]) -> Any:
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, (tuple, list)):
        return type(value)(_mapped(each, change) for each in value)
    if isinstance(value, dict):
        return {name: _mapped(each, change) for name, each in value.items()}
    return value


def _on_host(tensor: torch.Tensor) -> bool:
    return not isinstance(tensor, VirtualTensor) and not tensor.is_meta


def _empty(tensor: torch.Tensor) -> torch.Tensor:
    # A number on the host joins in as it is: torch takes it for a scalar by where it is.
    if _on_host(tensor) and tensor.dim() == 0:
        return tensor
    return blank(_layout(tensor))


def _bare(value: Any) -> Any:
    """Return arguments as tensors that no part of torch takes for a device's."""
    return _mapped(value, _empty)


def _made(layouts: Any) -> Any:
    if isinstance(layouts, _Layout):
        return blank(layouts)
    if isinstance(layouts, (tuple, list)):
        return type(layouts)(_made(each) for each in layouts)
    return layouts


def blank(layout: _Layout, device: str = "meta") -> torch.Tensor:
    """Return a tensor whose elements nobody has written."""
    return _empty_strided(layout.shape, layout.stride, dtype=layout.dtype, device=device)


def twin(tensor: torch.Tensor, layout: Any, *, elements: bool) -> torch.Tensor:
    """Return a tensor of the same shape and type.

    Args:
        tensor: Anywhere.
        layout: Memory format of the new one.
        elements: It is for the host, and has elements: unknown ones, NaN or 0.
    """
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        empty = torch.empty_like(tensor, device="meta", memory_format=layout)
        if not elements:
            return empty
        return blank(_layout(empty), HOST).fill_(_number(empty.dtype))
