"""From sets of blocks to a pace, and what it is worth."""

from __future__ import annotations

import math

import pytest
from timings import run

from grader.speed_statistics.credit import Award, Decision, single
from grader.speed_statistics.vectorisation import SpeedEstimate, pace_of, weigh

HALF = single(0.5)


def test_a_pace_is_one_measure_a_set() -> None:
    pace = pace_of([run(1.0), run(8.0), run(64.0)])
    assert pace.measures == pytest.approx([0.0, 0.5, 1.0])
    assert pace.excess(0.5) == pytest.approx([-math.log(8), 0.0, math.log(8)])


def test_sets_that_are_not_steady_are_left_out_and_counted() -> None:
    pace = pace_of([run(1.0), run(1.0, again=1.2), run(1.0)])
    assert (len(pace.measures), pace.sets) == (2, 3)
    assert weigh(pace, HALF).decision is Decision.MORE


@pytest.mark.parametrize(
    ("student", "award"),
    [
        (1.0, Award(Decision.PASSED, 1)),
        (7.9, Award(Decision.PASSED, 1)),
        (8.1, Award(Decision.MORE)),
        (9.9, Award(Decision.MORE)),
        (10.1, Award(Decision.PASSED, 0)),
        (64.0, Award(Decision.PASSED, 0)),
    ],
)
def test_a_failure_misses_the_limit_by_a_quarter(student: float, award: Award) -> None:
    assert weigh(pace_of([run(student)] * 3), HALF) == award


def test_nine_sets_that_do_not_decide_are_inconclusive() -> None:
    assert weigh(pace_of([run(9.0)] * 9), HALF).decision is Decision.INCONCLUSIVE
    assert weigh(pace_of([run(1.0, again=2.0)] * 9), HALF).decision is Decision.INCONCLUSIVE
    assert weigh(pace_of([run(1.0, again=2.0)] * 8), HALF).decision is Decision.MORE


def test_a_loop_that_is_no_slower_gives_no_scale() -> None:
    with pytest.raises(ValueError, match="no slower"):
        weigh(pace_of([run(1.0, loop=0.9)] * 3), HALF)


def test_nothing_measured_is_nothing_known() -> None:
    assert weigh(SpeedEstimate(), HALF) == Award(Decision.MORE)
