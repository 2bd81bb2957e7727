"""The host's clocks on a timeline: ``time.perf_counter()`` tells the host's virtual time.

A function that reads a clock before the devices are done reads too early, on a timeline as in life.
Clocks that a module has taken hold of (``from time import perf_counter``) are replaced there too.
"""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable, Sequence
from types import MethodType, ModuleType
from typing import Any

from grader.vgpu.patches import Patches

_SECONDS = ("perf_counter", "monotonic", "time", "process_time", "thread_time")
_USUAL = timeit.default_timer
"""What ``timeit`` took for its default when it was loaded, and holds on to."""
MOST_READINGS = 10_000
_LATENCY = 1e-7
"""What reading a clock costs, so that no two readings are equal."""


class HostClock:
    """Clocks that tell the time of a timeline.

    Args:
        now: Tells it, in seconds.
        modules: Modules that may hold clocks of their own.

    Attributes:
        readings: What the program has read, in seconds; of very many the first.
    """

    def __init__(self, now: Callable[[], float], modules: Sequence[ModuleType]) -> None:
        self._now = now
        self._modules = modules
        self._patches = Patches()
        self._read = 0
        self.readings: list[float] = []

    def start(self) -> None:
        """Let all clocks tell the timeline's time."""
        for name in _SECONDS:
            self._replace(getattr(time, name), self._seconds)
            self._replace(getattr(time, f"{name}_ns"), self._nanoseconds)
        self._patches.wrap(timeit.Timer, "__init__", self._timer)

    def stop(self) -> None:
        """Put the machine's own clocks back, also where a module got hold of one meanwhile."""
        self._patches.undo()
        for module in self._modules:
            for name, value in list(vars(module).items()):
                if isinstance(value, MethodType) and value.__self__ is self:
                    seconds = value.__func__ is HostClock._seconds
                    usual = time.perf_counter if seconds else time.perf_counter_ns
                    setattr(module, name, getattr(time, name, usual))

    def _seconds(self) -> float:
        self._read += 1
        now = self._now()
        if self._read <= MOST_READINGS:
            self.readings.append(now)
        return now + self._read * _LATENCY

    def _nanoseconds(self) -> int:
        return round(self._seconds() * 1e9)

    def _timer(self, original: Any) -> Any:
        seconds = self._seconds

        def init(self: Any, *args: Any, **named: Any) -> None:
            """Make a timer; one that names no clock of its own reads the timeline's."""
            named.update(zip(("stmt", "setup", "timer", "globals"), args, strict=False))
            if named.get("timer", _USUAL) is _USUAL:
                named["timer"] = seconds
            original(self, **named)

        return init

    def _replace(self, clock: Any, stand_in: Any) -> None:
        for module in (time, timeit, *self._modules):
            for name, value in list(vars(module).items()):
                if value is clock:
                    self._patches.set(module, name, stand_in)
