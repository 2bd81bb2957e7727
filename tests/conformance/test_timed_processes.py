"""A timed process cannot work where its clock does not see it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from driver import SPEC, Running

from grader.speed_statistics.sampling import cpu_seconds, readable, settle

if TYPE_CHECKING:
    from grader.sandbox.host.processes import Sandbox

SOURCE = """
import os, subprocess, threading, time

def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass

def burns(seconds):
    start = time.process_time()
    burn(seconds)
    return time.process_time() - start

def burns_in_threads(seconds):
    start = time.process_time()
    threads = [threading.Thread(target=burn, args=(seconds / 2,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.process_time() - start

def hides(seconds):
    if os.fork() == 0:
        burn(seconds)
        os._exit(0)
    return os.wait3(0)[2].ru_utime

def forks():
    return attempt(os.fork)

def spawns():
    return attempt(lambda: os.posix_spawn("/proof", ["proof"], {}))

def runs():
    return attempt(lambda: subprocess.run(["true"]))

def attempt(call):
    try:
        result = call()
    except OSError as error:
        return type(error).__name__
    if result == 0:
        os._exit(0)
    return "ok"
"""


@pytest.fixture
def timed(sandbox: Sandbox):
    if not readable():
        pytest.skip("no clock of another process here")
    process = Running(sandbox.start(replace(SPEC, timed=True)))
    process.load(SOURCE)
    yield process
    process.process.end()


@pytest.mark.parametrize("entry", ["burns", "burns_in_threads"])
def test_the_host_sees_what_a_process_used(timed: Running, entry: str) -> None:
    pid = timed.process.pid
    assert pid is not None
    before = cpu_seconds(pid)
    used = timed.value(entry, 0.2)
    settle(pid)
    assert isinstance(used, float)
    assert 0 < used <= cpu_seconds(pid) - before


def test_no_process_can_be_started(walled: Sandbox, timed: Running) -> None:
    assert timed.walls["fork"] == "EPERM"
    for entry in ("forks", "spawns", "runs"):
        assert timed.value(entry) == "PermissionError", entry


def test_without_being_timed_a_process_escapes_the_clock(full: Sandbox) -> None:
    # What the wall is for: the same work, in a child, is not on the process's own clock.
    process = Running(full.start(SPEC))
    process.load(SOURCE)
    try:
        pid = process.process.pid
        assert pid is not None
        before = cpu_seconds(pid)
        # With the child's work on it, the clock would go on by what the child used at least.
        hidden = process.value("hides", 1.0)
        assert isinstance(hidden, float)
        assert cpu_seconds(pid) - before < hidden
    finally:
        process.process.end()
