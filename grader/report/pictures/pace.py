"""Where a function's time lies between that of two references: without a loop, and with one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from grader.report.pictures.canvas import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    Format,
    new_figure,
    note,
    style,
    to_bytes,
)

_SIZE = (6.4, 1.9)


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
    told = indices if isinstance(indices, list) else []
    # The index is a logarithm to the base of the loop's time.
    sets = [math.pow(loop, each) for each in told if isinstance(each, (int, float))] or [times]
    span = (min(times, *sets), max(times, *sets))
    return PaceMarks(times, loop, span, str(evidence.get("sizes") or ""))


@style()
def draw_pace(marks: PaceMarks, kind: Format = "svg") -> bytes:
    """Draw the marks."""
    figure, (axes,) = new_figure(*_SIZE)
    names = ["with a loop", "this hand-in", "without a loop"]
    values = [marks.loop, marks.student, 1.0]
    colours = [ORANGE, INK, BLUE]
    low, high = marks.span
    axes.hlines(names, min(1.0, low), values, color=colours, linewidth=2, alpha=0.35)
    axes.errorbar(
        [marks.student], ["this hand-in"], xerr=[[marks.student - low], [high - marks.student]],
        fmt="none", ecolor=INK, elinewidth=1, capsize=3,
    )  # fmt: skip
    axes.scatter(values, names, color=colours, s=36, zorder=3)
    for name, value in zip(names, values, strict=True):
        axes.annotate(
            f"{value:.3g}×", (max(value, high if name == "this hand-in" else value), name), (9, 0),
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
