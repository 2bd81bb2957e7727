"""``close``: the returned numbers are the reference's, within a stated tolerance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from grader.checks.arrays import Array
from grader.checks.compare import Comparison
from grader.checks.widening import same, widen
from grader.verdict import Param

Tolerance = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Close(Comparison):
    """Every number lies within ``atol + rtol·|expected|`` of the reference's.

    Compared in float64 (complex128), whole numbers with whole numbers exactly. NaN is right only
    where the reference has NaN, an infinity only where it has the same one. Shapes must agree;
    nothing is broadcast. Dtypes may differ: that is for kind ``dtype`` to judge.

    Attributes:
        rtol: Tolerance relative to the expected value.
        atol: Tolerance in the value's own unit.
    """

    message: ClassVar[str] = "wrong_value"

    kind: Literal["close"] = "close"
    rtol: Tolerance
    atol: Tolerance

    def widen(self, actual: Array, expected: Array) -> tuple[Array, Array]:
        """Bring two arrays to one dtype; a whole number that meets a float may be rounded."""
        return widen(actual, expected)

    def wrong(self, actual: Array, expected: Array) -> Array:
        """Tell which elements lie outside the tolerance."""
        if actual.dtype.kind not in "fc":
            return ~same(actual, expected)
        allowed = self.atol + self.rtol * np.abs(expected)
        near = np.abs(actual - expected) <= allowed
        # NaN compares false with everything, hence “not (difference ≤ allowed)” and never
        # “difference > allowed”; and an infinite bound must let nothing through.
        near &= np.isfinite(actual) & np.isfinite(expected)
        outside: Array = ~near
        return outside & ~same(actual, expected) if outside.any() else outside

    def told(self) -> Mapping[str, Param]:
        """Return the tolerance."""
        return {"atol": self.atol, "rtol": self.rtol}
