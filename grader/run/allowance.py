"""How much a submission may answer: in one call, and in all.

The reference's own answers are the measure. An answer is refused by the sizes that it announces,
before memory is set aside for it.

Defends against: answers of hundreds of MiB, one or many, that fill the memory of whoever grades a
class, or the journal; headers that become many times their size once they are read.
Does not defend against: a reference whose own answers are that large.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import nullcontext

from grader.observation import Observation
from grader.run.care import Surrounding
from grader.wire.frames import Caps, FrameSize

_TIMES = 8
_LEAST = Caps(header=2 * 2**20, payload=8 * 2**20)
"""Taken of any call, however little the reference answers: a wrong answer may be far longer."""

_NOTHING = FrameSize()
_LEAST_IN_ALL = 64 * 2**20
_HEADER = 16
"""Bytes of memory that a byte of a header may take once it is read."""

_KEPT = 4 * 2**20
_KEPT_TIMES = 2


class Allowance:
    """What one submission may still answer.

    Args:
        in_all: Bytes, a header's counted as what they become; without end where each answer is
            dropped before the next.
        reading: Makes the context in which each answer is read.
    """

    def __init__(self, in_all: float = math.inf, reading: Surrounding = nullcontext) -> None:
        self._left = in_all
        self.reading = reading

    def caps(self, likely: FrameSize | None, before: FrameSize = _NOTHING) -> Caps:
        """Return the bounds of the next message.

        Args:
            likely: Size of the reference's answer to the call, where that is known.
            before: What has come in answer to the call already.
        """
        size = likely or _NOTHING
        header = max(_LEAST.header, _TIMES * size.header) - before.header
        payload = max(_LEAST.payload, _TIMES * size.payload) - before.payload
        return Caps(
            int(min(max(header, 0), self._left / _HEADER)),
            int(min(max(payload, 0), self._left)),
        )

    def take(self, size: FrameSize) -> None:
        """Note an answer that came."""
        self._left = max(0, self._left - _weight(size))


def allowance(
    reference: Iterable[Observation], reading: Surrounding = nullcontext
) -> Allowance | None:
    """Return what a submission may answer to the calls that the reference has answered.

    Args:
        reference: What came of its calls.
        reading: Makes the context in which each answer is read.

    Returns:
        None where the reference's answers were not measured, as in a student's own check.
    """
    likely = answered(reference)
    return Allowance(max(_LEAST_IN_ALL, _TIMES * likely), reading) if likely else None


def answered(reference: Iterable[Observation]) -> int:
    """Return the weight of all that the reference answered; 0 where it was not measured."""
    sizes = (each.facts.reply for seen in reference for each in (seen, *seen.counted.values()))
    return sum(_weight(size) for size in sizes if size is not None)


def kept_bytes(reference: Iterable[Observation]) -> int:
    """Return the most that is kept of a submission, so that it can be judged again."""
    return max(_KEPT, _KEPT_TIMES * answered(reference))


def _weight(size: FrameSize) -> int:
    return size.payload + _HEADER * size.header
