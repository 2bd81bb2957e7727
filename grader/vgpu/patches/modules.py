"""Layers and models: ``nn.Module.to``, ``DataParallel``, recurrent layers, ``SyncBatchNorm``.

They ask C++ where a tensor is, which says the host. What ``nn.SyncBatchNorm`` calls are kernels
that torch has for CUDA alone; here they are made of ordinary operations, by the formulas of
aten/src/ATen/native/cuda/Normalization.cuh. Channels are the second dimension.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional
from torch.nn.parallel import _functions, comm

from grader.vgpu.core.device import current, ordinal_from
from grader.vgpu.core.machine import HOST, machine
from grader.vgpu.core.tensor import VirtualTensor, device_of, plain, tensors_in
from grader.vgpu.core.transfer import move
from grader.vgpu.patches import Patches, not_where_the_input_is
from grader.vgpu.patches.methods import on_one_device
from grader.vgpu.patches.streams import current_stream


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
        """Tell whether a module changes ``tensor`` in place, by ``tensor.data = other``.

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
    here = machine()
    if here.places is not None:
        here.places.note("replicated")
    return [[_sent(tensor, ordinal_from(device)) for tensor in tensors] for device in devices]


def _reduce_add(inputs: Sequence[torch.Tensor], destination: Any = None) -> torch.Tensor:
    """Return the sum of tensors from several devices on one of them."""
    ordinal = current() if destination is None else ordinal_from(destination)
    total, *rest = [_sent(tensor, ordinal) for tensor in inputs]
    for tensor in rest:
        # Not in place: an input that is there already is not copied, and would be changed.
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


def _gather_chunks(
    tensors: Sequence[torch.Tensor], dim: int = 0, destination: Any = None, *, out: Any = None
) -> torch.Tensor:
    """Return chunks from several devices as one tensor on one; −1 or ``cpu`` is the host."""
    if out is not None:
        return out.copy_(_gather_chunks(tensors, dim, out.device))  # type: ignore[no-any-return]
    on_host = destination in {-1, "cpu", torch.device("cpu")}
    ordinal = current() if destination is None else ordinal_from(None if on_host else destination)
    return torch.cat([move(tensor.detach(), ordinal) for tensor in tensors], dim)


def _exact(original: Any) -> Any:
    def check(kind: type, instance: Any) -> bool:
        # torch 2.4 takes all that passes for a parameter for an uninitialised one as well, and
        # DistributedDataParallel refuses those.
        return bool(original(kind, instance)) and (
            kind is torch.nn.Parameter or kind in type(instance).__mro__
        )

    return check


def patch_modules(patches: Patches) -> None:
    """Give modules and their replication their devices."""
    patches.set(torch._C._nn, "_parse_to", _parse_to(torch._C._nn._parse_to))
    lazy: Any = torch.nn.parameter
    patches.wrap(lazy.UninitializedTensorMixin, "materialize", _materialize)
    patches.wrap(type(torch.nn.Parameter), "__instancecheck__", _exact)
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
        "gather": _gather_chunks,
    }.items():
        patches.set(comm, name, value)
    # Torch keeps its streams for good; a copy is on the usual stream here.
    patches.set(_functions, "_get_stream", current_stream)


def _recurrent(original: Any) -> Any:
    def call(first: torch.Tensor, *args: Any) -> Any:
        """Check as torch does that state and weights are where the input is."""
        home = device_of(first)
        # A packed sequence has its batch sizes in between.
        hidden, weights = args[1:3] if isinstance(args[2], (list, tuple)) else args[:2]
        for what, value in (("hidden", hidden), ("parameter", weights)):
            for tensor in tensors_in(value):
                if device_of(tensor) != home:
                    raise not_where_the_input_is(what, home, device_of(tensor))
        return original(first, *args)

    return call


def _filled_up(tensor: torch.Tensor, length: int, value: float, side: str) -> torch.Tensor:
    """Return a tensor whose first dimension is ``length``."""
    missing = length - len(tensor)
    ends = (missing, 0) if side == "left" else (0, missing)
    # ``pad`` counts from the last dimension.
    widths = (*[0, 0] * (tensor.dim() - 1), *ends)
    return torch.nn.functional.pad(tensor, widths, value=value)


def _pad_sequence(original: Any) -> Any:
    def pad_sequence(
        sequences: Any, batch_first: bool = False, value: float = 0.0, side: str = "right"
    ) -> Any:
        """Make one tensor of sequences."""
        if not on_one_device(tuple(sequences)):
            return original(sequences, batch_first, value, side)
        longest = max(len(each) for each in sequences)
        rows = [_filled_up(each, longest, value, side) for each in sequences]
        return torch.stack(rows, 0 if batch_first else 1)

    return pad_sequence


