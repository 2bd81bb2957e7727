"""The functions of torch that make tensors: ``torch.zeros(3, device='cuda')``, ``torch.load``.

Torch asks a list of packages where a storage is and how to bring it back there; one for virtual
devices stands before torch's own for CUDA. So files know where a tensor was.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
import torch.nested
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch.utils import _device

from grader.vgpu.core.device import default_type, generator_for, ordinal_from, refuse_on_host
from grader.vgpu.core.dispatch import note_fill
from grader.vgpu.core.execution import execute_drawing
from grader.vgpu.core.machine import HOST, machine
from grader.vgpu.core.tensor import (
    VirtualTensor,
    ordinal_of,
    part_of,
    plain,
    relabel,
    tensors_in,
    with_part,
    wrap,
)
from grader.vgpu.core.transfer import made_pinned, move, outside_transforms
from grader.vgpu.patches import Patches, no_nested, unsupported
from grader.vgpu.patches.faked import shape_on

Call = Callable[..., Any]

_FILLED = (
    "empty", "empty_permuted", "empty_strided", "ones", "zeros", "full", "arange", "range",
    "linspace", "logspace", "eye", "scalar_tensor", "tril_indices", "triu_indices",
    "bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window",
)  # fmt: skip
_DRAWN = ("rand", "randn", "randint", "randperm", "normal")
_FROM_DATA = ("tensor", "as_tensor", "asarray")
_LIKE = (
    "empty_like", "ones_like", "zeros_like", "full_like", "rand_like", "randn_like", "randint_like",
)  # fmt: skip
_FOREIGN = (
    "sparse_coo_tensor", "sparse_compressed_tensor", "sparse_csr_tensor", "sparse_csc_tensor",
    "sparse_bsr_tensor", "sparse_bsc_tensor", "empty_quantized",
)  # fmt: skip

_NESTED = (
    "nested_tensor", "as_nested_tensor", "nested_tensor_from_jagged", "narrow", "masked_select",
)  # fmt: skip


def _filled(original: Call) -> Call:
    """A new tensor whose elements the device itself writes."""

    def factory(*args: Any, **kwargs: Any) -> Any:
        ordinal = ordinal_from(kwargs.get("device"))
        if ordinal is None:
            return made_pinned(original, args, kwargs)
        return _new(original, ordinal, args, kwargs)

    return factory


def _drawn(original: Call) -> Call:
    """A new tensor of random numbers, from the device's own generator."""

    def factory(*args: Any, **kwargs: Any) -> Any:
        ordinal = ordinal_from(kwargs.get("device"))
        if ordinal is None:
            # Without a device named, the default one may yet join in.
            if default_type() == HOST:
                refuse_on_host(kwargs.get("generator"))
            return made_pinned(original, args, kwargs)
        kwargs["generator"] = generator_for(machine(), kwargs.get("generator"), ordinal)
        return _new(original, ordinal, args, kwargs)

    return factory


