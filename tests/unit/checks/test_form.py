"""Kinds ``type`` and ``any_order``."""

import pytest
from observed import CASE, seen, tensor

from grader.checks.form import PythonType
from grader.checks.judge import judge_case
from grader.checks.values import AnyOrder
from grader.verdict import Code, Owner, Status

ORDER = AnyOrder(id="o", points=1)


def judged(check, actual, expected):
    return check.judge(CASE, seen(expected), seen(actual))


@pytest.mark.parametrize(
    ("actual", "expected", "passes"),
    [
        (3, 5, True),
        (3.0, 5, False),
        (True, 5, False),
        (tensor(3, "int64"), 5, False),
        (5, tensor(3, "int64"), False),
        ([1, 2.0], (3, 4.0), True),
        ([1, 2], (3, 4.0), False),
        (None, None, True),
        ({1: [2.0]}, {1: [3.0]}, True),
        ({1: [2]}, {1: [3.0]}, False),
    ],
)
def test_types_as_the_references(actual, expected, passes):
    verdict = judged(PythonType(id="t", points=1), actual, expected)
    assert verdict.code is (Code.OK if passes else Code.WRONG_TYPE)


@pytest.mark.parametrize(
    ("name", "value", "passes"),
    [
        ("int", 3, True), ("int", True, False), ("int", 3.0, False), ("float", 3.0, True),
        ("int", tensor(3, "int64"), False), ("Tensor", tensor(3, "int64"), True),
        ("tuple", (1,), True), ("tuple", [1], False), ("list", [1], True), ("None", None, True),
        ("dict", {}, True), ("str", "a", True), ("bool", True, True),
    ],
)  # fmt: skip
def test_types_by_name(name, value, passes):
    verdict = judged(PythonType(id="t", points=1, type=name), value, 3)
    assert verdict.code is (Code.OK if passes else Code.WRONG_TYPE)
    if name == "int" and value == tensor(3, "int64"):
        assert verdict.message.params == {
            "actual": "Tensor", "expected": "int", "where": "result", "cause": "tensor_for_number",
        }  # fmt: skip


def pair(*entries):
    return tuple(tensor(list(column), "int64") for column in zip(*entries, strict=True))


RIGHT = pair((7, 0), (3, 1), (5, 4))


@pytest.mark.parametrize(
    "actual", [RIGHT, pair((3, 1), (5, 4), (7, 0)), list(pair((5, 4), (7, 0), (3, 1)))]
)
def test_entries_in_any_order(actual):
    assert judged(ORDER, actual, RIGHT).status is Status.PASSED


def test_dtypes_and_rows_do_not_matter():
    rows = tensor([[1, 2], [3, 4]])
    assert judged(ORDER, tensor([[3, 4], [1, 2]], "int64"), rows).status is Status.PASSED
    assert judged(ORDER, tensor([[2, 1], [3, 4]]), rows).code is Code.WRONG_VALUE


@pytest.mark.parametrize(
    ("actual", "missing", "cause"),
    [
        (pair((7, 0), (3, 2), (5, 4)), 1, "wrong_partner"),
        (pair((7, 1), (3, 0), (5, 4)), 2, "wrong_partner"),
        (pair((7, 0), (7, 0), (5, 4)), 1, None),
        (pair((0, 7), (1, 3), (4, 5)), 3, None),
    ],
)
def test_entries_that_are_missing(actual, missing, cause):
    verdict = judged(ORDER, actual, RIGHT)
    assert verdict.code is Code.WRONG_VALUE
    assert verdict.message.params["missing"] == missing
    assert verdict.message.params.get("cause") == cause


def test_other_lengths_and_types():
    assert judged(ORDER, pair((7, 0), (3, 1)), RIGHT).code is Code.WRONG_SHAPE
    assert judged(ORDER, RIGHT[0], RIGHT).code is Code.WRONG_TYPE


@pytest.mark.parametrize("value", [3, tensor(3), (tensor([1]), tensor([1, 2])), (tensor([1]), 3)])
def test_what_has_no_rows_is_the_instructors_to_mend(value):
    verdict = judge_case(ORDER, CASE, seen(value), seen(value))
    assert verdict.owner is Owner.INSTRUCTOR
