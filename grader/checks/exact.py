"""``exact``: the returned numbers are the reference's, with no tolerance at all."""

from __future__ import annotations

from typing import ClassVar, Literal

from grader.checks.arrays import Array
from grader.checks.compare import Comparison
from grader.checks.widening import Narrow, rounded, same, widen_exactly


class Exact(Comparison):
    """Every number equals the reference's, compared without rounding either.

    −0.0 equals 0.0. NaN equals NaN, for the reference may well return it. Dtypes may differ.

    Attributes:
        rounded_to: Dtypes to which the answer may have been rounded. The right algorithm at low
            precision then passes here, and loses at a check of precision only.
    """

    message: ClassVar[str] = "not_equal"

    kind: Literal["exact"] = "exact"
    rounded_to: tuple[Narrow, ...] = ()

    def widen(self, actual: Array, expected: Array) -> tuple[Array, Array]:
        """Bring two arrays to one dtype that holds both."""
        return widen_exactly(actual, expected)

    def wrong(self, actual: Array, expected: Array) -> Array:
        """Tell which elements differ."""
        mask: Array = ~same(actual, expected)
        for dtype in self.rounded_to if mask.any() else ():
            mask &= ~same(actual, rounded(expected, dtype))
        return mask
