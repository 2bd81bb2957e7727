"""In which order blocks are timed, how many calls are in one, and that nobody else times meanwhile.

Parties take turns, in an order that is drawn anew for each round: what changes with time, such as a
neighbour's load or the processor's speed, then favours none of them.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from grader.clock.samples import Run, Sample
from grader.errors import InfrastructureError

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


STANDARD = Plan()


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
        if number >= plan.fewest and now() > end:
            break
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
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _opened(path: Path) -> int:
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        # Without O_CREAT first: kernels refuse that for another user's file in a shared folder.
        return os.open(path, flags)
    except FileNotFoundError:
        # Read-only for all: whoever opens it can lock it, and do no more.
        return os.open(path, flags | os.O_CREAT, 0o444)


def quiet_core() -> int | None:
    """Return the core that timed guests are kept on; None where that cannot be chosen.

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
