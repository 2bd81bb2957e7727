"""Credit by thresholds and along lines, and when it is known."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from pydantic import ValidationError

from grader.speed_statistics.credit import (
    Award,
    Credit,
    Decision,
    Linear,
    Point,
    Step,
    Steps,
    award,
    single,
)

TWO = Steps(steps=(Step(within=1.0, credit=1), Step(within=2.0, credit=0.5)))
LINE = Linear(linear=(Point(at=1.0, credit=1), Point(at=3.0, credit=0)))


def given(credit: Credit, *measures: float) -> Award:
    def excess(limit: float) -> Sequence[float]:
        return [measure - limit for measure in measures]

    return award(credit, measures, excess)


@pytest.mark.parametrize(
    ("measures", "expected"),
    [
        ((0.5, 0.5, 0.5), Award(Decision.PASSED, 1)),
        ((1.5, 1.5, 1.5), Award(Decision.PASSED, 0.5)),
        ((5.0, 5.0, 5.0), Award(Decision.PASSED, 0)),
        ((1.1, 1.1, 1.1), Award(Decision.MORE)),
        ((1.1,) * 9, Award(Decision.INCONCLUSIVE)),
        ((1.5, 1.5), Award(Decision.MORE)),
    ],
)
def test_thresholds_best_first(measures: tuple[float, ...], expected: Award) -> None:
    assert given(TWO, *measures) == expected


@pytest.mark.parametrize(
    ("measures", "expected"),
    [
        ((0.2, 0.4, 1.0), Award(Decision.PASSED, 1)),
        ((2.0, 2.05, 2.1), Award(Decision.PASSED, LINE.share(2.05))),
        ((9.0, 9.0, 9.0), Award(Decision.PASSED, 0)),
        ((1.5, 2.0, 2.5), Award(Decision.MORE)),
        ((2.0, 2.0), Award(Decision.MORE)),
        ((2.0, 2.0, 2.0, 2.0, 2.0, 9.0), Award(Decision.PASSED, 0.5)),
        ((1.0, 3.0) * 4 + (2.0,), Award(Decision.INCONCLUSIVE)),
    ],
)
def test_along_a_line(measures: tuple[float, ...], expected: Award) -> None:
    assert given(LINE, *measures) == expected


def test_a_line_is_flat_beyond_its_ends_and_straight_between() -> None:
    assert [LINE.share(x) for x in (0, 1, 1.5, 2, 3, 9)] == [1, 1, 0.75, 0.5, 0, 0]


def test_one_threshold() -> None:
    assert single(0.5) == Steps(steps=(Step(within=0.5, credit=1),))


@pytest.mark.parametrize(
    "content",
    [
        {"steps": [{"within": 2, "credit": 1}, {"within": 1, "credit": 0.5}]},
        {"steps": [{"within": 1, "credit": 0.5}, {"within": 2, "credit": 1}]},
        {"steps": []},
        {"steps": [{"within": 1, "credit": 2}]},
    ],
)
def test_steps_that_do_not_fall_are_refused(content: object) -> None:
    with pytest.raises(ValidationError):
        Steps.model_validate(content)


def test_points_that_do_not_fall_are_refused() -> None:
    with pytest.raises(ValidationError, match="“at” must rise"):
        Linear(linear=(Point(at=1, credit=1), Point(at=1, credit=0)))