def _pad_packed(original: Any) -> Any:
    def pad_packed(
        data: torch.Tensor, sizes: torch.Tensor, batch_first: bool, value: float, total: int
    ) -> Any:
        """Make one tensor of a packed sequence: (T, B, *), or (B, T, *); lengths on the host."""
        if not isinstance(data, VirtualTensor):
            return original(data, sizes, batch_first, value, total)
        # For shape and lengths alone: its elements are the host's, and follow no graph.
        whole, lengths = original(plain(data), sizes, False, value, total)
        steps = [
            _filled_up(step, whole.shape[1], value, "right")
            for step in torch.split(data, sizes.tolist())
        ]
        made = _filled_up(torch.stack(steps), whole.shape[0], value, "right")
        return made.transpose(0, 1) if batch_first else made, lengths

    return pad_packed


def patch_sequences(patches: Patches) -> None:
    """See to these functions."""
    for name in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
        patches.wrap(torch._VF, name, _recurrent)
    patches.wrap(torch._VF, "_pad_packed_sequence", _pad_packed)
    patches.wrap(torch._C._nn, "pad_sequence", _pad_sequence)


Tensor = torch.Tensor


def _others(x: Tensor) -> list[int]:
    return [dim for dim in range(x.dim()) if dim != 1]


def _wide(values: Tensor, x: Tensor) -> Tensor:
    """Return one value a channel in a shape that meets ``x``."""
    return values.view(-1, *[1] * (x.dim() - 2))


def _stats(x: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Return mean and 1 / standard deviation of each channel."""
    variance, mean = torch.var_mean(x.float(), _others(x), correction=0)
    return mean, torch.rsqrt(variance + eps)


def _gathered(  # noqa: PLR0913, PLR0917  torch's own parameters
    x: Tensor, mean: Tensor, invstd: Tensor, running_mean: Tensor | None,
    running_var: Tensor | None, momentum: float, eps: float, counts: Tensor,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return mean and 1 / standard deviation over all ranks; (ranks, channels) come in."""
    share = counts.view(-1, 1) / counts.sum()
    whole = (share * mean).sum(0)
    # A rank's own variance is invstd**-2 − eps; on top comes how far its mean is off the whole one.
    variance = (share * (invstd**-2 - eps + (mean - whole) ** 2)).sum(0)
    if running_mean is not None and running_var is not None:
        # As in torch: what is kept is unbiased, what this batch is divided by is not.
        unbiased = variance * counts.sum() / (counts.sum() - 1)
        running_mean.lerp_(whole.to(running_mean.dtype), momentum)
        running_var.lerp_(unbiased.to(running_var.dtype), momentum)
    return whole, torch.rsqrt(variance + eps)


def _elements(  # noqa: PLR0913, PLR0917  torch's own parameters
    x: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, invstd: Tensor, eps: float
) -> Tensor:
    """Return the normalised elements."""
    scale = invstd if weight is None else invstd * weight
    made = (x - _wide(mean, x)) * _wide(scale, x)
    return (made if bias is None else made + _wide(bias, x)).to(x.dtype)


def _reduced(
    dy: Tensor, x: Tensor, mean: Tensor, invstd: Tensor, *_: Any
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return sums over a rank's elements, and the gradients of weight and bias."""
    sum_dy = dy.float().sum(_others(dy))
    sum_dy_xmu = (dy * (x - _wide(mean, x))).float().sum(_others(dy))
    return sum_dy, sum_dy_xmu, sum_dy_xmu * invstd, sum_dy


def _element_gradients(  # noqa: PLR0913, PLR0917  torch's own parameters
    dy: Tensor, x: Tensor, mean: Tensor, invstd: Tensor, weight: Tensor | None,
    sum_dy: Tensor, sum_dy_xmu: Tensor, counts: Tensor,
) -> Tensor:  # fmt: skip
    """Return the gradients of the elements, from sums over all ranks."""
    share = 1.0 / counts.sum()
    scale = invstd if weight is None else invstd * weight
    towards = (x - _wide(mean, x)) * _wide(invstd**2 * sum_dy_xmu * share, x)
    return ((dy - _wide(sum_dy * share, dy) - towards) * _wide(scale, x)).to(x.dtype)


def _on_device(made: Any) -> Any:
    def wrapped(original: Any) -> Any:
        def call(x: Tensor, *args: Any, **kwargs: Any) -> Any:
            stands = made if isinstance(x, VirtualTensor) else original
            return stands(x, *args, **kwargs)

        return call

    return wrapped


def patch_batch_norm(patches: Patches) -> None:
    """Let these functions take tensors of virtual devices."""
    for name, made in {
        "batch_norm_stats": _stats,
        "batch_norm_gather_stats_with_counts": _gathered,
        "batch_norm_elemt": _elements,
        "batch_norm_backward_reduce": _reduced,
        "batch_norm_backward_elemt": _element_gradients,
    }.items():
        patches.wrap(torch, name, _on_device(made))
