"""Sentences on loops, operations and memory. Data only; see ``grader.report.words_en``."""

from __future__ import annotations

from collections.abc import Mapping

from grader.report.words_en_intake import Sentence

_PERSON = "A person has to look; the points stay pending."

SENTENCES: Mapping[str, Sentence] = {
    "loop_found": (
        (
            "Line {line:line}: {loop}, though no loop of any kind is allowed here.",
            "A {loop}, though no loop of any kind is allowed here.",
        ),
        "It runs more often as {dims} grows.",
    ),
    "loop_too_many": (
        "Loops inside one another: {found}, expected {wanted} (over {dims}).",
        "The innermost is the {loop} in line {line:line}.",
    ),
    "loop_too_few": ("Loops inside one another: {found}, expected {wanted} (over {dims}).",),
    "loop_missing": (
        "No loop over {dims} was found, neither in the text nor in what was run.",
        "This function has to go through it one item at a time.",
    ),
    "loops_uncounted": (
        "It did not return when it was run to be counted, with larger {dims}.",
        _PERSON,
    ),
    "loops_unread": ("The text of the file could not be analysed.", _PERSON),
    "loops_grows": (
        "No loop stands in the text, but the work is done in more steps as {dims} grows.",
        "Line {line:line} ({name}) hides what it does.",
        _PERSON,
    ),
    "loops_elsewhere": (
        "Line {line:line}: a {loop}, which was not seen to run, but the work is done in more "
        "steps as {dims} grows.",
        _PERSON,
    ),
    "loops_hides": ("Line {line:line} ({name}) hides what it does from the grader.", _PERSON),
    "loops_slow": (
        "It takes as long as a loop does, and line {line:line} ({name}) hides what it does.",
        _PERSON,
    ),
    "loops_slow_elsewhere": (
        "Line {line:line}: a {loop}, which was not seen to run, but it takes as long as a loop "
        "does.",
        _PERSON,
    ),
    "loops_unseen": (
        "No loop stands in the text, but the work was not seen to be done by torch as {dims} "
        "grows.",
        "Line {line:line} ({name}) hides what it does.",
        _PERSON,
    ),
    "loops_idle": (
        "Line {line:line}: the {loop} takes turns, but the work is not done in them.",
        _PERSON,
    ),
    "loops_flat": (
        "Line {line:line}: a {loop}, but no more work is done in turns as {dims} grows.",
        _PERSON,
    ),
    "loops_differs": (
        "Loops inside one another: {found}, expected {wanted} (over {dims}); steps grow with "
        "{grown}.",
        _PERSON,
    ),
    "forbidden_call": (
        "Line {line:line}: {name} uses the operation {op}, which is not allowed here.",
    ),
    "ops_unexplained": (
        "The operation {op} was used, but the text does not show where.",
        _PERSON,
    ),
    "ops_outside": (
        "Line {line:line}: {name} works outside torch, where its operations are not seen.",
        _PERSON,
    ),
    "ops_uncounted": ("It did not return when it was run to be counted.", _PERSON),
    "decided": ("A person looked at this and gave {points} of {worth} points: {why}",),
    "too_many_calls": ("Used {what} {found} times; at most {most} are allowed.",),
    "too_much_memory": (
        "The largest tensor on the way takes {largest:size}; at most {limit:size} are allowed.",
        "It grows with {dims}.",
    ),
}

CODES: Mapping[str, str] = {
    "loop_found": "a loop where none is allowed",
    "loop_missing": "a loop is missing",
    "forbidden_call": "an operation that is not allowed",
    "too_many_calls": "done too often",
    "too_much_memory": "a tensor on the way is too large",
    "needs_review": "a person has to look",
    "decided": "a person decided",
}
