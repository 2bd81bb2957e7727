"""Which pictures a report has, and their files beside it.

They are drawn by matplotlib, which is imported only when one is drawn. The same numbers make the
same bytes of SVG: nothing in it depends on the time or on chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from grader.report.model import CheckResult, Report
from grader.report.pictures.canvas import Format
from grader.report.pictures.gantt import draw_gantt, gantt_of
from grader.report.pictures.speed import bars_of, draw_device, draw_pace, marks_of
from grader.store.files import write_atomic
from grader.verdict import Status

FOLDER = "pictures"


def write_pictures(
    report: Report, folder: Path, kind: Format = "svg", everything: bool = False
) -> tuple[Path, ...]:
    """Draw what a report has numbers for, into ``pictures/`` beside it; return the files.

    A function that is as fast as it should be is drawn only with ``everything``: a picture takes a
    tenth of a second, and nearly every submission has one to draw.

    Nothing is drawn, and matplotlib not even imported, where nothing was timed, on a
    clock or on a timeline. Pictures that an earlier report left there go.

    Raises:
        UsageError: The folder cannot be made or written.
        InfrastructureError: The disk is full or broken.
    """
    written = []
    for name, data in _drawn(report, kind, everything):
        path = folder / FOLDER / f"{name}.{kind}"
        write_atomic(path, data)
        written.append(path)
    for old in (folder / FOLDER).glob(f"*.{kind}"):
        if old not in written:
            old.unlink()
    return tuple(written)


def _drawn(report: Report, kind: Format, everything: bool) -> Iterator[tuple[str, bytes]]:
    for question, check in report.checks():
        if check.kind == "vectorised" and check.status is Status.PASSED and not everything:
            continue
        data = picture_of(check, kind)
        if data is not None:
            yield f"{question}.{check.id}", data


def picture_of(check: CheckResult, kind: Format = "svg") -> bytes | None:
    """Return the picture of what a check has measured; None where it has nothing to draw."""
    if check.kind == "speedup":
        bars = bars_of(check.evidence)
        return draw_device(bars, kind) if bars is not None and bars.warm else None
    if check.kind == "vectorised":
        marks = marks_of(check.evidence)
        return draw_pace(marks, kind) if marks is not None else None
    if check.kind == "overlap":
        gantt = gantt_of(check.evidence, check.id)
        return draw_gantt(gantt, kind) if gantt is not None and gantt.bars else None
    return None
