"""What one device, or one link, can do at a time: streams share it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Engine:
    """Does one piece of work at a time; what comes later may fill a hole that was left before.

    A kernel that fills its device leaves nothing for another one, and the timeline takes every
    kernel for such a one: two streams of a device hide waiting, not computing.

    Attributes:
        end: Seconds at which it is done with all it was given.
        last: Number of the span that ends then.
        holes: Times before that at which it has nothing to do, first and last second of each.
    """

    end: float = 0.0
    last: int = -1
    holes: list[tuple[float, float]] = field(default_factory=list)

    def place(self, ready: float, lasts: float, issued: float, number: int) -> tuple[float, int]:
        """Find room for a piece of work.

        Args:
            ready: When it could begin.
            lasts: Seconds that it takes.
            issued: The host's time: nothing that comes later can begin before.
            number: Of its span.

        Returns:
            When it begins, and the span that it waits for; −1 where it begins when it is ready.
        """
        if self.holes:
            self.holes = [hole for hole in self.holes if hole[1] > issued]
        for index, (first, last) in enumerate(self.holes):
            start = max(first, ready)
            if start + lasts <= last:
                left = (first, start), (start + lasts, last)
                self.holes[index : index + 1] = [hole for hole in left if hole[1] > hole[0]]
                return start, -1
        start, before = max(self.end, ready), self.last if self.end > ready else -1
        if start > self.end:
            self.holes.append((self.end, start))
        self.end, self.last = start + lasts, number
        return start, before
