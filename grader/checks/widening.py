"""Bringing two arrays to one type in which they can be compared.

int64, float64 and complex128 serve nearly always. Where whole numbers do not fit, Python's own
numbers do (arrays of objects): they compare exactly whatever they are.
"""

from __future__ import annotations

import cmath
import sys
from typing import Any, Literal

import numpy as np

from grader.checks.arrays import Array

Narrow = Literal["float32", "float16", "bfloat16"]

_EXACT_IN_FLOAT64 = 2**53
_LARGEST = sys.float_info.max


def widen(actual: Array, expected: Array) -> tuple[Array, Array]:
    """Return both as whole numbers if both are, else as float64 or complex128.

    A whole number beyond 2**53 is rounded where it meets a float.
    """
    kinds = {actual.dtype.kind, expected.dtype.kind}
    if kinds <= set("biuO"):
        return _whole(actual, expected)
    wide = np.complex128 if "c" in kinds else np.float64
    return _inexact(actual).astype(wide, copy=False), _inexact(expected).astype(wide, copy=False)


def widen_exactly(actual: Array, expected: Array) -> tuple[Array, Array]:
    """Like ``widen``, but nothing is rounded."""
    for one, other in ((actual, expected), (expected, actual)):
        if one.dtype.kind in "iuO" and other.dtype.kind in "fc" and _beyond(one):
            return actual.astype(object), expected.astype(object)
    return widen(actual, expected)


def same(actual: Array, expected: Array) -> Array:
    """Tell which elements are equal as numbers; NaN equals NaN, part by part if complex."""
    if actual.dtype.kind == "c":
        return same(actual.real, expected.real) & same(actual.imag, expected.imag)
    nan = (actual != actual) & (expected != expected)  # noqa: PLR0124  # only NaN differs from itself
    equal: Array = (actual == expected) | nan
    return equal


def distance(actual: Array, expected: Array) -> Array:
    """Return absolute differences: uint64 for int64, else float64."""
    if actual.dtype == np.int64:
        # Modulo 2**64 the difference of the greater and the smaller is exact.
        greater, smaller = np.maximum(actual, expected), np.minimum(actual, expected)
        return greater.view(np.uint64) - smaller.view(np.uint64)
    if actual.dtype == object:
        return np.array([_apart(*pair) for pair in zip(actual, expected, strict=True)], np.float64)
    apart: Array = np.abs(actual - expected)
    return apart


def magnitude(array: Array) -> Array:
    """Return absolute values as float64."""
    return np.abs(_inexact(array)).astype(np.float64, copy=False)


def rounded(array: Array, dtype: Narrow) -> Array:
    """Return numbers rounded to a narrower dtype, ties to even, as float64 or complex128."""
    wide = _inexact(array)
    if wide.dtype.kind == "c":
        return np.asarray(rounded(wide.real, dtype) + 1j * rounded(wide.imag, dtype))
    if dtype != "bfloat16":
        return wide.astype(dtype).astype(np.float64)
    single = wide.astype(np.float32)
    bits = single.view(np.uint32)
    # bfloat16 is the upper half of a float32; what is cut off rounds to even.
    upper = ((bits + (0x7FFF + ((bits >> 16) & 1))) >> 16) << 16
    return np.where(np.isfinite(single), upper.view(np.float32), single).astype(np.float64)


def finite(array: Array) -> Array:
    """Tell which elements are neither NaN nor infinite."""
    if array.dtype == object:
        return np.array([isinstance(x, int) or cmath.isfinite(x) for x in array], np.bool_)
    mask: Array = np.isfinite(array)
    return mask


def _whole(actual: Array, expected: Array) -> tuple[Array, Array]:
    if _fits(actual) and _fits(expected):
        return actual.astype(np.int64, copy=False), expected.astype(np.int64, copy=False)
    return actual.astype(object), expected.astype(object)


def _fits(array: Array) -> bool:
    if array.dtype.kind == "u" and array.itemsize == 8:
        return not bool((array > np.iinfo(np.int64).max).any())
    return array.dtype != object


def _beyond(whole: Array) -> bool:
    return bool(((whole > _EXACT_IN_FLOAT64) | (whole < -_EXACT_IN_FLOAT64)).any())


def _inexact(array: Array) -> Array:
    if array.dtype != object:
        return array
    return np.array([_nearest(x) for x in array])


def _nearest(value: Any) -> Any:
    try:
        return float(value) if isinstance(value, int) else value
    except OverflowError:
        return _LARGEST if value > 0 else -_LARGEST


def _apart(one: Any, other: Any) -> Any:
    if isinstance(one, int) and isinstance(other, int):
        return _nearest(abs(one - other))
    return abs(_nearest(one) - _nearest(other))
