"""Results and costs of operations: elements, or shapes alone, and FLOPs.

With arithmetic, an operation runs on the elements, on the host. Without it, torch's meta device
computes shapes and dtypes only. These depend on the shapes of the arguments, not on elements, so
they are computed once for each signature. Values that depend on elements do not exist then: a
number read from a device is NaN.

A multiplication with its addition counts two FLOPs, as in ``torch.utils.flop_counter`` and on data
sheets. Elementwise operations and reductions count one an element of their greatest tensor; views,
fills and copies count none.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import torch

from grader.vgpu.core.machine import HOST
from grader.vgpu.core.tensor import VirtualTensor
from grader.vgpu.patches import unsupported

_drawing = threading.Lock()
_NoTorchDispatch = torch._C._DisableTorchDispatch

# A subclass's handler runs with these keys shut out, for its own tensors have passed them. But an
# operation made of others may make a conjugate view inside, whose elements would be taken as they
# lie. Only complex numbers have such views.
_LAZY = (torch._C.DispatchKey.Conjugate, torch._C.DispatchKey.Negative)
_shut_out = torch._C._dispatch_tls_set_dispatch_key_excluded


# Torch has two doors to the same kernels: the operation as the dispatcher hands it on, which reads
# its arguments by the schema, and the function of Python's own that a program calls, which is three
# times as fast. Those named here take the same arguments in the same order through both.
_FUNCTIONS = """
    _log_softmax _softmax abs add.Tensor addmm baddbmm bmm cat clone convolution cos detach
    div.Tensor eq.Scalar eq.Tensor exp expand gt.Scalar gt.Tensor log lt.Scalar lt.Tensor maximum
    mean mean.dim minimum mm mul.Tensor native_batch_norm native_layer_norm neg
    permute pow.Tensor_Scalar relu rsqrt select.int sigmoid sin sqrt sub.Tensor sum sum.dim_IntList
    t tanh transpose.int unsqueeze view where.self
    add_.Tensor addcdiv_ addcmul_ copy_ div_.Tensor fill_.Scalar lerp_.Scalar mul_.Tensor relu_
    sqrt_ sub_.Tensor zero_
