"""Pictures for reports: drawn by matplotlib, which is imported only when one is drawn.

The same numbers make the same bytes of SVG: nothing in it depends on the time or on chance.
"""

from __future__ import annotations

from grader.report.pictures.canvas import Format
from grader.report.pictures.device import DeviceBars, bars_of, draw_device
from grader.report.pictures.files import picture_of, write_pictures
from grader.report.pictures.gantt import draw_gantt, gantt_of
from grader.report.pictures.pace import PaceMarks, draw_pace, marks_of
from grader.report.pictures.sweep import Point, Quartiles, Sweep, draw_sweep, quartiles_of

__all__ = [
    "DeviceBars", "Format", "PaceMarks", "Point", "Quartiles", "Sweep", "bars_of", "draw_device",
    "draw_gantt", "draw_pace", "draw_sweep", "gantt_of", "marks_of", "picture_of",
    "quartiles_of", "write_pictures",
]  # fmt: skip
