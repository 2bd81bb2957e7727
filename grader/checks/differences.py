"""How far two arrays are apart, and where: the numbers that a student reads first."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from grader.checks.arrays import Array
from grader.checks.findings import number
from grader.checks.widening import distance, finite, magnitude
from grader.verdict import Param

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
