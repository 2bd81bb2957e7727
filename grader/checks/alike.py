"""Whether two values are the same but for rounding, whatever a check would tolerate."""

from __future__ import annotations

import numpy as np

from grader.checks.arrays import Array, same_bytes, to_numpy
from grader.checks.traces import read_trace
from grader.wire.tree import agree
from grader.wire.values import Opaque, Tensor, Value

_ROUNDING = {
    "float64": 1e-10, "complex128": 1e-10, "float32": 1e-5, "complex64": 1e-5,
    "float16": 2.0**-9, "bfloat16": 2.0**-6,
}  # fmt: skip
"""Dtype → by which share of a tensor's greatest number results may differ."""

_FLOAT = _ROUNDING["float64"]


def same_value(one: Value, other: Value, share: float = 0.0) -> bool:
    """Return whether two values are the same but for rounding.

    Args:
        one: Of any kind.
        other: What it is compared with.
        share: Of the greatest number, by which tensors and fractions may differ. Where the
            rounding of the dtype is more, that much.
    """
    return agree(lambda left, right: _same_leaf(left, right, share), one, other, whole=_is_trace)


def _is_trace(value: Value) -> bool:
    return isinstance(value, dict) and read_trace(value) is not None


def _same_leaf(one: Value, other: Value, share: float) -> bool:
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return _same_tensor(one, other, share)
    if isinstance(one, dict):
        # A trace is no result: two spellings of one computation leave different ones on a device.
        return True
    if isinstance(one, float) and isinstance(other, float):
        # A count that is off by one is another result, however great it is.
        whole = one.is_integer() and other.is_integer()
        rounding = _FLOAT if whole else max(share, _FLOAT)
        return _near(np.array([one]), np.array([other]), rounding)
    if isinstance(one, Opaque) and isinstance(other, Opaque):
        return one.type == other.type
    return one == other


def _same_tensor(one: Tensor, other: Tensor, share: float) -> bool:
    if (one.dtype, one.shape, one.device) != (other.dtype, other.shape, other.device):
        return False
    if same_bytes(one.data, other.data):
        return True
    rounding = _ROUNDING.get(one.dtype)
    return rounding is not None and _near(to_numpy(one), to_numpy(other), max(share, rounding))


def _near(one: Array, other: Array, rounding: float) -> bool:
    finite = np.isfinite(one)
    if not np.array_equal(finite, np.isfinite(other)):
        return False
    # Apart from the rest: the difference of two infinities is NaN and would never be near.
    if not np.array_equal(one[~finite], other[~finite], equal_nan=True):
        return False
    # In complex128, which holds every kind: the difference of two float16 may overflow.
    left, right = (array[finite].astype(np.complex128) for array in (one, other))
    most = np.abs(right).max(initial=0.0)
    return bool((np.abs(left - right) <= rounding * most).all())
