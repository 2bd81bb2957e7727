"""The operations that a log may hold, and what their kernels take for granted.

A log comes from a process that may be hostile, and torch's kernels are not all careful with what
autograd alone should hand them. So operations are on a list; those that trust their arguments have
a guard that looks first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Made = tuple[str, int, tuple[int, ...]]
"""Of a tensor's memory: which operation made it, as its how-manieth result, from what shape."""

_WORDS = """
abs acos acosh add addbmm addcdiv addcmul addmm addmv addr all amax amin aminmax any arange argmax
argmin argsort asin asinh atan atan2 atanh avg_pool2d avg_pool2d_backward baddbmm bernoulli
binary_cross_entropy binary_cross_entropy_backward binary_cross_entropy_with_logits bitwise_and
bitwise_not bitwise_or bitwise_xor bmm cat ceil celu clamp clamp_max clamp_min clone
constant_pad_nd conv1d conv2d conv3d convolution convolution_backward copy copy_ cos cosh cumprod
cumsum diag_embed div dot elu elu_backward embedding empty empty_like empty_strided
empty_permuted eq erf erfc exp exp2 expm1 exponential eye fill fill_ flatten flip floor
floor_divide fmod full full_like gather ge gelu gelu_backward ger glu glu_backward gt hardsigmoid
hardsigmoid_backward hardswish hardswish_backward hardtanh hardtanh_backward heaviside
huber_loss huber_loss_backward index index_add index_copy index_fill index_put index_select
is_nonzero isfinite isinf isnan kthvalue l1_loss le leaky_relu leaky_relu_backward lerp linear
linspace log log10 log1p log2 log_softmax _log_softmax _log_softmax_backward_data logical_and
logical_not logical_or logical_xor logsumexp lt masked_fill masked_scatter masked_select matmul max
max_pool2d max_pool2d_with_indices max_pool2d_with_indices_backward maximum mean median min minimum
mm mse_loss mse_loss_backward mul multinomial mv nan_to_num narrow_copy native_batch_norm
_native_batch_norm_legit _native_batch_norm_legit_no_training _batch_norm_impl_index batch_norm
native_batch_norm_backward native_dropout native_dropout_backward native_layer_norm
native_layer_norm_backward layer_norm ne neg new_empty new_empty_strided new_full new_ones
new_zeros nll_loss_forward nll_loss_backward nonzero norm linalg_vector_norm normal normal_
one_hot ones ones_like permute_copy polar pow prod rand rand_like randint randint_like randn
randn_like randperm reciprocal relu remainder repeat repeat_interleave roll round rsqrt rsub
scalar_tensor scatter scatter_add select_backward select_scatter sgn sigmoid sigmoid_backward sign
silu silu_backward sin sinh slice_backward slice_scatter smooth_l1_loss smooth_l1_loss_backward
softmax _softmax _softmax_backward_data softplus softplus_backward sort sqrt square stack std
std_mean sub sum tan tanh tanh_backward threshold threshold_backward topk trace tril triu trunc
uniform uniform_ unique_dim _unique2 var var_mean where xlogy zero zero_ zeros zeros_like
_local_scalar_dense _to_copy _unsafe_index _unsafe_index_put _euclidean_dist _cdist_forward cdist
equal add_relu _addmm_activation _foreach_add _foreach_sub _foreach_mul _foreach_div
_foreach_addcmul _foreach_addcdiv _foreach_sqrt _foreach_neg _foreach_lerp _foreach_zero
_foreach_pow _foreach_reciprocal _foreach_maximum _foreach_clamp_min _foreach_norm _foreach_copy
_fused_sgd _fused_adam _fused_adamw split_with_sizes_copy
"""

LISTED = frozenset(name.rstrip("_") for name in _WORDS.split())
"""Names without the underscore of those that write in place."""

READS = frozenset({
    "_local_scalar_dense", "nonzero", "masked_select", "is_nonzero", "equal", "unique_dim",
    "_unique2",
})  # fmt: skip
"""What they tell the process may change what it does next."""


def operation(namespace: str, name: str, overload: str) -> Any:
    """Return an operation by name, or None if it is not on the list."""
    if namespace != "aten" or name.rstrip("_") not in LISTED:
        return None
    packet = getattr(torch.ops.aten, name, None)
    return getattr(packet, overload or "default", None)


class UnsafeError(ValueError):
    """Arguments that only a broken or hostile log has."""


def guard(name: str, args: tuple[Any, ...], made: Callable[[torch.Tensor], Made | None]) -> None:
    """Look at arguments that a kernel would not look at.

    Args:
        name: Of the operation.
        args: Its arguments.
        made: Tells of a tensor's memory what made it, if nothing has written there since.

    Raises:
        UnsafeError: They do not fit together.
    """
    check = _GUARDS.get(name)
    if check is not None and not check(args, made):
        raise UnsafeError(f"the arguments of {name} do not fit together")


def _pooled(args: tuple[Any, ...], made: Callable[[torch.Tensor], Made | None]) -> bool:
    gradient, inputs, indices = args[0], args[1], args[7]
    origin = "max_pool2d_with_indices", 1, tuple(inputs.shape)
    return made(indices) == origin and gradient.shape == indices.shape and _whole(indices)


def _normalised(args: tuple[Any, ...], _: Any) -> bool:
    gradient, inputs, weight, *each = args[:7]
    channels = tuple(inputs.shape[1:2])
    fit = all(item is None or tuple(item.shape) in (channels, (0,)) for item in each)
    statistics = each[2:] if args[7] else each[:2]
    given = all(item is not None and tuple(item.shape) == channels for item in statistics)
    weighted = weight is None or tuple(weight.shape) == channels
    return fit and given and weighted and gradient.shape == inputs.shape


def _layer_normalised(args: tuple[Any, ...], _: Any) -> bool:
    gradient, inputs, shape, mean, rstd, weight, bias = args[:7]
    rows = inputs.numel() // max(1, torch.Size(shape).numel())
    fit = all(item is None or tuple(item.shape) == tuple(shape) for item in (weight, bias))
    sizes = mean.numel() == rstd.numel() == rows
    return fit and sizes and gradient.shape == inputs.shape


def _whole(tensor: torch.Tensor) -> bool:
    return tensor.storage_offset() == 0 and tensor.untyped_storage().nbytes() == (
        tensor.numel() * tensor.element_size()
    )


_GUARDS: dict[str, Callable[[tuple[Any, ...], Any], bool]] = {
    "max_pool2d_with_indices_backward": _pooled,
    "native_batch_norm_backward": _normalised,
    "native_layer_norm_backward": _layer_normalised,
}
