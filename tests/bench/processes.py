"""What a process and all below it use: processor time and memory, as Linux counts them."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def core_seconds(root: int) -> float:
    """Return the processor seconds of a process and all below it, ended children included."""
    return sum(_tree(root).values())


@dataclass(frozen=True, slots=True)
class Used:
    """What a command used.

    Attributes:
        wall: Seconds from start to end.
        core: Processor seconds of all its processes.
        peak: Most bytes of memory at one time, shared ones in parts (PSS).
        processes: So many had them.
        status: Exit status.
        output: What it printed.
    """

    wall: float
    core: float
    peak: int
    processes: int
    status: int
    output: str


def run(command: Sequence[str | Path], where: Path) -> Used:
    """Run a command to its end and watch it twice a second."""
    began = time.monotonic()
    process = subprocess.Popen(
        [str(part) for part in command], cwd=where, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    watched = Watched(process.pid)
    output = process.communicate()[0]
    wall = time.monotonic() - began
    watched.stop()
    return Used(wall, watched.seconds, watched.peak, watched.processes, process.returncode, output)


@dataclass(frozen=True, slots=True)
class Wait:
    """Seconds until a command prints something, and until it ends."""

    first: float
    whole: float


def wait(command: Sequence[str], where: Path, cache: Path) -> Wait:
    """Run a command as a person at a terminal does, and look at the clock.

    Args:
        command: What to run.
        where: In this folder.
        cache: The user's folder of caches.
    """
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    own, terminal = os.openpty()
    began = time.monotonic()
    process = subprocess.Popen(
        command, cwd=where, env=environment,
        stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdout is not None
    first = None
    while byte := process.stdout.read(1):
        if first is None and not byte.isspace():
            first = time.monotonic() - began
    process.wait()
    whole = time.monotonic() - began
    os.close(own)
    os.close(terminal)
    return Wait(whole if first is None else first, whole)


class Watched:
    """Looks at a process and all below it, twice a second.

    Attributes:
        peak: See ``Used``.
        processes: See ``Used``.
        seconds: Of processor time, the most that was seen: what ended without being waited for is
            in it as long as it was there.
    """

    def __init__(self, pid: int) -> None:
        self.peak, self.processes, self.seconds = 0, 0, 0.0
        self._pid = pid
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(0.5):
            used = _tree(self._pid)
            self.seconds = max(self.seconds, sum(used.values()))
            shares = [share for pid in used if (share := _share(pid))]
            if sum(shares) > self.peak:
                self.peak, self.processes = sum(shares), len(shares)


def _tree(root: int) -> dict[int, float]:
    parents, seconds = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended while it was looked at, and counts with its parent
        parents[int(folder.name)] = int(fields[1])
        seconds[int(folder.name)] = sum(map(int, fields[11:15])) / TICKS
    return {pid: seconds[pid] for pid in parents if _below(pid, root, parents)}


def _below(pid: int, root: int, parents: dict[int, int]) -> bool:
    while pid in parents and pid != root:
        pid = parents[pid]
    return pid == root


def _share(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
