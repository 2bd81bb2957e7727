import math

import numpy as np
import pytest
from observed import CASE, raw, seen, tensor
from pydantic import ValidationError

from grader.checks.values import Close
from grader.verdict import Basis, Code, Owner, Status
from grader.wire.values import Device, DType, Opaque

NAN, INF = math.nan, math.inf


def judge(actual, expected, rtol=0.01, atol=0.1):
    return Close(id="c", points=1, rtol=rtol, atol=atol).judge(CASE, seen(expected), seen(actual))


@pytest.mark.parametrize(
    "fields", [{}, {"rtol": 0.1}, {"atol": 0.1}, {"rtol": -1, "atol": 0},
               {"rtol": NAN, "atol": 0}, {"rtol": 0, "atol": INF}],
)  # fmt: skip
def test_every_tolerance_is_explicit_finite_and_not_negative(fields):
    with pytest.raises(ValidationError):
        Close(id="c", points=1, **fields)


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (tensor([1.0, 2.0]), tensor([1.0, 2.0])),
        (tensor([1.1, 2.0]), tensor([1.0, 2.0])),
        (tensor([1.0], "float64"), tensor([1.0])),
        (tensor([1], "int64"), tensor([1.0])),
        (tensor([NAN, INF, -INF, 1.0]), tensor([NAN, INF, -INF, 1.05])),
        (tensor(1.0), tensor(1.05)),
        (tensor([]), tensor([])),
        (tensor([1 + 1j], "complex64"), tensor([1 + 1.05j], "complex128")),
        (tensor([complex(INF, NAN)], "complex64"), tensor([complex(INF, NAN)], "complex128")),
        (1.0, 1.05),
        (1, 1.05),
        (NAN, NAN),
        (INF, INF),
        (10**30, 1e30),
        ((1.0, [2.0]), [1.0, (2.0,)]),
        ({1: tensor([1.0]), "a": None}, {"a": None, 1: tensor([1.0])}),
        ({NAN: 1.0}, {NAN: 1.0}),
        ("text", "text"),
        (b"raw", memoryview(b"raw")),
        (True, True),
        (DType("int64"), DType("int64")),
        (Device("cpu"), Device("cpu")),
        (None, None),
        ((), []),
    ],
)
def test_near_enough_passes(actual, expected):
    verdict = judge(actual, expected)
    assert (verdict.status, verdict.credit, verdict.basis) == (Status.PASSED, 1.0, Basis.FACT)


