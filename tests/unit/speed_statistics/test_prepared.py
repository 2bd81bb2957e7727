"""Work that the calls of a block share: told apart from one noisy set."""

from __future__ import annotations

import pytest

from grader.speed_statistics.vectorisation import SpeedEstimate


@pytest.mark.parametrize(
    ("prepared", "shared"),
    [
        ((), False),
        ((0.0, 0.1, 0.05), False),
        ((0.9, 0.8, 1.0), True),
        ((0.0, 0.35, 0.0), False),  # one set of honest code, by noise
        ((0.3, 0.35, 0.0), False),
        ((0.9, 0.9, 0.9, 0.9, 0.9, 0.0), True),  # one of six may miss the limit
        ((0.9, 0.9, 0.9, 0.9, 0.0, 0.0), False),
    ],
)
def test_shared_work_shows_in_every_set_that_counts(
    prepared: tuple[float, ...], shared: bool
) -> None:
    assert SpeedEstimate(prepared=prepared).shared is shared
