"""What a guest uses, as ``/proc`` tells the host: memory and time of its processes, its files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.clock.cpu import running
from grader.sandbox.descendants import descendants

_FIELDS = ("RssAnon:", "RssShmem:")


@dataclass(frozen=True, slots=True)
class Activity:
    """What the processes of a guest have done so far.

    Attributes:
        seconds: Processor time of all, those among them that ended and were waited for.
        used: PID → processor time of that process alone.
        ready: PIDs of those that run, or would if they were given a core.
    """

    seconds: float
    used: Mapping[int, float]
    ready: frozenset[int]


def pid_of(pidfd: int) -> int:
    """Return the PID behind a pidfd, in this process's namespace; -1 once it is gone."""
    for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines():
        if line.startswith("Pid:"):
            return int(line.split()[1])
    return -1


def own_memory(pid: int) -> int:
    """Return the anonymous and shared memory that a process has touched, in bytes; 0 if gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    lines = (line.split() for line in text.splitlines() if line.startswith(_FIELDS))
    return sum(int(words[1]) for words in lines) * 1024


def memory_above(pid: int, baseline: int) -> int:
    """Return what a process and all below it have touched beyond their start, in bytes.

    Args:
        pid: The guest's first process; every orphan of its namespace is below it.
        baseline: What each inherits by fork and shares until it writes, in bytes.
    """
    return sum(max(0, own_memory(each) - baseline) for each in (pid, *descendants(pid)))


def activity(pid: int) -> Activity | None:
    """Return what a process and all below it have done; None where this system does not show it.

    Args:
        pid: The guest's first process.
    """
    total, used, ready = 0.0, {}, set()
    for each in (pid, *descendants(pid)):
        try:
            own, ended = _times(each)
            if running(each):
                ready.add(each)
        except OSError:  # it ended since it was listed
            continue
        used[each] = own
        total += own + ended
    return Activity(total, used, frozenset(ready)) if used else None


def _times(pid: int) -> tuple[float, float]:
    """Return the processor time of a process, and of the children that it waited for."""
    text = Path(f"/proc/{pid}/stat").read_text()
    # Behind the name, which may hold spaces and brackets: utime, stime, cutime, cstime of proc(5).
    second = os.sysconf("SC_CLK_TCK")
    ticks = [int(word) for word in text.rpartition(")")[2].split()[11:15]]
    return sum(ticks[:2]) / second, sum(ticks[2:]) / second


def folder_size(path: str) -> tuple[int, int]:
    """Return the bytes and the number of entries in a folder, all levels."""
    size = entries = 0
    for folder, names, files in os.walk(path):
        entries += len(names) + len(files)
        for name in files:
            try:
                size += os.lstat(f"{folder}/{name}").st_blocks * 512
            except OSError:  # noqa: PERF203  files go while we look
                continue
    return size, entries
