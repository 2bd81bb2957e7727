"""Repeats of timeit, and laps between readings of a clock."""

from __future__ import annotations

import time
import timeit
from collections.abc import Iterator

import pytest
import torch

from grader.vgpu import virtual_gpus
from grader.vgpu.show import laps
from grader.vgpu.timeline import on_timeline


@pytest.fixture(autouse=True)
def gpus() -> Iterator[None]:
    with virtual_gpus(2):
        yield


def work(size: int = 2048) -> None:
    x = torch.ones(size, size, device="cuda")
    (x @ x).sum().item()


def test_what_comes_out_the_same_twice_is_not_run_again() -> None:
    runs = []
    with on_timeline("v100", arithmetic=False) as line:
        times = timeit.repeat(lambda: (runs.append(1), work()), number=3, repeat=9)
        assert len(times) == 9
        assert times == pytest.approx([times[0]] * 9, abs=1e-6)
        assert (len(runs), line.repeats.left_out) == (6, 7)
    assert len(timeit.repeat(lambda: runs.append(1), number=1, repeat=4)) == 4
    assert len(runs) == 10


def test_what_differs_is_run_each_time() -> None:
    runs: list[int] = []

    def growing() -> None:
        runs.append(1)
        work(len(runs))

    with on_timeline("v100", arithmetic=False) as line:
        timeit.repeat(growing, number=1, repeat=5)
        # What does nothing on a device may do anything else.
        timeit.repeat(lambda: runs.append(1), number=1, repeat=5)
        assert line.repeats.left_out == 0
    assert len(runs) == 10


def test_with_arithmetic_everything_is_run() -> None:
    runs = []
    with on_timeline("v100"):
        timeit.repeat(lambda: (runs.append(1), work(4)), number=1, repeat=5)
    assert len(runs) == 5


def test_laps_are_what_lies_between_readings() -> None:
    with on_timeline("v100", arithmetic=False) as line:
        work(4096)
        start = time.perf_counter()
        work()
        taken = time.perf_counter() - start
        work(4096)
        ((begin, end),) = line.laps
        assert end - begin == pytest.approx(taken, rel=1e-3)
        lap, whole, later = line.report(begin, end), line.report(0.0), line.report(end)
    assert lap["elapsed"] == pytest.approx(taken, rel=1e-3)
    assert lap["devices"]["cuda:0"]["kernels"] == 3
    assert lap["devices"]["cuda:0"]["busy"] < whole["devices"]["cuda:0"]["busy"] / 3
    parts = lap["elapsed"] + later["elapsed"] + begin
    assert parts == pytest.approx(whole["elapsed"])
    assert sum(lap["critical"].values()) == pytest.approx(lap["elapsed"])
    assert all(0 <= row[1] <= row[2] <= lap["elapsed"] for row in lap["rows"])


def test_work_that_reaches_over_an_end_is_cut() -> None:
    with on_timeline("v100", arithmetic=False) as line:
        work(4096)
        whole = line.report(0.0)
        middle = whole["elapsed"] / 2
        before, after = line.report(0.0, middle), line.report(middle)
    for name in ("busy",):
        halves = [each["devices"]["cuda:0"][name] for each in (before, after)]
        assert all(halves)
        assert sum(halves) == pytest.approx(whole["devices"]["cuda:0"][name])


def test_laps_alike_are_told_as_one() -> None:
    told = laps([(0.0, 1.0), (1.0, 3.0), (3.0, 5.0), (5.0, 5.5)], 4).splitlines()
    assert told[1:] == [
        "1: 1 s", "2–3: 2 s each", "4: 500 ms",
        "4 repeats of timeit were not run: each would do what the one before did.",
    ]  # fmt: skip


def test_each_stream_has_a_row() -> None:
    with on_timeline("v100", arithmetic=False) as line:
        work()
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            work()
        x = torch.ones(8, device="cuda:1")
        assert x.is_cuda
        names = {row[0] for row in line.report(0.0)["rows"]}
    assert names == {"cuda:0 stream 0", f"cuda:0 stream {side.stream_id}", "cuda:1"}
