"""Both doors to an operation lead to the same kernel, with the arguments in the same places."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader.vgpu.core.execution import _functions, function_of

X = torch.arange(1.0, 13).reshape(3, 4) / 7
Y = torch.arange(12.0).reshape(3, 4) / 5 - 1
SQUARES = torch.arange(18.0).reshape(2, 3, 3)
ONES = torch.ones(4)

SAMPLES: dict[str, list[tuple[Any, ...]]] = {
    "_log_softmax": [(X, 1, False)],
    "_softmax": [(X, 0, False)],
    "addmm": [(torch.ones(3), X, Y.t())],
    "baddbmm": [(SQUARES, SQUARES, SQUARES)],
    "bmm": [(SQUARES, SQUARES)],
    "cat": [([X, Y],), ([X, Y], 1)],
    "clone": [(X,)],
    "convolution": [
        (SQUARES[None], torch.ones(5, 2, 2, 2), None, [1, 1], [1, 0], [1, 1], False, [0, 0], 1)
    ],
    "expand": [(X[:1], [3, 4])],
    "mean.dim": [(X, [0]), (X, [1], True)],
    "mm": [(X, Y.t())],
    "native_batch_norm": [(X, ONES, ONES, ONES * 2, ONES * 3, False, 0.1, 1e-5)],
    "native_layer_norm": [(X, [4], ONES, ONES, 1e-5)],
    "permute": [(SQUARES, [2, 0, 1])],
    "select.int": [(X, 1, -1)],
    "sum.dim_IntList": [(X, [0]), (X, [-1], True)],
    "transpose.int": [(SQUARES, 0, 2)],
    "unsqueeze": [(X, -1)],
    "view": [(X, [2, -1])],
    "where.self": [(X > 1, X, Y)],
    "addcdiv_": [(X, Y, X)],
    "addcmul_": [(X, Y, Y)],
    "copy_": [(X, Y), (X, Y, True)],
    "fill_.Scalar": [(X, 3)],
    "lerp_.Scalar": [(X, Y, 0.3)],
}
NAMED = {
    "add.Tensor": {"alpha": 2}, "sub.Tensor": {"alpha": 3}, "add_.Tensor": {"alpha": 2},
    "addmm": {"beta": 2, "alpha": 3}, "addcdiv_": {"value": -0.2}, "addcmul_": {"value": 0.5},
    "clone": {"memory_format": torch.contiguous_format}, "sum": {"dtype": torch.float64},
    "mean": {"dtype": torch.float64},
}  # fmt: skip


def cases() -> list[Any]:
    return [pytest.param(each, id=str(each).removeprefix("aten.")) for each in _functions]


def samples(name: str) -> list[tuple[Any, ...]]:
    """Those above, or one tensor, a tensor and another one, a tensor and a number."""
    if name in SAMPLES:
        return SAMPLES[name]
    if name.endswith((".Scalar", "_Scalar")):
        return [(X, 2), (X, 0.5)]
    if name.endswith(".Tensor") or name in ("maximum", "minimum"):
        return [(X, Y), (X, Y[0])]
    return [(X,)]


@pytest.mark.parametrize("operation", cases())
def test_the_function_does_what_the_operation_does(operation: Any) -> None:
    name = str(operation).removeprefix("aten.").removesuffix(".default")
    function = function_of(operation)
    assert function is not operation
    for args in samples(name):
        for named in ({}, NAMED.get(name, {})):
            one, other = fresh(args), fresh(args)
            expected, found = operation(*one, **named), function(*other, **named)
            torch.testing.assert_close(found, expected, rtol=0, atol=0)
            assert type(found) is type(expected)
            # In place where the operation is.
            assert (found is other[0]) is (expected is one[0])
            torch.testing.assert_close(other, one, rtol=0, atol=0)


def fresh(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(each.clone() if isinstance(each, torch.Tensor) else each for each in args)
