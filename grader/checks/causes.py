"""The likely cause of a wrong answer, recognised by arithmetic on the answer and the expected one.

A cause is a message id, carried as ``cause`` among a verdict's parameters; ``grader.report`` has
its sentence. Nothing here reads code, and nothing tells what the inputs were: a cause is a relation
between two arrays, such as “the one is the other's transpose”.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from grader.checks.arrays import Array, to_numpy
from grader.checks.base import CaseInputs
from grader.checks.relations import Pair, by_value
from grader.checks.shape_relations import by_shape
from grader.verdict import Code, Message, Param, Status, Verdict
from grader.wire.values import Opaque, Tensor, Value

_MOST = 2**20
"""Elements; beyond that the looking costs more than the hint is worth."""

Params = dict[str, Param]


def with_cause(params: Params, case: CaseInputs, actual: Array, expected: Array) -> Params:
    """Return the parameters with the likely cause among them, if one is recognised.

    Args:
        params: Of a message on wrong numbers or a wrong shape.
        case: The host's inputs, of which only the sizes are used.
        actual: What was returned.
        expected: What was right.
    """
    if max(actual.size, expected.size) > _MOST or not actual.size or not expected.size:
        return params
    if object in (actual.dtype, expected.dtype):
        return params
    pair = Pair(actual, expected, tuple(tensor.shape for tensor in _tensors(case.args)))
    return {**params, **_recognised(pair)}


def _recognised(pair: Pair) -> dict[str, Param]:
    try:
        with np.errstate(all="ignore"):
            same = pair.actual.shape == pair.expected.shape
            found = by_value(pair) if same else by_shape(pair)
    except Exception:  # noqa: BLE001  # a wrong answer stays wrong, whatever a hint trips over
        return {}
    return found or {}


def shape_cause(params: Params, case: CaseInputs, actual: Tensor, expected: Tensor) -> Params:
    """Return the parameters of a message on a wrong shape with the likely cause."""
    return with_cause(params, case, to_numpy(actual), to_numpy(expected))


def dtype_cause(actual: str, expected: str) -> dict[str, Param]:
    """Return why a dtype may have become another one."""
    if actual == "float32" and expected in ("float64", "int64", "int32"):
        return {"cause": "dtype_lost"}
    if actual.startswith(("int", "uint")) and expected.startswith(("float", "bfloat")):
        return {"cause": "dtype_whole"}
    return {}


def device_cause(actual: str, expected: str) -> dict[str, Param]:
    """Return why a tensor may be where it should not."""
    if actual.startswith("cuda") and expected == "cpu":
        return {"cause": "left_on_gpu"}
    if actual == "cpu" and expected.startswith("cuda"):
        return {"cause": "never_on_gpu"}
    return {}


def type_cause(actual: Value, expected: Value) -> dict[str, Param]:
    """Return why a value may be of another type."""
    if isinstance(actual, Tensor) and isinstance(expected, (bool, int, float)):
        return {"cause": "tensor_for_number"}
    if isinstance(actual, Opaque) and actual.type.startswith("numpy."):
        return {"cause": "numpy_for_tensor"}
    if isinstance(actual, (list, tuple)) and isinstance(expected, Tensor):
        return {"cause": "list_for_tensor"}
    return {}


def across_cases(judged: Sequence[tuple[CaseInputs, Verdict]], combined: Verdict) -> Verdict:
    """Return the verdict over all cases, with the cause that only all of them together show.

    Args:
        judged: Inputs and verdict of every case that the check judges.
        combined: The verdict over all of them.
    """
    message = combined.message
    if combined.code not in (Code.WRONG_VALUE, Code.WRONG_SHAPE) or message is None:
        return combined
    right = [_square(case) for case, verdict in judged if verdict.status is Status.PASSED]
    wrong = [_square(case) for case, verdict in judged if verdict.status is Status.FAILED]
    if not right or not all(right) or any(wrong):
        return combined
    told = Message(message.id, {**message.params, "cause": "square_only"})
    return replace(combined, message=told)


def _square(case: CaseInputs) -> bool:
    """Whether all matrices among the inputs are square, and there is one."""
    shapes = [tensor.shape[-2:] for tensor in _tensors(case.args) if len(tensor.shape) >= 2]
    return bool(shapes) and all(rows == columns > 1 for rows, columns in shapes)


def _tensors(values: Sequence[Value]) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from _tensors(value)
