"""Tensors from the wire as numpy arrays, exactly, without torch, and two arrays in one dtype.

Two arrays are compared in one dtype: int64, float64 and complex128 serve nearly always. Where whole
numbers do not fit, Python's own numbers do (arrays of objects): they compare exactly whatever they
are.
"""

from __future__ import annotations

import cmath
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

# NumPy first: ml_dtypes turns an interrupt while it imports NumPy into an ImportError.
import numpy as np  # isort: skip
import ml_dtypes
from numpy.typing import NDArray

from grader.wire.values import Tensor

Array = NDArray[Any]

# “bool” as bytes: whatever is not 0 counts as true, where NumPy's own bool expects 0 or 1.
_NATIVE: dict[str, Any] = {
    "bool": "|u1", "uint8": "|u1", "int8": "|i1", "int16": "<i2", "uint16": "<u2", "int32": "<i4",
    "uint32": "<u4", "int64": "<i8", "uint64": "<u8", "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2, "float16": "<f2", "bfloat16": ml_dtypes.bfloat16,
    "float32": "<f4", "float64": "<f8", "complex32": "<f2", "complex64": "<c8",
    "complex128": "<c16",
}  # fmt: skip


def to_numpy(tensor: Tensor) -> Array:
    """Return the elements, in the tensor's shape.

    bfloat16 and both float8 become float32, complex32 becomes complex64; every value of theirs is
    one of the wider type too. A bool is any byte other than zero.

    Returns:
        An array that shares the tensor's bytes where numpy has the dtype.
    """
    raw = np.frombuffer(tensor.data, np.dtype(_NATIVE[tensor.dtype]))
    widen = _WIDEN.get(tensor.dtype)
    return (raw if widen is None else widen(raw)).reshape(tensor.shape)


_WIDEN: dict[str, Callable[[Array], Array]] = {
    "bool": lambda raw: raw != 0,
    "bfloat16": lambda raw: raw.astype(np.float32),
    "float8_e4m3fn": lambda raw: raw.astype(np.float32),
    "float8_e5m2": lambda raw: raw.astype(np.float32),
    "complex32": lambda raw: raw.astype(np.float32).view(np.complex64),
}


def in_dtype(tensor: Tensor, dtype: str) -> Tensor:
    """Return a tensor with its numbers in another dtype, as ``tensor.to(dtype)`` has them.

    Args:
        tensor: What is converted.
        dtype: Torch's name. Half of a complex number, ``complex32``, is not converted.
    """
    if dtype == "complex32":
        return tensor
    array = to_numpy(tensor)
    with np.errstate(all="ignore"):
        real = array if dtype.startswith("complex") else array.real
        made = (array != 0 if dtype == "bool" else real).astype(_NATIVE[dtype])
    return replace(tensor, dtype=dtype, data=made.tobytes())


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
    # By way of float32, as torch does it: rounding twice may differ from rounding once.
    with np.errstate(invalid="ignore"):
        return wide.astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float64)


def finite(array: Array) -> Array:
    """Tell which elements are neither NaN nor infinite."""
    if array.dtype == object:
        # An int of any length is finite, and isfinite refuses those that no float can hold.
        return np.array([isinstance(x, int) or cmath.isfinite(x) for x in array], np.bool_)
    mask: Array = np.isfinite(array)
    return mask


def _whole(actual: Array, expected: Array) -> tuple[Array, Array]:
    if _fits(actual) and _fits(expected):
        return actual.astype(np.int64, copy=False), expected.astype(np.int64, copy=False)
    return actual.astype(object), expected.astype(object)


def _fits(array: Array) -> bool:
    # Of the integer dtypes, uint64 alone has numbers that int64 does not hold.
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
        # Not infinity: the difference of two such numbers would be NaN.
        return _LARGEST if value > 0 else -_LARGEST


def _apart(one: Any, other: Any) -> Any:
    if isinstance(one, int) and isinstance(other, int):
        return _nearest(abs(one - other))
    return abs(_nearest(one) - _nearest(other))
