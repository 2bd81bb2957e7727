"""How long the host waits for a student process, how one ends, and which one a session keeps.

A neighbour that keeps the cores busy makes a student process late without giving it more work. So
the limit of a call is on processor time. A student process that sleeps uses none: how long it may
sleep has the same limit, and a lower one once calls of it have slept for long (``AnswerBudget``).
Time in which it is ready to run and gets no core is the machine's doing, and counts against
neither; ten times the limit is the end even so.

Where the system does not show what a student process has used (macOS), the limit is on wall time.

Defends against: endless loops, sleeping, waiting for what never comes, processes that live too
briefly to be seen twice.
Does not defend against: a student process that starves itself, by more processes than the machine
has cores. It is ended at ten times the limit, and its points stay pending.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from grader.assignment.types import Assignment, Limits, Question
from grader.observation import HostFacts, Observation, Outcome, Stop
from grader.sandbox.host.processes import (
    Activity,
    Exit,
    ProcessSpec,
    SandboxedProcess,
    activity,
)
from grader.wire.frames import DeadlineExceeded
from grader.wire.messages import Fault, Loaded

MOST_WALL = 10
"""Wall time that a call may take, in limits."""

_LOOK = 0.1
"""Seconds between two looks at what a student process has used."""

_LEAST = 0.001
"""Seconds that are waited for at least; less would be lost in rounding."""

_BUSY = 0.1
"""Share of the wall time for which a process had no core, from which on its machine was busy."""

_STARVED = 0.5
"""The same share, from which on it is the machine's doing that a call came to no end."""


TOO_MUCH = "used more memory than allowed"
_OF_WHAT: Mapping[Stop | None, str] = {
    Stop.PROCESSOR: " of processor time",
    Stop.ASLEEP: " in which it waited and hardly computed",
    Stop.ASLEEP_IN_ALL: ": its calls have waited too long in all",
}


