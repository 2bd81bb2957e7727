"""Lines of a submission that a finding points at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.report.model import CheckResult, FileInfo
from grader.submission.notebook import NEWLINE
from grader.submission.submission import CellMap, SubmittedFile
from grader.text import inert
from grader.verdict import Status

_AROUND = 3
_MAX_LINE = 240
_MAX_LINES = 4000
_TRIPLE = ('"""', "'''")
_PLAIN = (Status.PASSED, Status.SKIPPED)


@dataclass(frozen=True, slots=True)
class SourceText:
    """A graded file as lines of harmless text.

    Attributes:
        path: As the assignment names it.
        lines: Without their ends.
        cut: There are more than are kept.
        notebook: Name of the notebook that it was made from; empty if it was none.
        cells: Where its code cells begin.
    """

    path: str
    lines: tuple[str, ...]
    cut: bool
    notebook: str
    cells: CellMap | None


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Some lines of a file, or of one code cell.

    Attributes:
        path: The file, or the notebook.
        line: The one in question, from 1, in its file or cell.
        first: Number of the first one here.
        lines: All here.
        cell: The code cell, where it was a notebook.
    """

    path: str
    line: int
    first: int
    lines: tuple[str, ...]
    cell: int | None


def texts(files: Sequence[SubmittedFile], graded: Sequence[FileInfo]) -> tuple[SourceText, ...]:
    """Return the files that are still what was graded; one that has changed is left out."""
    digests = {file.path: file.sha256 for file in graded}
    return tuple(_text(file) for file in files if digests.get(file.path) == file.sha256)


def excerpt_of(check: CheckResult, known: Sequence[SourceText]) -> Excerpt | None:
    """Return the lines that a finding points at, if it points at any that are known.

    Of a hidden case this is for staff alone: a line may be chosen to tell of the case's inputs.
    """
    if check.status in _PLAIN:
        return None
    line, path = check.params.get("line"), check.params.get("file")
    if type(line) is not int:
        return None
    text = next((each for each in known if path in (None, "", each.path)), None)
    if text is None or not 1 <= line <= len(text.lines):
        return None
    first, last = max(1, line - _AROUND), line + _AROUND
    place = text.cells.cell_of(line) if text.cells else None
    if text.cells is None or place is None:
        return Excerpt(text.path, line, first, text.lines[first - 1 : last], None)
    cell, line_in_cell = place
    within = text.cells.lines_of(cell)
    first, last = max(first, within.start), min(last, within.stop - 1)
    lines = text.lines[first - 1 : last]
    return Excerpt(text.notebook, line_in_cell, first - within.start + 1, lines, cell)


def function_in(lines: Sequence[str], name: str) -> tuple[int, int] | None:
    """Return the first and last line of a function or class; the text need not parse."""
    starts = [
        number
        for number, line in enumerate(lines, 1)
        if line.startswith((f"def {name}(", f"class {name}(", f"class {name}:"))
    ]
    if not starts:
        return None
    return starts[-1], _end(lines, starts[-1])


def _end(lines: Sequence[str], start: int) -> int:
    """Return the last line of a function that starts at a line."""
    quoted = False
    for number, line in enumerate(lines[start:], start + 1):
        if line[:1].strip() and not quoted and not line.startswith(("#", ")")):
            return number - 1
        # An essay's text stands in the first column, too, and is no end of its function.
        quoted ^= sum(map(line.count, _TRIPLE)) % 2 == 1
    return len(lines)


def _text(file: SubmittedFile) -> SourceText:
    # As Python counts lines: others end them at a form feed, or at a separator within a string.
    lines = NEWLINE.split(file.data.decode("utf-8", "replace").removesuffix("\n"))
    kept = tuple(inert(line.expandtabs(4), _MAX_LINE) for line in lines[:_MAX_LINES])
    return SourceText(file.path, kept, len(lines) > _MAX_LINES, file.notebook, file.cells)
