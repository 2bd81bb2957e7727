"""Time against the size of the batch: with a loop, and without.

What the course's notebook draws, from recorded samples: medians, and between which quartiles the
middle half of the repeats lay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import quantiles

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


@style()
def draw_split_sizes(
    found: Mapping[str, Mapping[int, float]], measured: Mapping[int, float], kind: Format = "svg"
) -> bytes:
    """Draw a line for each card, and a mark for each figure that somebody has measured.

    Args:
        found: Name of a card → size of a split → percent faster than one GPU. The first is the one
            that is meant, the others go beside it in grey.
        measured: Size of a split → percent, on a real machine.
        kind: Of the file.
    """
    figure, (axes,) = new_figure(*_SIZE)
    for number, (name, points) in enumerate(reversed(list(found.items()))):
        meant = number == len(found) - 1
        sizes = sorted(points)
        axes.plot(
            sizes, [points[size] for size in sizes], marker="o", markersize=4 if meant else 2,
            color=BLUE if meant else PALE, linewidth=1.8 if meant else 0.9,
            label=f"timeline, {name}" if meant else None,
        )  # fmt: skip
        if not meant:
            axes.annotate(name, (sizes[0], points[sizes[0]]), (-4, 0), fontsize=6, color=GREY,
                          textcoords="offset points", ha="right", va="center")  # fmt: skip
    axes.plot(
        list(measured), list(measured.values()), "D", color=ORANGE, label="tutorial", zorder=5
    )
    axes.set_xscale("log")
    ticks = sorted({size for points in found.values() for size in points})
    axes.set_xticks(ticks, [str(size) for size in ticks])
    axes.minorticks_off()
    axes.set_xlabel("images in a split, of a batch of 120")
    axes.set_ylabel("% faster than one GPU")
    axes.axhline(0, color=GREY, linewidth=0.6)
    axes.margins(x=0.2)
    axes.legend(loc="lower right", fontsize=8)
    told = "; ".join(
        f"{size}: {percent:.1f} %" for size, percent in next(iter(found.values())).items()
    )
    return to_bytes(figure, kind, "Split sizes of a pipeline", told)


_FLAT_SIZE = (6.4, 3.2)
_COLOURS = (ORANGE, BLUE, GREY)
_ALL = 0.8
"""Of the room that a variant has, what its bars take."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A time in seconds, and between which it lies; without error bars where both are equal."""

    middle: float
    low: float
    high: float


@style()
def draw_times(
    variants: Sequence[str],
    series: Mapping[str, Sequence[Spread]],
    whiskers: str = "",
    kind: Format = "svg",
) -> bytes:
    """Draw a group of bars for each variant, a bar in it for each source.

    Args:
        variants: Names, from left to right.
        series: At most three sources → a time for each variant.
        whiskers: What the error bars are, in words.
        kind: Of the file.

    Raises:
        ValueError: A source has more times than there are variants, or fewer.
    """
    figure, (axes,) = new_figure(*_FLAT_SIZE)
    width = _ALL / max(1, len(series))
    for number, (name, times) in enumerate(series.items()):
        if len(times) != len(variants):
            raise ValueError(f"{name} has {len(times)} times for {len(variants)} variants")
        left = (number - (len(series) - 1) / 2) * width
        places = [place + left for place in range(len(times))]
        axes.bar(
            places, [each.middle for each in times], 0.9 * width, color=_COLOURS[number], label=name
        )
        for place, each in zip(places, times, strict=True):
            if each.high > each.low:
                axes.errorbar(
                    place, each.middle, yerr=[[each.middle - each.low], [each.high - each.middle]],
                    fmt="none", ecolor=INK, elinewidth=1, capsize=3,
                )  # fmt: skip
            axes.annotate(
                f"{each.middle:.2f}", (place, each.high), (0, 3), textcoords="offset points",
                ha="center", fontsize=7,
            )  # fmt: skip
    axes.set_xticks(range(len(variants)), variants)
    axes.set_ylabel("seconds")
    axes.grid(axis="y", color=GREY, alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.margins(y=0.15)
    axes.legend(loc="upper right", fontsize=8)
    if whiskers:
        axes.set_xlabel(f"whiskers: {whiskers}", color=GREY, fontsize=7, loc="right")
    told = "; ".join(
        f"{name}: {', '.join(f'{each.middle:.2f} s' for each in times)}"
        for name, times in series.items()
    )
    return to_bytes(figure, kind, "Times of " + ", ".join(variants), told)
