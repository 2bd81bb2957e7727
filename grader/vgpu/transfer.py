"""Moving tensors: ``to``, ``cuda``, ``cpu`` and all that comes down to them.

A move is an autograd function whose backward is the move home: torch's own formula would look at
the C++ device, which never changes.
"""

from __future__ import annotations

from typing import Any, cast

import torch

from grader.vgpu import meta, words
from grader.vgpu.machine import HOST, machine
from grader.vgpu.pinned import is_pinned
from grader.vgpu.tensor import VirtualTensor, device_of, ordinal_of, part_of, plain, with_part, wrap


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
        raise words.unsupported(
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
            raise words.without_elements("a copy")
        copy = _twin(bare, kept, on_host=ordinal is None)
        name = HOST if ordinal is None else machine().names[ordinal]
        copy = copy if ordinal is None else wrap(copy, ordinal)
        here = machine()
        here.transfer(tensor, device_of(tensor), name, waits)
        if here.log is not None:
            here.log.move(tensor, copy, waits)
    return copy


def _twin(bare: torch.Tensor, layout: Any, *, on_host: bool) -> torch.Tensor:
    """Copy below every mode that looks on: on a GPU this is a copy engine's work, no operation."""
    if not machine().arithmetic:
        return meta.twin(bare, layout, elements=on_host)
    with torch._C._DisableTorchDispatch():
        return bare.clone(memory_format=layout)


class ToCopy(torch.autograd.Function):
    """The move, known to autograd."""

    @staticmethod
    def forward(  # noqa: D102
        ctx: Any, tensor: torch.Tensor, ordinal: int | None, blocking: bool, layout: Any
    ) -> torch.Tensor:
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
    if ordinal_of(tensor) == ordinal:
        return tensor
    part = part_of(tensor)
    if part is not None:
        if tensor.requires_grad and torch.is_grad_enabled():
            raise words.unsupported(
                "moving a DTensor that a graph is built on", "move its to_local() or full_tensor()"
            )
        return with_part(tensor, move(part.detach(), ordinal, blocking=blocking, layout=layout))
    if torch.nn.parameter.is_lazy(tensor):
        # There are no elements yet: it only learns where they will be.
        vars(tensor)["lazy_ordinal"] = ordinal
        return tensor
    if tensor.is_nested:
        raise words.unsupported("moving a nested tensor", "pad it, torch.nested.to_padded_tensor")
    if tensor.layout is not torch.strided:
        raise words.unsupported(f"moving a tensor of layout {tensor.layout}")
    if tensor.requires_grad and torch.is_grad_enabled():
        with torch._C.DisableTorchFunction():
            moved = ToCopy.apply(tensor, ordinal, blocking, layout)  # type: ignore[no-untyped-call]
            return cast("torch.Tensor", moved)
    return copy_to(tensor, ordinal, blocking=blocking, layout=layout)


def is_virtual(tensor: object) -> bool:
    """Whether a tensor is on a virtual device."""
    return isinstance(tensor, VirtualTensor)
