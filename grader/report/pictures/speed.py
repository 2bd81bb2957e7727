"""Bars for a function on a GPU: its first call and its later ones, copying and computing.

Why the author of the course's notebook saw the GPU lose: the first call makes the device ready, for
a second, and whoever times that one call times nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.report.pictures.canvas import (
    BLUE,
    GREY,
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

_SIZE = (8.4, 3.0)
_WIDTH = 0.6
_LABELS = {"cpu": "CPU", "reference": "GPU,\nreference", "student": "GPU,\nsubmission"}


@dataclass(frozen=True, slots=True)
class DeviceBars:
    """What is drawn, in milliseconds, the wire's time taken off.

    Attributes:
        device: Its name.
        cold: Party → the first call in a fresh process.
        warm: Party → median of the later ones.
        quartiles: Party → between which the middle half of these lay.
        transfer: Median of copying inputs there and an output back, computing nothing.
        sizes: Of the inputs, in words.
    """

    device: str
    cold: Mapping[str, float]
    warm: Mapping[str, float]
    quartiles: Mapping[str, tuple[float, float]]
    transfer: float
    sizes: str = ""


def bars_of(evidence: Mapping[str, object]) -> DeviceBars | None:
    """Return the bars of a check of kind ``speedup``, from its evidence; None if it has none."""
    wire, transfer = evidence.get("wire_ms"), evidence.get("transfer_ms")
    if not isinstance(wire, (int, float)) or not isinstance(transfer, (int, float)):
        return None
    cold, warm, between = {}, {}, {}
    for party in _LABELS:
        first, later = evidence.get(f"cold_{party}_ms"), evidence.get(f"{party}_ms")
        middle_half = evidence.get(f"{party}_quartiles_ms")
        if isinstance(first, (int, float)) and isinstance(later, (int, float)):
            cold[party], warm[party] = max(0.0, first - wire), max(0.0, later)
        if isinstance(middle_half, list) and len(middle_half) == 2:
            low, high = middle_half
            if isinstance(low, (int, float)) and isinstance(high, (int, float)):
                between[party] = (low, high)
    device, sizes = evidence.get("device"), evidence.get("sizes")
    return DeviceBars(str(device or "GPU"), cold, warm, between, transfer, str(sizes or ""))


@style()
def draw_device(bars: DeviceBars, kind: Format = "svg") -> bytes:
    """Draw the bars.

    Raises:
        ValueError: There are none.
    """
    if not bars.warm:
        raise ValueError("without a single time there are no bars to draw")
    figure, axes = new_figure(*_SIZE, columns=3)
    parties = [party for party in _LABELS if party in bars.warm]
    there = [party for party in parties if party != "cpu"]
    titles = ("first call in a process", "calls after it", "calls after it, on the GPU")
    for each, title in zip(axes, titles, strict=True):
        each.set_title(title)
        each.grid(axis="y", color=GREY, alpha=0.25, linewidth=0.6)
        each.set_axisbelow(True)
        each.margins(y=0.15)
        # Calls take from milliseconds to a minute: each number says in what.
        each.yaxis.set_major_formatter(lambda value, _: _amount(value) if value else "0")
    axes[0].bar(_labels(parties), [bars.cold[party] for party in parties], _WIDTH, color=ORANGE)
    _write(axes[0], parties, bars.cold)
    axes[1].bar(_labels(parties), [bars.warm[party] for party in parties], _WIDTH, color=BLUE)
    _spread(axes[1], parties, bars)
    _parts(axes[2], there, bars)
    _spread(axes[2], there, bars)
    title = f"On {bars.device}" + (f", {bars.sizes}" if bars.sizes else "")
    figure.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold")
    note(figure, "whiskers: the middle half of the calls", top=True)
    about = (f"{_plain(party)}: {_amount(bars.cold[party])}, then {_amount(bars.warm[party])}"
            for party in parties)  # fmt: skip
    return to_bytes(figure, kind, title, "; ".join(about))


def _parts(axes: Axes, parties: list[str], bars: DeviceBars) -> None:
    """Draw what of each time is copying; nobody copies for longer than it took in all."""
    whole = [bars.warm[party] for party in parties]
    copied = [min(bars.transfer, every) for every in whole]
    computed = [every - copy for every, copy in zip(whole, copied, strict=True)]
    axes.bar(_labels(parties), copied, _WIDTH, color=PALE, label="copying")
    axes.bar(_labels(parties), computed, _WIDTH, bottom=copied, color=BLUE, label="computing")
    axes.margins(y=0.35)
    axes.legend(loc="upper left", fontsize=8, ncols=2, columnspacing=1, handlelength=1)


def _spread(axes: Axes, parties: list[str], bars: DeviceBars) -> None:
    """Draw between which quartiles the middle half of the calls lay, and write the medians."""
    whole = [bars.warm[party] for party in parties]
    spans = [bars.quartiles.get(party, (bars.warm[party],) * 2) for party in parties]
    errors = [
        [max(0.0, every - low) for every, (low, _) in zip(whole, spans, strict=True)],
        [max(0.0, high - every) for every, (_, high) in zip(whole, spans, strict=True)],
    ]
    axes.errorbar(
        _labels(parties), whole, yerr=errors, fmt="none", ecolor=INK, elinewidth=1, capsize=3
    )
    tops = {party: high for party, (_, high) in zip(parties, spans, strict=True)}
    _write(axes, parties, bars.warm, tops)


def _write(
    axes: Axes,
    parties: list[str],
    values: Mapping[str, float],
    tops: Mapping[str, float] | None = None,
) -> None:
    for place, party in enumerate(parties):
        top = max(values[party], (tops or values)[party])
        axes.annotate(
            _amount(values[party]), (place, top), (0, 4), textcoords="offset points",
            ha="center", fontsize=8,
        )  # fmt: skip


def _labels(parties: list[str]) -> list[str]:
    return [_LABELS[party] for party in parties]


def _amount(milliseconds: float) -> str:
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.3g} s"
    return f"{milliseconds:.3g} ms"


def _plain(party: str) -> str:
    return _LABELS[party].replace("\n", " ")


_PACE_SIZE = (6.4, 1.9)


@dataclass(frozen=True, slots=True)
class PaceMarks:
    """What is drawn, in multiples of the time without a loop.

    Attributes:
        student: Of the submission, the median of all sets of processes.
        loop: Of the loop.
        span: The submission's least and greatest of all sets.
        sizes: Of the inputs, in words.
    """

    student: float
    loop: float
    span: tuple[float, float]
    sizes: str = ""


def marks_of(evidence: Mapping[str, object]) -> PaceMarks | None:
    """Return the marks of a check of kind ``vectorised``, from its evidence, if it has any."""
    times, loop, indices = (evidence.get(name) for name in ("times", "loop_times", "indices"))
    if not isinstance(times, (int, float)) or not isinstance(loop, (int, float)):
        return None
    if times <= 0 or loop <= 1:
        return None
    recorded = indices if isinstance(indices, list) else []
    # The index is a logarithm to the base of the loop's time.
    sets = [math.pow(loop, each) for each in recorded if isinstance(each, (int, float))] or [times]
    span = (min(times, *sets), max(times, *sets))
    return PaceMarks(times, loop, span, str(evidence.get("sizes") or ""))


@style()
def draw_pace(marks: PaceMarks, kind: Format = "svg") -> bytes:
    """Draw the marks."""
    figure, (axes,) = new_figure(*_PACE_SIZE)
    own = "this submission"
    names = ["with a loop", own, "without a loop"]
    values = [marks.loop, marks.student, 1.0]
    colours = [ORANGE, INK, BLUE]
    low, high = marks.span
    axes.hlines(names, min(1.0, low), values, color=colours, linewidth=2, alpha=0.35)
    axes.errorbar(
        [marks.student], [own], xerr=[[marks.student - low], [high - marks.student]],
        fmt="none", ecolor=INK, elinewidth=1, capsize=3,
    )  # fmt: skip
    axes.scatter(values, names, color=colours, s=36, zorder=3)
    for place, (name, value) in enumerate(zip(names, values, strict=True)):
        axes.annotate(
            f"{value:.3g}×", (max(value, high if name == own else value), place), (9, 0),
            textcoords="offset points", va="center", fontsize=8,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.margins(x=0.12, y=0.25)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}×")
    axes.xaxis.set_minor_formatter(lambda _value, _: "")
    axes.grid(axis="x", color=GREY, alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("time a call, as a multiple of the reference's without a loop")
    title = "How fast" + (f", {marks.sizes}" if marks.sizes else "")
    axes.set_title(title, fontweight="bold")
    note(figure, "whiskers: all sets of processes", top=True)
    about = f"{marks.student:.3g} times as long as without a loop; a loop takes {marks.loop:.3g}."
    return to_bytes(figure, kind, title, about)
