"""Whether two values are equal: by bits, element by element, closely, or but for rounding.

``between`` tells how far two arrays are apart, for messages.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from grader.checks.arrays import Array, distance, finite, magnitude, to_numpy
from grader.checks.traces import read_trace
from grader.verdict import Param, number
from grader.wire.tree import agree, combine, leaves
from grader.wire.values import Buffer, Opaque, Tensor, Value

_COPIED = 2**12  # bytes; up to here a copy costs less than two arrays

CLOSE = 1e-4
"""Share of the greatest number by which numbers differ that are close."""


def bits_equal(one: Value, other: Value) -> bool:
    """Tell whether two values hold the same, bit for bit; what could not cross never does.

    Where tensors are, and what else their process says of them, does not count.
    """
    return agree(_same_bits, one, other)


def _same_bits(one: Value, other: Value) -> bool:
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        alike = (one.dtype, one.shape) == (other.dtype, other.shape)
        return alike and same_bytes(one.data, other.data)
    if isinstance(one, float) and isinstance(other, float):
        # −0.0 equals 0.0, and NaN is not equal to itself.
        return one.hex() == other.hex()
    return one == other and not isinstance(one, Opaque)


def same_bytes(one: Buffer, other: Buffer) -> bool:
    """Tell whether two runs of bytes are equal."""
    if len(one) != len(other):
        return False
    if len(one) <= _COPIED:
        return bytes(one) == bytes(other)
    return np.array_equal(np.frombuffer(one, np.uint8), np.frombuffer(other, np.uint8))


def equal_elements(actual: Array, expected: Array) -> Array:
    """Tell which elements are equal as numbers; NaN equals NaN, part by part if complex."""
    if actual.dtype.kind == "c":
        return equal_elements(actual.real, expected.real) & equal_elements(
            actual.imag, expected.imag
        )
    nan = (actual != actual) & (expected != expected)  # noqa: PLR0124  # only NaN differs from itself
    equal: Array = (actual == expected) | nan
    return equal


def numbers_close(one: Array, other: Array, rtol: float = CLOSE) -> bool:
    """Tell whether two arrays of one shape differ by at most a share of the greatest number."""
    if one.shape != other.shape:
        return False
    left, right = inexact(one), inexact(other)
    apart = np.abs(left - right)
    # “initial”: an empty array has no greatest number, and max would raise.
    return bool((apart <= rtol * np.abs(right).max(initial=0.0)).all())


def inexact(array: Array) -> Array:
    """Return numbers that can be subtracted, in float64 unless they are complex."""
    # NumPy refuses to subtract booleans, and unsigned numbers would wrap around. It warns of a NaN
    # with unusual bits.
    with np.errstate(invalid="ignore"):
        return array if array.dtype.kind == "c" else array.astype(np.float64)


_ROUNDING = {
    "float64": 1e-10, "complex128": 1e-10, "float32": 1e-5, "complex64": 1e-5,
    "float16": 2.0**-9, "bfloat16": 2.0**-6,
}  # fmt: skip
"""Dtype → by which share of a tensor's greatest number results may differ."""

_FLOAT = _ROUNDING["float64"]


def equal_but_for_rounding(
    one: Value, other: Value, share: float = 0.0, dtypes: bool = True
) -> bool:
    """Return whether two values are the same but for rounding.

    Args:
        one: Of any kind.
        other: What it is compared with.
        share: Of the greatest number, by which tensors and fractions may differ. Where the
            rounding of the dtype is more, that much.
        dtypes: Whether those of tensors have to be the same, too. Where they may differ, what the
            coarser one rounds to is the same.
    """

    def same(left: Value, right: Value) -> bool:
        return _same_leaf(left, right, share, dtypes)

    return agree(same, one, other, whole=_is_trace)


def _is_trace(value: Value) -> bool:
    return isinstance(value, dict) and read_trace(value) is not None


def _same_leaf(one: Value, other: Value, share: float, dtypes: bool) -> bool:
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return _same_tensor(one, other, share, dtypes)
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


def _same_tensor(one: Tensor, other: Tensor, share: float, dtypes: bool) -> bool:
    if (one.shape, one.device) != (other.shape, other.device):
        return False
    if one.dtype == other.dtype:
        if same_bytes(one.data, other.data):
            return True
    elif dtypes:
        return False
    rounding = max(_ROUNDING.get(each.dtype, -1.0) for each in (one, other))
    if rounding < 0.0:
        # Whole numbers have none: they are equal, whatever their dtypes.
        return one.dtype != other.dtype and _near(to_numpy(one), to_numpy(other), 0.0)
    return _near(to_numpy(one), to_numpy(other), max(share, rounding))


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


_OF_DIRECTION = 0.3
"""Share of a likeness that hangs on the direction of all numbers together, where few are right."""
_NOT_COUNTED = -1.0


def likeness(one: Value, other: Value) -> float | None:
    """Return how much of a value is as another has it, from 0 to 1; None where its form is another.

    Of tensors that is the share of close elements and, for a part of it, how near the direction of
    all of them is.

    Args:
        one: Of any kind.
        other: What it is compared with; tensors, numbers and texts of it count.
    """
    # Along the other's form: a list of a hostile process may hold itself many times over.
    shares = [*leaves(combine(_share, other, one, unlike=lambda *_: None))]
    if None in shares:
        return None
    counted = [share for share in shares if share != _NOT_COUNTED]
    return sum(counted) / len(counted) if counted else 0.0


