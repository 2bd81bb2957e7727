"""The line of a hand-in that a finding is about, with what stands around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.report.model import CheckResult, FileInfo
from grader.report.text import inert
from grader.submission.notebook import NEWLINE
from grader.submission.submission import SubmittedFile
from grader.verdict import Status

_AROUND = 3
_MAX_LINE = 240
_MAX_LINES = 4000
_PLAIN = (Status.PASSED, Status.SKIPPED)


@dataclass(frozen=True, slots=True)
class Text:
    """A graded file as lines of harmless text.

    Attributes:
        path: As the assignment names it.
        lines: Without their ends.
        cut: There are more than are kept.
        cells: Line → (code cell, line in it), where it was a notebook.
    """

    path: str
    lines: tuple[str, ...]
    cut: bool
    cells: Mapping[int, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Some lines of a file.

    Attributes:
        path: The file.
        line: The one in question, from 1.
        first: Number of the first one here.
        lines: All here.
        cell: (code cell, line in it), where it was a notebook.
    """

    path: str
    line: int
    first: int
    lines: tuple[str, ...]
    cell: tuple[int, int] | None


def texts(files: Sequence[SubmittedFile], graded: Sequence[FileInfo]) -> tuple[Text, ...]:
    """Return the files that are still what was graded; one that has changed is left out."""
    digests = {file.path: file.sha256 for file in graded}
    return tuple(_text(file) for file in files if digests.get(file.path) == file.sha256)


def excerpt_of(check: CheckResult, known: Sequence[Text]) -> Excerpt | None:
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
    first = max(1, line - _AROUND)
    lines = text.lines[first - 1 : line + _AROUND]
    return Excerpt(text.path, line, first, lines, text.cells.get(line))


def _text(file: SubmittedFile) -> Text:
    # As Python counts lines: others end them at a form feed, or at a separator within a string.
    lines = NEWLINE.split(file.data.decode("utf-8", "replace").removesuffix("\n"))
    kept = tuple(inert(line.expandtabs(4), _MAX_LINE) for line in lines[:_MAX_LINES])
    cells = {
        number: cell
        for number in range(1, len(kept) + 1)
        if file.cells and (cell := file.cells.cell_of(number))
    }
    return Text(file.path, kept, len(lines) > _MAX_LINES, cells)
