"""A stretch of a timeline in plain, bounded values: times in seconds since its start.

::

    {"profile": "v100", "elapsed": 0.9, "serial": 1.5, "ideal": 0.8,
     "devices": {"cuda:0": {"busy": 0.8, "kernels": 420}, "cuda:1": …},
     "idle": {"start": 0.4, "stream": 0.1, "blocked": 0.0, …},
     "critical": {"cuda:0": 0.6, "cuda:1": 0.2, "copies": 0.05, "host": 0.05},
     "gaps": [{"device": "cuda:1", "start": 0.0, "end": 0.4, "waited": "other", "for": "cuda:0",
               "before": "copy", "phase": "forward"}, …],
     "rows": [["cuda:0", 0.0, 0.1, "forward"], ["cuda:0", 0.1, 0.11, "copy"], …]}

A row of a device that works on several streams is of one of them: ``"cuda:0 stream 7"``.

Drawing is the business of ``grader.report``, and no student process has it: it is looked up by
name, when a picture is asked for and not before, so that the devices come along without it.
"""

from __future__ import annotations

from array import array
from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from grader.vgpu.core.trace import COMMUNICATION
from grader.vgpu.core.values import Value
from grader.vgpu.timeline.line import Kind, Span, Spans, Waited

Numbers = NDArray[Any]
Report = dict[Value, Value]
"""As above."""

