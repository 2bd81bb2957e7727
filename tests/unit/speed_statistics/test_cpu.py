"""Reading another process's clock: when, and what no clock can have said."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from grader.speed_statistics.sampling import cpu_seconds, running, settle, spent

linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux's clocks")

REPLIES_AND_WORKS_ON = """
import os, time
while os.read(0, 1):
    # What all earlier turns have used. Reading its own clock also brings it up to date, so it is
    # read before the work only.
    os.write(1, b"%.9f\\n" % time.process_time())
    for _ in range(20_000):
        pass
"""

SPINS = """
import threading
def spin():
    while True:
        pass
threading.Thread(target=spin, daemon=True).start()
print("spinning", flush=True)
input()
"""


@contextmanager
def child(source: str) -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", source], stdin=pipe, stdout=pipe, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def turn(process: subprocess.Popen[str]) -> float:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("x")
    process.stdin.flush()
    return float(process.stdout.readline())


@linux
def test_a_settled_process_has_all_its_time_on_its_clock() -> None:
    told, read = [], []
    with child(REPLIES_AND_WORKS_ON) as process:
        for _ in range(100):
            told.append(turn(process))
            settle(process.pid)
            read.append(cpu_seconds(process.pid))
    missed = sum(max(0.0, later - now) for later, now in zip(told[1:], read, strict=False))
    assert missed < 0.3 * (told[-1] - told[0])


@linux
def test_a_process_runs_while_any_thread_does() -> None:
    with child(SPINS) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "spinning\n"
        assert all(running(process.pid) for _ in range(20))
        settle(process.pid)  # comes back all the same
        assert running(process.pid)


@linux
def test_a_process_that_waits_for_input_sleeps() -> None:
    with child("print(flush=True); input()") as process:
        assert process.stdout is not None
        process.stdout.readline()
        settle(process.pid, math.inf)
        assert not running(process.pid)


@linux
def test_a_process_that_is_gone_is_settled() -> None:
    with child("") as process:
        process.wait()
        settle(process.pid, math.inf)
        with pytest.raises(OSError, match="Errno"):
            running(process.pid)


@pytest.mark.parametrize(
    ("before", "after"), [(None, 1.0), (1.0, None), (1.0, 1.0), (1.0, 0.5), (1.0, 1e6)]
)
def test_readings_that_cannot_be_right_give_no_time(
    before: float | None, after: float | None
) -> None:
    assert spent(before, after, 0.1) is None


def test_readings_give_the_time_between_them() -> None:
    assert spent(1.0, 1.25, 0.3) == pytest.approx(0.25)
    # Threads on all cores at once.
    assert spent(1.0, 1.0 + 0.3 * (os.cpu_count() or 1), 0.3) is not None
