"""Floating-point operations of an ATen operation.

A multiplication with its addition counts two, as in ``torch.utils.flop_counter`` and on data
sheets. Elementwise operations and reductions count one an element of their greatest tensor; views,
fills and copies count none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

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
