"""A timeline as lines of text."""

from __future__ import annotations

from dataclasses import replace

from grader.checks.overlap import DeviceTimeline
from grader.selfcheck.pictures import bars_of

TIMING = DeviceTimeline(
    "v100", 0.056, 0.1, 0.05, {"cuda:0": 0.04, "cuda:1": 0.006}, {}, {}, (),
    (
        ("cuda:0", 0.0, 0.0104, "forward"), ("cuda:0", 0.0104, 0.0140, "copy"),
        ("cuda:0", 0.020, 0.056, "backward"), ("cuda:1", 0.0500, 0.0523, "sleep"),
        ("cuda:1", 0.0101, 0.0102, "copy"),
    ),
)  # fmt: skip


def test_each_character_is_what_the_device_did_for_most_of_its_time() -> None:
    assert dict(bars_of(TIMING)) == {
        # A millisecond each. What is shorter than half of one is not seen.
        "cuda:0": "█" * 10 + "→" * 4 + "·" * 6 + "▒" * 36,
        "cuda:1": "·" * 56,
    }


def test_what_took_no_time_has_no_bars() -> None:
    assert list(bars_of(replace(TIMING, elapsed=0.0))) == []
