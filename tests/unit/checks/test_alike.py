"""What is the same but for rounding, and how much of it a caller may allow."""

import pytest
from observed import tensor

from grader.checks.alike import same_value

RIGHT = tensor([1.0, -8.0, 0.0])
BLURRED = tensor([1.001, -8.004, 0.002])


def test_only_rounding_is_the_same():
    assert same_value(RIGHT, tensor([1.0, -8.000008, 0.0]))
    assert not same_value(RIGHT, BLURRED)


@pytest.mark.parametrize("of", [lambda x: x, lambda x: (x, 1), lambda x: {"a": [x]}])
def test_a_share_may_be_allowed_wherever_a_tensor_stands(of):
    assert same_value(of(RIGHT), of(BLURRED), share=1e-3)
    assert not same_value(of(RIGHT), of(BLURRED), share=1e-4)


def test_counts_are_the_same_or_not_whatever_is_allowed():
    assert same_value(8000.5, 8001.0, share=1e-3)
    assert not same_value(8000.0, 8001.0, share=1e-3)
    assert not same_value(tensor([8000], dtype="int64"), tensor([8001], dtype="int64"), share=1e-3)


@pytest.mark.parametrize("more", [1, 3])
def test_lists_of_other_lengths_differ(more):
    assert not same_value([RIGHT] * 2, [RIGHT] * (2 + more), share=1e-3)
