"""Symbolic sizes."""

from __future__ import annotations

import pytest

from grader.assignment.dims import (
    SizeChoice,
    bounds,
    check_expression,
    check_size,
    evaluate,
    names_in,
)


@pytest.mark.parametrize(
    ("expression", "value"),
    [(4, 4), ("N", 6), ("2*N+1", 13), ("N-M", 2), ("N//M", 1), ("N%M", 2), ("(N+M)*2", 20)],
)
def test_arithmetic(expression: int | str, value: int) -> None:
    assert check_expression(expression) == expression
    assert evaluate(expression, {"N": 6, "M": 4}) == value


@pytest.mark.parametrize(
    "expression",
    ["", "N+", "f(N)", "N.x", "2**N", "N/2", "-N", "'a'", "1.5", "True", "N if M else 1", "a\0b",
     "N;M", "(" * 70 + "N" + ")" * 70, "N" * 100],
)  # fmt: skip
def test_all_else_is_refused(expression: str) -> None:
    with pytest.raises(ValueError, match="is not a size such as 4, N or"):
        check_expression(expression)
    with pytest.raises(ValueError, match="is not a size such as 4, N or"):
        evaluate(expression, {"N": 1, "M": 1})


def test_division_by_zero_says_where() -> None:
    assert check_expression("N//(M-7)") == "N//(M-7)"  # whatever number a check might try
    with pytest.raises(ValueError, match=r"“N%M” divides by zero where M=0, N=3"):
        evaluate("N%M", {"N": 3, "M": 0})


def test_a_name_without_a_size() -> None:
    with pytest.raises(ValueError, match="“K” has no size under dims"):
        evaluate("K+1", {"N": 3})


def test_a_size_is_not_negative() -> None:
    assert check_size(0) == 0
    with pytest.raises(ValueError, match="found the size -1; a size is 0 or more"):
        check_size(-1)


def test_names() -> None:
    assert names_in("2*N+M") == {"N", "M"}
    assert names_in(3) == frozenset()


def test_bounds() -> None:
    assert bounds(3) == (3, 3)
    assert bounds((2, 5)) == (2, 5)
    assert bounds(SizeChoice(choice=(7, 2, 4))) == (2, 7)
