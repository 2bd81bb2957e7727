"""A small soak; the large one is ``python tests/bench/soak.py``."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import ModuleType

import pytest

from grader.errors import InfrastructureError
from grader.sandbox.host.open import open_sandbox

RUNS = 100


@pytest.mark.heavy
@pytest.mark.alone  # it counts the processes, files and mounts of the whole machine
def test_a_hundred_mixed_runs_leave_nothing_behind(bench: Callable[[str], ModuleType]) -> None:
    try:
        open_sandbox("full").close()
    except InfrastructureError as error:
        pytest.skip(f"needs full walls: {error}")

    outcome = bench("soak").soak(RUNS, min(4, os.cpu_count() or 1), seed=7)

    assert outcome.runs == RUNS
    assert outcome.problems() == {}
