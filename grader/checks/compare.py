"""The comparison of values that ``close`` and ``exact`` share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from grader.checks.arrays import Array, same_bytes, to_numpy
from grader.checks.base import CaseInputs, Check
from grader.checks.differences import Differences, between
from grader.checks.findings import finding
from grader.checks.trees import Leaf, judge_leaves
from grader.observation import Observation
from grader.verdict import Code, Param, Verdict
from grader.wire.values import Artifact, Handle, Tensor, Value

_NUMBERS = (int, float)


class Comparison(Check):
    """Compares returned values with the reference's, number by number."""

    message: ClassVar[str]

    def judge(
        self,
        case: CaseInputs,  # noqa: ARG002  # part of every judge
        reference: Observation,
        submission: Observation,
    ) -> Verdict:
        """Compare the returned values."""
        return judge_leaves(reference, submission, self._leaf)

    @abstractmethod
    def widen(self, actual: Array, expected: Array) -> tuple[Array, Array]:
        """Bring two arrays of one shape to one dtype."""

    @abstractmethod
    def wrong(self, actual: Array, expected: Array) -> Array:
        """Tell which elements of two arrays, as ``widen`` returns them, are wrong."""

    def told(self) -> Mapping[str, Param]:
        """Return what the message on wrong numbers says besides the numbers."""
        return {}

    def _leaf(self, leaf: Leaf) -> Verdict | None:
        actual, expected = leaf.actual, leaf.expected
        if isinstance(actual, Tensor) and isinstance(expected, Tensor):
            if actual.shape != expected.shape:
                return wrong_shape(leaf.where, actual, expected)
            if actual.dtype == expected.dtype and same_bytes(actual.data, expected.data):
                return None
            return self._arrays(to_numpy(actual), to_numpy(expected), leaf.where)
        if type(actual) in _NUMBERS and actual != expected:
            return self._arrays(np.array(actual), np.array(expected), leaf.where)
        return None if _equal(actual, expected) else _not_equal(leaf.where)

    def _arrays(self, actual: Array, expected: Array, where: str) -> Verdict | None:
        found = between(actual, expected, self.widen, self.wrong)
        return None if found is None else self._verdict(found, expected.shape, where)

    def _verdict(self, found: Differences, shape: tuple[int, ...], where: str) -> Verdict:
        if found.not_finite:
            params = {**found.not_finite_params(shape), "where": where}
            return finding(Code.NOT_FINITE, "not_finite", params)
        params = {**found.params(shape), **self.told(), "where": where}
        return finding(Code.WRONG_VALUE, self.message, params)


def wrong_shape(where: str, actual: Tensor, expected: Tensor) -> Verdict:
    """Return the verdict on two tensors whose shapes differ."""
    params: dict[str, Param] = {
        "actual": list(actual.shape),
        "expected": list(expected.shape),
        "where": where,
    }
    return finding(Code.WRONG_SHAPE, "wrong_shape", params)


def _equal(actual: Value, expected: Value) -> bool:
    if isinstance(actual, Handle):
        # Kept objects of one type; their ids belong to each guest alone.
        return isinstance(expected, Handle)
    if isinstance(actual, Artifact) and isinstance(expected, Artifact):
        return actual.name == expected.name and same_bytes(actual.data, expected.data)
    return actual == expected


def _not_equal(where: str) -> Verdict:
    params: dict[str, Param] = {
        "mismatched": 1, "total": 1, "percent": 100.0, "abs_diff": None, "abs_index": [],
        "where": where,
    }  # fmt: skip
    return finding(Code.WRONG_VALUE, "not_equal", params)
