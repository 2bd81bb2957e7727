"""Repeats of ``timeit`` on a timeline without arithmetic: what comes out the same is not run again.

Nothing is random there, and no element is known. A statement that has issued the same events twice
in a row, in the same time, will do so again. So the repeats that are left get that time.
"""

from __future__ import annotations

import timeit
from array import array
from math import isclose
from typing import Any

from grader.vgpu.patches import Patches
from grader.vgpu.trace import Trace


class Repeats:
    """Recognises repeats while it is started.

    Args:
        trace: Of the devices.

    Attributes:
        left_out: How many were not run.
    """

    def __init__(self, trace: Trace) -> None:
        self.left_out = 0
        self._trace = trace
        self._patches = Patches()

    def start(self) -> None:
        """Watch ``timeit``."""
        self._patches.wrap(timeit.Timer, "repeat", self._repeat)

    def stop(self) -> None:
        """Leave ``timeit`` as it was."""
        self._patches.undo()

    def _repeat(self, original: Any) -> Any:
        def repeat(timer: timeit.Timer, repeat: int = 5, number: int = 1000000) -> list[float]:
            """Call ``timeit`` so often, or until it comes out the same twice in a row."""
            times: list[float] = []
            before: array[int] | None = None
            while len(times) < repeat:
                first = self._trace.count
                times.append(timer.timeit(number))
                issued = self._trace.rows(first)
                if issued and issued == before and isclose(*times[-2:], rel_tol=1e-6):
                    self.left_out += repeat - len(times)
                    return times + times[-1:] * (repeat - len(times))
                before = issued
            return times

        return repeat
