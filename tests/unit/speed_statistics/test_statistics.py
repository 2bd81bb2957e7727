"""Ratios, their summary, and when a number of them decides."""

from __future__ import annotations

import math

import pytest
from timings import blocks, run

from grader.speed_statistics.credit import Decision, Rule, decide, index, log_ratio, steady
from grader.speed_statistics.sampling import Run, Sample
from grader.speed_statistics.vectorisation import AGAIN, VECTORISED

LIMIT = math.log(1.25)


def test_a_ratio_is_the_median_of_rounds_so_that_a_few_disturbed_ones_do_not_matter() -> None:
    slow, fast = [4.0, 4.0, 400.0, 4.0, 4.0], [2.0, 2.0, 2.0, 2.0, 90.0]
    pair = Run({"a": blocks(slow), "b": blocks(fast)})
    assert log_ratio(pair, "a", "b") == pytest.approx(math.log(2))


def test_what_slows_a_whole_round_leaves_its_ratio() -> None:
    loads = [1.0, 3.0, 1.0, 2.0, 7.0]
    pair = Run({"a": blocks([4 * x for x in loads]), "b": blocks(loads)})
    assert log_ratio(pair, "a", "b") == pytest.approx(math.log(4))


def test_blocks_of_unequal_length_are_compared_by_processor_time_a_call() -> None:
    pair = Run({"a": (Sample(2, 8.0, 4.0),), "b": (Sample(10, 10.0, 10.0),)})
    assert log_ratio(pair, "a", "b") == pytest.approx(math.log(2))


def test_a_clock_that_was_not_read_is_told() -> None:
    with pytest.raises(ValueError, match="not read"):
        _ = Sample(2, 8.0).per_call


def test_the_control_sees_when_the_same_code_comes_out_apart() -> None:
    assert steady(run(1.0, again=1.04), AGAIN, VECTORISED)
    assert not steady(run(1.0, again=1.06), AGAIN, VECTORISED)
    assert not steady(run(1.0, again=0.94), AGAIN, VECTORISED)
    assert steady(run(1.0, again=1.06), AGAIN, VECTORISED, within=1.1)


def test_the_index_is_0_for_the_reference_and_1_for_the_loop() -> None:
    assert index(0.0, math.log(64)) == 0
    assert index(math.log(64), math.log(64)) == 1
    assert index(math.log(8), math.log(64)) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="no slower"):
        index(1.0, 0.0)


@pytest.mark.parametrize(
    ("excess", "decision"),
    [
        ([], Decision.MORE),
        ([-1.0, -1.0], Decision.MORE),
        ([-1.0, -1.0, -0.01], Decision.PASSED),
        ([0.0, 0.0, 0.0], Decision.PASSED),
        ([-1.0, -1.0, 0.01], Decision.MORE),
        ([LIMIT, LIMIT, 2.0], Decision.FAILED),
        ([LIMIT - 0.01, 2.0, 2.0], Decision.MORE),
        ([0.1, 0.1, 0.1], Decision.MORE),
        ([1.0, -1.0, -1.0, -1.0, -1.0], Decision.MORE),
        ([1.0, -1.0, -1.0, -1.0, -1.0, -1.0], Decision.PASSED),
        ([-1.0, 1.0, 1.0, 1.0, 1.0, 1.0], Decision.FAILED),
        ([1.0, 1.0, *[-1.0] * 7], Decision.PASSED),
        ([1.0, 1.0, 1.0, *[-1.0] * 6], Decision.INCONCLUSIVE),
        ([0.1] * 9, Decision.INCONCLUSIVE),
    ],
)
def test_measurements_decide_when_they_agree(excess: list[float], decision: Decision) -> None:
    assert decide(excess) is decision


def test_a_rule_of_ones_own() -> None:
    assert decide([-1.0], Rule(fewest=1)) is Decision.PASSED
    assert decide([0.5], Rule(fewest=1, most=1, margin=2.0)) is Decision.INCONCLUSIVE
