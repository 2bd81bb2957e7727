"""After a process's end nothing of it is left, whatever it did to stay."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from driver import MIB, SPEC, processes_with, running, wait_for_processes

from grader.sandbox.host.processes import Sandbox
from grader.wire.frames import Closed, DeadlineExceeded

# Short enough for the kernel's fifteen characters, and this test run's own.
MARK = f"left{os.getpid() % 10**6}"

NAME = f"""
import ctypes, os, signal, time, sys

def name():
    ctypes.CDLL(None).prctl(15, b"{MARK}", 0, 0, 0)
"""
FORKING = {
    "double-forked daemon": (
        1,
        """
def stay():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            name()
            time.sleep(600)
        os._exit(0)
    time.sleep(600)
""",
    ),
    "fifty children": (
        50,
        """
def stay():
    for _ in range(50):
        if os.fork() == 0:
            name()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(600)
    time.sleep(600)
""",
    ),
    "orphan that keeps the pipe open": (
        1,
        """
def stay():
    if os.fork() == 0:
        name()
        time.sleep(600)
    os._exit(3)
""",
    ),
}
STAYING = {
    "busy loop": """
def stay():
    name()
    while True:
        pass
""",
    "SIGTERM ignored": """
def stay():
    for number in range(1, 32):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    name()
    while True:
        time.sleep(1)
""",
    "blocked in C": """
def stay():
    name()
    ctypes.PyDLL(None).sleep(600)
""",
}


@pytest.mark.parametrize("kind", STAYING)
def test_a_process_that_stays_is_gone(sandbox: Sandbox, kind: str) -> None:
    with running(sandbox, NAME + STAYING[kind]) as process:
        process.send("stay")
        wait_for_processes(MARK, 1)
        exit_ = process.process.end()
        assert processes_with(MARK) == []
    assert (exit_.code, exit_.signal) == (None, None)
    assert exit_.peak_memory


@pytest.mark.parametrize("kind", FORKING)
def test_what_a_process_started_is_gone(sandbox: Sandbox, kind: str) -> None:
    if sandbox.isolation.tier == "restricted":
        pytest.skip("tier restricted starts no processes; see test_escapes")
    count, source = FORKING[kind]
    with running(sandbox, NAME + source) as process:
        process.send("stay")
        if kind == "orphan that keeps the pipe open":
            with pytest.raises((Closed, DeadlineExceeded)):
                process.reply(1.0)
        else:
            wait_for_processes(MARK, count)
        process.process.end()
        assert processes_with(MARK) == []


DYING = """
import ctypes, os, sys

def leave():
    os._exit(7)

def fault():
    ctypes.string_at(0)
"""


def test_an_exit_of_its_own_is_told(sandbox: Sandbox) -> None:
    with running(sandbox, DYING) as process:
        process.send("leave")
        with pytest.raises(Closed):
            process.reply()
        assert process.process.end().code == 7


def test_a_signal_of_its_own_is_told(sandbox: Sandbox) -> None:
    with running(sandbox, DYING) as process:
        process.send("fault")
        with pytest.raises(Closed):
            process.reply()
        exit_ = process.process.end()
        assert exit_.signal == signal.SIGSEGV
        assert process.process.end() is exit_


HUNGRY = """
import mmap, time, torch

kept = []

def private():
    while True:
        kept.append(torch.ones(4 * 2**20))

def shared():
    # Shared anonymous maps and many small ones: what RLIMIT_DATA does not count.
    while True:
        block = mmap.mmap(-1, 8 * 2**20)
        block.write(b"x" * (8 * 2**20))
        kept.append(block)
"""


@pytest.mark.parametrize("kind", ["private", "shared"])
def test_a_memory_bomb_ends_within_its_limit(walled: Sandbox, kind: str) -> None:
    spec = replace(SPEC, memory=128 * MIB)
    with running(walled, HUNGRY, spec) as process:
        process.send(kind)
        try:
            reply = process.reply()
            assert reply.fault is not None
            assert not process.process.end().memory_exceeded
        except Closed:
            exit_ = process.process.end()
            assert exit_.memory_exceeded
            assert exit_.signal == signal.SIGKILL


SPREAD = """
import os, time

def spread():
    for _ in range(6):
        if os.fork() == 0:
            data = bytearray(64 * 2**20)
            for place in range(0, len(data), 4096):
                data[place] = 1
            time.sleep(600)
    time.sleep(600)
"""


def test_memory_of_many_processes_is_summed(full: Sandbox) -> None:
    # Each stays below the limit of one process; only their sum is above.
    spec = replace(SPEC, memory=256 * MIB)
    with running(full, SPREAD, spec) as process:
        process.send("spread")
        with pytest.raises(Closed):
            process.reply()
        assert process.process.end().memory_exceeded


SPINNING = """
def spin():
    while True:
        pass
"""


def test_cpu_time_ends(walled: Sandbox) -> None:
    with running(walled, SPINNING, replace(SPEC, cpu_seconds=1)) as process:
        process.send("spin")
        with pytest.raises(Closed):
            process.reply()
        assert process.process.end().signal == signal.SIGKILL


FORK_BOMB = """
import os, time

def bomb():
    started = 0
    try:
        while started < 2000:
            if os.fork() == 0:
                time.sleep(600)
            started += 1
    except BlockingIOError:
        return started
    return started
"""


def test_a_fork_bomb_meets_its_limit(full: Sandbox) -> None:
    with running(full, FORK_BOMB, replace(SPEC, threads=20)) as process:
        started = process.value("bomb")
    assert isinstance(started, int)
    assert 0 < started <= 20


FILLING = """
import time

def fill():
    try:
        with open("big", "wb") as file:
            for _ in range(200):
                file.write(b"x" * 2**20)
    except OSError as error:
        return error.strerror

def fill_beside():
    with open("small", "wb") as file:
        file.write(b"x" * 2**10)
    met = fill()
    time.sleep(0.5)
    return met

def crowd():
    try:
        for number in range(100_000):
            open(f"f{number}", "w").close()
    except OSError as error:
        return error.strerror
"""


def test_scratch_is_bounded_in_bytes_and_files(full: Sandbox) -> None:
    with running(full, FILLING) as process:
        assert process.value("fill") in ("No space left on device", "File too large")
        assert process.value("crowd") == "No space left on device"


def test_a_file_that_fills_the_scratch_is_an_error_in_the_program(walled: Sandbox) -> None:
    with running(walled, FILLING) as process:
        assert process.value("fill_beside") in ("No space left on device", "File too large")


def test_a_scratch_that_is_no_mount_is_watched(sandbox: Sandbox) -> None:
    if sandbox.isolation.tier != "restricted":
        pytest.skip("only tier restricted has a scratch that is no mount")
    with running(sandbox, FILLING) as process:
        process.send("crowd")
        with pytest.raises(Closed):
            process.reply()
        assert process.process.end().signal == signal.SIGKILL


def test_many_processes_leave_no_descriptor_open(walled: Sandbox) -> None:
    def open_files() -> int:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())

    walled.start(SPEC).end()
    before = open_files()
    for _ in range(20):
        walled.start(SPEC).end()
    assert open_files() <= before
