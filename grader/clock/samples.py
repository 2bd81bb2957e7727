"""What was timed, as plain values: blocks of calls, measured by the host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Clock = Literal["cpu", "wall"]


@dataclass(frozen=True, slots=True)
class Sample:
    """One block of calls.

    Attributes:
        calls: How many were made.
        wall: Seconds on the host's monotonic clock, first byte sent to last byte received.
        cpu: Seconds of processor time that the guest used meanwhile, all its threads together;
            None where that was not read.
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

    def per_call(self, clock: Clock) -> float:
        """Return seconds a call.

        Raises:
            ValueError: That clock was not read.
        """
        return (self.wall if clock == "wall" else self.cost) / self.calls


@dataclass(frozen=True, slots=True)
class Run:
    """Blocks of several parties in turns, each party in a fresh process of its own.

    Attributes:
        samples: Party → its blocks, one a round; all equally many.
    """

    samples: Mapping[str, tuple[Sample, ...]] = field(default_factory=dict)
