"""``torch.autocast("cuda")`` on virtual devices, by CUDA's own lists of operations.

Torch casts above autograd, where it sees a tensor's C++ device: of a virtual tensor that is the
host's. So a dispatch key that no CPU build uses, AutocastIPU, stands before the others while a
region of autocast is active in a thread. Its kernels cast virtual tensors as CUDA's would, and keep
``autocast("cpu")`` away from them; tensors of the host go on to torch's own kernels.

The lists are those of ATen/autocast_mode.h, and of ATen/cudnn/AutocastRNN.cpp for recurrent layers;
a test compares them with the header that torch ships.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

import torch

from grader.vgpu.core.tensor import VirtualTensor, is_shape_on_device
from grader.vgpu.patches import Patches

LOWER_PRECISION = frozenset({
    "_convolution.deprecated", "_convolution", "conv1d", "conv2d", "conv3d", "conv_tbc",
    "conv_transpose1d", "conv_transpose2d.input", "conv_transpose3d.input", "convolution", "prelu",
    "addmm", "addmv", "addr", "matmul", "einsum", "mm", "mv", "linalg_vecdot", "linear", "addbmm",
    "baddbmm", "bmm", "chain_matmul", "linalg_multi_dot", "_thnn_fused_lstm_cell",
    "_thnn_fused_gru_cell", "lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell",
    "_scaled_dot_product_flash_attention", "scaled_dot_product_attention",
})  # fmt: skip
# cuDNN's recurrent layers, which are whole operations on a GPU.
RECURRENT = frozenset({
    f"{cell}.{form}" for cell in ("lstm", "gru", "rnn_tanh", "rnn_relu")
    for form in ("input", "data")
})  # fmt: skip
FLOAT32 = frozenset({
    "acos", "asin", "cosh", "erfinv", "exp", "expm1", "log", "log10", "log2", "log1p",
    "reciprocal", "rsqrt", "sinh", "tan", "pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar",
    "softplus", "layer_norm", "native_layer_norm", "rms_norm", "group_norm", "frobenius_norm.dim",
    "nuclear_norm", "nuclear_norm.dim", "cosine_similarity", "poisson_nll_loss",
    "cosine_embedding_loss", "nll_loss", "nll_loss2d", "hinge_embedding_loss", "kl_div", "l1_loss",
    "smooth_l1_loss", "huber_loss", "mse_loss", "margin_ranking_loss", "multilabel_margin_loss",
    "soft_margin_loss", "triplet_margin_loss", "multi_margin_loss",
    "binary_cross_entropy_with_logits", "dist", "pdist", "cdist", "renorm", "logsumexp",
    "upsample_nearest1d", "_upsample_nearest_exact1d", "upsample_nearest2d",
    "_upsample_nearest_exact2d", "upsample_nearest3d", "_upsample_nearest_exact3d",
    "upsample_linear1d", "upsample_bilinear2d", "_upsample_bilinear2d_aa", "upsample_trilinear3d",
    "upsample_bicubic2d", "_upsample_bicubic2d_aa",
})  # fmt: skip
# Their ``dtype`` becomes float32 where none is given.
FLOAT32_RESULT = frozenset({
    "prod", "prod.dim_int", "softmax.int", "log_softmax.int", "cumprod", "cumsum",
    "linalg_vector_norm", "linalg_matrix_norm", "linalg_matrix_norm.str_ord", "sum",
    "sum.dim_IntList",
})  # fmt: skip
WIDEST = frozenset({
    "addcdiv", "addcmul", "atan2", "bilinear", "cross", "dot", "vdot", "grid_sampler", "index_put",
    "tensordot", "scatter_add",
})  # fmt: skip
# Those that take ``dtype`` in another overload.
NORMS = {"norm.Scalar": "ScalarOpt_dtype", "norm.ScalarOpt_dim": "ScalarOpt_dim_dtype"}

_UNSAFE = (
    "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\n"
    "Many models use a sigmoid layer right before the binary cross entropy layer.\n"
    "In this case, combine the two layers using torch.nn.functional."
    "binary_cross_entropy_with_logits\nor torch.nn.BCEWithLogitsLoss.  "
    "binary_cross_entropy_with_logits and BCEWithLogits are\nsafe to autocast."
)

_NAME = "AutocastIPU"
_KEY = getattr(torch._C.DispatchKey, _NAME)
_HOST_KEY = torch._C.DispatchKey.AutocastCPU
_OURS = torch._C.DispatchKeySet(_KEY)
_HOSTS = torch._C.DispatchKeySet(_HOST_KEY)
_BOTH = _OURS | _HOSTS

Policy = Callable[[Any, "tuple[Any, ...]", "dict[str, Any]"], Any]


def _eligible(value: object) -> bool:
    return (
        isinstance(value, torch.Tensor)
        and (isinstance(value, VirtualTensor) or is_shape_on_device(value))
        and value.is_floating_point()
        and value.dtype is not torch.float64
    )


class _Casts:
    """Parameters that were cast already, until the outermost region of autocast is left."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[weakref.ref[torch.Tensor], torch.Tensor]] = {}

    def cast(self, value: Any, dtype: torch.dtype) -> Any:
        """Return a value with the virtual tensors in it cast."""
        if isinstance(value, (list, tuple)):
            return type(value)(self.cast(each, dtype) for each in value)
        if not _eligible(value) or value.dtype is dtype:
            return value
        if not self._kept(value, dtype):
            return value.to(dtype)
        found = self._made.get(id(value))
        # By now the address may be another tensor's.
        if found is None or found[0]() is not value:
            found = self._made[id(value)] = weakref.ref(value), value.to(dtype)
        return found[1]

    def forget(self) -> None:
        """Forget all of them."""
        self._made.clear()

    @staticmethod
    def _kept(value: torch.Tensor, dtype: torch.dtype) -> bool:
        # Torch's own conditions (cached_cast in ATen/autocast_mode.cpp): only parameters are cast
        # once.
        return (
            value.dtype is torch.float32
            and dtype is torch.get_autocast_dtype("cuda")
            and value.requires_grad
            and value.is_leaf
            and not value._is_view()
            and torch.is_autocast_cache_enabled()
        )


