"""The sentences, in English. Data only: how blanks are filled is in ``grader.report.words``.

A sentence is a tuple of parts. A part is a template, or a tuple of templates of which the first
that can be filled is taken; a part that cannot be filled is left out. Specs after a colon:
``.1f`` and the like for numbers, ``index`` for an element's index that is ``[]`` for a lone number,
``part`` for the place in a returned structure, ``names`` for a list of names, ``most`` for all of
several but the last and ``last`` for that or the only one, ``line`` for a
position that is 0 where unknown, ``signal`` for a signal's number, ``size`` for bytes. A spec that
has nothing to show makes its template one that cannot be filled. ``{input}`` is the input that
``name`` names: by its name, or by its position among the arguments, from 0.

Numbers come first, then the likely cause, then what to do. To add an area, add a dict and name it
in ``SENTENCES``.
"""

from __future__ import annotations

from collections.abc import Mapping

from grader.report import (
    words_en_causes,
    words_en_check,
    words_en_clock,
    words_en_devices,
    words_en_gpu,
    words_en_intake,
    words_en_loops,
    words_en_values,
)
from grader.report.words_en_intake import Part, Sentence

__all__ = ["CAUSE", "CODES", "PHRASES", "SENTENCES", "Part", "Sentence"]

CAUSE = "cause_"
"""Before the id of a cause among the sentences."""

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
    "unusable": (
        (
            "What {function} returned could not be used: {type}: {message}",
            "What {function} returned could not be used: {type}.",
        ),
    ),
    "raised_again": (
        ("{type} in {file}, line {line:line}, as at {first}.", "{type}, as at {first}."),
    ),
    "timed_out": (
        (
            "Stopped after {seconds:.3g} s of processor time without a result.",
            "Stopped: {detail}.",
            "Stopped: too slow.",
        ),
        "Look for a loop that never ends, or for far too much work.",
    ),
    "waited_too_long": (
        "Stopped: it waited for {seconds:.3g} s and hardly computed ({computed:.2g} s of processor "
        "time).",
        "Look for what it waits for: a sleep, a lock, input, another process.",
    ),
    "not_finished": (
        "Stopped after {seconds:.3g} s without a result.",
        "Look for a loop that never ends, for far too much work, or for what it waits for.",
    ),
    "not_reached": (
        "Not run: two earlier cases of this question had to be stopped.",
        "Mend those first.",
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
    "requirement_not_met": (
        (
            "Counts only once {requires:most} and {requires:last} pass.",
            "Counts only once {requires:last} passes.",
        ),
    ),
    "unreadable_file": (
        (
            "The file that was written could not be read: {type}: {message}",
            "The file that was written could not be read.",
        ),
    ),
    "no_file": ("No file was found where the function was told to write one.",),
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
    "no_package": (
        (
            "Needs what cannot be imported here: {packages:names} ({detail}).",
            "Needs what cannot be imported here: {packages:names}.",
        ),
        "The points stay pending until a machine that has it has graded this.",
    ),
    "sandbox_failed": ("The grader's sandbox failed: {detail}.", "No points are lost."),
    "reference_failed": ("The reference solution failed: {detail}.", "No points are lost."),
    "not_run": ("The grader stopped before it came to this.", "No points are lost."),
    "not_selected": ("Left out of this run.", "The points stay pending."),
}

SENTENCES: Mapping[str, Sentence] = {
    **words_en_values.SENTENCES,
    **_RUN,
    **_HAND_IN,
    **_NOT_THE_STUDENT,
    **words_en_intake.SENTENCES,
    **words_en_loops.SENTENCES,
    **words_en_devices.SENTENCES,
    **words_en_clock.SENTENCES,
    **words_en_gpu.SENTENCES,
    **words_en_check.SENTENCES,
    **{CAUSE + name: sentence for name, sentence in words_en_causes.CAUSES.items()},
}

CODES: Mapping[str, str] = {
    **words_en_loops.CODES,
    **words_en_devices.CODES,
    **words_en_clock.CODES,
    "ok": "passed",
    "not_run": "not run",
    "wrong_value": "wrong values",
    "wrong_shape": "wrong shape",
    "wrong_dtype": "wrong dtype",
    "wrong_device": "wrong device",
    "wrong_type": "wrong type",
    "not_finite": "NaN or infinite values",
    "input_modified": "an input was changed",
    "reduced_precision": "right, at reduced precision",
    "not_a_view": "a copy where a view was due",
    "shares_memory": "shares memory with an input",
    "not_in_place": "not done in place",
    "not_implemented": "not implemented yet",
    "missing_function": "function not found",
    "raised": "raised an exception",
    "timed_out": "took too long",
    "out_of_memory": "used too much memory",
    "crashed": "the process died",
    "protocol_violation": "the answer could not be read",
    "requirement_not_met": "another check has to pass first",
    "unreadable_file": "a file that it wrote could not be read",
    "syntax_error": "syntax error",
    "import_failed": "the file could not be imported",
    "missing_file": "file not found",
    "bad_submission": "the hand-in could not be read",
    "no_device": "needs a GPU that this machine does not have",
    "no_permission": "needs something that this machine does not allow",
    "device_failed": "the GPU failed",
    "no_package": "needs a package that this machine does not have",
    "sandbox_failed": "its sandbox failed",
    "reference_failed": "the reference solution failed",
}
"""A few words on each verdict code: all that is said about a hidden case."""

PHRASES: Mapping[str, str] = {
    "hidden": "In a hidden case: {what}.",
    "grader_fault": "The grader could not finish this: {what}. No points are lost.",
    "own_exception": "an exception",
    "case": "Case {case}:",
    "input": "input “{name}”",
    "argument_0": "the first argument",
    "argument_1": "the second argument",
    "argument_2": "the third argument",
    "argument_n": "argument {number}",
}
"""Frames around the words above."""
