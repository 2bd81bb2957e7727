"""Numbers judged by what rounding explains, and by nothing that depends on their scale.

A fixed tolerance rejects right code on badly scaled inputs and lets wrong code through on others.
Here the expected value and the error that rounding can make are computed for each element.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pydantic import model_validator

from grader.checks.arrays import Array, to_numpy
from grader.checks.base import CaseInputs, Check
from grader.checks.causes import with_cause
from grader.checks.compare import wrong_shape
from grader.checks.differences import Differences, between
from grader.checks.findings import finding, number
from grader.checks.inputs import UnfitCaseError
from grader.checks.trees import Leaf, judge_leaves
from grader.checks.widening import same, widen
from grader.observation import Observation
from grader.verdict import Code, Message, Owner, Param, Status, Verdict, fault
from grader.wire.values import Tensor

HALF = 2.0**-11
"""Unit roundoff of float16 and of TF32."""
BFLOAT16 = 2.0**-8

_CLASSES = (("float16 or TF32", 0.9), ("bfloat16", 0.7))


@dataclass(frozen=True, slots=True)
class Bound:
    """What one returned array should hold, and how far rounding may take it from there.

    Attributes:
        value: Expected, in float64 or complex128.
        scale: Error per unit of the gates, same shape, at least 0.
        gates: Multiples of ``scale`` that are allowed for full credit, and that arithmetic in
            half precision and in bfloat16 can make.
    """

    value: Array
    scale: Array
    gates: tuple[float, float, float]


class Bounded(Check):
    """Every number lies within what rounding explains.

    Attributes:
        partial: An answer as exact as half precision allows earns 90 %, as bfloat16 70 %. Only
            for the right algorithm: ``requires`` must name the check that shows it, since a
            wrong one can be as near as that.
    """

    partial: bool = False
    message: ClassVar[str] = "beyond_rounding"
    numbers: ClassVar[bool] = False

    @model_validator(mode="after")
    def _partial_rests_on_the_algorithm(self) -> Bounded:
        if self.partial and not self.requires:
            raise ValueError(
                "“partial” needs “requires”: name the check that shows the right algorithm, such "
                "as an exact one on whole numbers"
            )
        return self

    def bounds(self, case: CaseInputs, reference: Observation) -> dict[str, Bound]:
        """Return the bound for each place in the returned structure that holds numbers.

        Raises:
            UnfitCaseError: The case or the reference is not fit for this check.
        """
        raise NotImplementedError

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Compare the returned numbers with their bounds."""
        try:
            bounds = self.bounds(case, reference)
            return judge_leaves(reference, submission, lambda leaf: self._leaf(leaf, bounds, case))
        except UnfitCaseError as error:
            told = Message("reference_failed", {"detail": str(error)})
            return fault(Code.REFERENCE_FAILED, Owner.INSTRUCTOR, told)

    def _leaf(self, leaf: Leaf, bounds: dict[str, Bound], case: CaseInputs) -> Verdict | None:
        actual, expected = leaf.actual, leaf.expected
        if isinstance(actual, Tensor) and isinstance(expected, Tensor):
            if actual.shape != expected.shape:
                return wrong_shape(leaf.where, actual, expected, case)
            found = to_numpy(actual)
        elif isinstance(actual, (int, float)):
            found = np.array(actual)
        else:
            return None
        bound = bounds.get(leaf.where)
        if bound is None or bound.value.shape != found.shape:
            raise UnfitCaseError(f"{leaf.where} of the reference is not what this check computes")
        return self._array(found, bound, leaf.where, case)

    def _array(self, found: Array, bound: Bound, where: str, case: CaseInputs) -> Verdict | None:
        differences = _outside(found, bound, bound.gates[0])
        if differences is None:
            return None
        shape = bound.value.shape
        if differences.not_finite:
            told: dict[str, Param] = {**differences.not_finite_params(shape), "where": where}
            told = with_cause(told, case, found, bound.value)
            return finding(Code.NOT_FINITE, "not_finite", told)
        worst = _worst(found, bound)
        params: dict[str, Param] = {
            **differences.params(shape),
            "times": number(worst / bound.gates[0]) if bound.gates[0] else "inf",
            "where": where,
        }
        for (name, credit), gate in zip(_CLASSES, bound.gates[1:], strict=True):
            if self.partial and worst <= gate:
                message = Message("reduced_precision", {**params, "precision": name})
                return Verdict(
                    Status.PARTIAL, Code.REDUCED_PRECISION, Owner.STUDENT, credit, message, params
                )
        params = with_cause(params, case, found, bound.value)
        return finding(Code.WRONG_VALUE, self.message, params)


def _outside(found: Array, bound: Bound, gate: float) -> Differences | None:
    scale = bound.scale.reshape(-1)

    def wrong(actual: Array, expected: Array, piece: slice) -> Array:
        if actual.dtype.kind not in "fc":
            return ~same(actual, expected)
        # NaN compares false with everything, hence “not (difference ≤ allowed)”.
        near = (np.abs(actual - expected) <= gate * scale[piece]) & np.isfinite(actual)
        mask: Array = ~near & ~same(actual, expected)
        return mask

    return between(found, bound.value, widen, wrong)


def _worst(found: Array, bound: Bound) -> float:
    """Return the greatest difference in units of the scale."""
    with np.errstate(all="ignore"):
        apart = np.abs(widen(found, bound.value)[0] - bound.value)
        units = np.where(apart == 0, 0.0, apart / bound.scale)
    return float(units.max()) if units.size else 0.0
