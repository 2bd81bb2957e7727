"""``distances``: squared Euclidean distances, to within what any honest formula can do."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from grader.checks.arrays import Array
from grader.checks.base import CaseInputs
from grader.checks.bounded import BFLOAT16, HALF, Bound, Bounded
from grader.checks.inputs import ArgumentRef, UnfitCaseError, argument, rounding_of, wide
from grader.observation import Observation

_GATE = 32.0
_COARSE = 4.0


class Distances(Bounded):
    """Every number is within (32 + √d)·u·(‖a‖² + ‖b‖²) of ‖a − b‖² in float64.

    That is the error of a² + b² − 2ab, which cancels where two points are near each other: the
    formula that needs no large intermediate must not be failed for it. u is the unit roundoff of
    the inputs' dtype and d the number of coordinates, for to sum them in order is right too. Entry
    [i, j] belongs to row i of the first argument and row j of the second.

    Attributes:
        points_of: The two arguments, by name or position; what follows the first axis is one point.
        partial: An answer as exact as half precision allows earns 90 %, as bfloat16 70 %; needs
            ``requires``, with the check that shows the right algorithm.
    """

    kind: Literal["distances"] = "distances"
    points_of: tuple[ArgumentRef, ArgumentRef]

    def arguments(self) -> tuple[ArgumentRef, ...]:
        """Return the two sets of points."""
        return self.points_of

    def bounds(self, case: CaseInputs, reference: Observation) -> dict[str, Bound]:  # noqa: ARG002
        """Measure between the host's own points."""
        left, right = (argument(case, which) for which in self.points_of)
        if not left.shape or left.shape[1:] != right.shape[1:]:
            raise UnfitCaseError(
                f"the points of case “{case.id}” have shapes {left.shape} and {right.shape}, "
                "which do not agree after the first axis"
            )
        unit = rounding_of(left, right)
        a, b = (wide(tensor).reshape(tensor.shape[0], -1) for tensor in (left, right))
        squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None, :]
        full = (_GATE + math.sqrt(a.shape[1])) * unit
        gates = (full, full + _COARSE * HALF, full + _COARSE * BFLOAT16)
        return {"result": Bound(_squared(a, b), squares, gates)}


def _squared(a: Array, b: Array) -> Array:
    """Return ‖a − b‖² by the formula that does not cancel, one row of ``a`` at a time."""
    result = np.empty((len(a), len(b)))
    for row, point in enumerate(a):
        result[row] = ((b - point) ** 2).sum(axis=1)
    return result
