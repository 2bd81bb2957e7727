"""The English sentences on hand-ins that cannot be read, and on what was done to those that can.

Data only, in the form that ``grader.report.words_en`` describes.
"""

from __future__ import annotations

from typing import Union

Part = Union[str, tuple[str, ...]]
Sentence = tuple[Part, ...]

_SAVE_AS_TEXT = "Save it as plain Python text in UTF-8, and hand it in again."
_PACK_AGAIN = "Pack it again, and hand it in once more."
_FOUND = (
    "Found in the hand-in: {found:names} ({found_count} in all).",
    "Found in the hand-in: {found:names}.",
)

NOTES: dict[str, Sentence] = {
    "taken_as": ("{found} was taken as {wanted}; the next time, name it so.",),
    "taken_as_another": (
        "{found} was taken as {wanted}, but has nothing of what is asked for here.",
        "Is it a hand-in for something else?",
    ),
    "converted_notebook": ("{found} was read as {wanted}, its code cells in order.",),
}

MISSING: dict[str, Sentence] = {
    "nothing_found": ("Missing: {missing:names}.", "The hand-in holds no files at all."),
    "missing_file": (
        "Missing: {missing:names}.",
        _FOUND,
        "Rename your file, and hand it in again.",
    ),
    "missing_file_nearest": (
        "Missing: {missing:names}.",
        _FOUND,
        "Did you mean {nearest:names}? Rename it, and hand it in again.",
    ),
    "another_assignment": (
        "Missing: {missing:names}.",
        _FOUND,
        (
            "Defined there: {names:names}; nothing of what is asked for here.",
            "Nothing of what is asked for here is in there.",
        ),
        "This seems to be a hand-in for something else; hand in the files of this assignment.",
    ),
    "files_scattered": (
        "Not together in one folder: {missing:names}.",
        _FOUND,
        "Put them into one folder, and hand that in again.",
    ),
    "ambiguous": (
        "Several files could be the one asked for: {candidates:names}.",
        "Keep one of them, and hand it in again.",
    ),
    "collision": (
        "These names differ only in capitals or accents: {files:names}.",
        "Keep one of them, and hand it in again.",
    ),
}

PATHS: dict[str, Sentence] = {
    "is_link": ("{file} is a link; hand in the file itself.",),
    "is_special": ("{file} is a device or a pipe; hand in plain files only.",),
    "path_unusable": ("A file name cannot be used: {file}.", "Rename it."),
    "path_outside": ("{file} points outside the hand-in.", _PACK_AGAIN),
    "path_too_deep": ("{file} lies in too many folders; at most {limit} are allowed.",),
    "name_too_long": ("A file name is too long: {file}; at most {limit} characters are allowed.",),
}

ARCHIVES: dict[str, Sentence] = {
    "too_many_files": ("The hand-in holds more than {limit} files; hand in only your own.",),
    "too_large": ("{file} is larger than {limit:size}; hand in source, no data.",),
    "too_compressed": ("{file} unpacks to more than {limit} times its size, and was not read.",),
    "broken_archive": ("{file} is damaged: {problem}.", _PACK_AGAIN),
    "encrypted": ("{file} is locked with a password.", "Pack it without one."),
    "unknown_compression": ("{file} is packed in an uncommon way.", "Use an ordinary .zip."),
    "unknown_archive": ("{file} is a {kind} archive.", "Use an ordinary .zip or .tar.gz."),
    "not_an_archive": ("{file} is named as an archive but is none.", _PACK_AGAIN),
}

FILES: dict[str, Sentence] = {
    "empty_file": ("{file} is empty.",),
    "wrong_encoding": ("{file} is written in {encoding}.", _SAVE_AS_TEXT),
    "unknown_encoding": ("{file} names an encoding that is not read: {problem}.", _SAVE_AS_TEXT),
    "not_text": (
        "{file}, line {line:line}: byte {byte} is no {encoding} text.",
        _SAVE_AS_TEXT,
    ),
    "nul_bytes": ("{file}, line {line:line}: holds a NUL byte, so it is no text.", _SAVE_AS_TEXT),
    "notebook_not_json": (
        "{file} is no notebook: {problem} (line {line:line}, column {column:line}).",
        "Save it from Jupyter again.",
    ),
    "notebook_broken": ("{file} is a damaged notebook: {problem}.", "Save it from Jupyter again."),
    "notebook_version": (
        "{file} is of notebook format {version}, which is not read.",
        "Save it from a newer Jupyter.",
    ),
    "notebook_too_large": ("{file} is too large a notebook.", "Clear its outputs, and save it."),
    "notebook_without_code": ("{file} has no code in it.",),
}

_KINDS = {
    "elf": "a compiled program",
    "windows_program": "a Windows program",
    "zip": "a .zip archive",
    "gzip": "a gzip archive",
    "png": "a picture",
    "hdf5": "an HDF5 data file",
    "pdf": "a PDF",
    "rtf": "a rich-text document",
    "web_page": "a web page",
    "notebook": "a notebook, whose name should end in .ipynb",
    "pyc": "compiled Python",
    "utf16": "text in UTF-16",
}

NOT_SOURCE: dict[str, Sentence] = {
    f"not_source_{kind}": (f"{{file}} is {what}, no Python source.", _SAVE_AS_TEXT)
    for kind, what in _KINDS.items()
}

SENTENCES = {**NOTES, **MISSING, **PATHS, **ARCHIVES, **FILES, **NOT_SOURCE}
