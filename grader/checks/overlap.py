"""Kind ``overlap``: devices work side by side on a timeline, not one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from grader.checks.base import Probe
from grader.checks.device_checks import DeviceCheck
from grader.checks.traces import items, mapping, text
from grader.observation import Observation
from grader.verdict import Basis, Code, Param, Verdict, finding, passed, plain
from grader.wire.values import Value

_MOST_ROWS = 200
_WEIGHTY = 0.2
"""Share of all idle time from which on a reason for it is worth telling."""


class Overlap(DeviceCheck):
    """A pipeline keeps its devices busy at the same time. A claim, as every device trace.

    Judged is what working side by side saves: between the time of the same work one piece after
    another (0) and that of the device with most work (1).

    Attributes:
        at_least: The share of it that is to be saved.
        times: It takes at most so many times as long as the reference: pieces of work that
            nobody asked for can overlap as well.
        of_reference: And its devices are busy at least so many times as long, so that two token
            products side by side are not enough.
        replayed: The report comes from ``repeat``: the stage ran the log again. A fact then.
    """

    kind: Literal["overlap"] = "overlap"
    of_a_timeline: ClassVar[bool] = True
    report: ClassVar[str] = "timeline report"
    at_least: float = Field(default=0.5, gt=0, le=1)
    times: float = Field(default=1.5, ge=1, allow_inf_nan=False)
    of_reference: float = Field(default=0.5, ge=0, le=1)
    replayed: bool = False

    @model_validator(mode="after")
    def _of_a_lap(self) -> Overlap:
        if self.item is None:
            raise ValueError("name the item of the scenario's dict that is a lap's report: “item”")
        return self

    def needs(self) -> frozenset[Probe]:
        """Return the source, as second witness."""
        return frozenset({Probe.SOURCE})

    def devices_in(self, seen: Observation) -> DeviceTimeline | None:
        """Return the timeline."""
        return read_timeline(seen.claims.value)

    def weigh(self, expected: DeviceTimeline, actual: DeviceTimeline) -> Verdict:
        """Weigh the timelines, and keep what a picture of the submission's shows."""
        verdict = self._weigh(expected, actual)
        drawn: dict[str, Param] = {
            **verdict.evidence,
            **_numbers(actual),
            "timeline": _rows(actual),
        }
        return replace(verdict, evidence=drawn)

    def _weigh(self, expected: DeviceTimeline, actual: DeviceTimeline) -> Verdict:
        """Compare what is saved with what could be, and the time with the reference's."""
        most = self.times * expected.elapsed
        work, wanted = actual.work, self.of_reference * expected.work
        params: dict[str, Param] = {
            **_numbers(actual),
            "least": 100 * self.at_least,
            "reference": 100 * expected.share,
            "most": 1e3 * most,
        }
        if actual.share < self.at_least:
            why = {**_gap(actual), **_cause(actual)}
            return finding(Code.NOT_OVERLAPPED, "overlap_little", {**params, **why}, Basis.CLAIM)
        if actual.elapsed > most:
            return finding(Code.NOT_OVERLAPPED, "overlap_slow", params, Basis.CLAIM)
        if work < wanted:
            params |= {"work": 1e3 * work, "wanted": 1e3 * wanted}
            return finding(Code.NOT_OVERLAPPED, "overlap_token", params, Basis.CLAIM)
        return passed(Basis.CLAIM)


def _numbers(timing: DeviceTimeline) -> dict[str, Param]:
    on_the_way: dict[str, Param] = {
        f"critical_{plain(name)}": 1e3 * seconds for name, seconds in timing.critical.items()
    }
    return {
        "share": 100 * timing.share,
        "elapsed": 1e3 * timing.elapsed,
        "serial": 1e3 * timing.serial,
        "ideal": 1e3 * timing.ideal,
        "profile": plain(timing.profile),
        **on_the_way,
    }


def _rows(timing: DeviceTimeline) -> list[Param]:
    """Return what a picture shows, the longest first to stay, in milliseconds."""
    # Bounded: a claim may hold any number of rows, and each goes into the report.
    longest = sorted(timing.rows, key=lambda row: row[1] - row[2])[:_MOST_ROWS]
    return [
        # Sorted again: the longest were chosen, but the picture is drawn by device and time.
        [plain(device), 1e3 * start, 1e3 * end, plain(sort)]
        for device, start, end, sort in sorted(longest)
    ]