@pytest.mark.parametrize(
    ("actual", "expected", "code"),
    [
        (tensor([1.2]), tensor([1.0]), Code.WRONG_VALUE),
        (tensor([2], "int64"), tensor([1], "int64"), Code.WRONG_VALUE),
        (tensor([True]), tensor([False]), Code.WRONG_VALUE),
        (tensor([NAN]), tensor([1.0]), Code.NOT_FINITE),
        (tensor([INF]), tensor([1.0]), Code.NOT_FINITE),
        (tensor([1.0]), tensor([NAN]), Code.WRONG_VALUE),
        (tensor([1.0]), tensor([INF]), Code.WRONG_VALUE),
        (tensor([-INF]), tensor([INF]), Code.WRONG_VALUE),
        (tensor([NAN]), tensor([INF]), Code.WRONG_VALUE),
        (tensor([complex(NAN, 1)], "complex64"), tensor([complex(1, NAN)], "complex64"),
         Code.WRONG_VALUE),
        (tensor([1.0]), tensor([[1.0]]), Code.WRONG_SHAPE),
        (tensor([1.0]), tensor([1.0, 1.0]), Code.WRONG_SHAPE),
        (tensor([]), tensor([1.0]), Code.WRONG_SHAPE),
        (tensor(1.0), tensor([1.0]), Code.WRONG_SHAPE),
        (1.2, 1.0, Code.WRONG_VALUE),
        (2, 1, Code.WRONG_VALUE),
        (10**1000, 1.0, Code.WRONG_VALUE),
        (-(10**1000), 1.0, Code.WRONG_VALUE),
        (10**1000 + 1, 10**1000, Code.WRONG_VALUE),
        (NAN, 1.0, Code.NOT_FINITE),
        (1.2, tensor(1.0), Code.WRONG_VALUE),
        (tensor(1.2), 1.0, Code.WRONG_VALUE),
        (Opaque("numpy.int64", "x", 2), 1, Code.WRONG_VALUE),
        (tensor([1.0]), 1.0, Code.WRONG_TYPE),
        (tensor(True, "bool"), 1, Code.WRONG_TYPE),
        (tensor(1), True, Code.WRONG_TYPE),
        (True, 1, Code.WRONG_TYPE),
        (1, True, Code.WRONG_TYPE),
        ((1.0,), (1.0, 2.0), Code.WRONG_TYPE),
        ({1: 1.0}, {True: 1.0}, Code.WRONG_TYPE),
        ({1: 1.0}, {2: 1.0}, Code.WRONG_TYPE),
        ({}, {2: 1.0}, Code.WRONG_TYPE),
        ([1.0], {0: 1.0}, Code.WRONG_TYPE),
        ((None,), (tensor(1.0),), Code.WRONG_TYPE),
        (Opaque("SparseTensor", "sparse"), tensor(1.0), Code.WRONG_TYPE),
        ("text", "other", Code.WRONG_VALUE),
        ("1", 1, Code.WRONG_TYPE),
        (b"raw", b"row", Code.WRONG_VALUE),
        (True, False, Code.WRONG_VALUE),
        (DType("int64"), DType("int32"), Code.WRONG_VALUE),
    ],
)  # fmt: skip
def test_anything_else_fails(actual, expected, code):
    verdict = judge(actual, expected)
    assert (verdict.status, verdict.code, verdict.owner) == (Status.FAILED, code, Owner.STUDENT)
    assert verdict.credit == 0.0


def test_numbers_come_with_their_places():
    actual = tensor([[1.0, 2.5, 3.0], [4.0, 5.0, 60.0]])
    expected = tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 600.0]])
    verdict = judge((None, actual), (None, expected), rtol=0.0, atol=0.125)
    assert verdict.message.id == "wrong_value"
    assert verdict.message.params == {
        "mismatched": 2, "total": 6, "percent": pytest.approx(100 / 3),
        "index": [0, 1], "abs_diff": 540.0, "abs_index": [1, 2],
        "rel_diff": 0.9, "rel_index": [1, 2], "atol": 0.125, "rtol": 0.0, "where": "result[1]",
    }  # fmt: skip
    assert verdict.evidence == verdict.message.params


def test_a_difference_from_zero_has_no_finite_ratio():
    assert judge(tensor([1.0]), tensor([0.0])).message.params["rel_diff"] == "inf"


def test_where_infinity_is_expected_the_difference_is_a_word():
    params = judge(tensor([1.0, 9.0]), tensor([INF, 1.0])).message.params
    assert (params["abs_diff"], params["abs_index"]) == ("inf", [0])
    assert (params["rel_diff"], params["rel_index"]) == ("nan", [0])


def test_the_first_nan_is_named():
    params = judge(tensor([1.0, 5.0, NAN, INF]), tensor([1.0, 1.0, 1.0, 1.0])).message.params
    assert params == {
        "count": 2, "total": 4, "index": [2], "where": "result", "cause": "nan_some",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("actual", "expected", "apart"),
    [
        (tensor([2**63 - 1], "int64"), tensor([-(2**63)], "int64"), 2**64 - 1),
        (tensor([2**64 - 1], "uint64"), tensor([2**64 - 3], "uint64"), 2),
        (tensor([2**64 - 1], "uint64"), tensor([-1], "int64"), 2.0**64),
        (tensor([2**53 + 1], "int64"), tensor([2**53], "int64"), 1),
        (tensor([3], "uint8"), tensor([250], "uint8"), 247),
    ],
)
def test_whole_numbers_do_not_wrap_around(actual, expected, apart):
    verdict = judge(actual, expected)
    assert verdict.code is Code.WRONG_VALUE
    assert verdict.message.params["abs_diff"] == apart


