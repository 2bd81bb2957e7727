"""The two pages of a submission: for staff, and for its student."""

from __future__ import annotations

import ast
import inspect
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.report.html import redact
from grader.report.html.redact import ReleaseStage
from grader.report.html.render import Labels, render
from grader.report.lateness import LateCost
from grader.report.model import CheckResult, FileInfo, Report, in_language
from grader.report.pictures import FOLDER
from grader.report.summary import notices, told_together, unread, unwritten
from grader.submission.notebook import NEWLINE
from grader.submission.submission import CellMap, SubmittedFile
from grader.text import inert
from grader.verdict import Status


@dataclass(frozen=True, slots=True)
class SubmissionFiles:
    """What lies beside a report.

    Attributes:
        submitted: What was handed in, read again; empty where it is gone.
        pictures: As ``read_pictures`` gives them.
        asked: Question → what was asked.
        late: What lateness takes, where there is a policy on it.
    """

    submitted: Sequence[SubmittedFile] = ()
    pictures: Sequence[Picture] = ()
    asked: Mapping[str, str] = field(default_factory=dict)
    late: LateCost | None = None


@dataclass(frozen=True, slots=True)
class Links:
    """Where a staff page leads; empty for nowhere.

    Attributes:
        index: The class.
        previous: The submission before, as (link, name).
        next: The one after.
        student: The student's page.
    """

    index: str = ""
    previous: tuple[str, str] | None = None
    next: tuple[str, str] | None = None
    student: str = ""


NO_FILES = SubmissionFiles()
NO_LINKS = Links()


def staff_page(
    report: Report, labels: Labels, files: SubmissionFiles = NO_FILES, links: Links = NO_LINKS
) -> str:
    """Return the page for staff, with everything."""
    known = in_language(report, labels.language)
    sources = texts(files.submitted, report.submission.files)
    return _page(
        known,
        labels,
        {
            "staff": True,
            "one_message": False,
            "groups": {each.id: [(check,) for check in each.checks] for each in known.questions},
            "go_on": "",
            "notices": [
                *notices(known, labels.words, staff=True),
                *_late(known, known, labels, files),
            ],
            "withheld": {},
            "excerpts": _excerpts(known, sources),
            "pictures": _grouped(files.pictures),
            "asked": files.asked,
            "sources": sources,
            "links": links,
        },
    )


def student_page(
    report: Report,
    labels: Labels,
    files: SubmissionFiles = NO_FILES,
    release: ReleaseStage = ReleaseStage.NOW,
) -> str:
    """Return the page for the student: nothing hidden, nothing of anybody else."""
    full = in_language(report, labels.language)
    shown = _wrong_first(redact.for_student(full, release))
    sources = texts(files.submitted, report.submission.files)
    withheld = redact.withheld(full, release)
    lines = [*notices(shown, labels.words), *_late(shown, full, labels, files)]
    if withheld[""]:
        lines.append(labels("whole_note" if release is ReleaseStage.PUBLISHED else "part_note"))
    ids = {question.id for question in shown.questions}
    return _page(
        shown,
        labels,
        {
            "staff": False,
            "one_message": unread(shown) is not None,
            "groups": {each.id: told_together(each.checks) for each in shown.questions},
            "go_on": _go_on(shown, labels),
            "notices": lines,
            "withheld": withheld,
            # Where a finding is said to be, is in parameters that the shown report lacks.
            "excerpts": _excerpts(full, sources, shown),
            "pictures": _grouped(shown_pictures(files.pictures, shown)),
            "asked": {name: text for name, text in files.asked.items() if name in ids},
            "sources": (),
            "links": NO_LINKS,
        },
    )


def _wrong_first(report: Report) -> Report:
    """Return a report with what is wrong first, then what is not written, what is right last."""
    ordered = sorted(
        report.questions, key=lambda item: (_ORDER.get(item.status, 1), unwritten(item))
    )
    return report.model_copy(update={"questions": tuple(ordered)})


_ORDER = {Status.FAILED: 0, Status.PARTIAL: 0, Status.PASSED: 2}


