"""Kinds ``product``, ``distances`` and ``envelope``: numbers judged by what rounding explains.

A fixed tolerance rejects right code on badly scaled inputs and lets wrong code through on others.
Here the expected value and the error that rounding can make are computed for each element.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from grader.checks.arrays import Array, to_numpy, widen
from grader.checks.base import ArgumentRef, CaseInputs, Check, CompanionNeeds, UnfitCaseError
from grader.checks.compare import Differences, between, equal_elements
from grader.checks.compare_trees import Leaf, judge_numbers, leaves, wrong_shape
from grader.checks.diagnoses import with_cause
from grader.observation import Observation, Outcome
from grader.verdict import Code, Message, Owner, Param, Status, Verdict, finding, number
from grader.wire.tree import tensors
from grader.wire.values import Tensor, Value

HALF = 2.0**-11
"""Unit roundoff of float16 and of TF32."""
BFLOAT16 = 2.0**-8

_COARSE = 4.0
_CLASSES = (("float16 or TF32", 0.9), ("bfloat16", 0.7))


ROUNDING = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
"""Greatest relative error of one rounding to a dtype; whole numbers are not rounded."""


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
    finding_message: ClassVar[str] = "beyond_rounding"
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
        bounds = self.bounds(case, reference)
        return judge_numbers(reference, submission, lambda leaf: self._leaf(leaf, bounds, case))

    def margin(
        self, case: CaseInputs, reference: Observation, where: str
    ) -> tuple[Array, Array] | None:
        """Return the computed numbers, and how far rounding may take each from there."""
        bound = self.bounds(case, reference).get(where)
        return None if bound is None else (bound.value, bound.scale * bound.gates[0])

    def _leaf(self, leaf: Leaf, bounds: dict[str, Bound], case: CaseInputs) -> Verdict | None:
        actual, expected = leaf.actual, leaf.expected
        if isinstance(actual, Tensor) and isinstance(expected, Tensor):
            if actual.shape != expected.shape:
                return wrong_shape(leaf, case)
            found = to_numpy(actual)
        elif isinstance(actual, (int, float)):
            found = np.array(actual)
        else:
            return None
        bound = bounds.get(leaf.where)
        # The check computed something that the reference does not return: the instructor's mistake,
        # never a failed submission.
        if bound is None or bound.value.shape != found.shape:
            raise UnfitCaseError(f"{leaf.where} of the reference is not what this check computes")
        return self._array(found, bound, leaf.where, case)

    def _array(self, found: Array, bound: Bound, where: str, case: CaseInputs) -> Verdict | None:
        differences = _outside(found, bound, bound.gates[0])
        if differences is None:
            return None
        shape = bound.value.shape
        if differences.not_finite:
            details: dict[str, Param] = {**differences.not_finite_params(shape), "where": where}
            details = with_cause(details, case, found, bound.value)
            return finding(Code.NOT_FINITE, "not_finite", details)
        worst, place = _worst(found, bound)
        params: dict[str, Param] = {
            **differences.params(shape),
            "times": number(worst / bound.gates[0]) if bound.gates[0] else "inf",
            "worst_index": list[Param](place),
            "worst_diff": number(float(_apart(found, bound)[place])),
            "explained": number(float(np.broadcast_to(bound.scale, shape)[place]) * bound.gates[0]),
            "where": where,
        }
        for (name, credit), gate in zip(_CLASSES, bound.gates[1:], strict=True):
            # From the strictest class on: the first gate that holds gives the most credit.
            if self.partial and worst <= gate:
                message = Message("reduced_precision", {**params, "precision": name})
                return Verdict(
                    Status.PARTIAL, Code.REDUCED_PRECISION, Owner.STUDENT, credit, message, params
                )
        params = with_cause(params, case, found, bound.value)
        return finding(Code.WRONG_VALUE, self.finding_message, params)


def _outside(found: Array, bound: Bound, gate: float) -> Differences | None:
    scale = bound.scale.reshape(-1)

    def wrong(actual: Array, expected: Array, piece: slice) -> Array:
        if actual.dtype.kind not in "fc":
            return ~equal_elements(actual, expected)
        # NaN compares false with everything, hence “not (difference ≤ allowed)”.
        near = (np.abs(actual - expected) <= gate * scale[piece]) & np.isfinite(actual)
        mask: Array = ~near & ~equal_elements(actual, expected)
        return mask

    return between(found, bound.value, widen, wrong)


def _worst(found: Array, bound: Bound) -> tuple[float, tuple[int, ...]]:
    """Return the greatest difference in units of the scale, and the index of that element."""
    with np.errstate(all="ignore"):
        apart = _apart(found, bound)
        # 0 / 0 would be NaN where nothing differs.
        units = np.where(apart == 0, 0.0, apart / bound.scale)
    place = np.unravel_index(int(units.argmax()), units.shape)
    return float(units.max()), tuple(int(axis) for axis in place)


def _apart(found: Array, bound: Bound) -> Array:
    apart: Array = np.abs(widen(found, bound.value)[0] - bound.value)
    return apart


_SPREAD = 12.0
"""Of a sum of n roundings, in units of u/√n: five deviations, and the rounding of the result."""


def _argument(case: CaseInputs, which: ArgumentRef) -> Tensor:
    """Return a tensor among the positional arguments.

    Raises:
        UnfitCaseError: There is no such argument, or it is no tensor.
    """
    value = case.args[case.position(which)]
    if not isinstance(value, Tensor):
        raise UnfitCaseError(f"argument “{which}” of case “{case.id}” is no tensor")
    return value


def _wide(tensor: Tensor) -> Array:
    """Return the elements in float64, or complex128 where they are complex."""
    array = to_numpy(tensor)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _unit(value: Value) -> float:
    """Return the unit roundoff of the coarsest tensor in a structure; 0 for whole numbers."""
    return max((ROUNDING.get(tensor.dtype, 0.0) for tensor in tensors(value)), default=0.0)


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

    def bounds(self, case: CaseInputs, reference: Observation) -> dict[str, Bound]:
        """Multiply the host's own factors."""
        left, right = (_argument(case, which) for which in self.factors)
        if len(left.shape) < 2 or len(right.shape) < 2 or left.shape[-1] != right.shape[-2]:
            raise UnfitCaseError(
                f"the factors of case “{case.id}” have shapes {left.shape} and {right.shape}, "
                "which are no matrices that can be multiplied"
            )
        terms, unit = left.shape[-1], _unit((left, right))
        a, b = _wide(left), _wide(right)
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


