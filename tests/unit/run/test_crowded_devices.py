"""Timing on devices as machines have them: slow drivers, crowded memory, pipes that are late."""

from __future__ import annotations

from pathlib import Path

import pytest
from device_lab import Bench
from fake_device import (
    BUSY,
    NO_CONTEXT,
    NO_HANDLE,
    NO_HANDLE_EITHER,
    NO_MEMORY,
    STICKY,
    Answer,
    FakeDevice,
    honest,
    product,
)

from grader.observation import Outcome
from grader.run.process_limits import outcome_of
from grader.verdict import Code, Owner, Status
from grader.wire.messages import Fault
from grader.wire.values import Value

NO_ROOM = (NO_MEMORY, NO_CONTEXT, NO_HANDLE, NO_HANDLE_EITHER)


@pytest.mark.parametrize("fault", NO_ROOM, ids=lambda fault: fault.message[:40])
def test_all_that_torch_says_of_full_memory_is_read_as_such(fault: Fault) -> None:
    assert outcome_of(fault)[0] is Outcome.OUT_OF_MEMORY


@pytest.mark.parametrize("fault", [STICKY, BUSY])
def test_other_errors_of_cuda_are_not(fault: Fault) -> None:
    assert outcome_of(fault)[0] is Outcome.RAISED


@pytest.mark.parametrize("fault", NO_ROOM, ids=lambda fault: fault.message[:40])
def test_no_room_for_a_fourth_process_costs_nobody_points(tmp_path: Path, fault: Fault) -> None:
    # The probe, the reference and its copies have a context each by then.
    bench = Bench(tmp_path, FakeDevice(contexts=3, refusal=fault))
    verdict = bench.verdict(honest())
    assert (verdict.status, verdict.code) == (Status.DEFERRED, Code.NOT_TIMED)
    assert bench.out() == []


def test_a_device_for_one_process_leaves_the_points_pending_and_says_why(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeDevice(contexts=1, refusal=BUSY))
    verdict = bench.verdict(honest())
    assert (verdict.status, verdict.owner) == (Status.ERROR, Owner.INFRASTRUCTURE)
    assert "busy or unavailable" in str(verdict.message)
    # A product takes one process, so each look finds it well.
    assert bench.out() == []


def test_as_many_contexts_as_there_are_parties_are_enough(tmp_path: Path) -> None:
    device = FakeDevice(contexts=4)
    assert Bench(tmp_path, device).verdict(honest()).status is Status.PASSED


@pytest.mark.parametrize("seconds", [3.0, 8.0, 90.0])
def test_a_slow_driver_changes_no_verdict(tmp_path: Path, seconds: float) -> None:
    for takes, expected in ((0.010, Status.PASSED), (0.030, Status.FAILED)):
        device = FakeDevice(driver_seconds=seconds)
        bench = Bench(tmp_path, device)
        timing = bench.time(honest(takes))
        assert bench.judge(timing).status is expected
        # Fewer rounds, for a set has a minute; never too few.
        rounds = [run.rounds for run in timing.runs]
        assert min(rounds) >= 7
        assert max(rounds) < 15 or seconds != 8.0
        assert bench.out() == []


@pytest.mark.parametrize("late", [0.01, 0.05, 0.25])
def test_a_pipe_that_is_late_costs_nobody_points_and_gives_none(
    tmp_path: Path, late: float
) -> None:
    found = {}
    for takes in (0.010, 0.030):
        found[takes] = {
            Bench(tmp_path, FakeDevice(late=late)).verdict(honest(takes), seed).status
            for seed in range(20)
        }
    assert Status.FAILED not in found[0.010]
    assert Status.PASSED not in found[0.030]


def test_a_submission_that_breaks_its_context_on_a_sound_device_pays(tmp_path: Path) -> None:
    def breaks(_d: FakeDevice, number: int, args: tuple[Value, ...]) -> Answer:
        return Answer(fault=STICKY) if number > 2 else Answer(0.010, product(args))

    verdict = Bench(tmp_path).verdict(breaks)
    assert (verdict.status, verdict.code) == (Status.FAILED, Code.RAISED)
