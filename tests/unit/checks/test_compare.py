"""What is equal bit for bit, what but for rounding, and how much of it a caller may allow."""

import numpy as np
import pytest
from observed import tensor

from grader.checks.compare import bits_equal, equal_but_for_rounding, inexact, likeness
from grader.wire.values import Opaque

RIGHT = tensor([1.0, -8.0, 0.0])
BLURRED = tensor([1.001, -8.004, 0.002])


def test_only_rounding_is_the_same():
    assert equal_but_for_rounding(RIGHT, tensor([1.0, -8.000008, 0.0]))
    assert not equal_but_for_rounding(RIGHT, BLURRED)


@pytest.mark.parametrize("of", [lambda x: x, lambda x: (x, 1), lambda x: {"a": [x]}])
def test_a_share_may_be_allowed_wherever_a_tensor_stands(of):
    assert equal_but_for_rounding(of(RIGHT), of(BLURRED), share=1e-3)
    assert not equal_but_for_rounding(of(RIGHT), of(BLURRED), share=1e-4)


def test_counts_are_the_same_or_not_whatever_is_allowed():
    assert equal_but_for_rounding(8000.5, 8001.0, share=1e-3)
    assert not equal_but_for_rounding(8000.0, 8001.0, share=1e-3)
    assert not equal_but_for_rounding(
        tensor([8000], dtype="int64"), tensor([8001], dtype="int64"), share=1e-3
    )


@pytest.mark.parametrize("more", [1, 3])
def test_lists_of_other_lengths_differ(more):
    assert not equal_but_for_rounding([RIGHT] * 2, [RIGHT] * (2 + more), share=1e-3)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (0.0, -0.0), (1, True), (1, 1.0), ((1,), [1]), ({1: 2}, {1: 3}), ("a", "b"),
        (tensor([0.0]), tensor([-0.0])), (tensor([1.0]), tensor([[1.0]])),
        (tensor([0], dtype="int32"), tensor([0.0])), (Opaque("f", ""), Opaque("f", "")),
    ],
)  # fmt: skip
def test_values_with_other_bits_are_not_the_same(one, other):
    assert not bits_equal(one, other)
    assert not bits_equal([one], [other])


def test_values_with_the_same_bits_are():
    nan = float("nan")
    here, there = tensor([nan]), tensor([nan], device="cuda:0")
    assert bits_equal((nan, [here, None, "a"], {"b": True}), (nan, [there, None, "a"], {"b": True}))
    assert bits_equal([b"ab"], [memoryview(b"ab")])


@pytest.mark.parametrize(
    ("one", "share"),
    [
        (tensor([1.0, 2.0, 3.0, 4.0]), 1.0),
        (tensor([1.0, 2.0, 3.0, 5.0]), 0.7 * 3 / 4 + 0.3 * 0.9928),
        (tensor([-2.0, -4.0, -6.0, -8.0]), 0.3),
        (tensor([0.0, 0.0, 0.0, 0.0]), 0.0),
        (tensor([1.0, 2.0, 3.0]), None),
        (1.0, None),
    ],
)
def test_likeness_is_the_share_that_is_right_and_the_direction_of_the_rest(one, share):
    expected = tensor([1.0, 2.0, 3.0, 4.0])
    found = likeness(one, expected)
    assert found == (share if share is None else pytest.approx(share, abs=1e-3))
    assert likeness([one, 5], [expected, 5]) == (
        None if share is None else pytest.approx((share + 1) / 2, abs=1e-3)
    )


@pytest.mark.parametrize("many", [[1], []])
def test_likeness_looks_no_further_than_there_is_something_to_compare_with(many):
    for _ in range(40):
        many = [many] * 10
    assert likeness(many, [1, 2]) is None
    assert likeness([many, 2], [1, 2]) is None


@pytest.mark.filterwarnings("error")
def test_a_nan_with_unusual_bits_warns_nobody():
    signalling = np.array([0x7F800001], dtype=np.uint32).view(np.float32)

    assert np.isnan(inexact(signalling)).all()