def test_narrow_floats_are_compared_by_value():
    one, two = b"\x80\x3f", b"\x00\x40"
    assert judge(raw("bfloat16", one, two), tensor([1.0, 2.0])).status is Status.PASSED
    assert judge(raw("bfloat16", two), tensor([1.0])).code is Code.WRONG_VALUE


def test_an_infinite_bound_lets_nothing_through():
    expected = tensor([1e308], "float64")
    assert judge(tensor([INF], "float64"), expected, rtol=100.0).code is Code.NOT_FINITE
    assert judge(tensor([NAN], "float64"), expected, rtol=100.0).code is Code.NOT_FINITE


def test_differences_are_found_in_every_block():
    size = 2**18
    expected = np.zeros(3 * size, np.float32)
    actual = expected.copy()
    actual[5], actual[size + 7], actual[3 * size - 1] = 1.0, 3.0, 2.0
    params = judge(tensor(actual), tensor(expected)).message.params
    assert (params["mismatched"], params["total"]) == (3, 3 * size)
    assert (params["abs_diff"], params["abs_index"]) == (3.0, [size + 7])
    assert params["index"] == [5]
    actual[2 * size], actual[2 * size + 1] = NAN, INF
    params = judge(tensor(actual), tensor(expected)).message.params
    assert (params["count"], params["index"]) == (2, [2 * size])
    actual[9] = NAN
    params = judge(tensor(actual), tensor(expected)).message.params
    assert (params["count"], params["index"]) == (3, [9])


def test_places_in_later_blocks_are_counted_from_the_start():
    size = 2**18
    expected = np.zeros((3, size), np.float32)
    actual = expected.copy()
    actual[1, 7], actual[2, 9] = 1.0, 2.0
    params = judge(tensor(actual), tensor(expected)).message.params
    assert (params["index"], params["abs_index"]) == ([1, 7], [2, 9])


@pytest.mark.parametrize("row", [0, 1, 2])
def test_nan_counts_as_the_greatest_difference_in_any_block(row):
    expected = np.zeros((3, 2**18), np.float32)
    actual = expected + 1.0
    expected[row, 3], actual[row, 3] = INF, NAN
    params = judge(tensor(actual), tensor(expected)).message.params
    assert (params["abs_diff"], params["abs_index"]) == ("nan", [row, 3])


def test_what_the_reference_cannot_say_is_the_instructors_fault():
    verdict = judge(Opaque("Sparse", "sparse"), (Opaque("Sparse", "sparse"),)[0])
    assert (verdict.status, verdict.owner) == (Status.ERROR, Owner.INSTRUCTOR)
    assert verdict.code is Code.REFERENCE_FAILED


def test_types_are_named():
    params = judge(Opaque("Spar\ud800se", "sparse"), tensor(1.0)).message.params
    assert params == {"actual": "Spar?se", "expected": "Tensor", "where": "result"}
    params = judge(dict.fromkeys(range(10), 1), {"a": 1}).message.params
    assert params["actual"] == "dict with keys 0, 1, 2, 3, 4, 5, 6, 7, …"
    assert params["expected"] == "dict with keys 'a'"
    assert judge({}, {"a": 1}).message.params["actual"] == "empty dict"
    assert judge([1], 1).message.params["actual"] == "list"
    longer = judge({"a": [1, 2, 3]}, {"a": [1, 2]}).message
    assert (longer.id, longer.params) == (
        "wrong_length", {"actual": 3, "expected": 2, "where": "result['a']"}
    )  # fmt: skip
    assert judge({"a": [1, 2]}, {"a": [1, "b"]}).message.params["where"] == "result['a'][1]"
