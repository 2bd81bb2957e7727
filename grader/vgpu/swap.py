"""``tensor.data = other`` across devices: the Python object stays, what it holds is exchanged.

That is how a module moves: its parameters keep their identity, so that an optimiser made before the
move goes on with the same objects.
"""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import torch

from grader.vgpu import words
from grader.vgpu.dispatch import run
from grader.vgpu.machine import HOST
from grader.vgpu.tensor import VirtualTensor, ordinal_of


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
    else:
        _exchange(original, tensor, value)


def _exchange(original: Any, tensor: torch.Tensor, value: torch.Tensor) -> None:
    gradient = tensor.grad
    new = value.detach()
    if isinstance(tensor, torch.nn.Parameter):
        new = torch.nn.Parameter(new, tensor.requires_grad)
    else:
        new.requires_grad_(tensor.requires_grad)
    kept = {name: item for name, item in vars(tensor).items() if name not in _OURS}
    vars(new).update(kept)
    slot: Any = torch._C.TensorBase.grad
    slot.__set__(tensor, None)
    try:
        torch.utils.swap_tensors(tensor, new)  # type: ignore[no-untyped-call]
    except RuntimeError as error:
        if not isinstance(tensor, VirtualTensor):
            slot.__set__(tensor, gradient)
            raise words.unsupported(
                "moving a tensor to a device that a graph still holds",
                "call backward, or drop what was computed with it, first",
            ) from error
        original.__set__(tensor, value)
        tensor.__class__ = HostTensor  # type: ignore[assignment]
    # The gradient stays where it was until the caller moves it, as torch has it.
    slot.__set__(tensor, gradient)
