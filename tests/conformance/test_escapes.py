"""Attempts to break out by a hand-in, in a process as it is graded in.

The proof of every run has the walls' own attempts; here are those that take more than one call, or
that look for what the grader might have left lying about.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from driver import SPEC, running

import grader

if TYPE_CHECKING:
    from grader.sandbox.host.processes import Sandbox

LOOKING = """
import gc, os, sys, types

def frames():
    frame, names = sys._getframe(), set()
    while frame is not None:
        names.add(frame.f_code.co_name)
        frame = frame.f_back
    return sorted(names)

def kinds():
    return sorted({type(each).__name__ for each in gc.get_objects()})

def existing(folder, names):
    return [name for name in names if os.path.exists(os.path.join(folder, name))]

def opens(path):
    try:
        with open(path, "rb") as file:
            return file.read(100).decode("latin-1")
    except OSError as error:
        return type(error).__name__

def environment():
    return sorted(os.environ)

def processes():
    return sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
"""


def test_frames_of_the_fork_server_are_gone(walled: Sandbox) -> None:
    with running(walled, LOOKING) as process:
        names = process.value("frames")
    assert isinstance(names, list)
    assert "serve" in names
    assert not {"run", "_fork", "_reap"} & set(names)


def test_no_object_of_the_fork_server_is_left(walled: Sandbox) -> None:
    with running(walled, LOOKING) as process:
        kinds = process.value("kinds")
    assert isinstance(kinds, list)
    assert "ForkServer" not in kinds


def test_the_environment_is_clean(walled: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(walled, LOOKING) as process:
        names = process.value("environment")
    assert isinstance(names, list)
    secrets = [name for name in names if "KEY" in name or "TOKEN" in name or "SECRET" in name]
    assert not secrets
    assert len(names) < 25


def test_the_view_holds_nothing_of_the_checkout_but_the_package(full: Sandbox) -> None:
    checkout = Path(grader.__file__).parents[1]
    names = sorted(entry.name for entry in checkout.iterdir())
    with running(full, LOOKING) as process:
        found = process.value("existing", str(checkout), names)
    assert isinstance(found, list)
    assert "grader" in found
    assert set(found) <= {"grader", ".venv", "venv"}


def test_no_other_process_can_be_seen(full: Sandbox) -> None:
    with running(full, LOOKING) as process:
        assert process.value("processes") == [1]


def test_files_of_another_process_cannot_be_opened(walled: Sandbox) -> None:
    leaving = """
import os
def leave():
    with open("answer.txt", "w") as file:
        file.write("42")
    return os.path.abspath("answer.txt")
"""
    with running(walled, leaving) as first, running(walled, LOOKING) as second:
        path = first.value("leave")
        assert second.value("opens", path) in ("FileNotFoundError", "PermissionError")


@pytest.mark.parametrize("name", ["mem", "environ", "maps", "fd", "root/etc/hostname"])
def test_the_host_in_proc_is_out_of_reach(walled: Sandbox, name: str) -> None:
    with running(walled, LOOKING) as process:
        met = process.value("opens", f"/proc/{os.getpid()}/{name}")
    assert met in ("FileNotFoundError", "PermissionError", "NotADirectoryError")


NEIGHBOURS = """
import socket

def listen(name):
    global server
    server = socket.socket(socket.AF_UNIX)
    server.bind("\\0" + name)
    server.listen()

def reach(name):
    try:
        client = socket.socket(socket.AF_UNIX)
        client.connect("\\0" + name)
    except OSError as error:
        return type(error).__name__
    return "connected"
"""


def test_neighbours_cannot_talk_by_abstract_sockets(full: Sandbox) -> None:
    with running(full, NEIGHBOURS) as first, running(full, NEIGHBOURS) as second:
        first.value("listen", "meet")
        assert first.value("reach", "meet") == "connected"
        assert second.value("reach", "meet") in ("ConnectionRefusedError", "PermissionError")


LIBRARY = """
import ctypes, fcntl, os, struct

LOCK = struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 0, 0)
WAYS = {
    "flock": lambda file: fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB),
    "read lock": lambda file: fcntl.fcntl(file, fcntl.F_SETLK, LOCK),
    "question about locks": lambda file: fcntl.fcntl(file, fcntl.F_GETLK, LOCK),
    "lock of the open file": lambda file: fcntl.fcntl(file, 37, LOCK),
    "lease": lambda file: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK),
}

