"""Virtual devices here, their clock in another process.

A program can compute a duration that it was told without measuring anything. So a process that is
not the program's keeps the time: it is told each event, knows how long each kernel lasts, and
answers what the time is. The program learns a duration only by reading a clock after the device is
done.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from types import ModuleType, TracebackType
from typing import Any

from grader.vgpu.machine import Machine, installed
from grader.vgpu.timeline.host_clock import HostClock
from grader.vgpu.timeline.line import Timeline
from grader.vgpu.timeline.profiles import Profile, profile
from grader.vgpu.trace import Event, Kernel, Mark, Synchronisation, Transfer

Told = list[tuple[str, dict[str, Any]]]
"""Events as values: the kind's name, and its fields."""

Ask = Callable[[Told, "int | None"], float]
"""Told the events since the last question; answers with the time, or with that of an event."""

_KINDS: dict[str, type[Event]] = {
    kind.__name__: kind for kind in (Kernel, Transfer, Synchronisation, Mark)
}


class TimedElsewhere:
    """A context in which the clocks of virtual devices are read in another process.

    Nothing is computed in it, as on a timeline without arithmetic.

    Args:
        ask: Reads the clock: ``TimeKeeper.tell`` of the other process.
        clocks: Modules whose own names for the host's clocks tell that time too.

    Raises:
        RuntimeError: There are no virtual devices.
    """

    def __init__(self, ask: Ask, clocks: Sequence[ModuleType] = ()) -> None:
        found = installed()
        if found is None:
            raise RuntimeError("a clock elsewhere needs virtual GPUs")
        self._machine: Machine = found
        self._ask = ask
        self._next = found.trace.count
        self._host = HostClock(self.now, clocks)

    def __enter__(self) -> TimedElsewhere:
        self._machine.clock = self
        self._machine.compute(False)
        self._host.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._host.stop()
        self._machine.clock = None
        self._machine.compute(True)

    def now(self) -> float:
        """Return the host's time, in seconds."""
        return self._ask(self._news(), None)

    def time_of(self, mark: int) -> float:
        """Return the time at which a stream reached a recorded event, by the event's number."""
        return self._ask(self._news(), mark)

    def _news(self) -> Told:
        first, self._next = self._next, self._machine.trace.count
        return [
            (type(event).__name__, dataclasses.asdict(event))
            for event in self._machine.trace.since(first, self._next)
            if type(event).__name__ in _KINDS
        ]


class TimeKeeper:
    """Keeps the time for the virtual devices of another process.

    Args:
        card: Name of their profile.
        lasts: Device of a kernel, and its bytes → how long it lasts in seconds; None for the
            profile's own answer.
    """

    def __init__(self, card: str, lasts: Callable[[str, int], float | None]) -> None:
        self._card: Profile = profile(card)
        self._line = Timeline(self._card)
        self._lasts = lasts

    def tell(self, events: Told, mark: int | None) -> float:
        """Take in events; return the host's time, or when an event was reached, in seconds.

        Raises:
            KeyError: There is no such kind of event, or the event was not recorded.
        """
        self._line.take(self._event(kind, fields) for kind, fields in events)
        return self._line.now if mark is None else self._line.time_of(mark)

    def _event(self, kind: str, fields: dict[str, Any]) -> Event:
        event = _KINDS[kind](**fields)
        if isinstance(event, Kernel):
            seconds = self._lasts(event.device, event.bytes)
            if seconds is not None:
                moved = round(seconds * self._card.bandwidth)
                return dataclasses.replace(event, flops=0, bytes=moved)
        return event
