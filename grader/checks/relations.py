"""Relations between a wrong array and the right one that betray a common mistake.

Each recogniser returns the parameters that its cause adds to a message, or None. They are tried in
order, the most telling first. A relation that any two numbers have (a constant ratio, say) counts
only where there are enough different numbers for it to be no accident.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from grader.checks.arrays import Array
from grader.checks.findings import number
from grader.verdict import Param

Told = dict[str, Param]
Recognise = Callable[["Pair"], "Told | None"]

_ALIKE = 1e-4
_TELLING = 3
_SINGLE = 2.0**-22
_FINER = 2.0**-30
_HALF = 2.0**-7


@dataclass(frozen=True, slots=True)
class Pair:
    """Two arrays to compare.

    Attributes:
        actual: What was returned.
        expected: What was right.
        inputs: Shapes of the tensors that went in.
    """

    actual: Array
    expected: Array
    inputs: tuple[tuple[int, ...], ...] = ()


def by_value(pair: Pair) -> Told | None:
    """Return the cause where both have one shape."""
    actual, expected = pair.actual, pair.expected
    if not np.isfinite(actual).all():
        return _lost(actual, expected)
    if not np.isfinite(expected).all():
        return None
    if alike(actual, expected):
        return _single_precision(actual, expected)
    found = first(_BY_VALUE, pair)
    if found is None and expected.dtype.kind in "fc" and alike(actual, expected, _HALF):
        return {"cause": "low_precision"}
    return found


def first(recognisers: tuple[Recognise, ...], pair: Pair) -> Told | None:
    """Return what the first of several recognisers tells."""
    found = (recognise(pair) for recognise in recognisers)
    return next((told for told in found if told is not None), None)


def alike(one: Array, other: Array, rtol: float = _ALIKE) -> bool:
    """Whether two arrays of one shape differ by no more than a share of the greatest number."""
    if one.shape != other.shape:
        return False
    left, right = _numbers(one), _numbers(other)
    apart = np.abs(left - right)
    return bool((apart <= rtol * np.abs(right).max(initial=0.0)).all())


def _numbers(array: Array) -> Array:
    return array if array.dtype.kind == "c" else array.astype(np.float64)


def telling(array: Array) -> bool:
    """Whether there are enough different numbers for a relation to be no accident."""
    return np.unique(array.reshape(-1)[:1000]).size >= _TELLING


def _lost(actual: Array, expected: Array) -> Told | None:
    nan = np.isnan(actual) & np.isfinite(expected)
    if nan.any():
        return {"cause": "nan_all" if nan.all() else "nan_some"}
    return {"cause": "infinite"} if np.isfinite(expected).all() else None


def _single_precision(actual: Array, expected: Array) -> Told | None:
    """Recognise float64 that was float32 on the way, by the size of the error."""
    if expected.dtype.kind not in "fc" or expected.dtype.itemsize < 8:
        return None
    if not alike(actual, expected, _SINGLE):
        return None
    apart = np.abs(actual - expected).max() / np.abs(expected).max()
    return {"cause": "single_precision"} if apart > _FINER else None


def _zero(pair: Pair) -> Told | None:
    return None if pair.actual.any() else {"cause": "all_zero"}


def _truncated(pair: Pair) -> Told | None:
    actual, expected = pair.actual, pair.expected
    if expected.dtype.kind != "f" or actual.dtype.kind not in "fiu":
        return None
    if (expected == np.trunc(expected)).all():
        return None
    whole = (np.trunc(expected), np.floor(expected), np.round(expected))
    return {"cause": "truncated"} if any((actual == other).all() for other in whole) else None


def _rooted(pair: Pair) -> Told | None:
    actual, expected = pair.actual, pair.expected
    if not telling(expected) or "c" in actual.dtype.kind + expected.dtype.kind:
        return None
    if (expected >= 0).all() and alike(actual, np.sqrt(_numbers(expected))):
        return {"cause": "rooted"}
    return {"cause": "squared"} if alike(actual, _numbers(expected) ** 2) else None


def _scaled(pair: Pair) -> Told | None:
    """Recognise a constant factor, and the one between the divisors M and M − 1 by its value."""
    actual, expected = pair.actual, pair.expected
    if not telling(expected) or "c" in actual.dtype.kind + expected.dtype.kind:
        return None
    at = int(np.abs(expected).argmax())
    factor = float(actual.flat[at]) / float(expected.flat[at])
    if not math.isfinite(factor) or factor == 0 or not alike(actual, factor * _numbers(expected)):
        return None
    if abs(factor + 1) < _ALIKE:
        return {"cause": "negated"}
    for size in sorted({size for shape in pair.inputs for size in shape if size > 1}):
        for power in (0.5, 1.0):
            biased = (size / (size - 1)) ** power
            if abs(factor / biased - 1) < _ALIKE or abs(factor * biased - 1) < _ALIKE:
                return {"cause": "divisor"}
    return {"cause": "scaled", "factor": number(float(f"{factor:.3g}"))}


def _offset(pair: Pair) -> Told | None:
    actual, expected = pair.actual, pair.expected
    if not telling(expected) or "c" in actual.dtype.kind + expected.dtype.kind:
        return None
    apart = float(actual.flat[0]) - float(expected.flat[0])
    if not alike(actual, _numbers(expected) + apart):
        return None
    return {"cause": "offset", "offset": number(float(f"{apart:.3g}"))}


def transposed(pair: Pair) -> Told | None:
    """Recognise swapped rows and columns, of a matrix or of every matrix of a batch."""
    if pair.actual.ndim < 2 or pair.actual.ndim != pair.expected.ndim:
        return None
    other = pair.actual.swapaxes(-1, -2)
    return {"cause": "transposed"} if alike(other, pair.expected) else None


def _reordered(pair: Pair) -> Told | None:
    actual, expected = pair.actual, pair.expected
    if not telling(expected):
        return None
    for axis in range(min(expected.ndim, 2)):
        if alike(np.flip(actual, axis), expected):
            return {"cause": "reversed"}
        if _same_slices(actual, expected, axis):
            return {"cause": "columns_permuted" if axis else "rows_permuted"}
    return None


def _same_slices(actual: Array, expected: Array, axis: int) -> bool:
    """Whether both have the same slices along an axis, in whatever order."""
    left, right = (
        np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1) for array in (actual, expected)
    )
    # By the whole slice, so that rounding in one column does not change the order.
    left, right = (array[np.argsort(array.sum(axis=1), kind="stable")] for array in (left, right))
    return alike(left, right)


def _one_item(pair: Pair) -> Told | None:
    """Recognise that of several items only the last, or only the first, is right."""
    actual, expected = pair.actual, pair.expected
    if expected.ndim < 2 or len(expected) < 2 or not telling(expected):
        return None
    right = [alike(*items) for items in zip(actual, expected, strict=True)]
    if right == [False] * (len(right) - 1) + [True]:
        return {"cause": "only_last"}
    return {"cause": "only_first"} if right == [True] + [False] * (len(right) - 1) else None


def _wrong_axis(pair: Pair) -> Told | None:
    """Recognise numbers that add up to 0 along the other axis than the expected ones."""
    actual, expected = pair.actual, pair.expected
    if expected.ndim != 2 or min(expected.shape) < 2 or not expected.any():
        return None
    ours, theirs = ([_centred(array, axis) for axis in (0, 1)] for array in (actual, expected))
    crossed = theirs in ([True, False], [False, True]) and ours == theirs[::-1]
    return {"cause": "wrong_axis"} if crossed else None


def _centred(array: Array, axis: int) -> bool:
    return bool(np.abs(array.mean(axis=axis)).max() <= 1e-3 * np.abs(array).max())


_BY_VALUE = (
    _zero, _truncated, _rooted, _scaled, _offset, transposed, _reordered, _one_item, _wrong_axis,
)  # fmt: skip
