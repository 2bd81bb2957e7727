"""What each GPU did when: where two of them work side by side, and where one stands idle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.report.pictures.canvas import (
    BLUE,
    INK,
    ORANGE,
    PALE,
    Format,
    new_figure,
    note,
    style,
    to_bytes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH, _PER_DEVICE, _AROUND = 8.4, 0.55, 1.2
_COLOURS = {"forward": BLUE, "backward": ORANGE, "copy": INK, "idle": PALE}
_WORDS = {
    "forward": "forward, update",
    "backward": "backward",
    "copy": "copying",
    "idle": "longest gap",
}


@dataclass(frozen=True, slots=True)
class Bar:
    """Work on a device: its ``sort`` is ``forward``, ``backward`` or ``copy``; milliseconds."""

    device: str
    start: float
    end: float
    sort: str


@dataclass(frozen=True, slots=True)
class Gantt:
    """What is drawn, in milliseconds.

    Attributes:
        title: What it is of.
        bars: All work, device by device.
        elapsed: In all.
        serial: Of the same work one piece after another.
        ideal: Of the device with most work.
        gap: The longest idle gap between work, as a bar of sort ``idle``; None where there is none.
    """

    title: str
    bars: Sequence[Bar]
    elapsed: float
    serial: float
    ideal: float
    gap: Bar | None = None


def gantt_of(evidence: Mapping[str, object], title: str) -> Gantt | None:
    """Return the picture of a check of kind ``overlap``, from its evidence; None if it has none."""
    rows = evidence.get("timeline")
    numbers = [evidence.get(name) for name in ("elapsed", "serial", "ideal")]
    if not isinstance(rows, list) or not all(isinstance(each, (int, float)) for each in numbers):
        return None
    bars = [bar for row in rows if (bar := _bar(row)) is not None]
    gap = _bar([evidence.get(name) for name in ("device", "start", "end")] + ["idle"])
    elapsed, serial, ideal = (float(str(each)) for each in numbers)
    return Gantt(title, bars, elapsed, serial, ideal, gap)


def gantt_of_lap(report: Mapping[str, Any], title: str) -> Gantt:
    """Return the picture of a stretch of a timeline, from its report.

    Args:
        report: As ``grader.vgpu.timeline.report`` makes it, times in seconds.
        title: What it is of.
    """
    bars = [
        Bar(device, 1e3 * start, 1e3 * end, sort) for device, start, end, sort in report["rows"]
    ]
    between = [gap for gap in report["gaps"] if gap["waited"] not in ("start", "end")]
    # They come with the longest first.
    gaps = [Bar(gap["device"], 1e3 * gap["start"], 1e3 * gap["end"], "idle") for gap in between]
    elapsed, serial, ideal = (1e3 * report[name] for name in ("elapsed", "serial", "ideal"))
    return Gantt(title, bars, elapsed, serial, ideal, gaps[0] if gaps else None)


def draw_lap(report: Mapping[str, Any], title: str, kind: Format = "svg") -> bytes | None:
    """Draw a stretch of a timeline; None where nothing ran. What ``grader.vgpu.pictures`` asks for.

    Args:
        report: As of ``gantt_of_lap``.
        title: What it is of.
        kind: Of the file.
    """
    gantt = gantt_of_lap(report, title)
    return draw_gantt(gantt, kind) if gantt.bars else None


def _bar(row: object) -> Bar | None:
    if not isinstance(row, list) or len(row) != 4:
        return None
    device, start, end, sort = row
    if not (isinstance(device, str) and isinstance(sort, str) and sort in _COLOURS):
        return None
    if not (isinstance(start, (int, float)) and isinstance(end, (int, float))):
        return None
    return Bar(device, float(start), float(end), sort)


@style()
def draw_gantt(gantt: Gantt, kind: Format = "svg") -> bytes:
    """Draw the bars, a line of them for each device.

    Raises:
        ValueError: There are none.
    """
    if not gantt.bars:
        raise ValueError("without any work on a device there is nothing to draw")
    devices = sorted({bar.device for bar in gantt.bars})
    figure, (axes,) = new_figure(_WIDTH, _AROUND + _PER_DEVICE * len(devices))
    every = [*gantt.bars, gantt.gap] if gantt.gap and gantt.gap.device in devices else gantt.bars
    for sort in _COLOURS:
        _line(axes, [bar for bar in every if bar.sort == sort], devices, sort)
    axes.set_yticks(range(len(devices)), devices)
    axes.invert_yaxis()
    axes.set_xlim(0, gantt.elapsed)
    axes.set_xlabel("milliseconds on the timeline")
    axes.set_title(gantt.title)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8, handlelength=1)
    told = (f"{gantt.elapsed:.1f} ms; one after another {gantt.serial:.1f} ms, "
            f"at best {gantt.ideal:.1f} ms")  # fmt: skip
    # Below, where no title reaches, however long a script's name is.
    note(figure, told)
    return to_bytes(figure, kind, gantt.title, told)


def _line(axes: Axes, bars: Sequence[Bar], devices: Sequence[str], sort: str) -> None:
    if not bars:
        return
    axes.barh(
        [devices.index(bar.device) for bar in bars],
        [bar.end - bar.start for bar in bars],
        0.6,
        left=[bar.start for bar in bars],
        color=_COLOURS[sort],
        hatch="///" if sort == "idle" else None,
        edgecolor="white",
        linewidth=0.4,
        label=_WORDS[sort],
    )
