"""What each GPU did when: where two of them work side by side, and where one stands idle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.report.pictures.canvas import (
    BLUE,
    GROUND,
    INK,
    ON_BAR,
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

_LEAST_NUMBERED = 0.009
"""Share of the picture's width that a digit needs."""
_LEAST_PIECE = 0.2
"""Of the middle one's length."""
_WIDTH, _PER_DEVICE, _AROUND = 8.4, 0.55, 1.2
_COLOURS = {"forward": BLUE, "backward": ORANGE, "copy": INK, "idle": PALE}
_WORDS = {
    "forward": "forward, update",
    "backward": "backward",
    "copy": "copying",
    "idle": "longest gap",
}


@dataclass(frozen=True, slots=True)
class GanttBar:
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
    bars: Sequence[GanttBar]
    elapsed: float
    serial: float
    ideal: float
    gap: GanttBar | None = None


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
        GanttBar(device, 1e3 * start, 1e3 * end, sort)
        for device, start, end, sort in report["rows"]
    ]
    between = [gap for gap in report["gaps"] if gap["waited"] not in ("start", "end")]
    # They come with the longest first.
    gaps = [
        GanttBar(gap["device"], 1e3 * gap["start"], 1e3 * gap["end"], "idle") for gap in between
    ]
    elapsed, serial, ideal = (1e3 * report[name] for name in ("elapsed", "serial", "ideal"))
    return Gantt(title, bars, elapsed, serial, ideal, gaps[0] if gaps else None)


def draw_lap(report: Mapping[str, Any], title: str, kind: Format = "svg") -> bytes | None:
    """Draw a stretch of a timeline; None where nothing ran.

    ``grader.vgpu.timeline.report`` looks it up by name.
    """
    gantt = gantt_of_lap(report, title)
    return draw_gantt(gantt, kind) if gantt.bars else None


def _bar(row: object) -> GanttBar | None:
    if not isinstance(row, list) or len(row) != 4:
        return None
    device, start, end, sort = row
    if not (isinstance(device, str) and isinstance(sort, str) and sort in _COLOURS):
        return None
    if not (isinstance(start, (int, float)) and isinstance(end, (int, float))):
        return None
    return GanttBar(device, float(start), float(end), sort)


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
    _number(axes, gantt, devices)
    axes.set_yticks(range(len(devices)), devices)
    axes.invert_yaxis()
    axes.set_xlim(0, gantt.elapsed)
    axes.set_xlabel("milliseconds on the timeline")
    axes.set_title(gantt.title)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8, handlelength=1)
    about = (f"{gantt.elapsed:.1f} ms; one after another {gantt.serial:.1f} ms, "
            f"at best {gantt.ideal:.1f} ms")  # fmt: skip
    # Below, where no title reaches, however long a script's name is.
    note(figure, about)
    return to_bytes(figure, kind, gantt.title, about)


def _line(axes: Axes, bars: Sequence[GanttBar], devices: Sequence[str], sort: str) -> None:
    if not bars:
        return
    idle = sort == "idle"
    axes.barh(
        [devices.index(bar.device) for bar in bars],
        [bar.end - bar.start for bar in bars],
        0.6,
        left=[bar.start for bar in bars],
        color=_COLOURS[sort],
        hatch="///" if idle else None,
        # An edge of the bar's own colour: white ones would hide what is thinner than they are.
        edgecolor=GROUND if idle else _COLOURS[sort],
        linewidth=0.4,
        label=_WORDS[sort],
    )


def pieces(bars: Sequence[GanttBar]) -> dict[GanttBar, int]:
    """Return the numbers of a batch's pieces (micro-batches) on one device, if it has several.

    A piece is what is computed between two copies. Those of a backward pass come in the opposite
    order. What follows a backward pass without a copy is the optimiser's update, and no piece.
    """
    runs: list[list[list[GanttBar]]] = []
    before, update = "copy", False
    for bar in sorted(bars, key=lambda bar: bar.start):
        if bar.sort not in ("forward", "backward"):
            before = bar.sort
            continue
        starts = before == "copy"
        if not runs or runs[-1][0][0].sort != bar.sort or (update and starts):
            update = bool(runs) and bar.sort == "forward" and not starts
            runs.append([[bar]])
        elif starts:
            runs[-1].append([bar])
        else:
            runs[-1][-1].append(bar)
        before = bar.sort
    return {bar: number for run in runs for number, piece in _counted(run) for bar in piece}


def _counted(run: Sequence[Sequence[GanttBar]]) -> Iterator[tuple[int, Sequence[GanttBar]]]:
    """Number the pieces of a pass over one batch; one alone gets none.

    A loss or an update between two copies is far shorter than a piece.
    """
    lasts = [piece[-1].end - piece[0].start for piece in run]
    whole = [
        piece
        for piece, each in zip(run, lasts, strict=True)
        if each > _LEAST_PIECE * sorted(lasts)[len(lasts) // 2]
    ]
    if len(whole) > 1:
        yield from enumerate(whole if run[0][0].sort == "forward" else reversed(whole), 1)


def _number(axes: Axes, gantt: Gantt, devices: Sequence[str]) -> None:
    """Write its number on each piece that is wide enough for it."""
    for row, device in enumerate(devices):
        for bar, number in pieces([bar for bar in gantt.bars if bar.device == device]).items():
            if bar.end - bar.start >= gantt.elapsed * _LEAST_NUMBERED * len(str(number)):
                axes.text(
                    (bar.start + bar.end) / 2, row, str(number),
                    color=ON_BAR, fontsize=6.5, ha="center", va="center",
                )  # fmt: skip
