"""Pictures of a timeline."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from grader.report.pictures.gantt import Bar, Gantt, draw_gantt, gantt_of
from grader.report.pictures.split_sizes import draw_split_sizes

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
    assert gantt.bars[1] == Bar("cuda:0", 2.0, 3.0, "copy")
    assert gantt.gap == Bar("cuda:1", 2.0, 5.0, "idle")


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


def test_nothing_is_drawn_of_nothing() -> None:
    with pytest.raises(ValueError, match="nothing to draw"):
        draw_gantt(Gantt("", [], 1.0, 1.0, 1.0))


def test_a_sweep_names_its_cards() -> None:
    found = {"v100": {1: -16.0, 12: 50.0, 60: 20.0}, "t4": {1: -28.0, 12: 48.0, 60: 19.0}}
    picture = draw_split_sizes(found, {12: 54.3})
    ET.fromstring(picture)
    assert b"1: -16.0 %; 12: 50.0 %; 60: 20.0 %" in picture