"""


def _found() -> dict[Any, Callable[..., Any]]:
    """Return the operations with their functions, as far as this torch has them."""
    found = {}
    for word in _FUNCTIONS.split():
        name, _, overload = word.partition(".")
        operation = getattr(getattr(torch.ops.aten, name, None), overload or "default", None)
        # Not torch's modules: what is patched there names devices, and stands above all this.
        for owner in (torch._C._VariableFunctions, torch._C.TensorBase):
            function = getattr(owner, name, None)
            if operation is not None and function is not None:
                found[operation] = function
                break
    return found


_functions = _found()


def function_of(func: Any) -> Callable[..., Any]:
    """Return the fastest way to run an ATen operation."""
    found: Callable[..., Any] = _functions.get(func, func)
    return found


def collective_of(func: Any) -> Callable[..., Any]:
    """Return a functional collective that gives what NCCL gives, where gloo's own does not.

    An average of integers leaves out what follows the point; gloo has none. Of tensors that were
    sent together, each is written once; gloo writes all of them again as each is waited for.
    """
    names = [argument.name for argument in func._schema.arguments]
    if "group_name" not in names:
        return function_of(func)
    at, group_at = (
        names.index("reduce_op") if "reduce_op" in names else -1,
        names.index("group_name"),
    )

    def run(*args: Any, **kwargs: Any) -> Any:
        averages = at >= 0 and args[at] == "avg" and _are_integers(args[0])
        asked = (*args[:at], "sum", *args[at + 1 :]) if averages else args
        found = func(*asked, **kwargs)
        together = isinstance(found, (list, tuple))
        results = found if together else [found]
        if together or averages:
            for each in results:
                torch.ops._c10d_functional.wait_tensor(each)
        if averages:
            groups: Any = torch.distributed.distributed_c10d
            group = groups._resolve_process_group(args[group_at])
            for each in results:
                each.copy_(torch.div(each, group.size(), rounding_mode="trunc"))
        return found

    return run


def _are_integers(tensors: Any) -> bool:
    kinds = [each.dtype for each in (tensors if isinstance(tensors, (list, tuple)) else [tensors])]
    return not any(
        kind.is_floating_point or kind.is_complex or kind is torch.bool for kind in kinds
    )


def execute(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, lazy: bool = False) -> Any:
    """Run an ATen operation on the elements themselves; device tensors go in as they are.

    Below this point nobody looks on: neither a tensor subclass nor a mode. The caller has shut out
    torch functions (``DisableTorchFunction``).

    Args:
        func: The operation, or its function.
        args: Its arguments.
        kwargs: Its named arguments.
        lazy: It may make conjugate views inside.
    """
    with _NoTorchDispatch():
        if not lazy:
            return func(*args, **kwargs)
        for key in _LAZY:
            _shut_out(key, False)
        try:
            return func(*args, **kwargs)
        finally:
            for key in _LAZY:
                _shut_out(key, True)


def execute_drawing(
    func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], generator: torch.Generator
) -> Any:
    """Run an operation that draws from the default generator, with ``generator`` in its place."""
    usual = torch.default_generator
    # One at a time: there is one default generator, and other threads draw from it, too.
    with _drawing:
        state = usual.get_state()
        usual.set_state(generator.get_state())
        try:
            return execute(func, args, kwargs)
        finally:
            generator.set_state(usual.get_state())
            usual.set_state(state)


UNKNOWN = float("nan")
"""What reading a number from a device gives: nobody has computed it."""

# Torch's own, before anything is patched.
_empty_strided = torch.empty_strided
_NUMBERS = {True: False, False: 0}
_known_layouts: dict[Any, Any] = {}
_BY_ELEMENTS = frozenset({
    "nonzero", "masked_select", "_unique2", "unique_dim", "unique_consecutive", "equal",
    "repeat_interleave", "bincount", "allclose",
})  # fmt: skip
_MASKS = (torch.bool, torch.uint8)
# They share memory with their argument, or change it: nothing of that can be looked up.
_BY_STORAGE = frozenset({
    "set_", "resize_", "resize_as_", "as_strided_", "t_", "transpose_", "squeeze_", "unsqueeze_",
    "detach_", "_unsafe_view", "_reshape_alias", "lift_fresh", "alias", "detach",
})  # fmt: skip


class _TensorLayout(NamedTuple):
    """What there is of a tensor without its elements."""

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype


def _layout(tensor: torch.Tensor) -> _TensorLayout:
    return _TensorLayout(tuple(tensor.shape), tensor.stride(), tensor.dtype)


def shapes_only(name: str, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run an ATen operation on tensors without elements.

    Args:
        name: Of the operation, without overload.
        func: The operation.
        args: Its arguments.
        kwargs: Its named arguments.

    Raises:
        NotImplementedError: Its result depends on elements.
        RuntimeError: The shapes do not fit (torch's words).
    """
    if name == "_local_scalar_dense":
        return _number(args[0].dtype)
    _refuse_elements(name, args)
    if name == "copy_" and _on_host(args[0]):
        # To the host: the elements that would be written there do not exist.
        return args[0]
    if name == "_pack_padded_sequence":
        # Lengths are the host's, and say how many elements there are.
        return _packed(func, args)
    args = _fitting(name, args)
    writes = func._schema.is_mutable
    if func.is_view or name in _BY_STORAGE:
        return _below(func, args, kwargs)
    key = func, _signature(args), tuple(kwargs), _signature(kwargs.values())
    try:
        made = _known_layouts.get(key)
    except TypeError:
        return _below(func, _bare(args), _bare(kwargs))
    if made is None:
        made = _known_layouts[key] = _mapped(_below(func, _bare(args), _bare(kwargs)), _layout)
    return args[0] if writes and made is not None and not _outs(kwargs) else _blanks(made)


def _refuse_elements(name: str, args: tuple[Any, ...]) -> None:
    """Refuse an operation whose result depends on elements."""
    if name in _BY_ELEMENTS or (name == "index" and _has_mask(args[1])):
        raise without_numbers(name)


