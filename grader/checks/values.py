"""Kinds ``close``, ``exact`` and ``any_order``: the returned numbers are the reference's.

Kind ``figure`` gives credit by the number itself that the work reached, an accuracy or a loss.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator
from typing_extensions import Self

from grader.checks.arrays import (
    Array,
    Narrow,
    magnitude,
    rounded,
    to_numpy,
    widen,
    widen_exactly,
)
from grader.checks.base import CaseInputs, Check, UnfitCaseError
from grader.checks.compare import Differences, between, equal_elements, same_bytes
from grader.checks.compare_trees import (
    Leaf,
    describe,
    judge_leaves,
    judge_numbers,
    value_at,
    wrong_shape,
)
from grader.checks.diagnoses import with_cause
from grader.observation import Observation
from grader.speed_statistics.credit import Share
from grader.verdict import Code, Param, Verdict, earned, finding, plain
from grader.wire.values import Device, DType, Opaque, Tensor, Value

_NUMBERS = (int, float)
_WORDS = (bool, str, DType, Device)
"""Shown to the reader as they are: “1 of 1 differs” would say nothing."""

_WORD_CAP = 80


class ValueComparison(Check):
    """Compares returned values with the reference's, number by number."""

    results_alone: ClassVar[bool] = True
    finding_message: ClassVar[str]

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Compare the returned values."""
        return judge_numbers(reference, submission, lambda leaf: self._leaf(leaf, case))

    @abstractmethod
    def widen(self, actual: Array, expected: Array) -> tuple[Array, Array]:
        """Bring two arrays of one shape to one dtype."""

    @abstractmethod
    def wrong(self, actual: Array, expected: Array) -> Array:
        """Tell which elements of two arrays, as ``widen`` returns them, are wrong."""

    def allowed(self, size: Array) -> Array:
        """Return by how much numbers of a size may differ."""
        return np.zeros_like(size)

    def more_params(self) -> Mapping[str, Param]:
        """Return what the message on wrong numbers says besides the numbers."""
        return {}

    def margin(
        self, case: CaseInputs, reference: Observation, where: str
    ) -> tuple[Array, Array] | None:
        """Return the reference's numbers, and the tolerance of each."""
        right = _numbers_at(reference, where)
        return None if right is None else (right, self.allowed(magnitude(right)))

    def _leaf(self, leaf: Leaf, case: CaseInputs) -> Verdict | None:
        actual, expected = leaf.actual, leaf.expected
        if isinstance(actual, Tensor) and isinstance(expected, Tensor):
            if actual.shape != expected.shape:
                return wrong_shape(leaf, case)
            # Bit for bit first: the usual right answer is settled without a copy in float64.
            if actual.dtype == expected.dtype and same_bytes(actual.data, expected.data):
                return None
            return self._arrays(to_numpy(actual), to_numpy(expected), leaf.where, case)
        # By exact type: True is an int to Python, and must not pass for 1.
        if type(actual) in _NUMBERS and actual != expected:
            return self._arrays(np.array(actual), np.array(expected), leaf.where, case)
        return None if actual == expected else _not_equal(leaf)

    def _arrays(
        self, actual: Array, expected: Array, where: str, case: CaseInputs
    ) -> Verdict | None:
        found = between(actual, expected, self.widen, lambda a, b, _: self.wrong(a, b))
        if found is None:
            return None
        code, message, params = self._found(found, expected.shape)
        params = {**params, **_both(actual, expected), "where": where}
        return finding(code, message, with_cause(params, case, actual, expected))

    def _found(
        self, found: Differences, shape: tuple[int, ...]
    ) -> tuple[Code, str, dict[str, Param]]:
        if found.not_finite:
            return Code.NOT_FINITE, "not_finite", found.not_finite_params(shape)
        return Code.WRONG_VALUE, self.finding_message, {**found.params(shape), **self.more_params()}


def _numbers_at(reference: Observation, where: str) -> Array | None:
    value = value_at(reference.claims.value, where)
    return to_numpy(value) if isinstance(value, Tensor) else None


def _both(actual: Array, expected: Array) -> dict[str, Param]:
    """Return a lone number and the right one, as texts: “1 of 1 differs” would say nothing."""
    # Integers beyond 64 bits are objects; Python refuses to write the longest ones.
    if expected.shape or actual.shape or object in (actual.dtype, expected.dtype):
        return {}
    pair = [actual.item(), expected.item()]
    short = [f"{one:.6g}" if isinstance(one, float) else str(one) for one in pair]
    returned, right = short if short[0] != short[1] else map(str, pair)
    return {"actual": returned, "expected": right}