def _share(right: Value, seen: Value) -> float | None:
    """Return how much of a leaf is right; None where it has another form."""
    if isinstance(right, Tensor):
        if not isinstance(seen, Tensor) or seen.shape != right.shape:
            return None
        return _alike(to_numpy(seen), to_numpy(right))
    if type(seen) in (tuple, list, dict):
        return None
    compared = isinstance(right, (bool, int, float, str))
    return float(equal_but_for_rounding(seen, right)) if compared else _NOT_COUNTED


def _alike(one: Array, other: Array) -> float:
    """Return how much of two arrays of one shape is equal, and how near their direction is."""
    if object in (one.dtype, other.dtype) or not other.size:
        return 1.0
    left, right = inexact(one).ravel(), inexact(other).ravel()
    with np.errstate(all="ignore"):
        near = np.isclose(left, right, rtol=CLOSE, atol=CLOSE * float(np.abs(right).max()))
        cosine = float(
            np.abs(np.vdot(left, right)) / (np.linalg.norm(left) * np.linalg.norm(right))
        )
    direction = cosine if 0 <= cosine <= 1 else 0.0
    return float((1 - _OF_DIRECTION) * near.mean() + _OF_DIRECTION * direction)


_BLOCK = 2**18  # elements; bounds the memory of the wide copies and keeps them in the cache

Widen = Callable[[Array, Array], "tuple[Array, Array]"]
Wrong = Callable[[Array, Array, slice], Array]
"""Tells which elements are wrong of two arrays that are the slice of the whole ones."""


@dataclass(frozen=True, slots=True)
class Differences:
    """What is wrong between an array and the expected one.

    Attributes:
        mismatched: Elements that are wrong.
        total: Elements in all.
        first_at: Flat index of the first of them.
        abs_diff: Greatest absolute difference among the wrong ones; NaN counts as greatest.
        abs_at: Its flat index.
        rel_diff: Greatest difference relative to the expected value, likewise.
        rel_at: Its flat index.
        not_finite: Elements that are NaN or infinite where the expected one is finite.
        not_finite_at: Flat index of the first of them.
    """

    mismatched: int
    total: int
    first_at: int
    abs_diff: float
    abs_at: int
    rel_diff: float
    rel_at: int
    not_finite: int = 0
    not_finite_at: int = 0

    def params(self, shape: tuple[int, ...]) -> dict[str, Param]:
        """Return what the messages on wrong values have in common."""
        return {
            "mismatched": self.mismatched,
            "total": self.total,
            "percent": 100.0 * self.mismatched / self.total,
            "index": index(self.first_at, shape),
            "abs_diff": number(self.abs_diff),
            "abs_index": index(self.abs_at, shape),
            "rel_diff": number(self.rel_diff),
            "rel_index": index(self.rel_at, shape),
        }

    def not_finite_params(self, shape: tuple[int, ...]) -> dict[str, Param]:
        """Return what the message on NaN and infinities says."""
        at = index(self.not_finite_at, shape)
        return {"count": self.not_finite, "total": self.total, "index": at}


def index(flat: int, shape: tuple[int, ...]) -> list[Param]:
    """Return a flat index as one index per axis."""
    return [int(position) for position in np.unravel_index(flat, shape)]


def between(actual: Array, expected: Array, widen: Widen, wrong: Wrong) -> Differences | None:
    """Return the differences of two arrays of one shape, or None where nothing is wrong.

    Args:
        actual: Any shape and dtype.
        expected: The same shape.
        widen: Brings two arrays to one dtype.
        wrong: Tells which elements of two such arrays are wrong, and where they were cut from.
    """
    ours, theirs = actual.reshape(-1), expected.reshape(-1)
    found: Differences | None = None
    # Inf − inf, overflow and division by zero are results here, not accidents.
    with np.errstate(all="ignore"):
        for start in range(0, ours.size, _BLOCK):
            piece = slice(start, start + _BLOCK)
            left, right = widen(ours[piece], theirs[piece])
            mask = wrong(left, right, piece)
            if mask.any():
                found = _merge(found, _measure(left, right, np.flatnonzero(mask)), start)
    return None if found is None else replace(found, total=ours.size)


def _measure(actual: Array, expected: Array, at: Array) -> Differences:
    ours, theirs = actual[at], expected[at]
    apart = distance(ours, theirs)
    relative = apart / magnitude(theirs)
    # argmax takes the first NaN for the greatest.
    most, worst = int(apart.argmax()), int(relative.argmax())
    lost = at[~finite(ours) & finite(theirs)]
    return Differences(
        mismatched=len(at),
        total=len(actual),
        first_at=int(at[0]),
        abs_diff=apart[most].item(),
        abs_at=int(at[most]),
        rel_diff=relative[worst].item(),
        rel_at=int(at[worst]),
        not_finite=len(lost),
        not_finite_at=int(lost[0]) if len(lost) else 0,
    )


def _merge(found: Differences | None, more: Differences, start: int) -> Differences:
    more = replace(
        more,
        first_at=more.first_at + start,
        abs_at=more.abs_at + start,
        rel_at=more.rel_at + start,
        not_finite_at=more.not_finite_at + start,
    )
    if found is None:
        return more
    by_abs = more if _greater(more.abs_diff, found.abs_diff) else found
    by_rel = more if _greater(more.rel_diff, found.rel_diff) else found
    return Differences(
        mismatched=found.mismatched + more.mismatched,
        total=found.total + more.total,
        first_at=found.first_at,
        abs_diff=by_abs.abs_diff,
        abs_at=by_abs.abs_at,
        rel_diff=by_rel.rel_diff,
        rel_at=by_rel.rel_at,
        not_finite=found.not_finite + more.not_finite,
        not_finite_at=(found if found.not_finite else more).not_finite_at,
    )


def _greater(one: float, other: float) -> bool:
    return not math.isnan(other) and (math.isnan(one) or one > other)
