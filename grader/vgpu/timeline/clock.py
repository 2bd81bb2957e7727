"""Virtual devices on a timeline: the time that a program would take on GPUs of a profile.

A program can compute a duration that it was told without measuring anything. So the clock may be
kept in another process, which is not the program's: it is told each event, knows how long each
kernel lasts, and answers what the time is (``TimedElsewhere``, ``TimeKeeper``). The program learns
a duration only by reading a clock after the device is done.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from types import ModuleType
from typing import Any

from grader.vgpu.core.machine import Machine, installed
from grader.vgpu.core.trace import Kernel, Mark, Synchronisation, TraceEvent, Transfer
from grader.vgpu.patches.tools import HostClock, TimeitRepeats
from grader.vgpu.timeline.line import Timeline
from grader.vgpu.timeline.profiles import Profile, profile
from grader.vgpu.timeline.report import PictureError, Report, Stretch, between, image, picture


class TraceClock:
    """A timeline that grows with the trace of a machine.

    Args:
        machine: Whose trace it is; what stands there already does not count.
        card: Profile of every device.
    """

    def __init__(self, machine: Machine, card: Profile) -> None:
        self._machine = machine
        self._line = Timeline(card)
        self._next = machine.trace.count

    @property
    def line(self) -> Timeline:
        """The timeline up to now."""
        # A trace that was cleared meanwhile has later events all the same: numbers go on rising.
        end = self._machine.trace.count
        if end > self._next:
            self._line.take(self._machine.trace.since(self._next, end))
            self._next = end
        return self._line

    def now(self) -> float:
        """Return the host's time, in seconds."""
        return self.line.now

    def time_of(self, mark: int) -> float:
        """Return the time at which a stream reached a recorded event, by the event's number.

        Raises:
            RuntimeError: It was recorded before the timeline began.
        """
        try:
            return self.line.time_of(mark)
        except KeyError:
            raise RuntimeError(
                "an event was recorded before the timeline began; record both inside it"
            ) from None


class Lap:
    """A context around a part of the time; host and devices are idle before it and after it.

    Attributes:
        report: What happened when, in plain values (``grader.vgpu.timeline.report``); empty until
            the end.
        elapsed: Seconds from its beginning to the end of all that was issued in it.

    A notebook that shows one shows the picture of it.
    """

    def __init__(self, line: Callable[[], Timeline], devices: Sequence[str]) -> None:
        self.report: Report = {}
        self.elapsed = 0.0
        self._title = ""
        self._line = line
        self._devices = devices
        self._first = 0
        self._start = 0.0

    def __enter__(self) -> Lap:
        line = self._line()
        self._start = line.rest()
        self._first = len(line.spans)
        return self

    def __exit__(self, *_: object) -> None:
        line = self._line()
        end = line.rest()
        spans, name = line.spans[self._first :], line.profile.name
        self.elapsed = end - self._start
        self._title = f"On {line.profile.title}"
        self.report = Stretch(name, spans, self._first, self._start, end, self._devices).report()

    def __repr__(self) -> str:
        return f"<lap of {1e3 * self.elapsed:.4g} ms>"

    def _repr_html_(self) -> str | None:
        # None, and a notebook takes the line above.
        try:
            drawn = picture(self.report, self._title) if self.report else None
        except PictureError:
            return None
        return image(drawn, self._title) if drawn else None


