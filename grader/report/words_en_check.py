"""What a student's own check says, in English: on its result, and on what is in its way.

Data only, in the form that ``grader.report.words_en`` describes.
"""

from __future__ import annotations

from grader.report.words_en_intake import Sentence

RESULT: dict[str, Sentence] = {
    "left_to_grading": ("Looked at when the hand-in is graded: its cases are not public.",),
    "self_check": (
        "A self-check on the public cases, not a score: hidden cases are graded as well.",
    ),
    "support_changed": ("{file} is not as it was given; grading uses its own copy.",),
    "first_wrong": (
        "Case {case}: first wrong at {place}, returned {actual}, expected {expected}.",
    ),
    "part_shown": ("The table shows the part around it.",),
    "element": ("returned {actual}, expected {expected}",),
    "lay": ("Where it lay:",),
    "lay_there": ("{device}, {what}: {names:names} ({bytes:size}).",),
    "happened": ("What happened:",),
    "ran_there": (
        ("{device}: {ops:names}; at most {peak:size} in use.", "{device}: {ops:names}."),
    ),
    "idle_there": ("{device}: nothing.",),
    "went": ("{source} → {target}: {count} copied, {bytes:size}.",),
    "timeline": (
        "When each GPU worked, from 0 to {elapsed:.1f} ms: {forward} forward or update, "
        "{backward} backward, {copy} copying, {idle} nothing.",
    ),
    "no_matplotlib": ("There is a picture of this: pip install matplotlib, and check again.",),
    "nothing_went": ("Nothing was copied from one device to another.",),
    "hint": ("Hint: {hint}",),
    "next_step": (
        ("Next: {question} in {file}, line {line:line}.", "Next: {question} in {file}."),
    ),
    "next_first": ("Write that function, save the file, and check again.",),
    "all_done": ("Everything that can be checked here is right.",),
    "loading_stopped": (
        (
            "{file}, line {line:line}: {type}: {message} This statement did not run to its end.",
            "A statement of the file did not run to its end: {type}: {message}",
        ),
        "What stands below it was not loaded.",
    ),
    "packages_missing": (
        "Not installed here: {names:names}. What uses it fails.",
        "Install it, or take the import out.",
    ),
    "rest_pending": ("Points that are looked at only when the hand-in is graded: {points}.",),
    "counts_after": (
        (
            "{checks:names}: once {requires:most} and {requires:last} pass.",
            "{checks:names}: once {requires:last} passes.",
        ),
    ),
    "handed_in": ("To hand in: {files:names}.",),
    "not_written": ("Not written yet: {names:names}.",),
    "written": ("All functions are there.",),
    "make_zip": ("“grader submit-zip” packs that into {file}.",),
    "none_found": (
        "{file} has none of what is asked for here.",
        "Is it the file of another assignment?",
        "This one asks for {names:names}.",
    ),
    "watching": ("Watching {file}: save it, and what changed is checked again. Ctrl+C ends.",),
    "unchanged": ("Saved, but nothing that is checked has changed.",),
    "rechecked": ("Checked again: {names:names}. {seconds} s.",),
    "packed": ("{file} is ready to hand in. Read back, it held this.",),
    "packed_differs": (
        "{file} was written, but reading it back gave something else than was packed.",
        "Hand in the files themselves instead.",
    ),
}

IN_THE_WAY: dict[str, Sentence] = {
    "no_torch": (
        "PyTorch is not installed for the Python that runs this ({python}).",
        "Install it there, with {python} -m pip install torch, and check again.",
    ),
    "no_such_path": ("{path} does not exist; give the folder of your assignment.",),
    "several_here": ("{path} holds several assignments: {names:names}.", "Name one of them."),
    "authors_folder": (
        "{path} describes an assignment and is not what students get.",
        "That is starter/{name}.",
    ),
    "wrong_folder": (
        "{path} is not the folder of an assignment: it has no {file}.",
        "Go to the folder with the starter's files, or name it, as in grader check path/to/folder.",
    ),
    "module_missing": (
        "{file} is not in {path}.",
        ("“{nearest}” is there: rename it to {file}.", "Get it from the starter's files."),
    ),
    "only_notebook": (
        "{found} uses {file}, which is not beside it: there are no functions to check.",
        "Get {file} from the starter's files, and write your functions there.",
    ),
    "file_unreadable": ("{file} cannot be read: {reason}.", "Get the starter's files again."),
    "file_damaged": ("{file} is damaged: {reason}.", "Get the starter's files again."),
    "file_lacks": ("{file} is damaged: it has no “{what}”.", "Get the starter's files again."),
    "tensors_differ": (
        "{tensors} does not belong to the {file} beside it.",
        "Get the starter's files again, both of them.",
    ),
    "other_version": (
        "{file} is of version “{found}”, and this torchgrade reads “{wanted}”.",
        "Get the starter's files again, or the torchgrade that goes with them.",
    ),
    "other_inputs": (
        "The inputs of {question}, case {case}, come out differently here.",
        "The starter was made with another torchgrade: get the starter's files again, or that one.",
    ),
    "support_missing": (
        "{file} is missing, and the assignment needs it.",
        "Get it from the starter's files.",
    ),
}

SENTENCES = RESULT | IN_THE_WAY
