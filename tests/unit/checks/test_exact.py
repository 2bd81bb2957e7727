import math

import pytest
from observed import CASE, raw, seen, tensor

from grader.checks.values import Exact
from grader.report.messages.catalogue import ENGLISH
from grader.verdict import Code, Status
from grader.wire.values import Device, DType

NAN, INF = math.nan, math.inf
BIG = 2**53


def judge(actual, expected):
    return Exact(id="e", points=1).judge(CASE, seen(expected), seen(actual))


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (tensor([1.5, -0.0, NAN, INF]), tensor([1.5, 0.0, NAN, INF])),
        (tensor([1.5]), tensor([1.5], "float64")),
        (tensor([3], "int64"), tensor([3.0])),
        (tensor([3.0]), tensor([3], "uint8")),
        (tensor([3 + 0j], "complex64"), tensor([3], "int16")),
        (tensor([True, False], "bool"), tensor([1, 0], "int64")),
        (tensor([BIG + 2], "int64"), tensor([float(BIG + 2)], "float64")),
        (tensor([BIG + 2, 1], "int64"), tensor([BIG + 2, 1], "complex128")),
        (tensor([2**64 - 1], "uint64"), tensor([2**64 - 1], "uint64")),
        (raw("bool", b"\2"), raw("bool", b"\1")),
        (raw("bfloat16", b"\x80\x3f"), tensor([1.0])),
        (10**600, 10**600),
        (1, 1.0),
        (NAN, NAN),
        (tensor([]), tensor([], "int64")),
    ],
)
def test_equal_numbers_pass(actual, expected):
    assert judge(actual, expected).status is Status.PASSED


@pytest.mark.parametrize(
    ("actual", "expected", "code"),
    [
        (tensor([1.0]), tensor([math.nextafter(1.0, 2.0)], "float64"), Code.WRONG_VALUE),
        (tensor([BIG + 1], "int64"), tensor([float(BIG)], "float64"), Code.WRONG_VALUE),
        (tensor([float(BIG)], "float64"), tensor([-BIG - 1], "int64"), Code.WRONG_VALUE),
        (tensor([BIG + 1], "int64"), tensor([NAN]), Code.WRONG_VALUE),
        (tensor([NAN]), tensor([BIG + 1], "int64"), Code.NOT_FINITE),
        (tensor([2**64 - 1], "uint64"), tensor([-1], "int64"), Code.WRONG_VALUE),
        (tensor([1 + 1j], "complex64"), tensor([1], "int64"), Code.WRONG_VALUE),
        (tensor([NAN]), tensor([1], "int64"), Code.NOT_FINITE),
        (tensor([1.0]), tensor([NAN]), Code.WRONG_VALUE),
        (BIG + 1, float(BIG), Code.WRONG_VALUE),
        (10**600, 1.0, Code.WRONG_VALUE),
        (tensor([1.0]), tensor([[1.0]]), Code.WRONG_SHAPE),
    ],
)
def test_any_difference_fails(actual, expected, code):
    verdict = judge(actual, expected)
    assert (verdict.status, verdict.code) == (Status.FAILED, code)


def test_numbers_come_with_their_places():
    verdict = judge(tensor([1, 2, 9], "int64"), tensor([1, 3, 3], "int64"))
    assert verdict.message.id == "not_equal"
    assert verdict.message.params == {
        "mismatched": 2, "total": 3, "percent": pytest.approx(200 / 3), "index": [1],
        "abs_diff": 6, "abs_index": [2], "rel_diff": 2.0, "rel_index": [2], "where": "result",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("actual", "expected", "said"),
    [
        (8, 2, "The result is 8, expected 2. These must be equal exactly."),
        (tensor(0.0), tensor(0.5), "The result is 0, expected 0.5. These must be equal exactly."),
        (0.1, 0.1 + 2**-50, "The result is 0.1, expected 0.1000000000000009. These must"),
    ],
)
def test_a_lone_number_is_told_beside_the_right_one(actual, expected, said):
    assert ENGLISH.for_staff(judge(actual, expected)).startswith(said)


def test_an_integer_of_any_length_is_no_accident():
    params = judge(10**5000, 1).message.params
    assert "actual" not in params


def test_what_is_no_number_has_no_difference():
    params = judge(b"a", b"b").message.params
    assert (params["mismatched"], params["total"], params["abs_diff"]) == (1, 1, None)


@pytest.mark.parametrize(
    ("actual", "expected", "said"),
    [
        (True, False, ("True", "False")),
        ("a" * 500, "b", (f"“{'a' * 80}”", "“b”")),
        (DType("float32"), DType("float64"), ("float32", "float64")),
        (Device("cpu"), Device("cuda:1"), ("cpu", "cuda:1")),
    ],
)
def test_words_are_told_beside_one_another(actual, expected, said):
    verdict = judge(actual, expected)
    assert (verdict.code, verdict.message.id) == (Code.WRONG_VALUE, "another_word")
    assert (verdict.message.params["actual"], verdict.message.params["expected"]) == said