class Timed:
    """A context in which virtual devices have a time of their own.

    Args:
        card: Name of a profile, or one of your own.
        arithmetic: Whether anything is computed. Without it a device tensor has no elements, a
            number that is read from a device is NaN, and a large network costs a second.
        clocks: Modules whose own names for the host's clocks tell the timeline's time too.

    Attributes:
        repeats: Those of ``timeit`` that were not run again (``grader.vgpu.patches.tools``).

    Raises:
        RuntimeError: There are no virtual devices, or they are on a timeline already.
        ValueError: There is no such profile.
    """

    def __init__(
        self, card: str | Profile, *, arithmetic: bool = True, clocks: Sequence[ModuleType] = ()
    ) -> None:
        found = installed()
        if found is None:
            raise RuntimeError("a timeline needs virtual GPUs (grader.vgpu.virtual_gpus)")
        self._machine = found
        self._arithmetic = arithmetic
        self._card = profile(card) if isinstance(card, str) else card
        self._clock: TraceClock | None = None
        self._host = HostClock(lambda: self.line.now, clocks)
        self.repeats = TimeitRepeats(found.trace)

    def __enter__(self) -> Timed:
        if self._machine.clock is not None:
            raise RuntimeError("the virtual GPUs are on a timeline already; leave that one first")
        self._machine.clock = self._clock = TraceClock(self._machine, self._card)
        self._machine.compute(self._arithmetic)
        self._host.start()
        if not self._arithmetic:
            self.repeats.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self.repeats.stop()
        self._host.stop()
        # What is asked for afterwards is what there was then.
        _ = self.line
        self._machine.clock = None
        self._machine.compute(True)

    @property
    def line(self) -> Timeline:
        """The timeline up to now."""
        assert self._clock is not None, "the timeline has not begun"
        return self._clock.line

    @property
    def elapsed(self) -> float:
        """Seconds until host and devices are done with all that was issued."""
        return self.line.end

    @property
    def laps(self) -> list[tuple[float, float]]:
        """Seconds at which each stretch between two readings of a clock began and ended.

        A program that times itself reads a clock before and after; the stretches in between, such
        as a set-up, are laps too. Of very many the first.
        """
        readings = self._host.readings
        return list(pairwise(readings))

    def report(self, start: float, end: float | None = None) -> Report:
        """Return what happened between two moments; what reaches over them is cut off.

        Args:
            start: Seconds.
            end: Likewise; by default when all is done.
        """
        line = self.line
        until = line.end if end is None else min(end, line.end)
        name, devices = line.profile.name, self._machine.names
        return between(Stretch(name, line.spans, 0, 0.0, line.end, devices), start, until).report()

    def lap(self) -> Lap:
        """Return a context around a part of the time."""
        return Lap(lambda: self.line, self._machine.names)


def afterwards(events: Iterable[TraceEvent], card: Profile, devices: Sequence[str]) -> Report:
    """Return what a trace that is there already would have been on a card, from its beginning on.

    Args:
        events: In the order of their issue.
        card: Profile of every device.
        devices: Names of all devices.
    """
    line = Timeline(card)
    line.take(events)
    return Stretch(card.name, line.spans, 0, 0.0, line.end, devices).report()


def on_timeline(
    card: str | Profile, *, arithmetic: bool = True, clocks: Sequence[ModuleType] = ()
) -> Timed:
    """Put the virtual devices on a timeline inside a ``with`` block; see ``Timed``."""
    return Timed(card, arithmetic=arithmetic, clocks=clocks)


ToldEvents = list[tuple[str, dict[str, Any]]]
"""Events as values: the kind's name, and its fields."""

Request = Callable[[ToldEvents, "int | None"], float]
"""Told the events since the last question; answers with the time, or with that of an event."""

_TIMED_KINDS: dict[str, type[TraceEvent]] = {
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

    def __init__(self, ask: Request, clocks: Sequence[ModuleType] = ()) -> None:
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

    def __exit__(self, *_: object) -> None:
        self._host.stop()
        self._machine.clock = None
        self._machine.compute(True)

    def now(self) -> float:
        """Return the host's time, in seconds."""
        return self._ask(self._news(), None)

    def time_of(self, mark: int) -> float:
        """Return the time at which a stream reached a recorded event, by the event's number."""
        return self._ask(self._news(), mark)

    def _news(self) -> ToldEvents:
        first, self._next = self._next, self._machine.trace.count
        return [
            (type(event).__name__, dataclasses.asdict(event))
            for event in self._machine.trace.since(first, self._next)
            if type(event).__name__ in _TIMED_KINDS
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

    def tell(self, events: ToldEvents, mark: int | None) -> float:
        """Take in events; return the host's time, or when an event was reached, in seconds.

        Raises:
            KeyError: There is no such kind of event, or the event was not recorded.
        """
        self._line.take(self._event(kind, fields) for kind, fields in events)
        return self._line.now if mark is None else self._line.time_of(mark)

    def _event(self, kind: str, fields: dict[str, Any]) -> TraceEvent:
        event = _TIMED_KINDS[kind](**fields)
        if isinstance(event, Kernel):
            seconds = self._lasts(event.device, event.bytes)
            if seconds is not None:
                # As bytes: a kernel without FLOPs lasts as long as its bytes take to move.
                moved = round(seconds * self._card.bandwidth)
                return dataclasses.replace(event, flops=0, bytes=moved)
        return event
