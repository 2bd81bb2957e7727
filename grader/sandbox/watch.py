"""What a guest uses, as ``/proc`` tells the host: memory of all its processes, files it left."""

from __future__ import annotations

import os
from pathlib import Path

from grader.sandbox.descendants import descendants

_FIELDS = ("RssAnon:", "RssShmem:")


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
