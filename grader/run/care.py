"""What surrounds the reading and the judging of a submission's answers.

Both take milliseconds, and what they work on is hostile: so they are bounded in processor time.

The worker of a class notes there what it is at: should it die, whoever gave the work out knows over
what (``grader.batch.local``). Where one submission is graded, ``bounded`` ends the work itself.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial

from grader.errors import InfrastructureError
from grader.wire.values import ProtocolError

Surrounding = Callable[[], AbstractContextManager[None]]

MOST_SECONDS = 60.0
"""Processor time for the reading of one answer, or the judging of a submission."""

_FURTHER_SECONDS = 1.0
"""Processor time for each part of the judging that is begun after that."""


@dataclass(frozen=True, slots=True)
class Care:
    """Contexts for work on what a submission said.

    Attributes:
        reading: Around the reading of each answer.
        judging: Around the judging of all.
    """

    reading: Surrounding = nullcontext
    judging: Surrounding = nullcontext


NO_CARE = Care()


def bounded() -> Care:
    """Return contexts that end what takes too much processor time, by an exception.

    An answer breaks the protocol then, and what was not judged is pending. For a process's first
    thread, where the system has such a timer.

    Does not defend against: one call of a library that takes long. The limits on the size of
    answers bound that.
    """
    if not hasattr(signal, "setitimer"):
        return NO_CARE
    return Care(
        partial(_limited, ProtocolError, "an answer that takes too long to read"),
        partial(_limited, InfrastructureError, "judging took too long"),
    )


@contextmanager
def _limited(kind: type[Exception], text: str) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise kind(text)

    before = signal.signal(signal.SIGPROF, stop)
    # Again and again: whoever judges takes an exception for a check's fault, and goes on.
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS, _FURTHER_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
