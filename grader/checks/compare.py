"""The comparison of values that ``close`` and ``exact`` share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from grader.checks.arrays import Array, same_bytes, to_numpy
from grader.checks.base import CaseInputs, Check
from grader.checks.causes import shape_cause, with_cause
from grader.checks.differences import Differences, between
from grader.checks.findings import finding, plain
from grader.checks.trees import Leaf, judge_leaves
from grader.observation import Observation
from grader.verdict import Code, Param, Verdict
from grader.wire.values import Device, DType, Tensor, Value

_NUMBERS = (int, float)
_WORDS = (bool, str, DType, Device)
"""What a reader wants to see, rather than to be told that one of one differs."""

_WORD_CAP = 80


class Comparison(Check):
    """Compares returned values with the reference's, number by number."""

    message: ClassVar[str]

    def judge(
        self,
        case: CaseInputs,
        reference: Observation,
        submission: Observation,
    ) -> Verdict:
        """Compare the returned values."""
        return judge_leaves(reference, submission, lambda leaf: self._leaf(leaf, case))

    @abstractmethod
    def widen(self, actual: Array, expected: Array) -> tuple[Array, Array]:
        """Bring two arrays of one shape to one dtype."""

    @abstractmethod
    def wrong(self, actual: Array, expected: Array) -> Array:
        """Tell which elements of two arrays, as ``widen`` returns them, are wrong."""

    def told(self) -> Mapping[str, Param]:
        """Return what the message on wrong numbers says besides the numbers."""
        return {}

    def _leaf(self, leaf: Leaf, case: CaseInputs) -> Verdict | None:
        actual, expected = leaf.actual, leaf.expected
        if isinstance(actual, Tensor) and isinstance(expected, Tensor):
            if actual.shape != expected.shape:
                return wrong_shape(leaf.where, actual, expected, case)
            if actual.dtype == expected.dtype and same_bytes(actual.data, expected.data):
                return None
            return self._arrays(to_numpy(actual), to_numpy(expected), leaf.where, case)
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
        params = with_cause({**params, "where": where}, case, actual, expected)
        return finding(code, message, params)

    def _found(
        self, found: Differences, shape: tuple[int, ...]
    ) -> tuple[Code, str, dict[str, Param]]:
        if found.not_finite:
            return Code.NOT_FINITE, "not_finite", found.not_finite_params(shape)
        return Code.WRONG_VALUE, self.message, {**found.params(shape), **self.told()}


def wrong_shape(where: str, actual: Tensor, expected: Tensor, case: CaseInputs) -> Verdict:
    """Return the verdict on two tensors whose shapes differ."""
    params: dict[str, Param] = {
        "actual": list(actual.shape),
        "expected": list(expected.shape),
        "where": where,
    }
    told = shape_cause(params, case, actual, expected)
    return finding(Code.WRONG_SHAPE, "wrong_shape", told)


def _not_equal(leaf: Leaf) -> Verdict:
    if isinstance(leaf.expected, _WORDS) and isinstance(leaf.actual, _WORDS):
        told: dict[str, Param] = {
            "actual": _word(leaf.actual), "expected": _word(leaf.expected), "where": leaf.where,
        }  # fmt: skip
        return finding(Code.WRONG_VALUE, "another_word", told)
    params: dict[str, Param] = {
        "mismatched": 1, "total": 1, "percent": 100.0, "abs_diff": None, "abs_index": [],
        "where": leaf.where,
    }  # fmt: skip
    return finding(Code.WRONG_VALUE, "not_equal", params)


def _word(value: Value) -> str:
    if isinstance(value, (DType, Device)):
        return plain(value.name)
    return f"“{plain(value[:_WORD_CAP])}”" if isinstance(value, str) else str(value)
