"""What all pictures share: size, colours, and how they become bytes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Format = Literal["svg", "png"]

BLUE, ORANGE, GREY, INK = "#0072b2", "#bf4f00", "#6b7075", "#222222"
"""Told apart by readers who see no difference between red and green (after Okabe and Ito, 2008)."""

PALE = "#5f9bc0"
GROUND, ON_BAR = "#ffffff", "#fdfdfd"
"""Behind everything, and of letters on a bar; not the same, so that each has its dark colour."""

DARK = {
    GROUND: "#1a2028", INK: "#e4eaf0", GREY: "#9aa5b1", BLUE: "#56b4e9", ORANGE: "#e69f00",
    PALE: "#4d7c99", ON_BAR: "#11151a",
}  # fmt: skip
"""Colour → what stands for it where a page is dark."""

_STYLE: dict[Any, Any] = {
    # Letters as outlines: the same picture on a machine with other fonts.
    "svg.fonttype": "path",
    # Ids in the file are made from this and not from chance.
    "svg.hashsalt": "torchgrade",
    # A dollar in a device's name is a dollar, and no formula.
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "figure.facecolor": GROUND,
    "axes.facecolor": GROUND,
    "text.color": INK,
    "axes.prop_cycle": f"cycler('color', ['{BLUE}'])",
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
}
_PNG_DOTS = 144


@contextmanager
def style() -> Iterator[None]:
    """Draw as all pictures are drawn, whatever this machine's settings of matplotlib say.

    They are the process's: one picture at a time.
    """
    import matplotlib as mpl  # noqa: PLC0415  takes a second; grading draws nothing

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def new_figure(width: float, height: float, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """Return an empty figure, sizes in inches, and its axes from left to right."""
    from matplotlib.figure import Figure  # noqa: PLC0415  as above

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, [figure.add_subplot(1, columns, number + 1) for number in range(columns)]


def note(figure: Figure, text: str, top: bool = False) -> None:
    """Say in a corner on the right what the whiskers are."""
    figure.text(
        0.995, 0.975 if top else 0, text, color=GREY, fontsize=7, ha="right",
        va="top" if top else "bottom",
    )  # fmt: skip


def to_bytes(figure: Figure, kind: Format, title: str, about: str) -> bytes:
    """Return a picture as a file's content.

    Args:
        figure: The picture.
        kind: ``svg``, or ``png`` at twice the resolution of a screen.
        title: What it shows, in a line.
        about: The same for readers who do not see it.
    """
    stream = io.BytesIO()
    metadata = {"Title": title, "Description": about}
    if kind == "svg":
        figure.savefig(stream, format="svg", metadata={**metadata, "Date": None})
        # An image has the theme of the page that it is on, whichever the system has.
        return stream.getvalue().replace(b"</style>", _in_the_dark().encode() + b"</style>", 1)
    figure.savefig(stream, format="png", dpi=_PNG_DOTS, metadata={**metadata, "Software": ""})
    return stream.getvalue()


def _in_the_dark() -> str:
    """Return rules that exchange the colours; marked important, as shapes have theirs in line."""
    rules = (
        f'[style*="{what}: {light}"],[{what}="{light}"]{{{what}:{dark} !important}}'
        for light, dark in DARK.items()
        for what in ("fill", "stroke")
    )
    return "@media (prefers-color-scheme: dark){" + "".join(rules) + "}"
