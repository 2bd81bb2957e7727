"""What a submission may make the host do: how much to read, how long to wait, what to send ahead.

The reference's own answers are the measure. An answer is refused by the sizes that it announces,
before memory is set aside for it. Reading and judging answers takes milliseconds, and what they
work on is hostile: both are bounded in processor time.

The worker of a class notes there what it is at: should it die, whoever gave the work out knows over
what (``grader.batch.local``). Where one submission is graded, ``bounded`` ends the work itself.

Defends against: answers of hundreds of MiB, one or many, that fill the memory of whoever grades a
class, or the journal; headers that become many times their size once they are read; calls that
each sleep a little less than they may.
Does not defend against: a reference whose own answers are that large.
"""

from __future__ import annotations

import math
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Union

from grader.errors import InfrastructureError
from grader.observation import Observation
from grader.wire.frames import Caps, Connection, Deadline, FrameSize, pack
from grader.wire.messages import Call, to_frame
from grader.wire.values import Buffer, ProtocolError

Surrounding = Callable[[], AbstractContextManager[None]]

MOST_SECONDS = 60.0
"""Processor time for the reading of one answer, or the judging of a submission."""

_FURTHER_SECONDS = 1.0
"""Processor time for each part of the judging that is begun after that."""


@dataclass(frozen=True, slots=True)
class CpuGuard:
    """Contexts for work on what a submission said.

    Attributes:
        reading: Around the reading of each answer.
        judging: Around the judging of all.
    """

    reading: Surrounding = nullcontext
    judging: Surrounding = nullcontext


NO_GUARD = CpuGuard()


def bounded() -> CpuGuard:
    """Return contexts that end what takes too much processor time, by an exception.

    An answer breaks the protocol then, and what was not judged is pending. For a process's first
    thread, where the system has such a timer.

    Does not defend against: one call of a library that takes long. The limits on the size of
    answers bound that.
    """
    if not hasattr(signal, "setitimer"):
        return NO_GUARD
    return CpuGuard(
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
        # First the timer, then the handler: the default action of a late signal would end the
        # grader.
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


_TIMES = 8
_LEAST = Caps(header=2 * 2**20, payload=8 * 2**20)
"""Taken of any call, however little the reference answers: a wrong answer may be far longer."""

_NOTHING = FrameSize()
_LEAST_IN_ALL = 64 * 2**20
_HEADER = 16
"""Bytes of memory that a byte of a header may take once it is read."""

_KEPT = 4 * 2**20
_KEPT_TIMES = 2

_MOST_SLEEP = 2.0
"""Limits of a call for which a submission may sleep in all calls together that came to an end."""

_LEAST_SLEEP = 0.05
"""Of its limit, for how long any call may sleep even so. The kernel counts in steps of 10 ms, and a
process that computes waits now and then."""


class AnswerBudget:
    """What one submission may still answer, and for how long it may still sleep.

    Args:
        in_all: Bytes, a header's counted as what they become; without end where each answer is
            dropped before the next.
        reading: Makes the context in which each answer is read.
    """

    def __init__(self, in_all: float = math.inf, reading: Surrounding = nullcontext) -> None:
        self._left = in_all
        self._slept = 0.0
        self.reading = reading

    def sleep(self, limit: float) -> float:
        """Return for how many seconds a call may sleep whose limit is so many."""
        return limit * min(1.0, max(_LEAST_SLEEP, _MOST_SLEEP - self._slept))

    def slept(self, seconds: float, limit: float) -> None:
        """Note for how long a call slept that came to an end."""
        # In limits: questions may have different ones. A call that was stopped has lost its points,
        # and takes nothing from others that are right.
        self._slept += seconds / limit

    def caps(self, likely: FrameSize | None, before: FrameSize = _NOTHING) -> Caps:
        """Return the bounds of the next message.

        Args:
            likely: Size of the reference's answer to the call, where that is known.
            before: What has come in answer to the call already.
        """
        # Relative to the reference's answer: right code answers as much. A wrong answer may be
        # longer, hence the factor and the floor; a gigabyte of zeros may not.
        size = likely or _NOTHING
        # Less what has come: all messages in answer to one call share its bound.
        header = max(_LEAST.header, _TIMES * size.header) - before.header
        payload = max(_LEAST.payload, _TIMES * size.payload) - before.payload
        return Caps(
            int(min(max(header, 0), self._left / _HEADER)), int(min(max(payload, 0), self._left))
        )

    def take(self, size: FrameSize) -> None:
        """Note an answer that came."""
        # In all, too: each answer within its bound, a thousand of them would still fill the host's
        # memory.
        self._left = max(0, self._left - _weight(size))


def budget_beside(
    reference: Iterable[Observation], reading: Surrounding = nullcontext
) -> AnswerBudget | None:
    """Return what a submission may answer to the calls that the reference has answered.

    Args:
        reference: What came of its calls.
        reading: Makes the context in which each answer is read.

    Returns:
        None where the reference's answers were not measured, as in a student's own check.
    """
    likely = answered(reference)
    return AnswerBudget(max(_LEAST_IN_ALL, _TIMES * likely), reading) if likely else None


def answered(reference: Iterable[Observation]) -> int:
    """Return the weight of all that the reference answered; 0 where it was not measured."""
    sizes = (
        each.facts.reply
        for observation in reference
        for each in (observation, *observation.counted.values())
    )
    return sum(_weight(size) for size in sizes if size is not None)


def kept_bytes(reference: Iterable[Observation]) -> int:
    """Return the most that is kept of a submission, so that it can be judged again."""
    return max(_KEPT, _KEPT_TIMES * answered(reference))


def _weight(size: FrameSize) -> int:
    return size.payload + _HEADER * size.header


Sized = tuple[Call, Union[FrameSize, None]]
"""A call, and the size of the reference's answer to it where that is known."""

_MOST = 1 << 16
"""Bytes of requests that may lie unanswered. A socket holds more than that, so that the host is
never kept from reading answers by a process that reads no requests."""


class RequestPipeline:
    """Sends calls in their order, as many ahead of the answers as fit into a socket.

    Args:
        calls: Each with its token.
    """

    def __init__(self, calls: Sequence[Call]) -> None:
        self._calls = list(calls)
        self._sizes: list[int] = []
        self._answered = 0
        self._packed: list[Buffer] | None = None

    @property
    def sent(self) -> bool:
        """Tell whether a call that was sent has no answer yet."""
        return len(self._sizes) > self._answered

    def send(self, connection: Connection, deadline: Deadline) -> None:
        """Send the next call if it is not sent yet, and all that fit behind it.

        Raises:
            Closed: The student process is gone.
            DeadlineExceeded: It does not read.
        """
        together: list[Buffer] = []
        while len(self._sizes) < len(self._calls):
            buffers = self._packed or pack(to_frame(self._calls[len(self._sizes)]))
            size = sum(map(len, buffers))
            # No more ahead than a socket holds. Else the host would block in a write while the
            # process blocks in writing answers that nobody reads.
            if self.sent and sum(self._sizes[self._answered :]) + size > _MOST:
                self._packed = buffers
                break
            self._packed = None
            self._sizes.append(size)
            together += buffers
        if together:
            connection.write(together, deadline)

    def answered(self) -> str:
        """Take note of an answer to the next call; return the token that it has to have."""
        self._answered += 1
        return self._calls[self._answered - 1].token
