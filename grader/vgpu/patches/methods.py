"""The methods of ``torch.Tensor`` that name a device, and functions that torch builds of others.

Composite functions make a threshold or a mask where the C++ device is, which is the host. The
caller's own tensors are checked first; what joins them inside the call is torch's.
"""

from __future__ import annotations

import functools
from typing import Any, cast

import torch
import torch.nn.functional

from grader.vgpu.core.device import current, ordinal_from
from grader.vgpu.core.execution import without_numbers
from grader.vgpu.core.machine import HOST, machine
from grader.vgpu.core.tensor import (
    VirtualTensor,
    device_of,
    in_transform,
    inside_transforms,
    ordinal_of,
    plain,
    tensors_in,
    wrap,
)
from grader.vgpu.core.transfer import assign_data, is_pinned, move, pin
from grader.vgpu.patches import Patches, two_devices, wrong_gradient
from grader.vgpu.patches.cuda import dtype_and_device, type_name
from grader.vgpu.patches.factories import like

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
    (torch.nn.functional, ("cosine_similarity", "scaled_dot_product_attention")),
    (torch._C._nn, ("scaled_dot_product_attention",)),
    (torch.Tensor, ("quantile", "nanquantile", "pinverse", "stft", "istft")),
)
_DROPOUTS = ("dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout")


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


