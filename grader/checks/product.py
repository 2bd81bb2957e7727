"""``product``: a product of matrices, or of batches of them, to within its backward error."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from grader.checks.base import CaseInputs
from grader.checks.bounded import BFLOAT16, HALF, Bound, Bounded
from grader.checks.inputs import ArgumentRef, UnfitCaseError, argument, rounding_of, wide
from grader.observation import Observation

_SPREAD = 12.0
"""Of a sum of n roundings, in units of u/√n: five deviations, and the rounding of the result."""


class Product(Bounded):
    """Every number of C = A·B is within u·(4√n + 8)·(|A|·|B|) of the product in float64.

    n is the number of terms in each sum and u the unit roundoff of the factors' dtype. The bound
    does not depend on the scale of the inputs. For random inputs: a constant summed in order
    exceeds it. Computed from the host's own inputs, not from the reference's answer.

    Attributes:
        factors: The two arguments, by name or position; of rank 2 each, or of rank 3 or more with
            equal leading sizes.
        partial: An answer as exact as half precision allows earns 90 %, as bfloat16 70 %; needs
            ``requires``, with the check that shows the right algorithm.
    """

    kind: Literal["product"] = "product"
    factors: tuple[ArgumentRef, ArgumentRef]

    def arguments(self) -> tuple[ArgumentRef, ...]:
        """Return the factors."""
        return self.factors

    def bounds(self, case: CaseInputs, reference: Observation) -> dict[str, Bound]:  # noqa: ARG002
        """Multiply the host's own factors."""
        left, right = (argument(case, which) for which in self.factors)
        if len(left.shape) < 2 or len(right.shape) < 2 or left.shape[-1] != right.shape[-2]:
            raise UnfitCaseError(
                f"the factors of case “{case.id}” have shapes {left.shape} and {right.shape}, "
                "which are no matrices that can be multiplied"
            )
        terms, unit = left.shape[-1], rounding_of(left, right)
        a, b = wide(left), wide(right)
        full = unit * (4 * math.sqrt(terms) + 8)
        bound = Bound(
            np.matmul(a, b),
            np.matmul(np.abs(a), np.abs(b)),
            (full, full + _coarse(HALF, terms), full + _coarse(BFLOAT16, terms)),
        )
        return {"result": bound}


def _coarse(unit: float, terms: int) -> float:
    """Error of a product whose factors and result were rounded to a coarser dtype."""
    return unit * min(3.0, _SPREAD / math.sqrt(max(terms, 1)))
