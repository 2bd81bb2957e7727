"""``envelope``: as near to the reference in float64 as its inputs are known."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from grader.checks.arrays import Array, to_numpy
from grader.checks.base import CaseInputs, CompanionNeeds
from grader.checks.bounded import BFLOAT16, HALF, Bound, Bounded
from grader.checks.inputs import ROUNDING, UnfitCaseError
from grader.checks.trees import leaves
from grader.observation import Companions, Observation, Outcome
from grader.wire.values import Tensor, Value

_RUNS = 8
_COARSE = 4.0
_FLOATING = tuple(ROUNDING)


class Envelope(Bounded):
    """Every number is within ``times`` × the envelope of the reference in float64.

    The envelope of an element is the most that it moves when the reference is run in float64 on
    inputs moved by one rounding of their dtype, eight times; at least one rounding of the element
    itself. It is wide where the problem is ill-conditioned and narrow where it is not, at any
    scale. The reference must work in the dtype of its inputs throughout.

    Attributes:
        times: Multiple of the envelope that is allowed.
        partial: An answer as exact as half precision allows earns 90 %, as bfloat16 70 %; needs
            ``requires``, with the check that shows the right algorithm.
    """

    kind: Literal["envelope"] = "envelope"
    times: Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)] = 64.0

    def companions(self) -> CompanionNeeds:
        """Ask for the reference in float64, and eight times on moved inputs."""
        return CompanionNeeds(_RUNS)

    def bounds(self, case: CaseInputs, reference: Observation) -> dict[str, Bound]:
        """Measure how far the reference's answer moves."""
        runs = reference.companions
        if runs is None or not runs.perturbed:
            raise UnfitCaseError(f"the reference was not run in float64 on case “{case.id}”")
        unit = _unit(case.args)
        moved = [_arrays(run, case) for run in runs.perturbed]
        return {
            where: self._bound(value, [arrays[where] for arrays in moved], unit)
            for where, value in _arrays(runs.wide, case).items()
        }

    def _bound(self, value: Array, moved: list[Array], unit: float) -> Bound:
        if any(other.shape != value.shape for other in moved):
            raise UnfitCaseError("the shape of the reference's answer depends on rounding")
        if value.dtype.kind not in "fc":
            return Bound(value, np.zeros(value.shape), (0.0, 0.0, 0.0))
        scale = np.max([np.abs(other - value) for other in moved], axis=0)
        scale = np.maximum(scale, unit * np.abs(value))
        # In the same units: what was one rounding of the inputs is now one of a coarser dtype.
        half, coarsest = (_COARSE * one / unit if unit else 0.0 for one in (HALF, BFLOAT16))
        return Bound(value, scale, (self.times, max(self.times, half), max(self.times, coarsest)))


def companions_fault(runs: Companions) -> str:
    """Return why the reference's further runs are of no use, or an empty string."""
    for run in (runs.wide, *runs.perturbed):
        if run.outcome is not Outcome.COMPLETED:
            told = run.claims.fault
            why = f"{told.type}: {told.message}" if told else run.detail or run.outcome.value
            return f"run again in float64, the reference failed: {why}"
    return ""


def _arrays(run: Observation, case: CaseInputs) -> dict[str, Array]:
    """Return the numbers of one further run, by place."""
    if run.outcome is not Outcome.COMPLETED:
        raise UnfitCaseError(companions_fault(Companions(run, ())))
    value = run.claims.value
    result: dict[str, Array] = {}
    for leaf in leaves(value, value):
        item = leaf.actual
        if isinstance(item, Tensor):
            if item.dtype in _FLOATING and item.dtype != "float64":
                raise UnfitCaseError(
                    f"given float64, the reference returns {item.dtype} in {leaf.where} of case "
                    f"“{case.id}”; it must keep the dtype of its inputs"
                )
            result[leaf.where] = to_numpy(item)
        elif isinstance(item, (int, float)):
            result[leaf.where] = np.array(item)
    return result


def _unit(value: Value) -> float:
    """Return the unit roundoff of the coarsest tensor in a structure."""
    if isinstance(value, Tensor):
        return ROUNDING.get(value.dtype, 0.0)
    if isinstance(value, (tuple, list)):
        return max((_unit(item) for item in value), default=0.0)
    if isinstance(value, dict):
        return max((_unit(item) for item in value.values()), default=0.0)
    return 0.0
