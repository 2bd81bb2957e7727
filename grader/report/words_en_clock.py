"""Sentences on speed and its measurement. Data only; see ``grader.report.words_en``."""

from __future__ import annotations

from collections.abc import Mapping

from grader.report.words_en_intake import Sentence

SENTENCES: Mapping[str, Sentence] = {
    "too_slow": (
        "Takes {times:.3g} times as long as the vectorised reference; a loop takes "
        "{loop_times:.3g} times as long.",
        "Measured with {sizes}.",
        "Either a loop does the work one item at a time, or far more is computed than is needed.",
    ),
    "timed_wrong": (
        (
            "Right when it was tested, but not when it was timed, on inputs of its own: "
            "{mismatched} of {total} numbers differ.",
            "Right when it was tested, but not when it was timed, on inputs of its own: {was}.",
        ),
    ),
    "timed_idle": (
        "Between calls it used {percent} % of the processor time that it used in them.",
        "A person has to look; the points stay pending.",
    ),
    "timed_together": (
        "Fast when many calls are made one after the other, and not when one is made by itself: "
        "calls share work, so that their time tells nothing.",
        "A person has to look; the points stay pending.",
    ),
    "inconclusive": (
        (
            "Measured {sets} times, and still too near the limit, or too unsteady, to tell.",
            "Too unsteady to tell.",
        ),
        "It takes about {times:.3g} times as long as the vectorised reference; a loop takes "
        "{loop_times:.3g} times as long.",
        "The points stay pending: grade it again while the machine does less, or have a person "
        "decide.",
    ),
    "clock_off": (
        "The speed was not measured: the clock was off.",
        "The points stay pending until it is graded again with --clock auto.",
    ),
    "no_clock": (
        "The speed was not measured: {detail}.",
        "The points stay pending until it is graded on Linux.",
    ),
    "no_reading": (
        "The speed was not measured: a reading of the processor's clock was missing or impossible.",
        "The points stay pending until it is graded again.",
    ),
    "too_busy": (
        "The speed was not measured: the machine was too busy.",
        "The points stay pending until it is graded again.",
    ),
    "loop_by_time": (
        "It takes {times:.3g} times as long as without a loop; a loop takes {loop_times:.3g} times "
        "as long.",
        "It does its work in more steps as {dims} grows.",
        "Measured with {sizes}.",
    ),
}

CODES: Mapping[str, str] = {
    "too_slow": "too slow",
    "not_timed": "the speed was not measured",
    "inconclusive": "the speed could not be told apart from the limit",
}