def _new(original: Call, ordinal: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    # Named, so that no default device joins in.
    kwargs["device"] = HOST
    # What is written into a tensor that is there is seen by the dispatcher.
    if kwargs.get("out") is not None:
        return original(*args, **kwargs)
    if not machine().arithmetic:
        kwargs["device"] = "meta"
        kwargs.pop("generator", None)
    # Set on the wrapped tensor at the end: the one below belongs to no graph.
    requires_grad = kwargs.pop("requires_grad", False)
    _refuse_pinning(kwargs)
    try:
        made = original(*args, **kwargs)
    except RuntimeError as error:
        raise machine().full_or(error, ordinal) from None
    made = outside_transforms(made, "making a tensor")
    if type(made) is not torch.Tensor:
        # A mode is in force that only looks at shapes, as DTensor's does: nothing is on a device.
        return shape_on(made, ordinal).requires_grad_(requires_grad)
    with torch.no_grad(), temporarily_clear_interpreter_stack():
        placed = wrap(made, ordinal)
    note_fill(original.__name__, placed)
    # Not where it changes nothing: a function transform lets nobody ask for a gradient inside.
    return placed.requires_grad_(True) if requires_grad else placed


def _refuse_pinning(kwargs: dict[str, Any]) -> None:
    if kwargs.pop("pin_memory", False):
        raise RuntimeError("Only dense CPU tensors can be pinned")


_OURS = frozenset({HOST, "cuda"})


def _from_data(original: Call) -> Call:
    """A tensor made on the host from numbers, then moved."""

    def factory(*args: Any, **kwargs: Any) -> Any:
        device = kwargs.get("device")
        data = args[0] if args else kwargs.get("data", kwargs.get("obj"))
        if device is not None and torch.device(device).type not in _OURS:
            # On ``meta``, say: no element is read.
            bare = [plain(each) if isinstance(each, VirtualTensor) else each for each in args]
            return original(*bare, **kwargs)
        home = ordinal_of(data)
        ordinal = ordinal_from(device)
        if ordinal is None and home is None:
            return made_pinned(original, args, kwargs)
        _refuse_pinning(kwargs)
        if home is not None and device is None:
            ordinal = home
        kwargs["device"] = HOST
        requires_grad = kwargs.pop("requires_grad", False)
        made = original(*args, **kwargs)
        with torch.no_grad():
            made = move(made.detach() if requires_grad else made, ordinal)
        return made.requires_grad_(True) if requires_grad else made

    return factory


def like(original: Call) -> Call:
    """A new tensor of another's shape, on its device unless one is named."""

    def factory(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        device = kwargs.get("device")
        if device is not None and torch.device(device).type not in _OURS:
            # On ``meta``, say: the shape alone counts.
            bare = plain(tensor) if isinstance(tensor, VirtualTensor) else tensor
            return original(bare, *args, **kwargs)
        home = ordinal_of(tensor)
        target = home if device is None else ordinal_from(device)
        if target == home:
            if home is None:
                return made_pinned(original, (tensor, *args), kwargs)
            kwargs.pop("device", None)
            _refuse_pinning(kwargs)
            return original(tensor, *args, **kwargs)
        part = part_of(tensor)
        if part is not None:
            return with_part(tensor, factory(part, *args, **kwargs))
        kwargs["device"] = HOST
        return _elsewhere(original, (tensor, *args), kwargs, target)

    return factory


def _elsewhere(
    original: Call, args: tuple[Any, ...], kwargs: dict[str, Any], ordinal: int | None
) -> Any:
    """Make it from the shape alone: no element of the other tensor is read."""
    requires_grad = kwargs.pop("requires_grad", False)
    with torch.no_grad():
        args = (plain(args[0]), *args[1:])
        if ordinal is None:
            return made_pinned(original, args, kwargs).requires_grad_(requires_grad)
        _refuse_pinning(kwargs)
        if original.__name__.startswith("rand"):
            generator = generator_for(machine(), kwargs.pop("generator", None), ordinal)
            made = execute_drawing(original, args, kwargs, generator)
        else:
            if not machine().arithmetic:
                kwargs["device"] = "meta"
            made = original(*args, **kwargs)
        if hasattr(made, "fake_device"):
            return shape_on(made, ordinal).requires_grad_(requires_grad)
        with temporarily_clear_interpreter_stack():
            placed = wrap(outside_transforms(made, "making a tensor"), ordinal)
    note_fill(original.__name__, placed)
    return placed.requires_grad_(True) if requires_grad else placed


def _foreign(original: Call) -> Call:
    def factory(*args: Any, **kwargs: Any) -> Any:
        if ordinal_from(kwargs.get("device")) is not None:
            raise unsupported(f"torch.{original.__name__} with device='cuda'")
        return original(*args, **kwargs)

    return factory


def _nested(original: Call) -> Call:
    def factory(*args: Any, **kwargs: Any) -> Any:
        """Make a nested tensor of the host's; refuse one that would be on a device."""
        device = kwargs.get("device")
        on_device = default_type() != HOST if device is None else ordinal_from(device) is not None
        held = map(ordinal_of, tensors_in((*args, *kwargs.values())))
        if on_device or any(ordinal is not None for ordinal in held):
            raise no_nested(f"torch.nested.{original.__name__} on a device")
        return original(*args, **kwargs)

    return factory


def _nested_for_transformers(original: Call) -> Call:
    def from_mask(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        """Make what ``nn.TransformerEncoder`` hands to its own layers alone."""
        inside = sys._getframe(1).f_globals.get("__name__") == "torch.nn.modules.transformer"
        if not inside and ordinal_of(tensor) is not None:
            raise no_nested("torch._nested_tensor_from_mask")
        return original(tensor, *args, **kwargs)

    return from_mask


class _Context:
    """``with torch.device('cuda'):`` and ``torch.set_default_device``: the patched functions."""

    def __init__(self, by_original: dict[Any, Call]) -> None:
        self._by_original = by_original

    def torch_function(
        self, mode: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Stands for ``DeviceContext.__torch_function__``."""
        kwargs = kwargs or {}
        if func in _device._device_constructors() and kwargs.get("device") is None:
            kwargs["device"] = mode.device
            func = self._by_original.get(func, func)
        return func(*args, **kwargs)


def patch_factories(patches: Patches) -> None:
    """Give the functions their devices."""
    _device._device_constructors()  # kept by torch from its first call on: it must be torch's own
    by_original: dict[Any, Call] = {}
    tables: tuple[tuple[ModuleType, tuple[str, ...], Callable[[Call], Call]], ...] = (
        (torch, _FILLED, _filled), (torch, _DRAWN, _drawn), (torch, _FROM_DATA, _from_data),
        (torch, _LIKE, like), (torch, _FOREIGN, _foreign),
        (torch.fft, ("fftfreq", "rfftfreq"), _filled),
    )  # fmt: skip
    for module, names, make in tables:
        for name in names:
            # Older releases lack some.
            original = getattr(module, name, None)
            if original is not None:
                by_original[original] = patches.wrap(module, name, make)
    for name in _NESTED:
        if hasattr(torch.nested, name):
            patches.wrap(torch.nested, name, _nested)
    patches.wrap(torch, "_nested_tensor_from_mask", _nested_for_transformers)
    context = _Context(by_original)
    patches.set(
        _device.DeviceContext,
        "__torch_function__",
        lambda mode, func, types, args=(), kwargs=None: context.torch_function(
            mode, func, types, args, kwargs
        ),
    )


# Before torch's own for the host (10), which would take every storage for one of its own.
_PRIORITY = 5


def _tag(storage: Any) -> str | None:
    ordinal = machine().blocks.owner(storage)
    return None if ordinal is None else f"cuda:{ordinal}"


def _restore(storage: Any, location: str) -> Any:
    """Bring a storage that was just read to where ``location`` says."""
    if not location.startswith("cuda"):
        return None
    here = machine()
    ordinal = ordinal_from(
        torch.serialization._validate_device(location, "cuda")  # type: ignore[no-untyped-call]
    )
    assert ordinal is not None  # it begins with “cuda”
    # Once a storage: all tensors of a file that share it came in the same copy.
    if here.blocks.owner(storage) is None:
        content = torch.empty(0, dtype=torch.uint8, device=HOST).set_(storage)
        here.transfer(content, HOST, f"cuda:{ordinal}", True)
    here.blocks.hold(storage, ordinal)
    return storage


def _rebuilt(original: Any) -> Any:
    def rebuild(storage: Any, storage_offset: int, size: Any, stride: Any) -> torch.Tensor:
        """Make a tensor of a storage that was read, on the device where that now is."""
        made: torch.Tensor = original(storage, storage_offset, size, stride)
        ordinal = machine().blocks.owner(storage._untyped_storage)
        # In torch 2.4 a subclass is made of a plain tensor alone, and this may be on a device.
        return made if ordinal is None else relabel(plain(made), ordinal)

    return rebuild


def _storage_device(original: Any) -> property:
    """Where a storage is: C++ knows the host alone."""

    def device(self: Any) -> torch.device:
        tag = _tag(self)
        return original.__get__(self) if tag is None else torch.device(tag)

    return property(device)


def patch_saving(patches: Patches) -> None:
    """Let files remember virtual devices."""
    storage = torch.UntypedStorage
    patches.set(storage, "device", _storage_device(storage.device))
    patches.set(storage, "is_cuda", property(lambda self: _tag(self) is not None))
    registry = torch.serialization._package_registry
    ours = (_PRIORITY, _tag, _restore)
    # A list of its own for the while: torch's is the one that comes back.
    patches.set(torch.serialization, "_package_registry", sorted([*registry, ours]))
    patches.set(torch._utils, "_rebuild_tensor", _rebuilt(torch._utils._rebuild_tensor))
