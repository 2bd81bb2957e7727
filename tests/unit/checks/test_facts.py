"""Kinds ``shape``, ``dtype`` and ``device``: what a tensor is, whatever it holds."""

import numpy as np
import pytest
from observed import CASE, seen, tensor
from pydantic import ValidationError

from grader.checks.form import OnDevice, SameDType, SameShape
from grader.verdict import Basis, Code, Status

SHAPE = SameShape(id="s", points=1)
DTYPE = SameDType(id="d", points=1)
CPU = OnDevice(id="v", points=1, device="cpu")


def judge(check, actual, expected):
    return check.judge(CASE, seen(expected), seen(actual))


@pytest.mark.parametrize("check", [SHAPE, DTYPE, CPU])
def test_values_do_not_matter(check):
    actual, expected = (tensor([1.0]), [2, "a"]), (tensor([9.0]), [3.0, "b"])
    assert judge(check, actual, expected).status is Status.PASSED


@pytest.mark.parametrize("check", [SHAPE, DTYPE, CPU])
def test_a_number_is_no_tensor(check):
    verdict = judge(check, (1.0,), (tensor([9.0]),))
    assert verdict.code is Code.WRONG_TYPE
    assert verdict.message.params == {
        "actual": "float", "expected": "Tensor", "where": "result[0]",
    }  # fmt: skip


def without_cause(verdict):
    return {name: value for name, value in verdict.message.params.items() if name != "cause"}


@pytest.mark.parametrize("shape", [(1, 3), (3, 1), (), (0,), (1,), (3, 3)])
def test_shapes_never_broadcast(shape):
    verdict = judge(SHAPE, {"a": tensor(np.zeros(shape))}, {"a": tensor(np.zeros(3))})
    assert verdict.code is Code.WRONG_SHAPE
    assert without_cause(verdict) == {
        "actual": list(shape), "expected": [3], "where": "result['a']",
    }  # fmt: skip


def test_the_dtype_is_the_references():
    verdict = judge(DTYPE, tensor([1.0], "float64"), tensor([1.0]))
    assert verdict.code is Code.WRONG_DTYPE
    assert verdict.message.params == {
        "actual": "float64", "expected": "float32", "where": "result",
    }  # fmt: skip


def test_or_one_that_is_allowed():
    check = SameDType(id="d", points=1, allowed=("int32", "int64"))
    assert judge(check, tensor([1], "int32"), tensor([1.0])).status is Status.PASSED
    verdict = judge(check, tensor([1.0]), tensor([1.0]))
    assert verdict.message.params["expected"] == "int32 or int64"


@pytest.mark.parametrize("allowed", [(), ("float23",)])
def test_allowed_dtypes_are_torchs(allowed):
    with pytest.raises(ValidationError):
        SameDType(id="d", points=1, allowed=allowed)


def test_an_unknown_dtype_names_the_nearest():
    with pytest.raises(ValidationError, match="float32"):
        SameDType(id="d", points=1, allowed=("flaot32",))


@pytest.mark.parametrize(
    ("wanted", "found", "status"),
    [
        ("cpu", "cpu", Status.PASSED),
        ("cuda", "cuda:3", Status.PASSED),
        ("cuda:1", "cuda:1", Status.PASSED),
        ("cuda:1", "cuda:2", Status.FAILED),
        ("cuda:1", "cuda:11", Status.FAILED),
        ("cuda", "cpu", Status.FAILED),
        ("cuda", "cud", Status.FAILED),
        ("cpu", "meta", Status.FAILED),
    ],
)
def test_a_device_is_a_claim(wanted, found, status):
    check = OnDevice(id="v", points=1, device=wanted)
    verdict = judge(check, tensor([1.0], device=found), tensor([1.0], device="cpu"))
    assert (verdict.status, verdict.basis) == (status, Basis.CLAIM)
    if status is Status.FAILED:
        assert verdict.code is Code.WRONG_DEVICE
        assert without_cause(verdict) == {"actual": found, "expected": wanted, "where": "result"}


@pytest.mark.parametrize("name", ["", "cuda:", "CUDA", "cuda:x", "cpu\n"])
def test_a_device_must_be_one(name):
    with pytest.raises(ValidationError):
        OnDevice(id="v", points=1, device=name)