_GATE = 32.0


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

    def bounds(self, case: CaseInputs, reference: Observation) -> dict[str, Bound]:
        """Measure between the host's own points."""
        left, right = (_argument(case, which) for which in self.points_of)
        if not left.shape or left.shape[1:] != right.shape[1:]:
            raise UnfitCaseError(
                f"the points of case “{case.id}” have shapes {left.shape} and {right.shape}, "
                "which do not agree after the first axis"
            )
        unit = _unit((left, right))
        a, b = (_wide(tensor).reshape(tensor.shape[0], -1) for tensor in (left, right))
        squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None, :]
        full = (_GATE + math.sqrt(a.shape[1])) * unit
        gates = (full, full + _COARSE * HALF, full + _COARSE * BFLOAT16)
        return {"result": Bound(_squared(a, b), squares, gates)}


def _squared(a: Array, b: Array) -> Array:
    """Return ‖a − b‖² by the formula that does not cancel, one row of ``a`` at a time."""
    result = np.empty((len(a), len(b)))
    for row, point in enumerate(a):
        # A row at a time: all differences at once would take rows × rows × coordinates of memory.
        result[row] = ((b - point) ** 2).sum(axis=1)
    return result


_RUNS = 8


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
        # Of the instructor's case, not of the submission: such an answer cannot be judged by
        # rounding.
        if any(other.shape != value.shape for other in moved):
            raise UnfitCaseError("the shape of the reference's answer depends on rounding")
        if value.dtype.kind not in "fc":
            return Bound(value, np.zeros(value.shape), (0.0, 0.0, 0.0))
        scale = np.max([np.abs(other - value) for other in moved], axis=0)
        # An element that no moved input changes still has the rounding of its own last step.
        scale = np.maximum(scale, unit * np.abs(value))
        # In the same units: what was one rounding of the inputs is now one of a coarser dtype.
        half, coarsest = (_COARSE * one / unit if unit else 0.0 for one in (HALF, BFLOAT16))
        return Bound(value, scale, (self.times, max(self.times, half), max(self.times, coarsest)))


def _arrays(run: Observation, case: CaseInputs) -> dict[str, Array]:
    """Return the numbers of one further run, by place."""
    if run.outcome is not Outcome.COMPLETED:
        error = run.claims.fault
        why = f"{error.type}: {error.message}" if error else run.detail or run.outcome.value
        raise UnfitCaseError(f"run again in float64, the reference failed: {why}")
    value = run.claims.value
    result: dict[str, Array] = {}
    for leaf in leaves(value, value):
        item = leaf.actual
        if isinstance(item, Tensor):
            # A reference that falls back to float32 would make the envelope as wide as its own
            # error.
            if item.dtype in ROUNDING and item.dtype != "float64":
                raise UnfitCaseError(
                    f"given float64, the reference returns {item.dtype} in {leaf.where} of case "
                    f"“{case.id}”; it must keep the dtype of its inputs"
                )
            result[leaf.where] = to_numpy(item)
        elif isinstance(item, (int, float)):
            result[leaf.where] = np.array(item)
    return result
