"""Sentences on speed on a GPU. Data only; see ``grader.report.words_en``."""

from __future__ import annotations

from collections.abc import Mapping

from grader.report.words_en_intake import Sentence

_PENDING = "The points stay pending; no points are lost."
_PERSON = "A person has to look; the points stay pending."

SENTENCES: Mapping[str, Sentence] = {
    "speed_no_device": (
        "Speed is measured on a real GPU only.",
        "The points stay pending until a machine that has one has graded this.",
    ),
    "speed_device_failed": (
        ("The GPU of this machine failed: {detail}.", "The GPU of this machine failed."),
        _PENDING,
    ),
    "speed_device_throttled": (
        "The GPU lowered its clocks in most rounds ({detail}).",
        "The points stay pending until it is graded again on a device that keeps cool.",
    ),
    "speed_device_taken": (
        "Every GPU of this machine was in use for longer than this could wait.",
        _PENDING,
    ),
    "speed_no_room": (
        "The GPU's memory does not hold this beside what the speed is compared with.",
        "The points stay pending until a machine with a larger GPU has graded this.",
    ),
    "speed_too_slow": (
        "Takes {times:.3g} times as long as the reference on {device}: {student_ms:.3g} ms against "
        "{reference_ms:.3g} ms.",
        "Measured with {sizes}.",
        "Copies to and from the GPU that are not needed, or work that is still done on the CPU.",
    ),
    "speed_inconclusive": (
        (
            "Measured {sets} times, and still too near the limit, or too unsteady, to tell: about "
            "{times:.3g} times as long as the reference.",
            "Too unsteady to tell.",
        ),
        "The points stay pending: grade it again while the machine does less, or have a person "
        "decide.",
    ),
    "speed_impossible": (
        "Answered in {student_ms:.3g} ms, and carrying the inputs to the GPU takes "
        "{floor_ms:.3g} ms at least: unmeasured.",
        _PERSON,
    ),
    "speed_busy": (
        "The GPU went on working after the answer, for {busy_percent} % of the time that the "
        "answer took.",
        _PERSON,
    ),
    "speed_not_worth_it": (
        "On this machine the reference itself is only {speedup:.3g} times as fast on the GPU as on "
        "the CPU; {at_least:.3g} times are asked for.",
        _PENDING,
    ),
    "speed_too_little": (
        "Only {gained:.3g} times as fast as on the CPU; {at_least:.3g} times are asked for, and "
        "the reference is {speedup:.3g} times as fast.",
        "Measured with {sizes}.",
    ),
    "speed_wrong": ("Right when it was tested, but not when it was timed, on new inputs: {was}.",),
}