REASONS = ("start", "end", *(each.value for each in Waited))
"""Why a device has nothing to do: nothing has reached it yet, all its work is done, or what its
next work waited for (``grader.vgpu.timeline.line.Waited``)."""
MOST_GAPS = 12
MOST_ROWS = 900
_FINEST = 400
"""Parts of the whole that a picture still shows."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """What ran from one moment to another at which host and devices had nothing left to do.

    Attributes:
        profile: Name of the profile.
        spans: In the order of their issue.
        first: Number of the first of them on the whole timeline.
        start: Seconds on the timeline.
        end: Likewise.
        devices: Names of all devices.
    """

    profile: str
    spans: Spans
    first: int
    start: float
    end: float
    devices: Sequence[str]

    @property
    def elapsed(self) -> float:
        """Seconds that it took."""
        return self.end - self.start

    @property
    def serial(self) -> float:
        """Seconds that the same kernels and copies take one after another."""
        total: float = sum(self._durations().tolist())
        return total

    @property
    def ideal(self) -> float:
        """Seconds of the device with most work, to which all other work could be parallel."""
        return max((self.busy(device) for device in self.devices), default=0.0)

    def busy(self, device: str) -> float:
        """Return the seconds of a device's kernels, and of copies that keep it from any."""
        total: float = sum(self._durations()[self._on(device)].tolist())
        return total

    def _durations(self) -> Numbers:
        return np.subtract(self.spans.ends, self.spans.starts)

    def _on(self, device: str) -> Numbers:
        """Return the numbers of the spans that keep a device busy, in the order of their issue."""
        table = [
            where == device or (arrives and target == device)
            for _, where, _, _, _, target, _, arrives, _ in self.spans.table
        ]
        return np.flatnonzero(np.array(table, bool)[np.array(self.spans.kinds)])

    def _in_time(self, device: str) -> Numbers:
        """Return the same by their beginnings."""
        found = self._on(device)
        # Stable: of spans that begin together the first that was issued stays first.
        return found[np.argsort(np.array(self.spans.starts)[found], kind="stable")]

    def report(self) -> Report:
        """Return everything as plain values."""
        devices: dict[Value, Value] = {
            device: {"busy": self.busy(device), "kernels": self._kernels(device)}
            for device in self.devices
        }
        lengths = {reason: array("d") for reason in REASONS}
        gaps = nsmallest(MOST_GAPS, self._gaps(lengths), key=lambda gap: gap.start - gap.end)
        # Sorted: the sum's rounding must not depend on the order in which gaps were met.
        idle: dict[Value, Value] = {
            reason: sum(sorted(each, reverse=True)) for reason, each in lengths.items()
        }
        return {
            "profile": self.profile,
            "elapsed": self.elapsed,
            "serial": self.serial,
            "ideal": self.ideal,
            "devices": devices,
            "idle": idle,
            "critical": dict(self.critical().items()),
            "gaps": [gap.plain(self) for gap in gaps],
            "rows": list(self.rows()),
        }

    def critical(self) -> dict[str, float]:
        """Return who takes how long of the chain of work that nothing could have shortened.

        From the span that ends last to what each had to wait for; between them is the host.
        """
        found = {**dict.fromkeys(self.devices, 0.0), "copies": 0.0, "host": 0.0}
        number = int(np.argmax(np.array(self.spans.ends))) if len(self.spans) else -1
        reached = self.end
        # A span that was cut away has no device: the chain goes back no further.
        while number >= 0 and self.spans[number].device:
            span = self.spans[number]
            # A span may begin its wait before another's end: what is counted is not counted twice.
            end = min(span.end, reached)
            found["host"] += reached - end
            found["copies" if span.is_copy else span.device] += end - span.start
            reached = span.start
            number = span.after - self.first
        found["host"] += reached - self.start
        return found

    def _kernels(self, device: str) -> int:
        copies = np.array([bool(kind[5]) for kind in self.spans.table], bool)
        return int((~copies[np.array(self.spans.kinds)[self._on(device)]]).sum())

    def _gaps(self, lengths: dict[str, array[float]]) -> Iterator[Gap]:
        """Yield all stretches without work; take down how long each was, by its reason."""
        starts, ends, kinds = self.spans.starts, self.spans.ends, self.spans.kinds
        for device in self.devices:
            reached = self.start
            for number in self._in_time(device).tolist():
                if starts[number] > reached:
                    waited = self.spans.table[kinds[number]][4]
                    reason = "start" if reached == self.start else waited.value
                    lengths[reason].append(starts[number] - reached)
                    yield Gap(device, reached, starts[number], reason, number)
                # On another stream of the device, a span that began later may end earlier.
                reached = max(reached, ends[number])
            if self.end > reached:
                lengths["end"].append(self.end - reached)
                yield Gap(device, reached, self.end, "end", -1)

    def rows(self) -> Iterator[Value]:
        """Yield what a picture shows: work on each stream, neighbours of one sort made one."""
        rows = [
            row
            for device in self.devices
            for stream in self._streams(device)
            for row in self._merged(device, stream)
        ]
        finest = self.elapsed / _FINEST
        # Bounded: each stream keeps a row of its own, however coarse the rows become.
        while len(rows) > MOST_ROWS and finest < 2 * self.elapsed:
            # What is left out would be white, where most is done.
            rows = list(_coarser(rows, finest))
            finest *= 2
        for row in rows[:MOST_ROWS]:
            yield [row.device, row.start - self.start, row.end - self.start, row.sort]

    def _streams(self, device: str) -> list[int | None]:
        """Return the streams that a device works on; None for all, where there is but one."""
        kinds = np.unique(np.array(self.spans.kinds)[self._on(device)]).tolist()
        found = {_stream_on(device, self.spans.table[kind]) for kind in kinds}
        return [*sorted(found, key=_collectives_last)] if len(found) > 1 else [None]

    def _merged(self, device: str, stream: int | None) -> Iterator[Row]:
        finest = self.elapsed / _FINEST
        name = device if stream is None else f"{device} {stream_name(stream)}"
        row: Row | None = None
        for number in self._in_time(device).tolist():
            kind = self.spans.table[self.spans.kinds[number]]
            if stream not in (None, _stream_on(device, kind)):
                continue
            sort = "copy" if kind[5] else kind[3]
            start, end = self.spans.starts[number], self.spans.ends[number]
            if row is not None and row.sort == sort and start - row.end < finest:
                row.end = max(row.end, end)
                continue
            if row is not None:
                yield row
            row = Row(name, start, end, sort)
        if row is not None:
            yield row


def _stream_on(device: str, kind: Kind) -> int:
    """Return the stream of a device on which a span is; of a copy, the source's or the target's."""
    return kind[2] if kind[1] == device else kind[8]


def _collectives_last(stream: int) -> tuple[bool, int]:
    return stream == COMMUNICATION, stream


def stream_name(stream: int) -> str:
    """Return what a stream of a device is called."""
    return "collectives" if stream == COMMUNICATION else f"stream {stream}"


