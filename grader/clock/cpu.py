"""The processor time of another process, read by the host.

Linux keeps a clock for every process, of the processor time that all its threads have used, and
lets others read it. Nothing that a hand-in does to its own interpreter reaches that clock.

Defends against: patched timers, work in threads, work that goes on after a reply.
Does not defend against: work done by another process, which has a clock of its own. A guest that is
timed may therefore not fork (``grader.sandbox.walls.seccomp``).
"""

from __future__ import annotations

import os
import sys
import time

_SCHED = 2
_NANO = 1e-9


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


def readable() -> bool:
    """Return whether this machine lets one process read the clock of another."""
    if sys.platform != "linux":
        return False
    try:
        cpu_seconds(os.getppid() or os.getpid())
    except OSError:
        return False
    return True
