"""Right float32 code is never refused, wrong code never accepted, whatever the sizes and scales."""

from __future__ import annotations

import numpy as np
import pytest
from fairness import BUGS, QUESTIONS, RIGHT, problem, verdict


def misjudged(name: str, seed: int) -> list[str]:
    """Labels of the answers that got the wrong verdict."""
    given = problem(name, seed)
    found = []
    for functions, due in ((RIGHT[name], True), (BUGS[name], False)):
        for label, function in functions.items():
            with np.errstate(all="ignore"):
                answer = function(*(item.copy() for item in given.inputs))
            if verdict(given, answer)[0] is not due:
                found.append(f"{label} with seed {seed}")
    return found


@pytest.mark.parametrize("name", QUESTIONS)
def test_right_passes_and_wrong_fails(name: str) -> None:
    assert [label for seed in range(10) for label in misjudged(name, seed)] == []


@pytest.mark.heavy
@pytest.mark.parametrize("name", QUESTIONS)
def test_right_passes_and_wrong_fails_thousands_of_times(name: str) -> None:
    assert [label for seed in range(800) for label in misjudged(name, seed)] == []
