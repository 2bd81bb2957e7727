"""How far something is, where there is no terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from grader import progress
from grader.progress import make_progress


def test_a_log_gets_a_line_every_so_often(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    printed = io.StringIO()
    with make_progress(Console(file=printed)) as display:
        task = display.add_task("grading", total=120)
        for number in range(120):
            now[0] += 1.0
            display.update(task, advance=1, tally=f"{number + 1} full")
    assert printed.getvalue() == ""
    assert capsys.readouterr().err.splitlines() == [
        "grading: 30 of 120, about 2 min left, 30 full",
        "grading: 60 of 120, about 60 s left, 60 full",
        "grading: 90 of 120, about 30 s left, 90 full",
        "grading: 120 of 120, 120 full",
    ]


def test_what_has_no_end_in_sight_says_how_long_it_has_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with make_progress(Console(file=io.StringIO())) as display:
        task = display.add_task("loops", total=None)
        now[0] = 45.0
        display.advance(task)
    assert capsys.readouterr().err == "loops, for 45 s\n"


def test_a_terminal_gets_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    printed = io.StringIO()
    with make_progress(Console(file=printed, force_terminal=True)) as display:
        task = display.add_task("grading", total=2)
        display.advance(task)
        display.refresh()
    assert "1/2" in printed.getvalue()
    assert capsys.readouterr().err == ""
