"""Pictures of a timeline."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from grader.report.pictures.gantt import (
    Gantt,
    GanttBar,
    draw_gantt,
    draw_lap,
    gantt_of,
    gantt_of_lap,
    pieces,
)

EVIDENCE = {
    "elapsed": 18.0, "serial": 30.0, "ideal": 16.0, "device": "cuda:1", "start": 2.0, "end": 5.0,
    "timeline": [
        ["cuda:0", 0.0, 2.0, "forward"], ["cuda:0", 2.0, 3.0, "copy"],
        ["cuda:1", 5.0, 18.0, "backward"],
    ],
}  # fmt: skip


def test_a_picture_is_made_of_evidence() -> None:
    gantt = gantt_of(EVIDENCE, "Pipeline, forward")
    assert gantt is not None
    assert gantt.bars[1] == GanttBar("cuda:0", 2.0, 3.0, "copy")
    assert gantt.gap == GanttBar("cuda:1", 2.0, 5.0, "idle")


@pytest.mark.parametrize(
    "change",
    [{"timeline": None}, {"elapsed": "long"}, {"serial": None}],
)
def test_other_evidence_makes_none(change) -> None:
    assert gantt_of({**EVIDENCE, **change}, "") is None


@pytest.mark.parametrize(
    "row", [3, [], ["cuda:0", 0, 1, "sleep"], [0, 0, 1, "copy"], ["cuda:0", None, 1, "copy"]]
)
def test_a_row_of_another_form_is_left_out(row) -> None:
    gantt = gantt_of({**EVIDENCE, "timeline": [row]}, "")
    assert gantt is not None
    assert gantt.bars == []


def test_it_is_drawn_alike_each_time_and_names_its_devices() -> None:
    gantt = gantt_of(EVIDENCE, "Pipeline, forward")
    assert gantt is not None
    first, second = draw_gantt(gantt), draw_gantt(gantt)
    assert first == second
    root = ET.fromstring(first)
    assert root.tag.endswith("svg")
    assert b"Pipeline, forward" in first
    assert b"18.0 ms; one after another 30.0 ms, at best 16.0 ms" in first
    assert draw_gantt(gantt, "png").startswith(b"\x89PNG")


def bars(sorts: str) -> list[GanttBar]:
    names = {"f": "forward", "b": "backward", "c": "copy"}
    return [GanttBar("cuda:0", at, at + 1, names[sort]) for at, sort in enumerate(sorts)]


@pytest.mark.parametrize(
    ("sorts", "numbers"),
    [
        # On the first GPU of a pipeline and on the second; two batches, an update after each.
        ("cfcfcfccbcbcbfcfcfccbcbf", "-1-2-3--3-2-1--1-2--2-1-"),
        ("cfcfccbcbf", "-1-2--2-1-"),
        # A gap in a piece; a program that copies nothing in between.
        ("cffcf", "-11-2"),
        ("cffbbf", "------"),
    ],
)
def test_pieces_of_a_batch_are_numbered(sorts: str, numbers: str) -> None:
    given = bars(sorts)
    found = pieces(given)
    assert "".join(str(found.get(bar, "-")) for bar in given) == numbers


def test_an_update_between_two_copies_is_no_piece() -> None:
    update = GanttBar("cuda:0", 5.0, 5.1, "forward")
    later = [GanttBar("cuda:0", bar.start + 6, bar.end + 6, bar.sort) for bar in bars("cfcf")]
    given = [*bars("cbcbc"), update, *later]
    found = pieces(given)
    assert update not in found
    assert [found[bar] for bar in given if bar in found] == [2, 1, 1, 2]


def test_a_bar_thinner_than_a_dot_is_seen() -> None:
    work = [GanttBar("cuda:0", at, at + 0.05, "forward") for at in range(0, 100, 2)]
    picture = draw_gantt(Gantt("thin", work, 1000.0, 3.0, 3.0))
    # Each has an edge, and that is of its own colour.
    assert picture.count(b"fill: #0072b2; stroke: #0072b2") >= len(work)


def test_nothing_is_drawn_of_nothing() -> None:
    with pytest.raises(ValueError, match="nothing to draw"):
        draw_gantt(Gantt("", [], 1.0, 1.0, 1.0))


LAP = {
    "elapsed": 0.018, "serial": 0.030, "ideal": 0.016,
    "rows": [["cuda:0", 0.0, 0.002, "forward"], ["cuda:1", 0.005, 0.018, "backward"]],
    "gaps": [
        {"device": "cuda:0", "start": 0.002, "end": 0.018, "waited": "end"},
        {"device": "cuda:1", "start": 0.002, "end": 0.005, "waited": "other"},
    ],
}  # fmt: skip


def test_a_lap_is_a_picture_with_its_longest_gap_between_work() -> None:
    gantt = gantt_of_lap(LAP, "Mine")
    assert gantt.bars == [
        GanttBar("cuda:0", 0, 2, "forward"),
        GanttBar("cuda:1", 5, 18, "backward"),
    ]
    assert gantt.gap == GanttBar("cuda:1", 2, 5, "idle")
    assert gantt_of_lap({**LAP, "gaps": []}, "").gap is None
    drawn = draw_lap(LAP, "Mine", "png")
    assert drawn is not None
    assert drawn.startswith(b"\x89PNG")
    assert draw_lap({**LAP, "rows": []}, "Mine") is None
