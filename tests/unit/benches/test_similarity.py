"""A small class with copies in it; the large one is ``python tests/bench/similarity.py``."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest


@pytest.mark.heavy
@pytest.mark.parametrize("skewed", [False, True])
def test_whole_copies_stand_above_everybody_else(
    skewed: bool, bench: Callable[[str], ModuleType]
) -> None:
    outcome = bench("similarity").measure(60, 5, share=1.0, skewed=skewed)
    assert len(outcome.copies) == 5
    assert min(outcome.copies) > 0.6
    assert sum(score > min(outcome.copies) for score in outcome.innocents) <= 1
