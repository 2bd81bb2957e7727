"""Time against the size of the batch: with a loop, and without.

What the course's notebook draws, from recorded samples: medians, and between which quartiles the
middle half of the repeats lay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import quantiles

from grader.report.pictures.canvas import (
    BLUE,
    GREY,
    ORANGE,
    Format,
    new_figure,
    note,
    style,
    to_bytes,
)

_SIZE = (6.4, 3.6)


@dataclass(frozen=True, slots=True)
class Quartiles:
    """The middle half of repeats, and their median, in seconds."""

    low: float
    middle: float
    high: float


@dataclass(frozen=True, slots=True)
class Point:
    """What was measured at one size.

    Attributes:
        size: Of the batch.
        loop: With a loop.
        noloop: Without.
    """

    size: int
    loop: Quartiles
    noloop: Quartiles


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep over sizes.

    Attributes:
        points: In the order of their sizes.
        subject: What was timed, such as ``batched_matrix_multiply, 64×64``.
        repeats: Measurements at each size.
    """

    points: tuple[Point, ...]
    subject: str
    repeats: int


def quartiles_of(seconds: Sequence[float]) -> Quartiles:
    """Return the quartiles of repeats.

    Raises:
        ValueError: There are fewer than two.
    """
    if len(seconds) < 2:
        raise ValueError(f"{len(seconds)} repeats have no quartiles; two at least have")
    return Quartiles(*quantiles(seconds, n=4, method="inclusive"))


@style()
def draw_sweep(sweep: Sweep, kind: Format = "svg") -> bytes:
    """Draw a sweep.

    Raises:
        ValueError: It has no points.
    """
    if not sweep.points:
        raise ValueError("a sweep without points cannot be drawn")
    figure, (axes,) = new_figure(*_SIZE)
    sizes = [point.size for point in sweep.points]
    for name, colour, column in (
        ("with a loop", ORANGE, [point.loop for point in sweep.points]),
        ("without", BLUE, [point.noloop for point in sweep.points]),
    ):
        middle = [1e3 * each.middle for each in column]
        errors = [
            [1e3 * (each.middle - each.low) for each in column],
            [1e3 * (each.high - each.middle) for each in column],
        ]
        axes.errorbar(
            sizes, middle, yerr=errors, color=colour, ecolor=colour, elinewidth=0.8, capsize=1.5,
            marker="o", markersize=2.5, linewidth=1.2, label=name,
        )  # fmt: skip
    axes.set_xlabel("batch size B")
    axes.set_ylabel("milliseconds a call")
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", color=GREY, alpha=0.25, linewidth=0.6)
    axes.legend(loc="upper left")
    title = f"{sweep.subject}: time against the batch"
    axes.set_title(title)
    note(figure, f"median and middle half of {sweep.repeats} repeats")
    last = sweep.points[-1]
    about = (
        f"At B = {last.size}: {1e3 * last.loop.middle:.3g} ms with a loop, "
        f"{1e3 * last.noloop.middle:.3g} ms without."
    )
    return to_bytes(figure, kind, title, about)
