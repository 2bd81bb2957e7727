"""Whether two programs did the same in a call, but for rounding.

For comparing wrong results with wrong results: dtype, shape and device count, tolerances of checks
do not. Numbers may differ by what another order of operations explains, and by no more. A trace of
what devices did is no result: two spellings of one computation leave different traces.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from grader.checks.arrays import Array, same_bytes, to_numpy
from grader.checks.traces import read_trace
from grader.observation import Observation, Outcome
from grader.wire.values import Opaque, Tensor, Value

_ROUNDING = {
    "float64": 1e-10, "complex128": 1e-10, "float32": 1e-5, "complex64": 1e-5,
    "float16": 2.0**-9, "bfloat16": 2.0**-6,
}  # fmt: skip
"""Dtype → by which share of a tensor's greatest number results may differ."""

_FLOAT = _ROUNDING["float64"]


def same_result(one: Observation, other: Observation) -> bool:
    """Return whether two calls ended alike: with the same values, or the same type of exception.

    Values are what was returned, and the arguments after the call where both tell them.
    """
    if one.outcome is not other.outcome:
        return False
    if one.outcome is Outcome.RAISED:
        faults = one.claims.fault, other.claims.fault
        return None not in faults and len({fault.type for fault in faults if fault}) == 1
    if one.outcome is not Outcome.COMPLETED:
        return False
    if not same_value(one.claims.value, other.claims.value):
        return False
    before, after = one.claims.args_after, other.claims.args_after
    return before is None or after is None or same_value(before, after)


def same_value(one: Value, other: Value) -> bool:
    """Return whether two values are the same but for rounding."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return _same_tensor(one, other)
    # By type: to Python True equals 1, and 1 equals 1.0.
    if type(one) is not type(other):
        return False
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(one) == len(other) and all(map(same_value, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        if read_trace(one) is not None and read_trace(other) is not None:
            return True
        return one.keys() == other.keys() and all(same_value(one[key], other[key]) for key in one)
    if isinstance(one, float) and isinstance(other, float):
        return _near(np.array([one]), np.array([other]), _FLOAT)
    if isinstance(one, Opaque) and isinstance(other, Opaque):
        return one.type == other.type
    return one == other


def _same_tensor(one: Tensor, other: Tensor) -> bool:
    if (one.dtype, one.shape, one.device) != (other.dtype, other.shape, other.device):
        return False
    if same_bytes(one.data, other.data):
        return True
    rounding = _ROUNDING.get(one.dtype)
    return rounding is not None and _near(to_numpy(one), to_numpy(other), rounding)


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


def numbers_in(value: Value) -> Iterator[Array]:
    """Yield the numbers of a value, in arrays of one axis."""
    if isinstance(value, Tensor):
        yield to_numpy(value).reshape(-1)
    elif isinstance(value, (bool, int, float)):
        yield np.array([float(value)])
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from numbers_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from numbers_in(item)