def _not_equal(leaf: Leaf) -> Verdict:
    if isinstance(leaf.expected, _WORDS) and isinstance(leaf.actual, _WORDS):
        details: dict[str, Param] = {
            "actual": _word(leaf.actual), "expected": _word(leaf.expected), "where": leaf.where,
        }  # fmt: skip
        return finding(Code.WRONG_VALUE, "another_word", details)
    params: dict[str, Param] = {
        "mismatched": 1, "total": 1, "percent": 100.0, "abs_diff": None, "abs_index": [],
        "where": leaf.where,
    }  # fmt: skip
    return finding(Code.WRONG_VALUE, "not_equal", params)


def _word(value: Value) -> str:
    if isinstance(value, (DType, Device)):
        return plain(value.name)
    return f"“{plain(value[:_WORD_CAP])}”" if isinstance(value, str) else str(value)


Tolerance = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Close(ValueComparison):
    """Every number lies within ``atol + rtol·|expected|`` of the reference's.

    Compared in float64 (complex128), whole numbers with whole numbers exactly. NaN is right only
    where the reference has NaN, an infinity only where it has the same one. Shapes must agree;
    nothing is broadcast. Dtypes may differ: that is for kind ``dtype`` to judge.

    Attributes:
        rtol: Tolerance relative to the expected value.
        atol: Tolerance in the value's own unit.
    """

    entry_by_entry: ClassVar[bool] = True
    finding_message: ClassVar[str] = "wrong_value"

    kind: Literal["close"] = "close"
    rtol: Tolerance
    atol: Tolerance

    def widen(self, actual: Array, expected: Array) -> tuple[Array, Array]:
        """Bring two arrays to one dtype; a whole number that meets a float may be rounded."""
        return widen(actual, expected)

    def wrong(self, actual: Array, expected: Array) -> Array:
        """Tell which elements lie outside the tolerance."""
        if actual.dtype.kind not in "fc":
            return ~equal_elements(actual, expected)
        near = np.abs(actual - expected) <= self.allowed(np.abs(expected))
        # NaN compares false with everything, hence “not (difference ≤ allowed)” and never
        # “difference > allowed”; and an infinite bound must let nothing through.
        near &= np.isfinite(actual) & np.isfinite(expected)
        outside: Array = ~near
        return outside & ~equal_elements(actual, expected) if outside.any() else outside

    def allowed(self, size: Array) -> Array:
        """Return the tolerance of numbers of a size."""
        return self.atol + self.rtol * size

    def more_params(self) -> Mapping[str, Param]:
        """Return the tolerance."""
        return {"atol": self.atol, "rtol": self.rtol}


class Exact(ValueComparison):
    """Every number equals the reference's, compared without rounding either.

    −0.0 equals 0.0. NaN equals NaN, for the reference may well return it. Dtypes may differ.

    Attributes:
        rounded_to: Dtypes to which the answer may have been rounded. The right algorithm at low
            precision then passes here, and loses at a check of precision only.
    """

    finding_message: ClassVar[str] = "not_equal"

    kind: Literal["exact"] = "exact"
    rounded_to: tuple[Narrow, ...] = ()

    def widen(self, actual: Array, expected: Array) -> tuple[Array, Array]:
        """Bring two arrays to one dtype that holds both."""
        return widen_exactly(actual, expected)

    def wrong(self, actual: Array, expected: Array) -> Array:
        """Tell which elements differ."""
        mask: Array = ~equal_elements(actual, expected)
        for dtype in self.rounded_to if mask.any() else ():
            mask &= ~equal_elements(actual, rounded(expected, dtype))
        return mask


_Entry = tuple[Hashable, ...]


class AnyOrder(Check):
    """The entries equal the reference's, but may come in another order.

    An entry is what stands at one index of the first axis: of a tensor its row, of a tuple of
    tensors (unique values and where each was found, say) the rows of all of them together.
    Numbers are compared exactly; dtypes are for kind ``dtype`` to judge.
    """

    results_alone: ClassVar[bool] = True
    kind: Literal["any_order"] = "any_order"

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Compare the entries as multisets."""
        shapes = judge_leaves(reference, submission, lambda leaf: wrong_shape(leaf, case))
        if shapes.credit < 1:
            return shapes
        expected = _columns(reference.claims.value)
        return self._compare(_columns(submission.claims.value), expected) or shapes

    def margin(
        self, case: CaseInputs, reference: Observation, where: str
    ) -> tuple[Array, Array] | None:
        """Return the reference's numbers, which must be met exactly."""
        right = _numbers_at(reference, where)
        return None if right is None else (right, np.zeros(right.shape))

    def _compare(self, actual: list[list[_Entry]], expected: list[list[_Entry]]) -> Verdict | None:
        found, wanted = (Counter(zip(*columns, strict=True)) for columns in (actual, expected))
        # A multiset, not a set: an entry that comes twice must be there twice.
        missing = sum((wanted - found).values())
        if not missing:
            return None
        params: dict[str, Param] = {"missing": missing, "total": sum(wanted.values())}
        if len(expected) > 1 and Counter(actual[0]) == Counter(expected[0]):
            params["cause"] = "wrong_partner"
        return finding(Code.WRONG_VALUE, "entries_missing", params)