def lock(way):
    with open(os.__file__, "rb") as file:
        try:
            WAYS[way](file)
        except OSError as error:
            return error.strerror
    return "done"

def news_of_a_folder():
    fd = os.open(os.path.dirname(os.__file__), os.O_RDONLY)
    try:
        fcntl.fcntl(fd, fcntl.F_NOTIFY, fcntl.DN_ACCESS)
    except OSError as error:
        return error.strerror
    return "done"

def inotify():
    return ctypes.CDLL(None).inotify_init()
"""


@pytest.mark.parametrize(
    ("way", "refusal"),
    [
        ("flock", "Function not implemented"),
        ("read lock", "Operation not permitted"),
        ("question about locks", "Operation not permitted"),
        ("lock of the open file", "Operation not permitted"),
        ("lease", "Operation not permitted"),
    ],
)
def test_neighbours_cannot_talk_by_locks_on_libraries(
    walled: Sandbox, way: str, refusal: str
) -> None:
    with running(walled, LIBRARY) as process:
        assert process.value("lock", way) == refusal


def test_nobody_is_told_which_libraries_others_read(walled: Sandbox) -> None:
    with running(walled, LIBRARY) as process:
        assert process.value("news_of_a_folder") == "Operation not permitted"
        assert process.value("inotify") == -1


SIGNALLING = """
import ctypes, fcntl, os, signal, socket, subprocess

def kill(pid):
    met = []
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(pid, number)
        except OSError as error:
            met.append(type(error).__name__)
        else:
            met.append("sent")
    return met

def by_owner(pid):
    left, right = socket.socketpair()
    try:
        fcntl.fcntl(left, 10, signal.SIGKILL)
        fcntl.fcntl(left, fcntl.F_SETOWN, pid)
        fcntl.fcntl(left, fcntl.F_SETFL, os.O_ASYNC)
        right.send(b"x")
    except OSError as error:
        return type(error).__name__
    return "armed"

def start():
    try:
        return subprocess.run(["/bin/true"]).returncode
    except OSError as error:
        return type(error).__name__

def limit_of(pid):
    import resource
    try:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, 3))
    except (OSError, ValueError) as error:
        return type(error).__name__
    return "set"
"""


def test_the_host_cannot_be_signalled(walled: Sandbox) -> None:
    with running(walled, SIGNALLING) as process:
        met = process.value("kill", os.getpid())
        assert isinstance(met, list)
        assert set(met) <= {"ProcessLookupError", "PermissionError"}
        assert process.value("by_owner", os.getpid()) == "PermissionError"
        assert process.value("limit_of", os.getpid()) in ("ProcessLookupError", "PermissionError")


def test_programs_start_only_where_they_can_be_reaped(walled: Sandbox) -> None:
    with running(walled, SIGNALLING) as process:
        expected = 0 if walled.isolation.tier == "full" else "PermissionError"
        assert process.value("start") == expected


CONNECTING = """
import socket

def reach(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=2)
    except OSError as error:
        return type(error).__name__
    return "connected"
"""


def test_a_server_on_the_host_is_out_of_reach_even_with_loopback(full: Sandbox) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port), timeout=2):
            pass
        with running(full, CONNECTING, replace(SPEC, loopback=True)) as process:
            assert process.value("reach", port) == "ConnectionRefusedError"
        with running(full, CONNECTING) as process:
            assert process.value("reach", port) == "PermissionError"


def test_processes_start_and_end_side_by_side(walled: Sandbox) -> None:
    failures: list[BaseException] = []

    def many() -> None:
        try:
            for number in range(5):
                with running(walled, f"def mine():\n    return {number}\n") as process:
                    assert process.value("mine") == number
        except BaseException as error:  # noqa: BLE001  told by the main thread
            failures.append(error)

    threads = [threading.Thread(target=many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures


def test_the_fork_server_outlives_its_processes_and_their_malice(walled: Sandbox) -> None:
    malice = """
import os, signal
def spite():
    for pid in (1, os.getppid(), -1, 0):
        try:
            os.kill(pid, signal.SIGUSR1)
        except OSError:
            pass
    for fd in range(3, 1000):
        try:
            os.close(fd)
        except OSError:
            pass
    os._exit(0)
"""
    with running(walled, malice) as process:
        process.send("spite")
        time.sleep(0.05)
    with running(walled, LOOKING, SPEC) as process:
        assert process.value("frames")
