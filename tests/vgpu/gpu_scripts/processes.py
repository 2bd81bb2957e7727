"""Processes that tests start: each ended as a whole, with limits that load does not reach."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PROCESSOR = 600
"""Seconds of processor time that a process may use: what computes for ever meets it."""
WALL = 1800.0
"""Seconds until all is ended: what waits for ever meets it, a busy machine does not."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A process that has ended.

    Attributes:
        status: Its exit status, negative for a signal.
        out: What it printed.
        err: What it printed as errors.
    """

    status: int
    out: str
    err: str


def run_together(
    command: Sequence[str],
    environments: Sequence[Mapping[str, str]],
    folder: Path | None = None,
    wall: float = WALL,
) -> list[Ran]:
    """Run a command once for each environment, side by side; return what came of each.

    Args:
        command: The program and its arguments.
        environments: What is set for each, beside this process's own environment.
        folder: Where they run.
        wall: Seconds after which those that go on are ended.
    """
    ends = time.monotonic() + wall
    with tempfile.TemporaryDirectory() as name:
        started = [
            _start(command, environment, folder, Path(name) / str(number))
            for number, environment in enumerate(environments)
        ]
        try:
            for process in started:
                _wait(process, ends)
        finally:
            for process in started:
                _end(process)
        return [_ran(process, Path(name) / str(number)) for number, process in enumerate(started)]


def _start(
    command: Sequence[str], environment: Mapping[str, str], folder: Path | None, told: Path
) -> subprocess.Popen[bytes]:
    # Files, not pipes: nobody waits for a reader, nor a reader for a grandchild that was left.
    with told.with_suffix(".out").open("wb") as out, told.with_suffix(".err").open("wb") as err:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "", **environment},
            start_new_session=True,
        )  # fmt: skip
    with contextlib.suppress(ProcessLookupError, PermissionError):
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (PROCESSOR, PROCESSOR))
    return process


def _wait(process: subprocess.Popen[bytes], ends: float) -> None:
    # Without taking its status: its number must stay its own until its group has been ended.
    seen = os.WEXITED | os.WNOHANG | os.WNOWAIT
    while os.waitid(os.P_PID, process.pid, seen) is None and time.monotonic() < ends:
        time.sleep(0.02)


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _ran(process: subprocess.Popen[bytes], told: Path) -> Ran:
    out, err = (
        told.with_suffix(suffix).read_text(encoding="utf-8", errors="replace")
        for suffix in (".out", ".err")
    )
    if process.returncode == -signal.SIGKILL:
        err += "\nended: it did not end by itself\n"
    return Ran(process.returncode, out, err)
