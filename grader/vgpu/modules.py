"""``nn.Module.to``, ``DataParallel`` and what else asks C++ where a tensor is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import torch
from torch.nn.parallel import _functions, comm

from grader.vgpu.machine import HOST, machine
from grader.vgpu.patches import Patches
from grader.vgpu.spec import current, ordinal_from
from grader.vgpu.streams import current_stream
from grader.vgpu.tensor import VirtualTensor, device_of
from grader.vgpu.transfer import move


def _parse_to(original: Any) -> Any:
    def parse_to(*args: Any, **kwargs: Any) -> Any:
        """Read the arguments of ``Module.to``; a tensor stands for its device and type."""
        other = args[0] if args else kwargs.get("tensor", kwargs.get("other"))
        if isinstance(other, VirtualTensor):
            _, dtype, non_blocking, layout = original(*args, **kwargs)
            return other.device, dtype, non_blocking, layout
        if args and isinstance(args[0], int) and not isinstance(args[0], bool):
            args = (torch.device("cuda", args[0]), *args[1:])
        return original(*args, **kwargs)

    return parse_to


def _same_kind(original: Any) -> Any:
    def compatible(tensor: torch.Tensor, other: torch.Tensor) -> bool:
        """Whether a module changes ``tensor`` by ``tensor.data = other``, which keeps its identity.

        A parameter, yes. A gradient that changes sides is replaced: autograd holds it as well as
        Python, so what is in it cannot be exchanged.
        """
        if isinstance(tensor, VirtualTensor) is isinstance(other, VirtualTensor):
            return isinstance(tensor, VirtualTensor) or bool(original(tensor, other))
        return isinstance(tensor, torch.nn.Parameter) and not machine().local.replacing

    return compatible


def _materialize(original: Any) -> Any:
    def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Give a lazy parameter its elements, on the device that it was moved to meanwhile."""
        moved = vars(self).pop("lazy_ordinal", None)
        ordinal = moved if device is None else ordinal_from(device)
        original(self, shape, device if ordinal is None else HOST, dtype)
        if ordinal is not None:
            # Not before: the exchange takes the class along, and it was still a lazy one's.
            self.data = torch.empty(shape, device=f"cuda:{ordinal}", dtype=self.dtype)

    return materialize


def _group(lists: Sequence[Sequence[Any]], with_indices: bool = False) -> Any:
    """Group tensors of the first list, and what stands beside them, by device and type."""
    groups: dict[Any, Any] = defaultdict(lambda: ([[] for _ in lists], []))
    for index, first in enumerate(lists[0]):
        tensors, indices = groups[torch.device(device_of(first)), first.dtype]
        for column, each in zip(tensors, lists, strict=True):
            # An empty list, of a state that the optimiser does not keep, stays one.
            column.extend(each[index : index + 1])
        if with_indices:
            indices.append(index)
    return dict(groups)


def _broadcast(tensor: torch.Tensor, devices: Any = None, *, out: Any = None) -> Any:
    """Return the tensor on each device; the first of them holds the tensor itself."""
    if (devices is None) is (out is None):
        raise RuntimeError(
            "Exactly one of 'devices' and 'out' must be specified, but got "
            f"devices={devices} and out={out}"
        )
    if out is not None:
        for target in out:
            target.copy_(tensor)
        return tuple(out)
    return tuple(_sent(tensor, ordinal_from(device)) for device in devices)


def _sent(tensor: torch.Tensor, ordinal: int | None) -> torch.Tensor:
    return move(tensor.detach(), ordinal, blocking=False)


def _broadcast_coalesced(tensors: Any, devices: Any, buffer_size: int = 0) -> Any:
    """Return for each device the list of the tensors there."""
    return [[_sent(tensor, ordinal_from(device)) for tensor in tensors] for device in devices]


def _reduce_add(inputs: Sequence[torch.Tensor], destination: Any = None) -> torch.Tensor:
    """Return the sum of tensors from several devices on one of them."""
    ordinal = current() if destination is None else ordinal_from(destination)
    total, *rest = [_sent(tensor, ordinal) for tensor in inputs]
    for tensor in rest:
        total = total + tensor
    return total


def _reduce_add_coalesced(inputs: Any, destination: Any = None, buffer_size: int = 0) -> Any:
    """Return the sums of the tensors that stand at the same place in each list."""
    return tuple(_reduce_add(column, destination) for column in zip(*inputs, strict=True))


def _scatter(  # noqa: PLR0913 torch's own parameters
    tensor: torch.Tensor, devices: Any = None, chunk_sizes: Any = None, dim: int = 0,
    streams: Any = None, *, out: Any = None,
) -> tuple[torch.Tensor, ...]:  # fmt: skip
    """Return a chunk on each device."""
    targets = out if devices is None else devices
    tensor = tensor.detach()
    chunks = (
        tensor.chunk(len(targets), dim)
        if chunk_sizes is None
        else torch.split(tensor, list(chunk_sizes), dim)
    )
    if devices is None:
        return tuple(t.copy_(chunk) for t, chunk in zip(out, chunks, strict=True))
    return tuple(
        _sent(chunk, ordinal_from(device)) for chunk, device in zip(chunks, devices, strict=False)
    )


def _gather(
    tensors: Sequence[torch.Tensor], dim: int = 0, destination: Any = None, *, out: Any = None
) -> torch.Tensor:
    """Return chunks from several devices as one tensor on one; −1 or ``cpu`` is the host."""
    if out is not None:
        return out.copy_(_gather(tensors, dim, out.device))  # type: ignore[no-any-return]
    on_host = destination in {-1, "cpu", torch.device("cpu")}
    ordinal = current() if destination is None else ordinal_from(None if on_host else destination)
    return torch.cat([move(tensor.detach(), ordinal) for tensor in tensors], dim)


def patch(patches: Patches) -> None:
    """Give modules and their replication their devices."""
    patches.set(torch._C._nn, "_parse_to", _parse_to(torch._C._nn._parse_to))
    lazy: Any = torch.nn.parameter
    patches.wrap(lazy.UninitializedTensorMixin, "materialize", _materialize)
    same = "_has_compatible_shallow_copy_type"
    patches.set(torch, same, _same_kind(getattr(torch, same)))
    patches.set(torch._C, "_group_tensors_by_device_and_dtype", _group)
    patches.set(torch.backends.cudnn, "is_acceptable", lambda _: False)
    for name, value in {
        "broadcast": _broadcast,
        "broadcast_coalesced": _broadcast_coalesced,
        "reduce_add": _reduce_add,
        "reduce_add_coalesced": _reduce_add_coalesced,
        "scatter": _scatter,
        "gather": _gather,
    }.items():
        patches.set(comm, name, value)
    # Torch keeps its streams for good; a copy is on the usual stream here.
    patches.set(_functions, "_get_stream", current_stream)
