"""Turns, their order and number; the machine's clock for one at a time."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from grader.errors import InfrastructureError
from grader.speed_statistics import sampling
from grader.speed_statistics.sampling import (
    Plan,
    Sample,
    calls_for,
    cpu_seconds,
    exclusive,
    interleave,
    keep_on,
    quiet_core,
    readable,
)

linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux's clocks")


def ticks(step: float) -> Callable[[], float]:
    numbers: Iterator[int] = count()
    return lambda: step * next(numbers)


def made(seed: int, plan: Plan, step: float = 0.0, stops: int = 99) -> tuple[list[str], object]:
    order: list[str] = []

    def party(name: str) -> Callable[[int], Sample | None]:
        def block(number: int) -> Sample | None:
            order.append(name)
            return None if number == stops and name == "b" else Sample(1, 1.0, 1.0)

        return block

    parties = {name: party(name) for name in "abc"}
    return order, interleave(parties, plan, np.random.default_rng(seed), ticks(step))


def test_every_round_has_all_parties_in_an_order_of_its_own() -> None:
    order, run = made(0, Plan(rounds=15))
    rounds = [tuple(order[at : at + 3]) for at in range(0, 45, 3)]
    assert all(sorted(each) == ["a", "b", "c"] for each in rounds)
    assert len(set(rounds)) > 3
    assert run is not None
    assert {name: len(blocks) for name, blocks in run.samples.items()} == dict.fromkeys("abc", 15)


def test_the_order_is_drawn() -> None:
    assert made(1, Plan())[0] != made(2, Plan())[0]
    assert made(1, Plan())[0] == made(1, Plan())[0]


def test_rounds_end_when_the_time_is_up_but_not_before_the_fewest() -> None:
    order, _ = made(0, Plan(rounds=15, fewest=4, seconds=2.5), step=3.0)
    assert Counter(order) == dict.fromkeys("abc", 4)


def test_a_party_that_can_make_no_more_ends_the_run() -> None:
    order, run = made(0, Plan(), stops=2)
    assert run is None
    assert Counter(order)["b"] == 3


@pytest.mark.parametrize(
    ("per_call", "calls"), [(0.001, 10), (0.003, 4), (5.0, 1), (1e-9, 50), (0.0, 50)]
)
def test_blocks_are_equally_long(per_call: float, calls: int) -> None:
    assert calls_for(0.010, per_call, 50) == calls


@linux
def test_the_clock_is_another_process_and_counts_what_it_does() -> None:
    assert readable()
    before = cpu_seconds(os.getpid())
    assert sum(range(100_000)) > 0
    assert cpu_seconds(os.getpid()) > before
    with pytest.raises(OSError, match="Errno"):
        cpu_seconds(2**22 - 3)


def _holds(ready: multiprocessing.synchronize.Event, go: multiprocessing.synchronize.Event) -> None:
    with exclusive():
        ready.set()
        go.wait(30)


@linux
def test_one_at_a_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(sampling.tempfile, "gettempdir", lambda: str(tmp_path))
    fork = multiprocessing.get_context("fork")
    ready, go = fork.Event(), fork.Event()
    other = fork.Process(target=_holds, args=(ready, go))
    other.start()
    assert ready.wait(30)
    (lock,) = tmp_path.iterdir()
    with lock.open() as file, pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    go.set()
    with exclusive():  # waits for the other to let go
        other.join(30)
    assert other.exitcode == 0
    assert lock.stat().st_size == 0


@linux
def test_a_lock_that_is_a_trap_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sampling.tempfile, "gettempdir", lambda: str(tmp_path))
    (tmp_path / "torchgrade-clock.lock").symlink_to("/etc/passwd")
    with pytest.raises(InfrastructureError, match="--clock off"), exclusive():
        pass


@linux
def test_a_core_is_one_that_may_be_used() -> None:
    core, allowed = quiet_core(), os.sched_getaffinity(0)
    assert core in allowed
    try:
        assert keep_on(0, core or 0)
        assert os.sched_getaffinity(0) == {core}
    finally:
        os.sched_setaffinity(0, allowed)
    assert not keep_on(2**22 - 3, core or 0)
