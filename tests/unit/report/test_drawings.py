"""Pictures that benches alone draw, for docs/."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from bench.drawings import (
    Point,
    Quartiles,
    Spread,
    Sweep,
    draw_split_sizes,
    draw_sweep,
    draw_times,
    quartiles_of,
)

SWEEP = Sweep(
    tuple(
        Point(size, Quartiles(size * 1e-5, size * 2e-5, size * 3e-5), quartiles_of([1e-5, 2e-5]))
        for size in (4, 8, 12)
    ),
    "products of 64×64 matrices",
    20,
)


def test_numbers_move_the_picture_of_a_sweep() -> None:
    drawn = draw_sweep(SWEEP)
    assert drawn == draw_sweep(SWEEP)
    assert "At B = 12: 0.24 ms with a loop, 0.015 ms without" in drawn.decode()
    slower = replace(SWEEP.points[-1], noloop=Quartiles(1e-4, 1e-4, 1e-4))
    assert draw_sweep(replace(SWEEP, points=(*SWEEP.points[:-1], slower))) != drawn
    assert draw_sweep(SWEEP, "png").startswith(b"\x89PNG")


def test_a_sweep_without_points_is_not_drawn() -> None:
    with pytest.raises(ValueError, match="without points"):
        draw_sweep(replace(SWEEP, points=()))
    with pytest.raises(ValueError, match="1 repeats have no quartiles"):
        quartiles_of([1.0])


def test_a_sweep_names_its_cards() -> None:
    found = {"v100": {1: -16.0, 12: 50.0, 60: 20.0}, "t4": {1: -28.0, 12: 48.0, 60: 19.0}}
    picture = draw_split_sizes(found, {12: 54.3})
    ET.fromstring(picture)
    assert b"1: -16.0 %; 12: 50.0 %; 60: 20.0 %" in picture


def test_times_are_bars_one_source_beside_another() -> None:
    measured = [Spread(3.75, 3.75, 3.75), Spread(4.02, 3.9, 4.2)]
    picture = draw_times(["one GPU", "cut in two"], {"tutorial": measured}, "all repeats")
    ET.fromstring(picture)
    assert b"tutorial: 3.75 s, 4.02 s" in picture
    other = [measured[0], Spread(4.02, 3.0, 4.2)]
    assert draw_times(["one GPU", "cut in two"], {"tutorial": other}, "all repeats") != picture
    with pytest.raises(ValueError, match="tutorial has 2 times for 1 variants"):
        draw_times(["one GPU"], {"tutorial": measured})