def _inside_transforms(original: Any) -> Any:
    adopting = composite(original)

    def call(x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        """Draw what falls out; followed by ``vmap``, C++ draws it where the C++ device is."""
        return (adopting if in_transform(x) else original)(x, *args, **kwargs)

    return call


def _one_hot(original: Any) -> Any:
    adopting = composite(original)

    def one_hot(tensor: torch.Tensor, num_classes: int = -1) -> Any:
        """Mark each number's place; how many there are is read off the greatest unless given."""
        if num_classes == -1 and not machine().arithmetic and ordinal_of(tensor) is not None:
            raise without_numbers("one_hot without num_classes")
        return adopting(tensor, num_classes)

    return one_hot


def on_one_device(values: tuple[Any, ...]) -> bool:
    """Return whether the tensors are on one virtual device.

    Raises:
        RuntimeError: They are on several.
    """
    tensors = list(tensors_in(values))
    # A number on the host may join in anywhere, as in torch.
    devices = [device_of(tensor) for tensor in tensors if tensor.dim() or device_of(tensor) != HOST]
    on_device = [device for device in devices if device != HOST]
    if not on_device:
        return False
    for device in devices:
        if device != on_device[0]:
            raise two_devices(on_device[0], device)
    return True


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
        # A gradient without dimensions is a number, which may be anywhere.
        if gradient.dim() and here != there:
            raise wrong_gradient(index, here, there)


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


def patch_composites(patches: Patches) -> None:
    """See to these functions."""
    for owner, names in _PLACES:
        for name in names:
            patches.wrap(owner, name, composite)
    for owner in (torch.nn.functional, torch._C._nn):
        patches.wrap(owner, "one_hot", _one_hot)
    for owner in (torch, torch._VF):
        for name in _DROPOUTS:
            patches.wrap(owner, name, _inside_transforms)
    patches.wrap(torch, "ctc_loss", _lengths_as_numbers)
    patches.wrap(torch.autograd, "grad", _gradients)
    patches.wrap(torch.autograd, "backward", _backward)


_FLAGS = ("non_blocking", "copy")


def _to(original: Any) -> Any:
    def to(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        """Move, convert, or both; all of torch's forms."""
        wish = _Wish(args, kwargs)
        if wish.foreign or not (wish.names_device or isinstance(self, VirtualTensor)):
            bare = plain(self) if isinstance(self, VirtualTensor) else self
            return cast("torch.Tensor", original(bare, *args, **kwargs))
        if not wish.names_device or wish.ordinal == ordinal_of(self):
            # Without the device: C++ knows the host's alone. (With a function mode in force this
            # comes back here once more, and must mean the same.)
            return cast("torch.Tensor", original(self, wish.dtype or self.dtype, **wish.options()))
        return _moved(self, wish, original)

    return to


def _moved(self: torch.Tensor, wish: _Wish, original: Any) -> torch.Tensor:
    """Go to another device; on the way back down, types change where that moves fewer bytes."""
    converted = self
    # As ``_to_copy`` does it: the type changes on the source's side, so that the new one travels.
    if wish.dtype is not None and wish.dtype is not self.dtype:
        converted = original(self, wish.dtype)
    return move(
        converted, wish.ordinal, blocking=not wish.flags["non_blocking"], layout=wish.layout
    )


class _Wish:
    """What a call of ``to`` asks for: ``to(other)``, ``to(dtype)``, ``to(device, dtype, …)``.

    Attributes:
        ordinal: Of the device wanted, None for the host (or for none named).
        names_device: A device was named.
        foreign: Another kind (``meta``), or no such argument: torch's own business.
        dtype: The type wanted, or None.
        flags: ``non_blocking`` and ``copy``.
        layout: The memory format wanted, or None.
    """

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        rest = list(args)
        named = dict(kwargs)
        first = rest.pop(0) if rest else None
        other = first if isinstance(first, torch.Tensor) else named.pop("tensor", None)
        self.dtype: torch.dtype | None = named.pop("dtype", None)
        device = named.pop("device", None)
        if isinstance(first, torch.dtype):
            self.dtype = first
        elif other is None and first is not None:
            device = first
        if rest and other is None and not isinstance(first, torch.dtype):
            self.dtype = rest.pop(0) or self.dtype
        self.flags = {name: bool(named.pop(name, False)) for name in _FLAGS}
        for name, value in zip(_FLAGS, rest, strict=False):
            self.flags[name] = bool(value)
        self.layout = named.pop("memory_format", None)
        if other is not None:
            self.dtype, device = other.dtype, torch.device(device_of(other))
        self.ordinal = ordinal_from(device)
        self.names_device = device is not None
        elsewhere = self.names_device and self.ordinal is None and _kind(device) != HOST
        self.foreign = elsewhere or bool(named)

    def options(self) -> dict[str, Any]:
        """Return the named arguments for torch's own ``to``."""
        layout = {} if self.layout is None else {"memory_format": self.layout}
        return {**self.flags, **layout}


def _kind(device: Any) -> str:
    return str(torch.device(device).type)


def _cuda(self: torch.Tensor, device: Any = None, non_blocking: Any = False, **more: Any) -> Any:
    """Return the tensor on a device, by default the current one."""
    if device is None:
        ordinal: int | None = current()
    else:
        ordinal = ordinal_from(device)
        if ordinal is None:
            raise RuntimeError("Invalid device, must be cuda device")
    return move(self, ordinal, blocking=not non_blocking, layout=more.get("memory_format"))


def _cpu(self: torch.Tensor, memory_format: Any = None) -> torch.Tensor:
    """Return the tensor on the host."""
    return move(self, None, layout=memory_format)


def _type(original: Any) -> Any:
    def tensor_type(
        self: torch.Tensor, dtype: Any = None, non_blocking: bool = False, **more: Any
    ) -> Any:
        """Name the type, or convert to one: ``torch.cuda.FloatTensor`` also moves."""
        if dtype is None:
            return type_name(self)
        if isinstance(dtype, torch.dtype):
            return original(self, dtype, non_blocking=non_blocking, **more)
        wanted, on_device = dtype_and_device(dtype)
        home = ordinal_of(self)
        # As torch: a tensor that is on some CUDA device already stays there.
        ordinal = (current() if home is None else home) if on_device else None
        return self.to(
            device=HOST if ordinal is None else f"cuda:{ordinal}", dtype=wanted,
            non_blocking=non_blocking,
        )  # fmt: skip

    return tensor_type


def _copy_(original: Any) -> Any:
    def copy_(self: torch.Tensor, other: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
        """Write ``other`` into this tensor, from any device."""
        away = isinstance(other, torch.Tensor) and ordinal_of(other) != ordinal_of(self)
        if away and other.requires_grad and torch.is_grad_enabled():
            # So that the gradient finds its way home, which torch's own formula does not.
            other = move(other, ordinal_of(self), blocking=not non_blocking)
        return cast("torch.Tensor", original(self, other, non_blocking=non_blocking))

    return copy_


def _setitem(original: Any) -> Any:
    def setitem(self: torch.Tensor, index: Any, value: Any) -> None:
        """Write into a part of this tensor; a tensor with a graph may come from any device."""
        tracked = isinstance(value, torch.Tensor) and value.requires_grad
        # An index by tensors goes to index_put, which refuses values from elsewhere as torch does.
        if tracked and ordinal_of(value) != ordinal_of(self) and not _by_tensor(index):
            value = move(value, ordinal_of(self))
        original(self, index, value)

    return setitem


def _by_tensor(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return any(isinstance(part, (torch.Tensor, list)) for part in parts)


def _pin_memory(self: torch.Tensor, device: Any = None) -> torch.Tensor:
    """Return a copy in page-locked memory."""
    if is_pinned(self):
        return self
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        copy = self.detach().clone()
    log = machine().log
    if log is not None:
        log.move(self, copy, True)
    pin(copy)
    return copy


def _is_pinned(self: torch.Tensor, device: Any = None) -> bool:
    return is_pinned(self)


def _new_tensor(original: Any) -> Any:
    def new_tensor(self: torch.Tensor, data: Any, **options: Any) -> torch.Tensor:
        """Make a tensor of data, of this one's type and on its device unless others are named."""
        if options.get("device") is None:
            options["device"] = device_of(self)
        options["dtype"] = options.get("dtype") or self.dtype
        return torch.tensor(data, **options)

    return new_tensor


class _Attribute(property):
    """A property with a name, by which a function mode counts it."""

    def __init__(self, original: Any, read: Any, assign: Any) -> None:
        super().__init__(read, assign, original.__delete__, original.__doc__)
        self.__name__ = original.__name__


def _data(original: Any) -> property:
    return _Attribute(
        original, original.__get__, lambda self, value: assign_data(original, self, value)
    )


def _grad(original: Any) -> property:
    def assign(self: torch.Tensor, value: torch.Tensor | None) -> None:
        if value is not None and ordinal_of(value) != ordinal_of(self):
            raise RuntimeError("assigned grad has data located on a different device")
        original.__set__(self, value)

    def read(self: torch.Tensor, kind: Any = None) -> torch.Tensor | None:
        gradient = original.__get__(self)
        found = at_home(gradient, self)
        # Kept: each look would else give another object, and what is done to it in place be lost.
        if found is not gradient:
            original.__set__(self, found)
        return found

    return _Attribute(original, read, assign)


def _through_transforms(name: str) -> Any:
    """Return what a tensor says of its device: one that ``torch.func`` follows says where it is."""
    original: Any = getattr(torch._C.TensorBase, name)
    if not hasattr(original, "__set__"):

        @functools.wraps(original)
        def call(self: torch.Tensor) -> Any:
            return (
                getattr(inside_transforms(self), name)() if in_transform(self) else original(self)
            )

        return call

    def read(self: torch.Tensor, kind: Any = None) -> Any:
        if in_transform(self):
            return getattr(inside_transforms(self), name)
        return original.__get__(self)

    return _Attribute(original, read, original.__set__)


def patch_methods(patches: Patches) -> None:
    """Give torch's tensors their devices."""
    tensor = torch.Tensor
    wrapped = {
        "to": _to, "type": _type, "copy_": _copy_, "__setitem__": _setitem,
        "new_tensor": _new_tensor, "cuda": lambda _: _cuda, "cpu": lambda _: _cpu,
        "pin_memory": lambda _: _pin_memory, "is_pinned": lambda _: _is_pinned,
    }  # fmt: skip
    for name, make in wrapped.items():
        patches.wrap(tensor, name, make)
    for name in ("new_empty", "new_empty_strided", "new_zeros", "new_ones", "new_full"):
        patches.wrap(tensor, name, like)
    for name in ("device", "is_cuda", "is_cpu", "get_device"):
        patches.set(tensor, name, _through_transforms(name))
    patches.set(tensor, "data", _data(torch._C.TensorBase.data))
    patches.set(tensor, "grad", _grad(torch._C.TensorBase.grad))