def _go_on(report: Report, labels: Labels) -> str:
    """Return what to do next, at the first question there is; empty where nothing is wrong."""
    # One message holds for all questions then: the file has to be mended first.
    if (lost := unread(report)) is not None:
        return lost.message
    first = next(iter(report.questions), None)
    if first is None or _ORDER.get(first.status, 1):
        return ""
    return labels("go_on_unwritten" if unwritten(first) else "go_on", question=first.id)


def _page(report: Report, labels: Labels, values: Mapping[str, object]) -> str:
    return render(
        "submission.html", ("base.js", "submission.js"), labels, {"report": report, **values}
    )


def _late(shown: Report, full: Report, labels: Labels, files: SubmissionFiles) -> list[str]:
    whole = (shown.score, shown.max_score) == (full.score, full.max_score)
    return files.late.lines(full, whole, labels.words) if files.late else []


def _excerpts(
    report: Report, sources: Sequence[SourceText], shown: Report | None = None
) -> dict[tuple[str, str], Excerpt]:
    known = {
        place
        for place, check in (shown or report).by_place().items()
        if shown is None or not check.hidden
    }
    found = {
        place: excerpt_of(check, sources)
        for place, check in report.by_place().items()
        if place in known
    }
    return {key: excerpt for key, excerpt in found.items() if excerpt}


def _grouped(pictures: Sequence[Picture]) -> dict[str, list[Picture]]:
    grouped: dict[str, list[Picture]] = {}
    for picture in pictures:
        grouped.setdefault(picture.question, []).append(picture)
    return grouped


_AROUND = 3
_MAX_LINE = 240
_MAX_LINES = 4000
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


def _text(file: SubmittedFile) -> SourceText:
    # As Python counts lines: others end them at a form feed, or at a separator within a string.
    lines = NEWLINE.split(file.data.decode("utf-8", "replace").removesuffix("\n"))
    kept = tuple(inert(line.expandtabs(4), _MAX_LINE) for line in lines[:_MAX_LINES])
    return SourceText(file.path, kept, len(lines) > _MAX_LINES, file.notebook, file.cells)


_MAX_BYTES = 400_000
_MOST = 60


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture.

    Attributes:
        question: Id of the question that it belongs to.
        check: Id of the check, or empty.
        name: Of its file, without the ending.
        uri: ``data:`` with its bytes. As an image a picture runs no script and loads nothing.
    """

    question: str
    check: str
    name: str
    uri: str


def read_pictures(folder: Path, report: Report) -> tuple[Picture, ...]:
    """Return the pictures beside a report, ``pictures/QUESTION.CHECK….svg``.

    What is too large to be in a page stays beside it.
    """
    checks = {question.id: {c.id for c in question.checks} for question in report.questions}
    found = []
    for path in sorted((folder / FOLDER).glob("*.svg"))[:_MOST]:
        question, _, rest = path.stem.partition(".")
        check = rest.partition(".")[0]
        if question in checks and path.stat().st_size <= _MAX_BYTES:
            uri = "data:image/svg+xml;base64," + b64encode(path.read_bytes()).decode()
            found.append(
                Picture(question, check if check in checks[question] else "", path.stem, uri)
            )
    return tuple(found)


def shown_pictures(pictures: Iterable[Picture], shown: Report) -> tuple[Picture, ...]:
    """Return the pictures of shown checks that no hidden case decided."""
    known = shown.by_place()
    return tuple(
        each
        for each in pictures
        if (check := known.get((each.question, each.check))) is not None and not check.hidden
    )


_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def asked_in(starter: Path) -> Mapping[str, str]:
    """Return function or class → docstring, from a starter's Python files.

    The starter and never the reference: what is not in the starter, students may not know. A
    folder that is not there gives nothing.
    """
    found: dict[str, str] = {}
    for path in sorted(starter.glob("*.py")):
        for name, text in _docstrings(path):
            found.setdefault(name, text)
    return found


def _docstrings(path: Path) -> Iterator[tuple[str, str]]:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    for node in tree.body:
        if isinstance(node, _DEFINES) and (text := ast.get_docstring(node, clean=False)):
            yield node.name, inspect.cleandoc(text)
