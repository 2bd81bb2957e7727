"""Recurrent layers and padded sequences: where torch's own C++ looks at the C++ device."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional

from grader.vgpu import words
from grader.vgpu.composites import on_one_device, tensors_in
from grader.vgpu.patches import Patches
from grader.vgpu.tensor import VirtualTensor, device_of, plain


def _recurrent(original: Any) -> Any:
    def call(first: torch.Tensor, *args: Any) -> Any:
        """Check as torch does that state and weights are where the input is."""
        home = device_of(first)
        # A packed sequence has its batch sizes in between.
        hidden, weights = args[1:3] if isinstance(args[2], (list, tuple)) else args[:2]
        for what, value in (("hidden", hidden), ("parameter", weights)):
            for tensor in tensors_in(value):
                if device_of(tensor) != home:
                    raise words.not_where_the_input_is(what, home, device_of(tensor))
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
        whole, lengths = original(plain(data), sizes, False, value, total)
        steps = [
            _filled_up(step, whole.shape[1], value, "right")
            for step in torch.split(data, sizes.tolist())
        ]
        made = _filled_up(torch.stack(steps), whole.shape[0], value, "right")
        return made.transpose(0, 1) if batch_first else made, lengths

    return pad_packed


def patch(patches: Patches) -> None:
    """See to these functions."""
    for name in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
        patches.wrap(torch._VF, name, _recurrent)
    patches.wrap(torch._VF, "_pad_packed_sequence", _pad_packed)
    patches.wrap(torch._C._nn, "pad_sequence", _pad_sequence)
