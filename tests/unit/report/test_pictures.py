"""Pictures: the same numbers make the same bytes, and nothing else in them decides."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.cli import app as cli
from grader.report.model import Report, write_report
from grader.report.pictures import canvas, gantt, write_pictures
from grader.report.pictures.speed import (
    DeviceBars,
    PaceMarks,
    bars_of,
    draw_device,
    draw_pace,
    marks_of,
)
from grader.verdict import Param, Status

EVIDENCE: dict[str, Param] = {
    "device": "Fake $100$ <b>", "sizes": "B = 512", "wire_ms": 90.0, "transfer_ms": 6.0,
    "cpu_ms": 400.0, "cold_cpu_ms": 490.0, "cpu_quartiles_ms": [390.0, 410.0],
    "reference_ms": 10.0, "cold_reference_ms": 1290.0, "student_ms": 14.0,
    "cold_student_ms": 1300.0, "student_quartiles_ms": [13.0, 15.0],
}  # fmt: skip
PACE: dict[str, Param] = {"times": 1.5, "loop_times": 100.0, "indices": [0.05, None, 0.1]}
Drawn = tuple[bytes, bytes]
DRAW = """
import sys
from grader.report.pictures import speed, write_pictures
assert "matplotlib" not in sys.modules, "grading would pay for it"
sys.stdout.buffer.write(speed.draw_pace(speed.PaceMarks(1.5, 100.0, (1.2, 2.0), "x")))
"""


def bars() -> DeviceBars:
    found = bars_of(EVIDENCE)
    assert found is not None
    return found


def pace() -> PaceMarks:
    found = marks_of(PACE)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def drawn() -> Drawn:
    return draw_pace(pace()), draw_device(bars())


def test_svg_is_the_same_in_every_process_and_has_no_date() -> None:
    there = subprocess.run([sys.executable, "-c", DRAW], check=True, capture_output=True).stdout
    assert there == draw_pace(PaceMarks(1.5, 100.0, (1.2, 2.0), "x"))
    assert there.startswith(b"<?xml")
    assert b"<dc:date>" not in there


def test_both_forms_are_what_they_say(drawn: Drawn) -> None:
    for svg in drawn:
        assert ET.fromstring(svg).tag.endswith("svg")
    for png in (draw_pace(pace(), "png"), draw_device(bars(), "png")):
        assert png.startswith(b"\x89PNG")


def test_a_reader_who_does_not_see_it_is_told(drawn: Drawn) -> None:
    marks, device = drawn
    assert b"1.5 times as long as without a loop; a loop takes 100." in marks
    told = device.decode()
    assert "CPU: 400 ms, then 400 ms; GPU, reference: 1.2 s, then 10 ms" in told
    assert "<b>" not in told


def test_numbers_move_the_picture(drawn: Drawn) -> None:
    assert draw_pace(replace(pace(), loop=50.0)) != drawn[0]
    assert draw_device(replace(bars(), transfer=9.0)) != drawn[1]


def test_bars_come_from_what_a_check_has_recorded() -> None:
    found = bars()
    assert found.cold == {"cpu": 400, "reference": 1200, "student": 1210}
    assert found.quartiles == {"cpu": (390, 410), "student": (13, 15)}
    assert bars_of({}) is None
    assert bars_of({**EVIDENCE, "transfer_ms": None}) is None
    without_cpu = {key: value for key, value in EVIDENCE.items() if "cpu" not in key}
    partial = bars_of({**without_cpu, "student_quartiles_ms": [None, None]})
    assert partial is not None
    assert set(partial.warm) == {"reference", "student"}
    assert draw_device(partial)


def test_marks_of_a_function_that_was_timed_on_the_cpu() -> None:
    found = pace()
    assert found.span == pytest.approx((100**0.05, 100**0.1))
    assert b"1.5 times as long as without a loop; a loop takes 100." in draw_pace(found)
    for lacking in ({"times": None}, {"times": 0}, {"loop_times": None}, {"loop_times": 1.0}):
        assert marks_of({**PACE, **lacking}) is None
    alone = marks_of({**PACE, "indices": None})
    assert alone is not None
    assert alone.span == (1.5, 1.5)


def test_a_report_has_the_pictures_that_it_has_numbers_for(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert write_pictures(report, tmp_path) == ()
    first = report.questions[0]
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("speedup", {**EVIDENCE}), ("vectorised", {**PACE}), ("speedup", {}), ("vectorised", {}),
        ("close", {**EVIDENCE}),
    ]  # fmt: skip
    checks = tuple(
        first.checks[0].model_copy(
            update={"id": f"c{number}", "kind": kind, "evidence": evidence, "status": Status.FAILED}
        )
        for number, (kind, evidence) in enumerate(kinds)
    )
    timed = report.model_copy(update={"questions": (first.model_copy(update={"checks": checks}),)})
    folder = tmp_path / "pictures"
    assert write_pictures(timed, tmp_path) == (
        folder / "multiply.c0.svg",
        folder / "multiply.c1.svg",
    )
    write_report(timed, tmp_path)
    monkeypatch.setattr("sys.argv", ["grader", "pictures", str(tmp_path)])
    with pytest.raises(SystemExit):
        cli.main()
    assert (folder / "multiply.c1.png").read_bytes().startswith(b"\x89PNG")
    right = checks[1].model_copy(update={"status": Status.PASSED})
    fast = report.model_copy(update={"questions": (first.model_copy(update={"checks": (right,)}),)})
    assert write_pictures(fast, tmp_path) == ()
    assert len(write_pictures(fast, tmp_path, everything=True)) == 1
    # Another hand-in's report in the same folder: what was drawn of the earlier one goes.
    assert write_pictures(report, tmp_path) == ()
    assert not [*folder.glob("*.svg")]


def test_nothing_to_draw_is_said() -> None:
    with pytest.raises(ValueError, match="no bars"):
        draw_device(replace(bars(), warm={}))


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return sum(weight * x for weight, x in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_the_colours_of_pictures_stand_out_in_both_themes(dark: bool) -> None:
    def seen(colour: str) -> str:
        return canvas.DARK[colour] if dark else colour

    for bar in (canvas.BLUE, canvas.ORANGE, canvas.PALE):
        assert _contrast(seen(bar), seen(canvas.GROUND)) >= 3
    for ink in (canvas.INK, canvas.GREY):
        assert _contrast(seen(ink), seen(canvas.GROUND)) >= 4.5
    for bar in (canvas.BLUE, canvas.ORANGE):
        assert _contrast(seen(canvas.ON_BAR), seen(bar)) >= 4.5


def test_every_colour_of_a_picture_has_one_for_dark_pages() -> None:
    bar = gantt.GanttBar("cuda:0", 0.0, 1.0, "forward")
    idle = gantt.GanttBar("cuda:0", 1.0, 2.0, "idle")
    marks = PaceMarks(2.0, 30.0, (1.5, 3.0))
    for picture in (
        gantt.draw_gantt(gantt.Gantt("t", [bar], 2.0, 2.0, 1.0, idle)), draw_pace(marks),
        *([draw_device(bars)] if (bars := bars_of(EVIDENCE)) else ()),
    ):  # fmt: skip
        body = picture.decode().partition("</style>")[2]
        used = set(re.findall(r"#[0-9a-f]{6}\b", body))
        assert used
        assert used <= set(canvas.DARK)
