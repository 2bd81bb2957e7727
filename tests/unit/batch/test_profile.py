"""Where the time of a batch went: of what ran now, each run once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from grader.batch.class_run import ClassRun
from grader.batch.graded import GradedSubmission
from grader.batch.profile import PHASES, Profile

OPTIONS = ("batch", "assignments/tiny", "class", "--out", "out", "--profile")


def rows(text: str) -> dict[str, float]:
    """Return what is printed after the heading: what happens → seconds."""
    lines = text.partition("Where the time went")[2].splitlines()[1:]
    table = [line.split(maxsplit=2) for line in lines if line.startswith("  ")]
    return {text: float(seconds) for seconds, _, text in table}


def test_a_batch_says_where_its_time_went(command: Callable[..., int], capsys: Any) -> None:
    assert command(*OPTIONS, "--jobs", "1") == 0
    printed = capsys.readouterr().out
    table = rows(printed)
    assert list(table)[:-1] == list(PHASES.values())
    assert table[PHASES["start"]] > 0
    assert printed.rstrip().endswith("s of a worker for each that ran.")
    # What an earlier run has graded took no time now.
    assert command(*OPTIONS, "--resume") == 0
    again = rows(capsys.readouterr().out)
    assert again[PHASES["start"]] == 0


def test_on_a_cluster_there_is_none(command: Callable[..., int], capsys: Any) -> None:
    assert command(*OPTIONS, "--engine", "ray") == 2
    assert "leave --engine ray out" in capsys.readouterr().err


@pytest.fixture
def graded(command: Callable[..., int], course: Any) -> list[GradedSubmission]:
    assert command(*OPTIONS) == 0
    with ClassRun(course / "out", resume=True) as run:
        return list(run.everybody())


def test_a_copy_costs_nothing_and_what_is_timed_runs_twice(graded: list[GradedSubmission]) -> None:
    first = next(each for each in graded if each.digest)
    calls = first.run.timing.phases["start"]
    copied, timed = replace(first, timed=False), replace(first, timed=True)
    profile = Profile(jobs=1)
    for each in (copied, copied, timed):
        profile.add(each)
    lines = list(profile.sentences())
    assert rows("\n".join(lines))[PHASES["start"]] == pytest.approx(2 * calls, abs=0.06)
    used = 2 * sum(first.run.timing.phases.values())
    assert f"{used:.2f} s of a worker for each that ran" in lines[-1]