def _gap(timing: DeviceTimeline) -> dict[str, Param]:
    """Return the longest gap, such as one between two pieces of work where there is any."""
    between = [gap for gap in timing.gaps if gap.reason not in ("start", "end")]
    # A host that waited is why all else came late.
    waited = [gap for gap in between if gap.reason == "blocked"]
    told_of = waited if _weighty(timing, "blocked") else between
    gap = max(told_of or timing.gaps, key=_length, default=None)
    if gap is None:
        return {}
    params: dict[str, Param] = {
        "device": plain(gap.device), "start": 1e3 * gap.start, "end": 1e3 * gap.end,
    }  # fmt: skip
    return {**params, "awaited": plain(gap.awaited)} if gap.awaited else params


def _length(gap: IdleGap) -> float:
    return gap.end - gap.start


def _cause(timing: DeviceTimeline) -> dict[str, Param]:
    """Return the likely reason."""
    busy = [device for device, seconds in timing.busy.items() if seconds > 0]
    if len(busy) < 2:
        return {"cause": "one_alone", "busy": plain(busy[0])} if busy else {}
    if _weighty(timing, "blocked"):
        return {"cause": "host_waited"}
    if _weighty(timing, "launch", 2 * _WEIGHTY):
        return {"cause": "launches"}
    waiting = {gap.device for gap in timing.gaps if gap.reason in ("stream", "other")}
    if _weighty(timing, "stream") or _weighty(timing, "other"):
        both = len(waiting) > 1
        return {"cause": "sent_back"} if both else {"cause": "out_of_turn"}
    return {"cause": "one_after_another"}


def _weighty(timing: DeviceTimeline, reason: str, share: float = _WEIGHTY) -> bool:
    """Tell whether a reason explains much of the idle time."""
    return timing.idle.get(reason, 0.0) > share * sum(timing.idle.values())


_MOST_SECONDS = 1e6


@dataclass(frozen=True, slots=True)
class IdleGap:
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
class DeviceTimeline:
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
    gaps: tuple[IdleGap, ...]
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
        """Share of that time which it saves, from 0 to 1."""
        if self.possible <= 0:
            return 0.0
        return min(1.0, max(0.0, (self.serial - self.elapsed) / self.possible))


def read_timeline(value: Value) -> DeviceTimeline | None:
    """Return the timing that a value describes, or None if it has another form."""
    try:
        fields = mapping(value)
        devices = {text(name): mapping(item) for name, item in mapping(fields["devices"]).items()}
        return DeviceTimeline(
            text(fields["profile"]),
            _seconds(fields["elapsed"]),
            _seconds(fields["serial"]),
            _seconds(fields["ideal"]),
            {name: _seconds(item["busy"]) for name, item in devices.items()},
            _named(fields["idle"]),
            _named(fields["critical"]),
            tuple(_read_gap(mapping(gap)) for gap in items(fields["gaps"])),
            tuple(_row(row) for row in items(fields["rows"])),
        )
    except (KeyError, TypeError, ValueError):
        return None


def _read_gap(value: Mapping[Value, Value]) -> IdleGap:
    return IdleGap(
        text(value["device"]), _seconds(value["start"]), _seconds(value["end"]),
        text(value["waited"]), text(value["for"]),
    )  # fmt: skip


def _row(value: Value) -> tuple[str, float, float, str]:
    device, start, end, sort = items(value)
    return text(device), _seconds(start), _seconds(end), text(sort)


def _named(node: Value) -> dict[str, float]:
    return {text(name): _seconds(value) for name, value in mapping(node).items()}


def _seconds(value: Value) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise TypeError(value)
    # Sums of many small numbers may miss 0 by a rounding.
    # A comparison takes an int of any length, math.isfinite does not; NaN fails it.
    if not -1e-6 <= value <= _MOST_SECONDS:
        raise TypeError(value)
    return max(0.0, float(value))
