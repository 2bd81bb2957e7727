"""Moving tensors: ``to``, ``cuda``, ``cpu``, ``tensor.data = other``, and page-locked memory.

A move is an autograd function whose backward is the move home: torch's own formula would look at
the C++ device, which never changes. ``tensor.data = other`` across devices keeps the Python object
and exchanges what it holds. That is how a module moves: its parameters keep their identity, so that
an optimiser made before the move goes on with the same objects.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, cast

import torch
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch.autograd import forward_ad

from grader.vgpu.core.dispatch import run
from grader.vgpu.core.execution import blank_twin
from grader.vgpu.core.machine import HOST, machine
from grader.vgpu.core.tensor import (
    ORDINARY,
    VirtualTensor,
    device_of,
    in_transform,
    is_shape,
    ordinal_of,
    part_of,
    plain,
    relabel,
    with_part,
    wrap,
    wrapped_by,
)
from grader.vgpu.patches import no_nested, unsupported, without_elements
from grader.vgpu.patches.faked import move_shape

# Weakly, and by storage: memory that was given back is page-locked no longer.
_pinned: weakref.WeakSet[torch.UntypedStorage] = weakref.WeakSet()


def pin(tensor: torch.Tensor) -> None:
    """Mark a host tensor's memory as page-locked."""
    _pinned.add(tensor.untyped_storage())


