"""Ending a process and everything that it ever started, on Linux from ``/proc``."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from pathlib import Path

from grader.errors import InfrastructureError

_PATIENCE = 10.0
"""Seconds in which a tree that keeps forking must be gone."""

_BURIAL = 2.0
"""Seconds that a keeper on a busy machine is given to collect its dead."""


def descendants(pid: int) -> list[int]:
    """Return all processes below ``pid``, children first."""
    found: list[int] = []
    for child in _children(pid):
        found.append(child)
        found.extend(descendants(child))
    return found


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found += [int(word) for word in (task / "children").read_text().split()]
    return found


def end_below(keeper: int) -> None:
    """Kill everything below a keeper until nothing is left.

    A keeper adopts orphans, so a daemon that double-forked is still found below it. What it has
    not collected when it goes is left to the machine's first process, as a zombie, until that one
    gets to it; so the keeper is given a moment.

    Raises:
        InfrastructureError: Something is still alive after ten seconds.
    """
    if sys.platform != "linux":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(keeper, signal.SIGKILL)
        return
    deadline = time.monotonic() + _PATIENCE
    while alive := [pid for pid in descendants(keeper) if not _is_zombie(pid)]:
        for pid in alive:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            raise InfrastructureError(f"processes {alive[:5]} of a hand-in could not be ended")
        time.sleep(0.002)
    deadline = time.monotonic() + _BURIAL
    while descendants(keeper) and time.monotonic() < deadline:
        time.sleep(0.002)


def _is_zombie(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] in "ZX"
