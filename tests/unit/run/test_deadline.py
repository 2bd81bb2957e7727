"""What counts against a process's limit: what it computes, how long it sleeps, nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from grader.observation import Stop
from grader.run import process_limits as module
from grader.run.process_limits import MOST_WALL, Deadline
from grader.sandbox.host.processes import Activity
from grader.wire.frames import DeadlineExceeded

Look = Callable[[float], Activity | None]


class World:
    """A clock, and a process whose processes are told by the time."""

    def __init__(self, look: Look) -> None:
        self.time, self.looks = 100.0, 0
        self._process = look

    def now(self) -> float:
        return self.time

    def look(self, _: int) -> Activity | None:
        self.looks += 1
        return self._process(self.time - 100.0)

    def until_stopped(self, limit: float, processes: int = 0, pid: int | None = 7) -> Deadline:
        deadline = Deadline(limit, pid, processes, self.look, self.now)
        with deadline, pytest.raises(DeadlineExceeded):
            self._wait(deadline)
        return deadline

    def _wait(self, deadline: Deadline) -> None:
        while self.time < 1e5:
            self.time += deadline()


def one(share: float, ready: bool = True) -> Look:
    """A process that gets a share of a core."""
    return lambda t: Activity(share * t, {7: share * t}, frozenset({7} if ready else ()))


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_overloaded", lambda: False)


@pytest.mark.parametrize("share", [1.0, 0.5, 0.15])
def test_computing_counts_by_processor_time_however_long_that_takes(share: float) -> None:
    stopped = World(one(share)).until_stopped(10.0)
    assert stopped.stopped is Stop.PROCESSOR
    assert stopped.computed == pytest.approx(10.0, abs=0.2)
    assert stopped.wall == pytest.approx(10.0 / share, rel=0.05)
    assert stopped.busy is (share < 1)
    assert not stopped.denied


def test_sleep_has_the_same_limit() -> None:
    stopped = World(one(0.0, ready=False)).until_stopped(10.0)
    assert stopped.stopped is Stop.ASLEEP
    assert stopped.wall == pytest.approx(10.0, abs=0.4)
    assert stopped.computed == 0
    assert not stopped.busy


def test_a_process_that_sleeps_and_computes_in_turns_is_stopped() -> None:
    stopped = World(one(0.05, ready=False)).until_stopped(10.0)
    assert stopped.stopped is Stop.ASLEEP
    assert stopped.wall < 11.5


def test_a_process_that_gets_no_core_is_the_machines_doing() -> None:
    stopped = World(one(0.01)).until_stopped(10.0)
    assert stopped.stopped is Stop.WALL
    assert stopped.wall == pytest.approx(10.0 * MOST_WALL, abs=0.2)
    assert stopped.denied
    assert stopped.busy


def test_each_process_may_use_the_limit_and_all_together_what_they_may_use() -> None:
    def crew(t: float) -> Activity:
        used = dict.fromkeys((7, 8, 9), 0.9 * t)
        return Activity(sum(used.values()), used, frozenset(used))

    assert World(crew).until_stopped(10.0, 2).wall == pytest.approx(10.0 / 0.9, abs=0.3)
    # Where no process was promised, they share one limit.
    assert World(crew).until_stopped(10.0).wall == pytest.approx(10.0 / 2.7, abs=0.3)


def test_processes_that_end_count_with_the_one_that_waited_for_them() -> None:
    stopped = World(lambda t: Activity(t, {7: 0.0}, frozenset())).until_stopped(10.0, 2)
    assert stopped.stopped is Stop.PROCESSOR
    assert stopped.wall == pytest.approx(30.0, abs=0.3)


def test_processes_that_live_too_briefly_to_be_read_count_by_the_wall() -> None:
    def churn(t: float) -> Activity:
        child = 1000 + round(10 * t)
        return Activity(0.0, {7: 0.0, child: 0.0}, frozenset({child}))

    stopped = World(churn).until_stopped(10.0)
    assert stopped.stopped is Stop.PROCESSOR
    assert stopped.wall < 11


def test_without_a_reading_the_limit_is_on_wall_time() -> None:
    for world, pid in ((World(lambda _: None), 7), (World(one(1.0)), None)):
        deadline = world.until_stopped(2.0, pid=pid)
        assert deadline.stopped is Stop.WALL
        assert deadline.wall == pytest.approx(2.0, abs=0.2)
        assert deadline.computed is None
        assert not deadline.denied


def test_a_process_that_ends_meanwhile_is_waited_for_no_longer_than_the_wall_limit() -> None:
    stopped = World(lambda t: one(1.0)(t) if t < 3 else None).until_stopped(10.0)
    assert stopped.wall <= 10.0 * MOST_WALL + 0.2


def test_a_call_that_is_soon_over_is_not_looked_at() -> None:
    world = World(one(1.0))
    deadline = Deadline(10.0, 7, 0, world.look, world.now)
    with deadline:
        for _ in range(9):
            deadline()
            world.time += 0.01
    assert world.looks == 0


def test_one_limit_holds_for_many_short_exchanges_and_not_for_what_lies_between() -> None:
    world = World(one(0.5, ready=False))
    deadline = Deadline(10.0, 7, 0, world.look, world.now)

    def exchanges() -> None:
        while True:
            with deadline:
                for _ in range(3):
                    deadline()
                    world.time += 0.02
            world.time += 0.04  # the process is asked for nothing, and sleeps

    with pytest.raises(DeadlineExceeded):
        exchanges()
    # Half a core all the time: sleep is counted in exchanges alone.
    assert deadline.stopped is Stop.PROCESSOR
    assert deadline.wall == pytest.approx(12.0, abs=0.5)


def test_an_overloaded_machine_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    cores = os.cpu_count() or 1
    for load, busy in ((cores - 0.5, False), (cores + 0.5, True)):
        monkeypatch.setattr(os, "getloadavg", lambda load=load: (load, 0.0, 0.0))
        assert World(one(1.0)).until_stopped(1.0).busy is busy