def _fitting(name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return arguments that torch's meta device takes: ``masked_fill`` wants its number there."""
    if name.startswith("masked_fill") and isinstance(args[2], torch.Tensor):
        return *args[:2], blank(_layout(args[2]))
    return args


def without_numbers(name: str) -> NotImplementedError:
    """Return the error for an operation whose result depends on elements that nobody computes."""
    return unsupported(
        f"{name} on a timeline without arithmetic", "its result depends on the elements"
    )


def _has_mask(indices: Sequence[torch.Tensor | None]) -> bool:
    return any(each is not None and each.dtype in _MASKS for each in indices)


def _packed(func: Any, args: tuple[Any, ...]) -> Any:
    # Elements of any kind: the kernel needs some to copy.
    padded = blank(_layout(args[0]), HOST)
    values, sizes = _below(func, (padded, *args[1:]), {})
    return blank(_layout(values)), sizes


def _outs(kwargs: dict[str, Any]) -> bool:
    return kwargs.get("out") is not None


def _number(dtype: torch.dtype) -> Any:
    if dtype.is_floating_point or dtype.is_complex:
        return UNKNOWN
    return _NUMBERS[dtype is torch.bool]


def _below(func: Any, args: Any, kwargs: Any) -> Any:
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        return func(*args, **kwargs)


def _signature(values: Iterable[Any], *, inside: bool = False) -> tuple[Any, ...]:
    """Return what results depend on: of tensors the layout, of all else the value.

    A number that an operation takes by itself changes no shape if it is no whole one; an optimiser
    has another one in each step. In a list (``inside``) it may be a scale of a size.
    """
    key: list[Any] = []
    for each in values:
        kind = type(each)
        if kind is VirtualTensor or isinstance(each, torch.Tensor):
            key += (each.shape, each.stride(), each.dtype)
        elif kind is tuple or kind is list:
            key.append(_signature(each, inside=True))
        elif kind is float and not inside:
            key.append(kind)
        else:
            # 1, 1.0 and True are equal, and of different types.
            key += (kind, each)
    return tuple(key)


def _mapped(value: Any, change: Callable[[torch.Tensor], Any]) -> Any:
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, (tuple, list)):
        return type(value)(_mapped(each, change) for each in value)
    if isinstance(value, dict):
        return {name: _mapped(each, change) for name, each in value.items()}
    return value


def _on_host(tensor: torch.Tensor) -> bool:
    return not isinstance(tensor, VirtualTensor) and not tensor.is_meta


def _blank_of(tensor: torch.Tensor) -> torch.Tensor:
    # A number on the host joins in as it is: torch takes it for a scalar by where it is.
    if _on_host(tensor) and tensor.dim() == 0:
        return tensor
    return blank(_layout(tensor))


def _bare(value: Any) -> Any:
    """Return arguments as tensors that no part of torch takes for a device's."""
    return _mapped(value, _blank_of)


def _blanks(layouts: Any) -> Any:
    if isinstance(layouts, _TensorLayout):
        return blank(layouts)
    if isinstance(layouts, (tuple, list)):
        return type(layouts)(_blanks(each) for each in layouts)
    return layouts


def blank(layout: _TensorLayout, device: str = "meta") -> torch.Tensor:
    """Return a tensor whose elements nobody has written."""
    return _empty_strided(layout.shape, layout.stride, dtype=layout.dtype, device=device)


def blank_twin(tensor: torch.Tensor, layout: Any, *, elements: bool) -> torch.Tensor:
    """Return a tensor of the same shape and type.

    Args:
        tensor: Anywhere.
        layout: Memory format of the new one.
        elements: It is for the host, and has elements: unknown ones, NaN or 0.
    """
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
        empty = torch.empty_like(tensor, device="meta", memory_format=layout)
        if not elements:
            return empty
        return blank(_layout(empty), HOST).fill_(_number(empty.dtype))


Shape = Sequence[int]
Formula = Callable[[tuple[Any, ...], Any], int]
Count = Callable[[tuple[Any, ...], Any, int], int]
"""Arguments, result and elements of the greatest tensor → floating-point operations."""


def flops_of(name: str, args: tuple[Any, ...], result: Any, greatest: int) -> int:
    """Return the number of operations.

    Args:
        name: ATen's name without overload.
        args: Its positional arguments.
        result: What it returned.
        greatest: Elements of the greatest tensor that it read or wrote.
    """
    return formula_of(name)(args, result, greatest)


