"""How much faster than one GPU a pipeline is, over the sizes of its splits."""

from __future__ import annotations

from collections.abc import Mapping

from grader.report.pictures.canvas import (
    BLUE,
    GREY,
    ORANGE,
    PALE,
    Format,
    new_figure,
    style,
    to_bytes,
)

_SIZE = (6.4, 3.6)


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