def between(whole: Stretch, start: float, end: float) -> Stretch:
    """Return the part of a stretch from one moment to another, what reaches over its ends cut off.

    Args:
        whole: From the beginning of the timeline on.
        start: Seconds on the timeline.
        end: Likewise.
    """
    first, spans = whole.spans.cut(start, end)
    return Stretch(whole.profile, spans, whole.first + first, start, end, whole.devices)


@dataclass(slots=True)
class Row:
    """A bar of a picture: ``sort`` is ``forward``, ``backward`` or ``copy``."""

    device: str
    start: float
    end: float
    sort: str


def _coarser(rows: Iterable[Row], finest: float) -> Iterator[Row]:
    """Make one row of neighbours on a stream that together last no longer than ``finest``.

    It is of the sort that most of them is.
    """
    taken: list[Row] = []
    for row in rows:
        if taken and (row.device != taken[0].device or row.end - taken[0].start > finest):
            yield _joined(taken)
            taken = []
        taken.append(row)
    if taken:
        yield _joined(taken)


def _joined(rows: Sequence[Row]) -> Row:
    spent: dict[str, float] = defaultdict(float)
    for row in rows:
        spent[row.sort] += row.end - row.start
    return Row(rows[0].device, rows[0].start, rows[-1].end, max(spent, key=spent.__getitem__))


@dataclass(frozen=True, slots=True)
class Gap:
    """A device with nothing to do, until span ``before`` begins; −1: until all is over.

    ``reason`` is one of ``REASONS``.
    """

    device: str
    start: float
    end: float
    reason: str
    before: int

    def plain(self, stretch: Stretch) -> dict[Value, Value]:
        """Return it as plain values; ``for`` is the device that was waited for, or ``host``."""
        before = stretch.spans[self.before] if self.before >= 0 else None
        return {
            "device": self.device,
            "start": self.start - stretch.start,
            "end": self.end - stretch.start,
            "waited": self.reason,
            "for": "" if before is None else self._cause(before, stretch),
            "before": "" if before is None else before.what,
            "phase": "" if before is None else before.phase,
        }

    def _cause(self, before: Span, stretch: Stretch) -> str:
        # What came by a copy was waited for where it came from.
        if before.is_copy and before.device != self.device:
            return before.device
        number = before.after - stretch.first
        if before.waited is Waited.LAUNCH or number < 0:
            return "host"
        return stretch.spans[number].device


_DRAWN_BY = "grader.report.pictures.gantt"


class PictureError(Exception):
    """No picture can be drawn here; says why, and what to do."""


def need_drawing() -> None:
    """Make sure that pictures can be drawn here; costs next to nothing.

    Raises:
        PictureError: matplotlib is missing.
    """
    if find_spec("matplotlib") is None:
        raise PictureError("a picture needs matplotlib, which is missing: pip install matplotlib")


def picture(report: Mapping[Value, Value], title: str, kind: str = "svg") -> bytes | None:
    """Draw what each device did when.

    Args:
        report: Of a stretch of a timeline (``grader.vgpu.timeline.report``).
        title: What it is of.
        kind: ``svg`` or ``png``.

    Returns:
        The content of a file; None where nothing ran.

    Raises:
        PictureError: Something that drawing needs is missing.
    """
    need_drawing()
    try:
        draw = import_module(_DRAWN_BY).draw_lap
    except ImportError as error:
        raise PictureError(f"a picture needs {error.name}: pip install {error.name}") from None
    return cast("bytes | None", draw(report, title, kind))


def image(svg: bytes, title: str) -> str:
    """Return a picture as HTML: an image, in which nothing runs and which loads nothing."""
    source = f"data:image/svg+xml;base64,{b64encode(svg).decode()}"
    return f'<img style="max-width:100%" alt="{escape(title)}" src="{source}">'


class ShownPicture:
    """A picture below a cell, and its title for a terminal."""

    def __init__(self, svg: bytes, title: str) -> None:
        self._svg = svg
        self._title = title

    def _repr_html_(self) -> str:
        return image(self._svg, self._title)

    def __repr__(self) -> str:
        return f"<picture: {self._title}>"
