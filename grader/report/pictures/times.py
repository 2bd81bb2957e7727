"""How long each variant of a training takes, as bars with error bars, one source beside another.

The picture that PyTorch's tutorial on model parallelism draws of its own measurements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.report.pictures.canvas import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    Format,
    new_figure,
    style,
    to_bytes,
)

_SIZE = (6.4, 3.2)
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
    figure, (axes,) = new_figure(*_SIZE)
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
