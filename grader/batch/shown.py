"""The lines of a submission that a finding is about, for the person who decides on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.batch.awaited import READ, Finding
from grader.batch.ledger import Done
from grader.checks.by_hand import DOCUMENT
from grader.errors import GraderError
from grader.submission import read_submission

_AROUND = 3
"""Lines shown before and after the one that a finding names."""
_MOST_LINES = 40
_MOST_TEXT = 200_000
"""Bytes of a text that a person reads here; the whole of it lies in the file."""
_MOST_READ = 200
"""The same where a person reads the function itself."""
_TEXTS = (".md", ".markdown", ".txt", ".rst", ".tex", ".csv")
_TRIPLE = ('"""', "'''")


def lines_of(finding: Finding) -> list[str]:
    """Return the lines that a finding is about, of the first submission; none if it is gone."""
    if finding.checks[0].message_id == DOCUMENT:
        return _document_lines(finding.everybody[0], str(finding.checks[0].params["file"]))
    done = finding.everybody[0]
    wanted = [file.path for file in done.report.submission.files]
    if not wanted:
        # Its code could not be read, so nobody looked for what else there is.
        return list(map(str, done.submission.paths))
    try:
        files = read_submission(done.submission.path, wanted).files
    except GraderError:
        return []
    params = finding.checks[0].params
    named, path = params.get("line"), params.get("file")
    files = tuple(file for file in files if file.path == path) or files
    most = _MOST_READ if finding.checks[0].message_id in READ else _MOST_LINES
    for file in files:
        lines = file.data.decode(errors="replace").splitlines()
        if isinstance(named, int) and 0 < named <= len(lines):
            first, last = max(1, named - _AROUND), min(len(lines), named + _AROUND)
        elif found := _function(lines, finding.question, most):
            first, last = found
        else:
            continue
        return _numbered(lines, first, last)
    return []


def _document_lines(done: Done, name: str) -> list[str]:
    """Return where a file lies that a person reads, its size, and its beginning if it is text.

    It is read as bytes; nothing else is done with it here.
    """
    where = done.submission.path
    wanted = [file.path for file in done.report.submission.files]
    try:
        (file,) = read_submission(where, wanted, documents=[name]).documents
    except (GraderError, ValueError):
        return [f"{name}: is no longer there as it was handed in"]
    place = where.get(name) if isinstance(where, Mapping) else where
    inside = "" if isinstance(where, Mapping) else f": {file.origin}"
    head = f"{place or name}{inside} ({file.size})"
    if not name.lower().endswith(_TEXTS):
        return [head]
    lines = file.data[:_MOST_TEXT].decode(errors="replace").splitlines()
    more = len(lines) > _MOST_READ or len(file.data) > _MOST_TEXT
    shown = _numbered(lines, 1, min(len(lines), _MOST_READ))
    return [head, *shown, *(["      …"] if more else [])]


def _function(lines: Sequence[str], name: str, most: int) -> tuple[int, int] | None:
    """Return the first and last line of a function or class; the text need not parse."""
    starts = [
        number
        for number, line in enumerate(lines, 1)
        if line.startswith((f"def {name}(", f"class {name}(", f"class {name}:"))
    ]
    if not starts:
        return None
    return starts[-1], min(_end(lines, starts[-1]), starts[-1] + most)


def _end(lines: Sequence[str], start: int) -> int:
    """Return the last line of a function that starts at a line."""
    quoted = False
    for number, line in enumerate(lines[start:], start + 1):
        if line[:1].strip() and not quoted and not line.startswith(("#", ")")):
            return number - 1
        # An essay's text stands in the first column, too, and is no end of its function.
        quoted ^= sum(map(line.count, _TRIPLE)) % 2 == 1
    return len(lines)


def _numbered(lines: Sequence[str], first: int, last: int) -> list[str]:
    return [f"{number:5} {lines[number - 1]}" for number in range(first, last + 1)]
