"""Sentences on returned values: their numbers, their form, and the memory that they share."""

from __future__ import annotations

from collections.abc import Mapping

from grader.report.words_en_intake import Sentence

_MISMATCHED = (
    "Mismatched elements: {mismatched} / {total} ({percent:.1f}%) in {where:part}.",
    "Mismatched elements: {mismatched} / {total} ({percent:.1f}%).",
)


def _differs(what: str) -> Sentence:
    return (
        (
            what + " of {where:part} is {actual}, expected {expected}.",
            what + " is {actual}, expected {expected}.",
        ),
    )


_VALUES: dict[str, Sentence] = {
    "wrong_value": (
        _MISMATCHED,
        (
            "Greatest absolute difference: {abs_diff} at index {abs_index:index} "
            "(up to {atol} allowed).",
            "Greatest absolute difference: {abs_diff} (up to {atol} allowed).",
        ),
        (
            "Greatest relative difference: {rel_diff} at index {rel_index:index} "
            "(up to {rtol} allowed).",
            "Greatest relative difference: {rel_diff} (up to {rtol} allowed).",
        ),
    ),
    "not_equal": (
        _MISMATCHED,
        (
            "Greatest absolute difference: {abs_diff} at index {abs_index:index}.",
            "Greatest absolute difference: {abs_diff}.",
        ),
        "These must be equal exactly.",
    ),
    "another_word": (
        ("{where:part} is {actual}, expected {expected}.", "Found {actual}, expected {expected}."),
    ),
    "beyond_rounding": (
        _MISMATCHED,
        (
            "Greatest absolute difference: {abs_diff} at index {abs_index:index}.",
            "Greatest absolute difference: {abs_diff}.",
        ),
        "The worst element is off by {times} times what rounding could explain.",
    ),
    "reduced_precision": (
        "The right algorithm, but only as exact as {precision}.",
        "Compute in the dtype of the inputs throughout.",
    ),
    "entries_missing": (
        "Entries that are missing or wrong: {missing} / {total}, in whatever order.",
    ),
    "wrong_shape": _differs("Shape"),
    "wrong_dtype": _differs("Dtype"),
    "wrong_device": _differs("Device"),
    "wrong_type": _differs("Type"),
    "not_finite": (
        (
            "NaN or infinite elements: {count} / {total}, the first at index {index:index}.",
            "NaN or infinite elements: {count} / {total}.",
        ),
    ),
    "input_modified": (
        (
            "Changed elements of {input}: {mismatched} / {total}.",
            "It changed {input}.",
        ),
        "The function must leave its inputs as they were.",
    ),
}

_MEMORY: dict[str, Sentence] = {
    "not_a_view": (
        (
            "{where:part} is a copy: it shares no memory with {input}.",
            "The result is a copy: it shares no memory with {input}.",
        ),
        "Slices are views; indexing with a list, tensor or mask copies, and so does .clone().",
    ),
    "shares_memory": (
        (
            "{where:part} shares memory with {input}: to change one is to change the other.",
            "The result shares memory with {input}: to change one is to change the other.",
        ),
        "Return a new tensor.",
    ),
    "not_in_place": (
        "What is returned is not {input} itself.",
        "Write into it, as x[…] = … does, and return it.",
    ),
}

SENTENCES: Mapping[str, Sentence] = {**_VALUES, **_MEMORY}
