"""How a call or a process ended, in an observation's words."""

from __future__ import annotations

from grader.observation import HostFacts, Observation, Outcome
from grader.run.deadline import TOO_MUCH
from grader.sandbox.host.guests import Exit
from grader.wire.messages import Fault

_OUT_OF_MEMORY_TYPES = ("MemoryError", "OutOfMemoryError")
_ALLOCATION_FAILED = "can't allocate memory"
"""In torch's message when the CPU's allocator fails; the exception is a plain RuntimeError."""


def outcome_of(fault: Fault | None) -> tuple[Outcome, str]:
    """Return how a call ended that raised ``fault``, and the host's words on it."""
    if fault is None:
        return Outcome.COMPLETED, ""
    # A limit that the kernel enforces reaches a hand-in as an exception. That it ran out of memory
    # is then its own word, and worth no points either way.
    full = fault.type in _OUT_OF_MEMORY_TYPES or _ALLOCATION_FAILED in fault.message
    return (Outcome.OUT_OF_MEMORY, TOO_MUCH) if full else (Outcome.RAISED, "")


def death(ended: Exit, wall: float) -> Observation:
    """Return what is seen of a call whose process ended."""
    facts = HostFacts(wall, ended.code, ended.signal, ended.peak_memory)
    if ended.memory_exceeded:
        return Observation(Outcome.OUT_OF_MEMORY, facts, detail=TOO_MUCH)
    how = f"exit status {ended.code}" if ended.signal is None else f"signal {ended.signal}"
    return Observation(Outcome.CRASHED, facts, detail=f"the process ended with {how}")


def violation(ended: Exit, wall: float, detail: str) -> Observation:
    """Return what is seen of a call whose process sent what it must not, and was ended."""
    facts = HostFacts(wall, ended.code, ended.signal, ended.peak_memory)
    return Observation(Outcome.PROTOCOL_VIOLATION, facts, detail=detail)