def formula_of(name: str) -> Count:
    """Return what counts the operations of one that is called so."""
    formula = _FORMULAS.get(name)
    if formula is not None:
        return lambda args, result, _: formula(args, result)
    return _nothing if name in _MOVES else _each_element


def _nothing(args: tuple[Any, ...], result: Any, greatest: int) -> int:
    return 0


def _each_element(args: tuple[Any, ...], result: Any, greatest: int) -> int:
    return greatest


def _product(first: int) -> Formula:
    """(…, n, k) times (…, k, m): 2·n·k·m for each of the batch; operands from args[first]."""
    return lambda args, _: 2 * math.prod(args[first].shape) * int(args[first + 1].shape[-1])


def _with_vector(first: int) -> Formula:
    return lambda args, _: 2 * math.prod(args[first].shape)


def convolution(out: Shape, weight: Shape, inputs: Shape, transposed: bool) -> int:
    """Return operations of a convolution: 2·K·C_in/groups for each element of its output.

    Args:
        out: (N, C_out, …).
        weight: (C_out, C_in / groups, …), transposed: (C_in, C_out / groups, …).
        inputs: (N, C_in, …).
        transposed: Each element of the *input* meets all of its filter.
    """
    each = math.prod(weight[1:])
    return 2 * math.prod(inputs if transposed else out) * each


def _convolution(args: tuple[Any, ...], result: Any) -> int:
    return convolution(result.shape, args[1].shape, args[0].shape, bool(args[6]))


def _convolution_backward(args: tuple[Any, ...], _: Any) -> int:
    """Each of the gradients of input and weight costs what the convolution itself did."""
    gradient, inputs, weight = args[0], args[1], args[2]
    once = convolution(gradient.shape, weight.shape, inputs.shape, bool(args[7]))
    return once * (bool(args[10][0]) + bool(args[10][1]))


def _attention(products: int, first: int) -> Formula:
    """Attention over (…, L, E), (…, S, E), (…, S, Ev).

    Args:
        products: How many products of L × S with E or Ev, half of each: forward Q·Kᵀ and P·V, so
            two; backward five (Q·Kᵀ once more, then the gradients of P, V, Q and K).
        first: Where the query stands among the arguments.
    """

    def count(args: tuple[Any, ...], _: Any) -> int:
        query, key, value = args[first], args[first + 1], args[first + 2]
        pairs: int = math.prod(query.shape[:-1]) * int(key.shape[-2])
        width, width_out = int(query.shape[-1]), int(value.shape[-1])
        if products == 2:
            return 2 * pairs * (width + width_out)
        return 2 * pairs * (3 * width + 2 * width_out)

    return count


_FORMULAS: dict[str, Formula] = {
    "mm": _product(0), "bmm": _product(0), "_int_mm": _product(0),
    "addmm": _product(1), "addmm_": _product(1), "_addmm_activation": _product(1),
    "baddbmm": _product(1), "baddbmm_": _product(1), "addbmm": _product(1),
    "mv": _with_vector(0), "dot": _with_vector(0), "vdot": _with_vector(0),
    "addmv": _with_vector(1), "addmv_": _with_vector(1),
    "convolution": _convolution, "_convolution": _convolution,
    "convolution_backward": _convolution_backward,
    "_scaled_dot_product_flash_attention_for_cpu": _attention(2, 0),
    "_scaled_dot_product_attention_math": _attention(2, 0),
    "_scaled_dot_product_flash_attention_for_cpu_backward": _attention(5, 1),
}  # fmt: skip

_MOVES = frozenset({
    "_to_copy", "clone", "copy_", "cat", "stack", "zero_", "fill_", "zeros_like", "ones_like",
    "full_like", "new_zeros", "new_ones", "new_full", "index", "index_select", "gather",
    "embedding", "constant_pad_nd", "roll", "flip", "repeat", "masked_fill", "masked_fill_",
    "where", "index_put_", "index_put", "scatter", "scatter_", "slice_backward",
    "select_backward", "split_with_sizes_copy", "tril", "triu", "_pin_memory",
})  # fmt: skip
