"""A picture of a timeline, for somebody at a notebook or a terminal.

Drawing is the report's business, and no guest has it: it is looked up by name, when a picture is
asked for and not before, so that the devices come along without it.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import cast

from grader.wire.values import Value

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


class Shown:
    """A picture below a cell, and its title for a terminal."""

    def __init__(self, svg: bytes, title: str) -> None:
        self._svg = svg
        self._title = title

    def _repr_html_(self) -> str:
        return image(self._svg, self._title)

    def __repr__(self) -> str:
        return f"<picture: {self._title}>"