def made_pinned(original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call one of torch's functions that make a host tensor, with ``pin_memory`` or without."""
    if not kwargs.get("pin_memory"):
        return original(*args, **kwargs)
    # Torch without CUDA raises where it is asked to lock pages.
    tensor = original(*args, **{**kwargs, "pin_memory": False})
    pin(tensor)
    return tensor


def is_pinned(tensor: torch.Tensor) -> bool:
    """Tell whether a host tensor's memory is page-locked."""
    return bool(_pinned) and tensor.untyped_storage() in _pinned


def forget_pinned() -> None:
    """Mark nothing any longer."""
    _pinned.clear()


def copy_to(
    tensor: torch.Tensor, ordinal: int | None, *, blocking: bool, layout: Any = None
) -> torch.Tensor:
    """Return a copy on a device (None: on the host) outside any graph, and note the transfer.

    Args:
        tensor: Where it is does not matter; a copy is made even if it is there already.
        ordinal: The device.
        blocking: Whether the caller asked to wait.
        layout: Memory format of the copy; by default the tensor's own.
    """
    source = ordinal_of(tensor)
    if machine().local.capture is not None:
        raise unsupported(
            "a copy to another device inside a CUDA graph", "copy_ into a tensor that is there"
        )
    # Host memory that is not page-locked is staged, so the host waits; between two devices the
    # copy is queued on their streams.
    waits = (source is None or ordinal is None) and (
        blocking or (source is None and not is_pinned(tensor))
    )
    with torch._C.DisableTorchFunction(), torch.no_grad():
        kept = layout if layout is not None else torch.preserve_format
        bare = plain(tensor)
        if bare.is_meta and source is not None and machine().arithmetic:
            raise without_elements("a copy")
        copy = _twin(bare, kept, ordinal)
        name = HOST if ordinal is None else machine().names[ordinal]
        copy = copy if ordinal is None else wrap(copy, ordinal)
        here = machine()
        here.transfer(tensor, device_of(tensor), name, waits)
        event = here.timed_event
        if here.log is not None:
            here.log.move(tensor, copy, waits)
        if here.places is not None:
            if isinstance(tensor, torch.nn.Parameter):
                here.places.moves(tensor, copy)
            if source is None:
                here.places.goes(tensor, event, in_vain=waits and not blocking)
            elif ordinal is None:
                here.places.came(copy, event)
    return copy


def _twin(bare: torch.Tensor, layout: Any, ordinal: int | None) -> torch.Tensor:
    """Copy below every mode that looks on: on a GPU this is a copy engine's work, no operation."""
    if not machine().arithmetic:
        return blank_twin(bare, layout, elements=ordinal is None)
    with torch._C._DisableTorchDispatch():
        try:
            return bare.clone(memory_format=layout)
        except RuntimeError as error:
            if ordinal is None:
                raise
            raise machine().full_or(error, ordinal) from None


class ToCopy(torch.autograd.Function):
    """The move, known to autograd."""

    @staticmethod
    def forward(  # noqa: D102
        ctx: Any, tensor: torch.Tensor, ordinal: int | None, blocking: bool, layout: Any
    ) -> torch.Tensor:
        # Only where it was: kept itself, the tensor would live as long as the graph.
        ctx.home = ordinal_of(tensor)
        return copy_to(tensor, ordinal, blocking=blocking, layout=layout)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:  # noqa: D102
        # Autograd waits for nobody: the gradient goes home on the stream.
        return move(gradients[0], ctx.home, blocking=False), None, None, None


# So that a printed result reads as it does on a GPU: grad_fn=<ToCopyBackward0>.
ToCopy._backward_cls.__name__ = "ToCopyBackward0"


def move(
    tensor: torch.Tensor, ordinal: int | None, *, blocking: bool = True, layout: Any = None
) -> torch.Tensor:
    """Return a tensor on a device (None: on the host), itself if it is there already."""
    if is_shape(tensor):
        return move_shape(tensor, ordinal)
    there = ordinal_of(tensor) == ordinal
    return tensor if there else _moved(tensor, ordinal, blocking, layout)


def _moved(tensor: torch.Tensor, ordinal: int | None, blocking: bool, layout: Any) -> torch.Tensor:
    if torch.nn.parameter.is_lazy(tensor):
        # There are no elements yet: it only learns where they will be.
        vars(tensor)["lazy_ordinal"] = ordinal
        return tensor
    if tensor.is_nested:
        raise no_nested("moving a nested tensor")
    if in_transform(tensor):
        constant = outside_transforms(tensor, "moving a tensor")
        with temporarily_clear_interpreter_stack():
            return move(constant, ordinal, blocking=blocking, layout=layout)
    if type(tensor) not in ORDINARY:
        wrapper = _moved_wrapper(tensor, partial(move, ordinal=ordinal, blocking=blocking))
        if wrapper is not None:
            return wrapper
    if tensor.layout is not torch.strided or tensor.is_quantized:
        kind = f"dtype {tensor.dtype}" if tensor.is_quantized else f"layout {tensor.layout}"
        raise unsupported(f"moving a tensor of {kind}")
    return _copied(tensor, ordinal, blocking, layout)


def _copied(tensor: torch.Tensor, ordinal: int | None, blocking: bool, layout: Any) -> torch.Tensor:
    if tensor.requires_grad and torch.is_grad_enabled():
        # Modes would be told of a call that the program has not made.
        with torch._C.DisableTorchFunction():
            moved = ToCopy.apply(tensor, ordinal, blocking, layout)  # type: ignore[no-untyped-call]
            return cast("torch.Tensor", moved)
    return copy_to(tensor, ordinal, blocking=blocking, layout=layout)


def outside_transforms(tensor: torch.Tensor, doing: str) -> torch.Tensor:
    """Return what ``torch.func.grad`` or ``jvp`` have wrapped for their levels: it has a storage.

    Args:
        tensor: Returned as it is outside of them.
        doing: What is to be done with it.

    Raises:
        NotImplementedError: A transform follows this tensor.
    """
    while in_transform(tensor):
        if (
            _functorch.is_batchedtensor(tensor)
            or tensor.requires_grad
            or forward_ad.unpack_dual(tensor).tangent is not None  # type: ignore[no-untyped-call]
        ):
            raise unsupported(
                f"{doing} inside a transform of torch.func that follows it", "do it before"
            )
        tensor = _functorch.get_unwrapped(tensor)
    return tensor


_functorch: Any = torch._C._functorch


def _moved_wrapper(
    tensor: Any, change: Callable[[torch.Tensor], torch.Tensor]
) -> torch.Tensor | None:
    """Move what a subclass is wrapped around; return None where it has elements of its own.

    Args:
        tensor: Of a subclass.
        change: Moves an ordinary tensor.

    Raises:
        NotImplementedError: Nobody knows what it is wrapped around, or a graph is built on it.
    """
    if hasattr(tensor, "trigger_wait"):
        # What a collective of ``torch.distributed`` will bring: any use of it waits.
        return change(tensor.trigger_wait())
    names = wrapped_by(tensor)
    if names is None:
        if _has_no_memory(tensor):
            raise unsupported(f"moving a {type(tensor).__name__}", "give it __tensor_flatten__")
        return None
    if tensor.requires_grad and torch.is_grad_enabled():
        raise unsupported(
            f"moving a {type(tensor).__name__} that a graph is built on",
            "move a DTensor's to_local() or full_tensor(), any other before it is computed with",
        )
    if part_of(tensor) is not None:
        return with_part(tensor, change(tensor._local_tensor.detach()))
    _, context = tensor.__tensor_flatten__()
    inner = {name: change(getattr(tensor, name)) for name in names}
    made: torch.Tensor = type(tensor).__tensor_unflatten__(
        inner, context, tensor.size(), tensor.stride()
    )
    return made


def _has_no_memory(tensor: torch.Tensor) -> bool:
    """Tell whether a subclass was made by ``_make_wrapper_subclass``: C++ holds no elements."""
    try:
        tensor.untyped_storage().data_ptr()
    except RuntimeError:
        return True
    return False


class HostTensor(torch.Tensor):
    """A tensor that came home from a device while a graph still held it.

    What C++ holds cannot be exchanged then, and keeps the key that brings operations to Python.
    """

    mixes: ClassVar[bool] = True
    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if not all(getattr(kind, "mixes", False) for kind in types):
            return NotImplemented
        return run(func, args, kwargs or {})

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        return repr(_bare(self))

    def tolist(self) -> Any:
        """Return the elements as nested lists."""
        return _bare(self).tolist()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return copy.deepcopy(_bare(self), memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _bare(self).__reduce_ex__(protocol)  # type: ignore[no-untyped-call]


HostTensor.__name__ = HostTensor.__qualname__ = "Tensor"
HostTensor.__module__ = "torch"


def _bare(tensor: torch.Tensor) -> torch.Tensor:
    """Return an ordinary tensor, or parameter, over the same storage."""
    with torch._C._DisableTorchDispatch(), torch.no_grad():
        bare = torch.empty(0, dtype=tensor.dtype, device=HOST)
        bare.set_(tensor.untyped_storage(), tensor.storage_offset(), tensor.size(), tensor.stride())
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(bare, tensor.requires_grad)
    return bare.requires_grad_(tensor.requires_grad)


_OURS = frozenset({"ordinal", "_is_param", "_is_buffer"})


def assign_data(original: Any, tensor: torch.Tensor, value: torch.Tensor) -> None:
    """Set the data of a tensor, which goes where ``value`` is.

    Args:
        original: Torch's own attribute.
        tensor: The tensor to change, perhaps a parameter.
        value: Its new elements.

    Raises:
        NotImplementedError: A graph that is still needed holds the tensor where it was.
    """
    if isinstance(tensor, VirtualTensor) and isinstance(value, VirtualTensor):
        original.__set__(tensor, value)
        tensor.ordinal = value.ordinal
    elif ordinal_of(tensor) == ordinal_of(value):
        original.__set__(tensor, value)
    elif isinstance(tensor, HostTensor) and isinstance(value, VirtualTensor):
        # It went home while a graph held it, and goes back: C++ holds what a device tensor has.
        original.__set__(tensor, value)
        tensor.__class__ = VirtualTensor  # type: ignore[assignment]
        cast("Any", tensor).ordinal = value.ordinal
    else:
        _exchange(original, tensor, value)


def _exchange(original: Any, tensor: torch.Tensor, value: torch.Tensor) -> None:
    gradient = tensor.grad
    new = value.detach()
    if isinstance(tensor, torch.nn.Parameter):
        new = torch.nn.Parameter(new, tensor.requires_grad)
    else:
        new.requires_grad_(tensor.requires_grad)
    # Not its device: with the old ordinal it would still name the place that it has left.
    kept = {name: item for name, item in vars(tensor).items() if name not in _OURS}
    vars(new).update(kept)
    slot: Any = torch._C.TensorBase.grad
    slot.__set__(tensor, None)
    try:
        torch.utils.swap_tensors(tensor, new)  # type: ignore[no-untyped-call]
    except RuntimeError as error:
        if not isinstance(tensor, VirtualTensor):
            _give_back(original, tensor, gradient)
            raise unsupported(
                "moving a tensor to a device that a graph still holds",
                "call backward, or drop what was computed with it, first",
            ) from error
        original.__set__(tensor, value)
        tensor.__class__ = HostTensor  # type: ignore[assignment]
    # The gradient stays where it was until the caller moves it, as torch has it.
    _give_back(original, tensor, gradient)


def _give_back(original: Any, tensor: torch.Tensor, gradient: torch.Tensor | None) -> None:
    """Set the gradient that a tensor had, also one of another size: FSDP keeps its part there."""
    slot: Any = torch._C.TensorBase.grad
    if gradient is None or gradient.shape == tensor.shape:
        slot.__set__(tensor, gradient)
        return
    data = original.__get__(tensor)
    # C++ compares sizes as a gradient is set, and not afterwards.
    fitting = torch.empty(gradient.shape, dtype=gradient.dtype, device=HOST)
    ordinal = ordinal_of(tensor)
    original.__set__(tensor, fitting if ordinal is None else relabel(fitting, ordinal))
    slot.__set__(tensor, gradient)
    original.__set__(tensor, data)
