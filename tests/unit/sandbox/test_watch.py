"""What /proc tells of a process's processes: their time, and which of them want a core."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from grader.sandbox.host.processes import Activity, activity, end_below

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux's /proc")

SPIN = "while True: pass"
CHILD_SPINS = f"import os\nif os.fork() == 0:\n    {SPIN}\nos.wait()"
CHILD_ENDED = """
import os, time
if os.fork() == 0:
    while time.process_time() < 0.5:
        pass
    os._exit(0)
os.wait()
time.sleep(600)
"""


@contextmanager
def running(source: str) -> Iterator[int]:
    process = subprocess.Popen([sys.executable, "-c", source])
    try:
        yield process.pid
    finally:
        end_below(process.pid)
        process.kill()
        process.wait()


def until(pid: int, seen: Callable[[Activity], bool]) -> Activity:
    """Look until something is seen; a busy machine may take its time."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        found = activity(pid)
        assert found is not None
        if seen(found):
            return found
        time.sleep(0.05)
    raise AssertionError("not seen within two minutes")


def test_a_process_that_computes_is_ready_and_its_time_grows() -> None:
    with running(SPIN) as pid:
        found = until(pid, lambda now: now.seconds > 0.2)
    assert found.ready == {pid}
    assert found.used == {pid: found.seconds}


def test_a_child_has_a_clock_of_its_own() -> None:
    with running(CHILD_SPINS) as pid:
        found = until(pid, lambda now: len(now.used) == 2 and max(now.used.values()) > 0.3)
        (child,) = set(found.used) - {pid}
    assert found.ready == {child}
    assert found.used[pid] < found.used[child]
    assert found.seconds == pytest.approx(sum(found.used.values()))


def test_the_time_of_a_child_that_ended_stays() -> None:
    with running(CHILD_ENDED) as pid:
        found = until(pid, lambda now: now.seconds > 0.4 and not now.ready)
    assert set(found.used) == {pid}
    assert found.seconds - found.used[pid] == pytest.approx(0.5, abs=0.1)


def test_a_process_that_is_gone_tells_nothing() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert activity(process.pid) is None