_casts = _Casts()


def _cast_to(choose: Callable[[Any], torch.dtype]) -> Policy:
    def apply(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        dtype = choose((*args, *kwargs.values()))
        return op(
            *(_casts.cast(each, dtype) for each in args),
            **{name: _casts.cast(each, dtype) for name, each in kwargs.items()},
        )

    return apply


def _widest(values: Any) -> torch.dtype:
    for each in values:
        inside = each if isinstance(each, (list, tuple)) else (each,)
        if any(_eligible(item) and item.dtype is torch.float32 for item in inside):
            return torch.float32
    return torch.get_autocast_dtype("cuda")


def _with_result(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if _eligible(args[0]) and kwargs.get("dtype") is None:
        at = [argument.name for argument in op._schema.arguments].index("dtype")
        if len(args) <= at:
            return op(*args, **{**kwargs, "dtype": torch.float32})
        if args[at] is None:
            args = (*args[:at], torch.float32, *args[at + 1 :])
    return op(*args, **kwargs)


def _norm(name: str) -> Policy:
    def apply(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not _eligible(args[0]):
            return op(*args, **kwargs)
        given = [argument.name for argument in op._schema.arguments]
        defaults = {argument.name: argument.default_value for argument in op._schema.arguments}
        filled = {**defaults, **dict(zip(given, args, strict=False)), **kwargs}
        other = getattr(torch.ops.aten.norm, NORMS[name])
        return other(*(filled[each] for each in given), dtype=torch.float32)

    return apply


def _banned(*_: Any) -> Any:
    raise RuntimeError(_UNSAFE)


def policy_of(name: str) -> Policy | None:
    """Return how CUDA's autocast calls an ATen operation, or None where it leaves it alone."""
    if name in LOWER_PRECISION or name in RECURRENT:
        return _cast_to(lambda _: torch.get_autocast_dtype("cuda"))
    if name in FLOAT32:
        return _cast_to(lambda _: torch.float32)
    if name in WIDEST:
        return _cast_to(_widest)
    if name in FLOAT32_RESULT:
        return _with_result
    if name in NORMS:
        return _norm(name)
    return _banned if name == "binary_cross_entropy" else None


def _kernel(op: Any, policy: Policy | None) -> Callable[..., Any]:
    def kernel(keys: Any, *args: Any, **kwargs: Any) -> Any:
        if not _any_virtual((*args, *kwargs.values())):
            return op.redispatch(keys.remove(_KEY), *args, **kwargs)
        if policy is None or not torch.is_autocast_enabled("cuda"):
            # To C++ they are on the host, whose autocast would cast them by the CPU's lists.
            with torch._C._ExcludeDispatchKeyGuard(_HOSTS):
                return op.redispatch(keys.remove(_KEY).remove(_HOST_KEY), *args, **kwargs)
        with torch._C._ExcludeDispatchKeyGuard(_BOTH):
            return policy(op, args, kwargs)

    return kernel


def _any_virtual(values: Any) -> bool:
    for each in values:
        if isinstance(each, (list, tuple)):
            if _any_virtual(each):
                return True
        elif isinstance(each, VirtualTensor) or is_shape_on_device(each):
            return True
    return False


def _operators() -> list[str]:
    """Return the ATen operations that autocast of CUDA, or of the host, has to do with."""
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    names = [name for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")]
    ours = {f"aten::{name}" for name in RECURRENT}
    return [
        name
        for name in names
        if name in ours or has(name, "AutocastCUDA") or has(name, "AutocastCPU")
    ]


_registered: list[Any] = []
_registering = threading.Lock()


def _register() -> None:
    """Make the kernels, once in a process; without a region of autocast nothing comes to them."""
    with _registering:
        if not _registered:
            # Kept for good: a library that is collected takes its kernels along.
            _registered.extend(_libraries())


def _libraries() -> list[Any]:
    rest = torch._C._dispatch_library("IMPL", "_", _NAME)
    # All other operations pass by: at a key without a kernel they would fail.
    rest.fallback_fallthrough()
    library: Any = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
    for full in _operators():
        name = full.removeprefix("aten::")
        packet, _, overload = name.partition(".")
        op = getattr(getattr(torch.ops.aten, packet), overload or "default")
        library.impl(name, _kernel(op, policy_of(name)), _NAME, with_keyset=True)
    return [rest, library]


def _watched(original: Any) -> Any:
    def set_enabled(*args: Any) -> None:
        """Switch autocast; stand before torch's own kernels while it is on."""
        original(*args)
        # The host's as well: its lists must not be applied to what is on a virtual device.
        active = torch.is_autocast_enabled("cuda") or torch.is_autocast_enabled("cpu")
        if active:
            _register()
        _stand_before(active)

    return set_enabled


def _stand_before(active: bool) -> None:
    torch._C._dispatch_tls_set_dispatch_key_excluded(_KEY, not active)
    torch._C._dispatch_tls_set_dispatch_key_included(_KEY, active)


def _forgetting(original: Any) -> Any:
    def clear_autocast_cache() -> None:
        _casts.forget()
        original()

    return clear_autocast_cache


def patch_autocast(patches: Patches) -> None:
    """Let ``autocast`` know virtual devices."""
    names = ("set_autocast_enabled", "set_autocast_cpu_enabled", "set_autocast_gpu_enabled")
    for name in names:
        if hasattr(torch, name):
            patches.wrap(torch, name, _watched)
    patches.wrap(torch, "clear_autocast_cache", _forgetting)
