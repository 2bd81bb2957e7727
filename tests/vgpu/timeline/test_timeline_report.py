"""What a stretch of a timeline says in plain values."""

from __future__ import annotations

import pytest

from grader.vgpu.core.trace import Kernel, Synchronisation, TraceEvent, Transfer
from grader.vgpu.timeline.line import Timeline
from grader.vgpu.timeline.profiles import Profile
from grader.vgpu.timeline.report import MOST_GAPS, MOST_ROWS, Stretch

CARD = Profile(
    "round", "A card of round numbers", flops=1e9, bandwidth=1e9, floor=1e-9, launch=1e-9,
    memory=2**30, peer=1e9, pinned=1e9, pageable=1e9, latency=1e-9,
)  # fmt: skip
A, B = "cuda:0", "cuda:1"


def kernel(device: str, seconds: float, phase: str = "forward") -> Kernel:
    return Kernel("mm", device, int(seconds * 1e9), 0, phase=phase)


def copy(source: str, target: str, seconds: float = 1.0) -> Transfer:
    return Transfer(source, target, int(seconds * 1e9), False)


def told(*events: TraceEvent) -> dict:
    line = Timeline(CARD)
    line.take(events)
    return Stretch("round", line.spans, 0, 0.0, line.end, (A, B)).report()


def rounded(value):
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return round(value, 3) if isinstance(value, float) else value


ONE_AFTER_THE_OTHER = (kernel(A, 3), copy(A, B), kernel(B, 2))
SIDE_BY_SIDE = (
    kernel(A, 3), copy(A, B), kernel(B, 2), kernel(A, 3), copy(A, B), kernel(B, 2),
)  # fmt: skip
WAITING = (
    kernel(A, 3), copy(A, B), kernel(B, 2), Synchronisation(B, "item"),
    kernel(A, 3), copy(A, B), kernel(B, 2),
)  # fmt: skip


def test_one_after_the_other_takes_the_sum() -> None:
    report = rounded(told(*ONE_AFTER_THE_OTHER))
    assert (report["elapsed"], report["serial"], report["ideal"]) == (6.0, 6.0, 4.0)
    assert report["devices"] == {
        A: {"busy": 4.0, "kernels": 1}, B: {"busy": 3.0, "kernels": 1},
    }  # fmt: skip
    assert report["critical"] == {A: 3.0, B: 2.0, "copies": 1.0, "host": 0.0}
    assert (report["idle"]["start"], report["idle"]["end"]) == (3.0, 2.0)


def test_what_overlaps_is_saved() -> None:
    report = rounded(told(*SIDE_BY_SIDE))
    assert (report["elapsed"], report["serial"], report["ideal"]) == (10.0, 12.0, 8.0)
    assert report["critical"] == {A: 6.0, B: 2.0, "copies": 2.0, "host": 0.0}
    between = [gap for gap in report["gaps"] if gap["waited"] not in ("start", "end")]
    assert between == [
        {"device": B, "start": 6.0, "end": 7.0, "waited": "stream", "for": A, "before": "copy",
         "phase": "forward"},
    ]  # fmt: skip


def test_a_host_that_waits_is_found() -> None:
    report = rounded(told(*WAITING))
    assert report["elapsed"] == 12.0
    assert report["idle"]["blocked"] == 2.0
    gap = next(gap for gap in report["gaps"] if gap["waited"] == "blocked")
    assert (gap["device"], gap["start"], gap["end"], gap["for"]) == (A, 4.0, 6.0, B)
    # The chain goes through the wait: all of it is on the way.
    assert sum(report["critical"].values()) == pytest.approx(12.0)
    assert report["critical"]["host"] == 0.0


def test_the_critical_path_adds_up_to_the_time() -> None:
    slow = Profile("slow host", "", 1e9, 1e9, 1e-9, 1.0, 1, 1e9, 1e9, 1e9, 1e-9)
    line = Timeline(slow)
    line.take([kernel(A, 0.25), kernel(A, 0.25), kernel(B, 3)])
    critical = Stretch("slow host", line.spans, 0, 0.0, line.end, (A, B)).critical()
    assert rounded(critical) == {A: 0.0, B: 3.0, "copies": 0.0, "host": 3.0}


def test_a_picture_gets_few_rows_of_many_kernels() -> None:
    report = rounded(told(*[kernel(A, 0.5) for _ in range(2000)], kernel(A, 1, "backward")))
    assert report["rows"] == [[A, 0.0, 1000.0, "forward"], [A, 1000.0, 1001.0, "backward"]]


def test_rows_and_gaps_are_bounded() -> None:
    events = [each for _ in range(MOST_ROWS) for each in (kernel(A, 1), copy(A, B), kernel(B, 1))]
    report = told(*events)
    assert len(report["rows"]) <= MOST_ROWS
    assert len(report["gaps"]) <= MOST_GAPS


def test_the_busiest_part_does_not_vanish() -> None:
    slow = [each for _ in range(200) for each in (kernel(A, 9), copy(A, B, 1))]
    busy = [each for _ in range(2 * MOST_ROWS) for each in (kernel(A, 0.3), copy(A, B, 0.1))]
    report = told(*slow, *busy)
    assert len(report["rows"]) <= MOST_ROWS
    shown = [row for row in report["rows"] if row[0] == A and row[1] >= 2000.0]
    assert sum(end - start for _, start, end, _ in shown) > 0.95 * 0.4 * 2 * MOST_ROWS
    assert {row[3] for row in shown} == {"forward"}


def test_nothing_happens_in_no_time() -> None:
    report = told()
    assert (report["elapsed"], report["rows"], report["gaps"]) == (0.0, [], [])
    assert set(report["critical"].values()) == {0.0}