def _columns(value: Value) -> list[list[_Entry]]:
    """Return the rows of each tensor.

    Raises:
        UnfitCaseError: It is no tensor and no tuple of tensors of one length.
    """
    tensors = list(value) if isinstance(value, (tuple, list)) else [value]
    columns = []
    for tensor in tensors:
        if not isinstance(tensor, Tensor) or not tensor.shape:
            raise UnfitCaseError("kind any_order is for a tensor, or a tuple of tensors, of rows")
        # Not -1: of no rows at all, NumPy could not tell how wide they are.
        rows = to_numpy(tensor).reshape(tensor.shape[0], math.prod(tensor.shape[1:]))
        columns.append([tuple(row) for row in rows.tolist()])
    if not columns or len({len(column) for column in columns}) > 1:
        raise UnfitCaseError("kind any_order is for tensors of one length")
    return columns


class Bar(BaseModel):
    """What one figure, or a better one, earns: exactly one of the two bounds is given.

    Attributes:
        at_least: Least figure that earns it, where more is better.
        at_most: Greatest figure that earns it, where less is better.
        credit: Share of the points.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    at_least: float | None = Field(default=None, allow_inf_nan=False)
    at_most: float | None = Field(default=None, allow_inf_nan=False)
    credit: Share

    @model_validator(mode="after")
    def _one_bound(self) -> Self:
        if (self.at_least is None) == (self.at_most is None):
            raise ValueError("give one of at_least and at_most")
        return self

    @property
    def bound(self) -> float:
        """The one bound that is given."""
        bound = self.at_most if self.at_least is None else self.at_least
        assert bound is not None  # _one_bound saw to it
        return bound

    def reached(self, figure: float) -> bool:
        """Return whether a figure earns it; what is not a number earns nothing."""
        return figure <= self.bound if self.at_least is None else figure >= self.bound


class Figure(Check):
    """Credit by a number: the result itself, or with ``item`` a part of it.

    The bars are the author's: what the reference reaches does not move them.

    Attributes:
        steps: Bars, best first, that all look the same way; below the last there is no credit.
    """

    numbers: ClassVar[bool] = False
    kind: Literal["figure"] = "figure"
    steps: tuple[Bar, ...] = Field(min_length=1, max_length=20)

    @model_validator(mode="after")
    def _falls(self) -> Self:
        if len({step.at_least is None for step in self.steps}) > 1:
            raise ValueError("found at_least and at_most; keep the one that is meant")
        if self.steps[0].credit != 1:
            raise ValueError(f"the first step earns {self.steps[0].credit}; the best must earn 1")
        for best, next_one in zip(self.steps, self.steps[1:], strict=False):
            if best.reached(next_one.bound) or best.credit <= next_one.credit:
                raise ValueError("each step must be easier than the one before, and earn less")
        return self

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Find the best bar that the figure reaches."""
        value = submission.claims.value
        figure = _number(value)
        if figure is None:
            params: dict[str, Param] = {
                "actual": describe(value), "expected": "number", "where": "result",
            }  # fmt: skip
            return finding(Code.WRONG_TYPE, "wrong_type", params)
        credit = next((step.credit for step in self.steps if step.reached(figure)), 0.0)
        message = "figure_too_high" if self.steps[0].at_least is None else "figure_too_low"
        return earned(credit, Code.WRONG_VALUE, message, self._params(figure, credit))

    def _params(self, figure: float, credit: float) -> dict[str, Param]:
        """Return what a message says of a figure that does not earn all points."""
        ahead = [step for step in self.steps if step.credit > credit]
        params: dict[str, Param] = {
            "where": "result",
            "figure": _shown(figure),
            "full": _shown(self.steps[0].bound),
            "percent": round(100 * credit),
        }
        # Best first: the last of those ahead is the one to reach next.
        if len(ahead) > 1:
            params |= {"next": _shown(ahead[-1].bound), "gain": round(100 * ahead[-1].credit)}
        return params


def _number(value: Value) -> float | None:
    """Return a lone number, or None: a bool is none."""
    if isinstance(value, Tensor):
        real = value.dtype != "bool" and not value.dtype.startswith("complex")
        return float(to_numpy(value).reshape(())) if real and math.prod(value.shape) == 1 else None
    value = value.number if isinstance(value, Opaque) else value
    return float(value) if isinstance(value, (int, float)) and value.__class__ is not bool else None


def _shown(figure: float) -> str:
    return f"{figure:.4g}"
