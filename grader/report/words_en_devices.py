"""Sentences on what lies, runs and moves where. Data only; see ``grader.report.words_en``."""

from __future__ import annotations

from collections.abc import Mapping

from grader.report.words_en_intake import Sentence

_PERSON = "A person has to look; the points stay pending."

SENTENCES: Mapping[str, Sentence] = {
    "placement_elsewhere": (
        "On another device than asked for: {misplaced} of {total}.",
        "The {what} {name} is on {actual}, expected {expected}.",
    ),
    "placement_differs": (
        "Of kind {what} on {device}: {found} ({found_bytes:size}), "
        "expected {wanted} ({wanted_bytes:size}).",
    ),
    "placement_bytes": ("On {device}: {found:size}, expected {wanted:size}.",),
    "parameters_copied": (
        "Copies of parameters from {source} to {target}: {parameters}, expected none.",
    ),
    "transfers_many": (
        "Copies from {source} to {target}: {found} ({bytes:size}), at most {most} are needed.",
    ),
    "transfers_few": ("Copies from {source} to {target}: {found}, at least {least} are needed.",),
    "transfers_bytes": ("Copied from {source} to {target}: {bytes:size}, expected {wanted:size}.",),
    "ran_elsewhere": (
        "Done on {device}: {share:.0f}% of the work, at least {least:.0f}% expected.",
        "Most of it was done on {other}.",
    ),
    "ran_too_little": (
        "Done on {device}: {flops} multiplications and additions, at least {wanted} expected.",
        "The result comes from somewhere else.",
    ),
    "ran_unevenly": (
        "Done on {device}: {share:.0f}% of the work, expected about {wanted:.0f}%.",
        "Most of the rest was done on {other}.",
    ),
    "device_memory": (
        "Most memory in use on {device}: {peak:size}, at most {limit:size} allowed.",
    ),
    "device_memory_grows": (
        "Most memory in use: {second:size} for the larger problem, {first:size} for the smaller; "
        "at most {limit:size} allowed.",
        "Something is kept that could be let go.",
    ),
    "devices_reached": (
        "Line {line:line} ({name}) reaches into what reports where the work was done.",
        _PERSON,
    ),
}

CODES: Mapping[str, str] = {
    "wrong_transfers": "copied between devices too often, or not at all",
    "ran_elsewhere": "the work was done on another device",
}

CAUSES: Mapping[str, Sentence] = {
    "computed_then_moved": (
        "Looks computed on the CPU first and moved then: the inputs have to be on the GPU before "
        "the work begins.",
    ),
    "all_on_one": (
        (
            "Everything was on {busy}; {idle} did nothing.",
            "Everything was on one device; another did nothing.",
        ),
    ),
    "activation_not_moved": (
        "The activation was never moved to the device of the layer that comes next: x.to(…).",
    ),
    "parameters_copied": (
        "Move a model once, when it is made; in a step only inputs and activations travel.",
    ),
    "back_and_forth": ("What was moved is moved back: keep it where it is used next.",),
    "no_gradients": ("No gradient is there: did backward() run, and reach every layer?",),
    "should_be_empty": ("Nothing should lie on this device at all.",),
}
"""Cause → sentence; those on values are in ``grader.report.words_en_causes``."""
