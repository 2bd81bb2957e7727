"""Two kill points of a small class; twenty and each kind of write: ``kill_points.py``."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

POINTS = (
    ("grader.store.journal:Journal.record", 3, "after"),
    ("grader.batch.schedule:write_report", 1, "after"),
)


@pytest.mark.heavy
def test_killed_and_resumed_is_as_if_nothing_had_been(
    tmp_path: Path, bench: Callable[[str], ModuleType]
) -> None:
    kill_points = bench("kill_points")
    kill_points.make_class(tmp_path / "class", 5)
    batch = kill_points.Class(
        "pytorch101", tmp_path / "class", ("--questions", kill_points.QUESTIONS)
    )
    began = time.monotonic()
    assert batch.run(tmp_path / "whole").wait() == 0
    seconds = time.monotonic() - began
    whole = kill_points.state(tmp_path / "whole")
    assert len(whole["reports"]) == 5

    out = tmp_path / "killed"
    for function, nth, when in POINTS:
        kill_points.killed_at(batch, out, function, nth, when)
        batch.resume(out)
        assert kill_points.state(out) == whole, (function, nth, when)
        shutil.rmtree(out)
    kill_points.killed(batch, out, seconds * 0.8)
    batch.resume(out)
    assert kill_points.state(out) == whole
