"""What ``nn.SyncBatchNorm`` calls: kernels that torch has for CUDA alone.

Made of ordinary operations, by the formulas of aten/src/ATen/native/cuda/Normalization.cuh.
Channels are the second dimension.
"""

from __future__ import annotations

from typing import Any

import torch

from grader.vgpu.patches import Patches
from grader.vgpu.tensor import VirtualTensor

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
    variance = (share * (invstd**-2 - eps + (mean - whole) ** 2)).sum(0)
    if running_mean is not None and running_var is not None:
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


def patch(patches: Patches) -> None:
    """Let these functions take tensors of virtual devices."""
    for name, made in {
        "batch_norm_stats": _stats,
        "batch_norm_gather_stats_with_counts": _gathered,
        "batch_norm_elemt": _elements,
        "batch_norm_backward_reduce": _reduced,
        "batch_norm_backward_elemt": _element_gradients,
    }.items():
        patches.wrap(torch, name, _on_device(made))
