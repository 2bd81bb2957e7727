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
    "ran_on_host": (
        "Done on the CPU: {flops} multiplications and additions, at most {most} expected.",
    ),
    "device_memory": (
        "Most memory in use on {device}: {peak:size}, at most {limit:size} allowed.",
    ),
    "device_memory_grows": (
        "Most memory in use: {second:size} for the larger problem, {first:size} for the smaller; "
        "at most {limit:size} allowed.",
        "Something is kept that could be let go.",
    ),
    "repeats_outside": (
        "Run again on other inputs, the same operations give other results than they should.",
        "What they work with came from outside torch: from NumPy, or from numbers in Python.",
    ),
    "repeats_malformed": ("The record of what was computed is no such record: {why}.",),
    "repeats_unlisted": (
        "What was computed cannot be run again: {why}.",
        _PERSON,
    ),
    "repeats_differs": (
        "Run again on other inputs, the same operations give other results than they should.",
        _PERSON,
    ),
    "repeats_own": (
        "What was computed depends on numbers that the program read; judged on its own inputs.",
    ),
    "repeats_unseen": (
        "What the devices did is known only from running it again, which was not possible.",
        _PERSON,
    ),
    "overlap_little": (
        "Work side by side saves {share:.0f}% of what it could save, at least {least:.0f}% "
        "expected: {elapsed:.1f} ms on the timeline, {serial:.1f} ms one after another, "
        "{ideal:.1f} ms at best.",
        (
            "Longest idle gap: {device}, from {start:.1f} to {end:.1f} ms, waiting for {awaited}.",
            "Longest idle gap: {device}, from {start:.1f} to {end:.1f} ms.",
        ),
    ),
    "overlap_slow": (
        "Takes {elapsed:.1f} ms on the timeline, at most {most:.1f} ms allowed; as much work one "
        "after another would take {serial:.1f} ms.",
        "It overlaps, but does far more than is asked for.",
    ),
    "overlap_token": (
        "Keeps the GPUs busy for {work:.1f} ms in all, at least {wanted:.1f} ms expected.",
        "It overlaps, but does far less than is asked for.",
    ),
    "claim_reached": (
        "Line {line:line} ({name}) reaches for what a process says about itself, or changes "
        "another module.",
        "Points that rest on the word of this process wait for a person.",
    ),
}

CODES: Mapping[str, str] = {
    "wrong_transfers": "copied between devices too often, or not at all",
    "ran_elsewhere": "the work was done on another device",
    "not_repeated": "the same operations do not give the result on other inputs",
    "not_overlapped": "devices waited for each other instead of working side by side",
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
    "host_waited": (
        "The host waited for a GPU before it gave the other one its next work: synchronize(), "
        ".item(), .cpu() and print wait; launches do not.",
    ),
    "sent_back": (
        "What is copied back keeps the first GPU waiting for the second: leave results where they "
        "are made.",
    ),
    "out_of_turn": (
        "A GPU works in the order in which work is issued: give the second one a split as soon as "
        "it is there, before the first one begins the next but one.",
    ),
    "one_after_another": ("Each GPU waited until the other was done: split the batch.",),
    "one_alone": (
        ("All work was done on {busy}; nothing was side by side.", "One device did all the work."),
    ),
    "launches": (
        "The GPUs waited for the host most of the time: so small pieces cost more to launch than "
        "to compute.",
    ),
    "no_gradients": ("No gradient is there: did backward() run, and reach every layer?",),
    "should_be_empty": ("Nothing should lie on this device at all.",),
}
"""Cause → sentence; those on values are in ``grader.report.words_en_causes``."""