class Deadline:
    """Says for how long to wait for an answer; ``Connection`` asks again after that.

    It is entered for each exchange, and may be for several: what lies between them does not count.

    Args:
        seconds: Limit on processor time, and on sleep.
        pid: The student process's first process; None where it is unknown.
        processes: Processes that the student process may start: each may use as much as it.
        look: Returns what the student process has done so far, or None where that is not to be
            known.
        now: A clock, in seconds.

    Attributes:
        most_asleep: For how long it may sleep; less than the limit where earlier calls have slept.
    """

    def __init__(
        self,
        seconds: float,
        pid: int | None,
        processes: int = 0,
        look: Callable[[int], Activity | None] = activity,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limit = self.most_asleep = seconds
        self._pid = pid
        self._processes = processes
        self._look = look
        self._now = now
        self._resumed: float | None = None
        self._rested = self._last = 0.0
        # A quarter: a short limit is looked at several times before it is over.
        self._pause = min(_LOOK, seconds / 4)
        self._first: Activity | None = None
        self._seen: Activity | None = None
        self._briefly = self.asleep = self.starved = 0.0
        self.stopped: Stop | None = None

    def __enter__(self) -> None:
        self._resumed = self._now()

    def __exit__(self, *_: object) -> None:
        # While the host asks for nothing, the student process may sleep as long as it likes.
        self._rested, self._resumed = self.wall, None

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Do not count the time within an exchange when nobody waits for the student process."""
        self.__exit__()
        yield
        self.__enter__()

    def __call__(self) -> float:
        """Return for how many seconds to wait before this is asked again.

        Raises:
            DeadlineExceeded: The student process has had its time; ``stopped`` says of what sort.
        """
        # Most calls are over before the first look, and cost none.
        left = self._last + self._pause - self.wall
        if left > 0:
            return max(left, _LEAST)
        self._note()
        self.stopped = self._exceeded()
        if self.stopped is not None:
            raise DeadlineExceeded
        return self._pause

    @property
    def wall(self) -> float:
        """Seconds for which the student process was waited for."""
        return self._rested + (0.0 if self._resumed is None else self._now() - self._resumed)

    @property
    def computed(self) -> float | None:
        """Processor seconds that the student process was seen to use; None where none was read."""
        if self._seen is None or self._first is None:
            return None
        return self._seen.seconds - self._first.seconds + self._briefly

    @property
    def busy(self) -> bool:
        """Tell whether neighbours may have made the student process's work longer than it is."""
        if self._seen is None:
            return _overloaded()
        return self.starved > _BUSY * self.wall or _overloaded()

    @property
    def denied(self) -> bool:
        """Tell whether the machine did not give the student process the time that it may use."""
        return self.stopped is Stop.WALL and self.starved > _STARVED * self.wall

    def _note(self) -> None:
        """Add up what the time since the last look was spent on."""
        now, before = self.wall, self._seen
        look = None if self._pid is None else self._look(self._pid)
        elapsed, self._last = now - self._last, now
        if look is None:
            return
        self._seen = look
        if before is None:
            self._first = look
            return
        # Not below zero: the time of a process that ended uncollected drops out of the sum.
        rest = max(0.0, elapsed - max(0.0, look.seconds - before.seconds))
        # No thread could run: the process waits by its own choice. Where threads were ready at both
        # looks and yet the time was not used, neighbours had the core; that is not held against it.
        if not look.ready:
            self.asleep += rest
        elif look.ready & before.ready:
            self.starved += rest
        elif not look.ready & set(before.used):
            # Processes that live too briefly for their time to be read.
            self._briefly += rest

    def _exceeded(self) -> Stop | None:
        computed = self.computed
        if computed is None:
            return Stop.WALL if self.wall >= self.limit else None
        assert self._first is not None
        assert self._seen is not None
        # Of each process alone, too: one that computes for ever must not live on the share of those
        # that it may start.
        longest = max(
            (used - self._first.used.get(pid, 0.0) for pid, used in self._seen.used.items()),
            default=0.0,
        )
        if longest >= self.limit or computed >= self.limit * (1 + self._processes):
            return Stop.PROCESSOR
        if self.asleep >= self.limit:
            return Stop.ASLEEP
        if self.asleep >= self.most_asleep:
            return Stop.ASLEEP_IN_ALL
        # A backstop: on a machine that gives no core at all, neither processor time nor sleep would
        # ever reach its limit.
        return Stop.WALL if self.wall >= MOST_WALL * self.limit else None


def late(deadline: Deadline, ended: Exit) -> Observation:
    """Return what came of a call that was stopped for its time."""
    limit, wall, computed = deadline.limit, deadline.wall, deadline.computed
    facts = HostFacts(
        wall, cpu_seconds=computed, stopped=deadline.stopped,
        limit=wall if deadline.stopped is Stop.WALL else limit, busy=deadline.busy,
    )  # fmt: skip
    if ended.memory_exceeded:
        # Not busy, which would have the call made again: memory is not the machine's doing.
        return Observation(Outcome.OUT_OF_MEMORY, replace(facts, busy=False), detail=TOO_MUCH)
    # The machine's doing, so nobody's points: SANDBOX_FAILED leaves them pending.
    if deadline.denied:
        given = f"{computed or 0:.3g} s of processor time in {wall:.3g} s"
        detail = f"the machine was too busy: it gave {given}"
        return Observation(Outcome.SANDBOX_FAILED, replace(facts, busy=False), detail=detail)
    detail = f"no answer within {facts.limit:.3g} s{_OF_WHAT.get(deadline.stopped, '')}"
    return Observation(Outcome.TIMED_OUT, facts, detail=detail)


def _overloaded() -> bool:
    """Return whether more wants to run on this machine than it has cores for."""
    # The average of a minute: a burst of the grader's own workers counts too, and earns a second
    # try.
    return os.getloadavg()[0] > (os.cpu_count() or 1)


_OUT_OF_MEMORY_TYPES = ("MemoryError", "OutOfMemoryError")
_ALLOCATION_FAILED = (
    "can't allocate memory",
    "CUDA error: out of memory",
    "when calling `cublasCreate(handle)`",
)
"""In torch's messages, under exceptions of other types: when the CPU's allocator fails; when a GPU
has no room for a context, or for what its library of products needs, beside other processes."""


def outcome_of(fault: Fault | None) -> tuple[Outcome, str]:
    """Return how a call ended that raised ``fault``, and the host's words on it."""
    if fault is None:
        return Outcome.COMPLETED, ""
    # A limit that the kernel enforces reaches a submission as an exception. That it ran out of
    # memory is then its own word, and worth no points either way.
    full = fault.type in _OUT_OF_MEMORY_TYPES or any(
        text in fault.message for text in _ALLOCATION_FAILED
    )
    return (Outcome.OUT_OF_MEMORY, TOO_MUCH) if full else (Outcome.RAISED, "")


def death(ended: Exit, wall: float) -> Observation:
    """Return what is seen of a call whose process ended."""
    facts = HostFacts(wall, ended.code, ended.signal)
    if ended.memory_exceeded:
        return Observation(Outcome.OUT_OF_MEMORY, facts, detail=TOO_MUCH)
    how = f"exit status {ended.code}" if ended.signal is None else f"signal {ended.signal}"
    return Observation(Outcome.CRASHED, facts, detail=f"the process ended with {how}")


def violation(ended: Exit, wall: float, detail: str) -> Observation:
    """Return what is seen of a call whose process sent what it must not, and was ended."""
    facts = HostFacts(wall, ended.code, ended.signal)
    return Observation(Outcome.PROTOCOL_VIOLATION, facts, detail=detail)


_MOST_CASES = 60
"""Cases that may use up their limit in one student process before the kernel ends it."""


def process_spec(limits: Limits, module: str = "") -> ProcessSpec:
    """Return what a student process gets under limits of an assignment file, and nothing beside."""
    return ProcessSpec(
        module,
        limits.seconds,
        limits.import_seconds,
        # A backstop for each process: one student process runs many cases, each with its own
        # deadline.
        cpu_seconds=int(_MOST_CASES * limits.seconds + limits.import_seconds) + 60,
        memory=limits.memory_mb * 2**20,
        output=limits.output_kb * 2**10,
        scratch=limits.scratch_mb * 2**20,
        threads=limits.processes,
    )


def process_for(assignment: Assignment, question: Question) -> ProcessSpec:
    """Return what a question's student process gets wherever it runs: all but its GPUs."""
    alone = process_spec(assignment.limits_of(question), assignment.file_of(question))
    needs = question.needs
    return replace(alone, processes=needs.processes, loopback=needs.loopback)


@dataclass(frozen=True, slots=True)
class HeldProcess:
    """A student process that waits while another one works.

    Attributes:
        process: It.
        loaded: What it said of the program.
        spec: What it got.
    """

    process: SandboxedProcess
    loaded: Loaded
    spec: ProcessSpec


class Failures:
    """How loading a file failed, for each set of GPUs, processes and the rest.

    A file that fails to load on a GPU may still load without one, so that is tried. A file that
    hung while it was loaded is not tried again with more: a class would wait for the limit once
    for each set. Limits count for nothing: under another question's, it would fail likewise.
    """

    def __init__(self) -> None:
        self._failures: dict[ProcessSpec, Observation] = {}

    def note(self, spec: ProcessSpec, failure: Observation) -> None:
        """Keep how a student process that loaded a file ended."""
        self._failures[_under_any_limits(spec)] = failure

    def of(self, spec: ProcessSpec) -> Observation | None:
        """Return how a process ended, or would end, over a file; None if that is open."""
        hung = (
            failure
            for known, failure in self._failures.items()
            if failure.outcome is Outcome.TIMED_OUT
            and spec.module == known.module
            and spec.cuda >= known.cuda
            and spec.virtual_gpus >= known.virtual_gpus
            and spec.processes >= known.processes
        )
        return self._failures.get(_under_any_limits(spec)) or next(hung, None)


def _under_any_limits(spec: ProcessSpec) -> ProcessSpec:
    return replace(
        spec, seconds=0, import_seconds=0, cpu_seconds=0, memory=0, output=0, scratch=0, threads=0
    )
