"""The processor time of another process, read by the host.

Linux keeps a clock for every process, of the processor time that all its threads have used, and
lets others read it. Nothing that a submission does to its own interpreter reaches that clock.

The kernel adds to this clock at a tick (4 ms at 250 Hz) and when a thread leaves its core. Reading
it while the process runs loses up to a tick, so ``settle`` first waits until the process sleeps.

Defends against: patched timers, work in threads, work that goes on after a reply.
Does not defend against: work done by another process, which has a clock of its own. A guest that is
timed may therefore not fork (``grader.sandbox.walls.seccomp``).
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

_SCHED = 2
_NANO = 1e-9

_SETTLING = 0.010
"""Seconds that a process is given to go to sleep: a tick of the slowest usual kernel, 100 Hz."""

_PAUSES = (5e-5, 1e-3)
"""Seconds between the first two looks, and the most between two; each pause is twice the last."""


def cpu_seconds(pid: int) -> float:
    """Return the processor time that a process has used, all its threads together, in seconds.

    Args:
        pid: Of the process, in this process's own PID namespace.

    Raises:
        OSError: There is no such process, or no such clock here.
    """
    # The kernel's own number of a process's clock: MAKE_PROCESS_CPUCLOCK of posix-timers.h, which
    # is what clock_getcpuclockid(3) returns.
    return time.clock_gettime_ns(((~pid) << 3) | _SCHED) * _NANO


def running(pid: int) -> bool:
    """Return whether a thread of a process runs, or would if it were given a core.

    Raises:
        OSError: There is no such process, or this system does not show it.
    """
    return any(_state(task) == "R" for task in Path(f"/proc/{pid}/task").iterdir())


def settle(pid: int, seconds: float = _SETTLING) -> None:
    """Wait until all threads of a process sleep, but no longer than so many seconds.

    A process that never sleeps is waited for in vain. Its clock then lags behind by a tick at most,
    and what it computes after its reply counts as work between calls.
    """
    end, (pause, longest) = time.monotonic() + seconds, _PAUSES
    try:
        while running(pid) and time.monotonic() < end:
            time.sleep(pause)
            pause = min(2 * pause, longest)
    except OSError:
        # It is gone, or /proc does not show it; the reading itself tells which.
        return


def spent(before: float | None, after: float | None, elapsed: float) -> float | None:
    """Return the processor time between two readings, or None where they cannot be right.

    Args:
        before: Processor time at the first reading; None where it failed.
        after: Processor time at the second reading; None where it failed.
        elapsed: Wall time from before the first reading until after the second.
    """
    if before is None or after is None:
        return None
    seconds = after - before
    # The first reading of a process that never sleeps lags by a tick, which the second one has.
    possible = (elapsed + _SETTLING) * (os.cpu_count() or 1)
    return seconds if 0 < seconds <= possible else None


def readable() -> bool:
    """Return whether this machine lets one process read the clock of another."""
    if sys.platform != "linux":
        return False
    try:
        cpu_seconds(os.getppid() or os.getpid())
    except OSError:
        return False
    return True


def _state(task: Path) -> str:
    try:
        text = (task / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return "X"  # a thread that ended since it was listed
    return text.rpartition(")")[2].split()[0]
