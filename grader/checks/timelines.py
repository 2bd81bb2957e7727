"""What a guest says that its devices did when, checked for form. Claims, all of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grader.checks.traces import items, mapping, text
from grader.wire.values import Value

_MOST_SECONDS = 1e6


@dataclass(frozen=True, slots=True)
class Gap:
    """A device with nothing to do.

    Attributes:
        device: ``cuda:N``.
        start: Seconds from the beginning.
        end: Likewise.
        reason: Why: ``start``, ``end``, ``stream``, ``other``, ``launch`` or ``blocked``.
        awaited: The device that was waited for, ``host``, or empty.
    """

    device: str
    start: float
    end: float
    reason: str
    awaited: str


@dataclass(frozen=True, slots=True)
class Timing:
    """What happened on a timeline.

    Attributes:
        profile: Of every device.
        elapsed: Seconds in all.
        serial: Of the same work, one piece after another.
        ideal: Of the device with most work.
        busy: Device → seconds.
        idle: Reason → seconds that devices had nothing to do for it.
        critical: Device, ``copies`` or ``host`` → its seconds of the chain that set the time.
        gaps: The longest.
        rows: Device, start, end and sort of what a picture shows.
    """

    profile: str
    elapsed: float
    serial: float
    ideal: float
    busy: Mapping[str, float]
    idle: Mapping[str, float]
    critical: Mapping[str, float]
    gaps: tuple[Gap, ...]
    rows: tuple[tuple[str, float, float, str], ...] = ()

    @property
    def work(self) -> float:
        """Seconds of all devices together."""
        return sum(self.busy.values())

    @property
    def possible(self) -> float:
        """Seconds that working side by side could save."""
        return self.serial - self.ideal

    @property
    def share(self) -> float:
        """What it saves of that, from 0 to 1."""
        if self.possible <= 0:
            return 0.0
        return min(1.0, max(0.0, (self.serial - self.elapsed) / self.possible))


def read_timing(told: Value) -> Timing | None:
    """Return the timing that a value tells, or None if it has another form."""
    try:
        fields = mapping(told)
        devices = {text(name): mapping(item) for name, item in mapping(fields["devices"]).items()}
        return Timing(
            text(fields["profile"]),
            _seconds(fields["elapsed"]),
            _seconds(fields["serial"]),
            _seconds(fields["ideal"]),
            {name: _seconds(item["busy"]) for name, item in devices.items()},
            _named(fields["idle"]),
            _named(fields["critical"]),
            tuple(_gap(mapping(gap)) for gap in items(fields["gaps"])),
            tuple(_row(row) for row in items(fields["rows"])),
        )
    except (KeyError, TypeError, ValueError):
        return None


def _gap(told: Mapping[Value, Value]) -> Gap:
    return Gap(
        text(told["device"]), _seconds(told["start"]), _seconds(told["end"]),
        text(told["waited"]), text(told["for"]),
    )  # fmt: skip


def _row(told: Value) -> tuple[str, float, float, str]:
    device, start, end, sort = items(told)
    return text(device), _seconds(start), _seconds(end), text(sort)


def _named(told: Value) -> dict[str, float]:
    return {text(name): _seconds(value) for name, value in mapping(told).items()}


def _seconds(value: Value) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise TypeError(value)
    # Sums of many small numbers may miss 0 by a rounding.
    # A comparison takes an int of any length, math.isfinite does not; NaN fails it.
    if not -1e-6 <= value <= _MOST_SECONDS:
        raise TypeError(value)
    return max(0.0, float(value))
