"""Blocks of timed calls: read on the processor's clock, made in turns, with nobody else timing.

Linux keeps a clock for every process, of the processor time that all its threads have used, and
lets others read it. Nothing that a submission does to its own interpreter reaches that clock.

The kernel adds to this clock at a tick (4 ms at 250 Hz) and when a thread leaves its core. Reading
it while the process runs loses up to a tick, so ``settle`` first waits until the process sleeps.

Parties take turns, in an order that is drawn anew for each round: what changes with time, such as a
neighbour's load or the processor's speed, then favours none of them.

Defends against: patched timers, work in threads, work that goes on after a reply.
Does not defend against: work done by another process, which has a clock of its own. A student
process that is timed may therefore not fork (``grader.sandbox.walls.seccomp``).
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from grader.errors import InfrastructureError

if TYPE_CHECKING:
    # Whoever waits for a student process reads its clock, and starts without numpy.
    import numpy as np

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
    # Zero is impossible for a call that answered, and more than all cores give is, too: such a
    # reading is dropped and not judged.
    return seconds if 0 < seconds <= possible else None


def readable() -> bool:
    """Return whether this machine lets one process read the clock of another."""
    if sys.platform != "linux":
        return False
    try:
        # Another process's, as that is what must be allowed; in a container's first one the parent
        # is 0.
        cpu_seconds(os.getppid() or os.getpid())
    except OSError:
        return False
    return True


def _state(task: Path) -> str:
    try:
        text = (task / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return "X"  # a thread that ended since it was listed
    # A program chooses its name, which may hold brackets: only the last one ends it.
    return text.rpartition(")")[2].split()[0]


@dataclass(frozen=True, slots=True)
class Sample:
    """One block of calls.

    Attributes:
        calls: How many were made.
        wall: Seconds on the host's monotonic clock, first byte sent to last byte received.
        cpu: Seconds of processor time that the student process used meanwhile, all its threads
            together; None where that was not read.
    """

    calls: int
    wall: float
    cpu: float | None = None

    @property
    def cost(self) -> float:
        """Seconds of processor time.

        Raises:
            ValueError: It was not read.
        """
        if self.cpu is None:
            raise ValueError("the processor time of this block was not read")
        return self.cpu

    @property
    def per_call(self) -> float:
        """Seconds of processor time a call; raises as ``cost`` does."""
        return self.cost / self.calls


@dataclass(frozen=True, slots=True)
class Run:
    """Blocks of several parties in turns, each party in a fresh process of its own.

    Attributes:
        samples: Party → its blocks, one a round; all equally many.
    """

    samples: Mapping[str, tuple[Sample, ...]] = field(default_factory=dict)

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return min((len(blocks) for blocks in self.samples.values()), default=0)


def usable(run: Run, lost: Sequence[int]) -> Run:
    """Return a run without some of its rounds."""
    gone = frozenset(lost)
    return Run(
        {
            name: tuple(block for number, block in enumerate(blocks) if number not in gone)
            for name, blocks in run.samples.items()
        }
    )


def joined(first: Run, second: Run) -> Run:
    """Return the rounds of two runs of the same processes, one after the other."""
    return Run(
        {name: (*first.samples.get(name, ()), *blocks) for name, blocks in second.samples.items()}
    )


Party = Callable[[int], "Sample | None"]
"""Makes one block in the round of that number; None where the party can make no more."""

_LOCK = "torchgrade-clock.lock"


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is timed in one set of fresh processes.

    Attributes:
        rounds: Blocks of each party.
        fewest: So many are made even where time runs out.
        seconds: Wall time after which no further round begins.
        block: Length of a block, in seconds: overhead of a request is a hundredth of it.
    """

    rounds: int = 15
    fewest: int = 5
    seconds: float = 2.5
    block: float = 0.010


STANDARD_PLAN = Plan()


def interleave(
    parties: Mapping[str, Party],
    plan: Plan,
    random: np.random.Generator,
    now: Callable[[], float] = time.monotonic,
) -> Run | None:
    """Have parties make blocks in turns.

    Args:
        parties: By name.
        plan: How many rounds.
        random: Draws the order of each round.
        now: A clock, in seconds.

    Returns:
        The blocks, or None where a party could make no more.
    """
    names = list(parties)
    samples: dict[str, list[Sample]] = {name: [] for name in names}
    end = now() + plan.seconds
    for number in range(plan.rounds):
        # Enough rounds come before the time limit: a median of two would decide by noise.
        if number >= plan.fewest and now() > end:
            break
        # A random order a round: a neighbour that wakes at regular times would else always hit the
        # same party.
        for place in random.permutation(len(names)):
            sample = parties[names[place]](number)
            if sample is None:
                return None
            samples[names[place]].append(sample)
    return Run({name: tuple(blocks) for name, blocks in samples.items()})


def calls_for(seconds: float, per_call: float, most: int) -> int:
    """Return how many calls fill a block.

    Args:
        seconds: Length of the block.
        per_call: Seconds that one call takes.
        most: Calls at most.
    """
    return max(1, min(most, math.ceil(seconds / max(per_call, 1e-9))))


@contextlib.contextmanager
def exclusive() -> Iterator[None]:
    """Have the machine's clock for oneself: one timed run at a time, of all graders on it.

    Raises:
        InfrastructureError: The file that is locked cannot be opened.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl  # noqa: PLC0415  not on Windows

    path = Path(tempfile.gettempdir()) / _LOCK
    try:
        fd = _opened(path)
    except OSError as error:
        raise InfrastructureError(
            f"{path}: cannot be opened ({error.strerror}); it keeps graders on one machine from "
            "timing at once; remove it, or grade with --clock off"
        ) from None
    try:
        # The lock goes with the descriptor, so a grader that is killed holds up nobody.
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _opened(path: Path) -> int:
    # No link is followed: in a shared folder it could lead to another file.
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        # Without O_CREAT first: kernels refuse that for another user's file in a shared folder.
        return os.open(path, flags)
    except FileNotFoundError:
        # Read-only for all: whoever opens it can lock it, and do no more.
        return os.open(path, flags | os.O_CREAT, 0o444)


def quiet_core() -> int | None:
    """Return the core that timed processes are kept on; None where that cannot be chosen.

    The last one that this process may use: systems hand out interrupts and services from the first.
    """
    if sys.platform != "linux":
        return None
    return max(os.sched_getaffinity(0))


def own_core() -> int | None:
    """Return a core that no other grader on this machine times in passing on; None if none is left.

    It is this process's own until it ends.
    """
    if sys.platform == "linux" and not _OWN:
        import fcntl  # noqa: PLC0415  not on Windows

        for core in sorted(os.sched_getaffinity(0)):
            with contextlib.suppress(OSError):
                fd = _opened(Path(tempfile.gettempdir()) / f"torchgrade-core-{core}.lock")
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    os.close(fd)
                    continue
                # The descriptor stays open as long as this process lives: closing it would give the
                # core away.
                _OWN.append(core)
                break
    return _OWN[0] if _OWN else None


_OWN: list[int] = []


def keep_on(pid: int, core: int) -> bool:
    """Keep a process on one core; return whether that is so now."""
    if sys.platform != "linux":
        return False
    try:
        os.sched_setaffinity(pid, {core})
    except OSError:
        return False
    return True
