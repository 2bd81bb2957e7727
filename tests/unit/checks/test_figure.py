import math

import pytest
from observed import CASE, seen, tensor
from pydantic import ValidationError

from grader.checks.values import Figure
from grader.verdict import Code, Status

ACCURACY = [{"at_least": 0.9, "credit": 1}, {"at_least": 0.75, "credit": 0.5}]
LOSS = [{"at_most": 0.2, "credit": 1}]


def judge(figure, steps=ACCURACY):
    check = Figure(id="figure", points=1, steps=steps)
    # Nothing depends on what the reference reached.
    return check.judge(CASE, seen(0.0), seen(figure))


@pytest.mark.parametrize(
    ("figure", "steps", "credit"),
    [
        (0.9, ACCURACY, 1),
        (1, ACCURACY, 1),
        (0.8999, ACCURACY, 0.5),
        (0.75, ACCURACY, 0.5),
        (0.7499, ACCURACY, 0),
        (tensor(0.95), ACCURACY, 1),
        (tensor([0.95], "float64"), ACCURACY, 1),
        (math.inf, ACCURACY, 1),
        (math.nan, ACCURACY, 0),
        (0.2, LOSS, 1),
        (0.3, LOSS, 0),
        (math.nan, LOSS, 0),
    ],
)
def test_the_best_step_that_is_reached_counts(figure, steps, credit):
    verdict = judge(figure, steps)
    assert verdict.credit == credit
    assert verdict.status is {0: Status.FAILED, 0.5: Status.PARTIAL, 1: Status.PASSED}[credit]


@pytest.mark.parametrize(
    "value", [None, "0.95", True, [0.95], tensor([0.9, 0.9]), tensor(True, "bool"), 1j]
)
def test_what_is_no_number_is_of_the_wrong_type(value):
    assert judge(value).code is Code.WRONG_TYPE


def test_a_figure_on_the_way_says_what_comes_next_and_what_all_points_want():
    told = judge(0.71).message
    assert told is not None
    assert told.id == "figure_too_low"
    assert told.params == {
        "where": "result", "figure": "0.71", "full": "0.9", "percent": 0, "next": "0.75",
        "gain": 50,
    }  # fmt: skip
    told = judge(0.8).message
    assert told is not None
    assert "next" not in told.params
    told = judge(0.3, LOSS).message
    assert told is not None
    assert told.id == "figure_too_high"


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([], "at least 1 item"),
        ([{"credit": 1}], "one of at_least and at_most"),
        ([{"at_least": 0.9, "at_most": 1, "credit": 1}], "one of at_least and at_most"),
        ([{"at_least": 0.9, "credit": 0.5}], "the best must earn 1"),
        ([*ACCURACY, {"at_most": 0.1, "credit": 0.1}], "keep the one that is meant"),
        ([ACCURACY[0], {"at_least": 0.95, "credit": 0.5}], "easier than the one before"),
        ([ACCURACY[0], {"at_least": 0.5, "credit": 1}], "and earn less"),
    ],
)
def test_steps_that_make_no_scale(steps, said):
    with pytest.raises(ValidationError, match=said):
        Figure(id="figure", points=1, steps=steps)
