"""The sentences, in English. Data only: how blanks are filled is in ``grader.report.words``.

A sentence is a tuple of parts. A part is a template, or a tuple of templates of which the first
that can be filled is taken; a part that cannot be filled is left out. Specs after a colon:
``.1f`` and the like for numbers, ``index`` for an element's index that is ``[]`` for a lone number,
``part`` for the place in a returned structure, ``names`` for a list of names, ``line`` for a
position that is 0 where unknown, ``signal`` for a signal's number, ``size`` for bytes. A spec that
has nothing to show makes its template one that cannot be filled.

Numbers come first, then the likely cause, then what to do. To add an area, add a dict and name it
in ``SENTENCES``.
"""

from __future__ import annotations

from collections.abc import Mapping

from grader.report import words_en_intake
from grader.report.words_en_intake import Part, Sentence

__all__ = ["CODES", "PHRASES", "SENTENCES", "Part", "Sentence"]

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
            "Changed elements of input “{name}”: {mismatched} / {total}.",
            "Input “{name}” was changed.",
        ),
        "The function must leave its inputs as they were.",
    ),
}

_RUN: dict[str, Sentence] = {
    "not_implemented": (("Not implemented yet: {function}.", "Not implemented yet."),),
    "missing_function": (
        "Nothing named {function} was found.",
        "The file defines: {names:names}.",
        "Did you mean “{nearest}”?",
    ),
    "raised": (
        (
            "{type} in {file}, line {line:line}: {message}",
            "{type} in {file}, line {line:line}.",
            "{type}: {message}",
            "{type}.",
        ),
    ),
    "timed_out": (
        ("Stopped after {seconds} s without a result.", "Stopped: {detail}.", "Stopped: too slow."),
        "An endless loop, or far too much work.",
    ),
    "out_of_memory": (
        (
            "Stopped for using more than {limit_mb} MiB of memory.",
            "Stopped: {detail}.",
            "Stopped for using too much memory.",
        ),
    ),
    "crashed": (
        (
            "The process died by signal {signal:signal}.",
            "The process ended itself with exit status {exit}.",
            "The process died: {detail}.",
            "The process died.",
        ),
    ),
    "died_at_import": ("The file was stopped while it was being imported: {detail}.",),
    "protocol_violation": (
        (
            "The answer was not one that the grader can read: {detail}.",
            "The answer was not one that the grader can read.",
        ),
    ),
    "requirement_not_met": ("Counts only once this passes: {requires:names}.",),
}

_HAND_IN: dict[str, Sentence] = {
    "syntax_error": (
        (
            "Syntax error in {file}, line {line:line}, column {column:line}: {message}.",
            "Syntax error in {file}, line {line:line}: {message}.",
            "Syntax error in {file}: {message}.",
        ),
        "Python cannot read the file until this is mended.",
    ),
    "import_failed": (
        (
            "Importing the file stopped at line {line:line} with {type}: {message}",
            "Importing the file stopped with {type}: {message}",
            "Importing the file stopped with {type}.",
        ),
    ),
}

_NOT_THE_STUDENT: dict[str, Sentence] = {
    "no_device": (
        ("GPUs needed: {cuda}, found: {found}.", "GPUs needed: {cuda}."),
        "The points stay pending until a machine with a GPU has graded this.",
    ),
    "no_permission": (
        "Needs {needs}, which this machine does not allow.",
        "The points stay pending until another one has graded this.",
    ),
    "sandbox_failed": ("The grader's sandbox failed: {detail}.", "No points are lost."),
    "reference_failed": ("The reference solution failed: {detail}.", "No points are lost."),
    "not_run": ("The grader stopped before it came to this.", "No points are lost."),
    "not_selected": ("Left out of this run.", "The points stay pending."),
}

SENTENCES: Mapping[str, Sentence] = {
    **_VALUES,
    **_RUN,
    **_HAND_IN,
    **_NOT_THE_STUDENT,
    **words_en_intake.SENTENCES,
}

CODES: Mapping[str, str] = {
    "ok": "passed",
    "not_run": "not run",
    "wrong_value": "wrong values",
    "wrong_shape": "wrong shape",
    "wrong_dtype": "wrong dtype",
    "wrong_device": "wrong device",
    "wrong_type": "wrong type",
    "not_finite": "NaN or infinite values",
    "input_modified": "an input was changed",
    "not_implemented": "not implemented yet",
    "missing_function": "function not found",
    "raised": "raised an exception",
    "timed_out": "took too long",
    "out_of_memory": "used too much memory",
    "crashed": "the process died",
    "protocol_violation": "the answer could not be read",
    "requirement_not_met": "another check has to pass first",
    "syntax_error": "syntax error",
    "import_failed": "the file could not be imported",
    "missing_file": "file not found",
    "bad_submission": "the hand-in could not be read",
    "no_device": "needs a GPU that this machine does not have",
    "no_permission": "needs something that this machine does not allow",
    "sandbox_failed": "its sandbox failed",
    "reference_failed": "the reference solution failed",
}
"""A few words on each verdict code: all that is said about a hidden case."""

PHRASES: Mapping[str, str] = {
    "hidden": "In a hidden case: {what}.",
    "hidden_raised": "In a hidden case: {type} at line {line}.",
    "grader_fault": "The grader could not finish this: {what}. No points are lost.",
    "own_exception": "an exception",
    "case": "Case {case}:",
}
"""Frames around the words above."""
