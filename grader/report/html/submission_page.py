"""The two pages of a submission: for staff, and for its student."""

from __future__ import annotations

import ast
import inspect
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from grader.report.comments import place_of, signed
from grader.report.excerpts import texts
from grader.report.html.render import Labels, render
from grader.report.lateness import LateCost
from grader.report.model import Report
from grader.report.pictures import FOLDER
from grader.report.view import Audience, ReleaseStage, ReportView, view_of
from grader.submission.submission import SubmittedFile


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
    sources = texts(files.submitted, report.submission.files)
    view = view_of(report, Audience(labels.language, staff=True), files.late, sources)
    values = {"staff": True, "asked": files.asked, "sources": sources, "links": links}
    return _page(view, labels, files.pictures, values)


def student_page(
    report: Report,
    labels: Labels,
    files: SubmissionFiles = NO_FILES,
    release: ReleaseStage = ReleaseStage.NOW,
) -> str:
    """Return the page for the student: nothing hidden, nothing of anybody else."""
    sources = texts(files.submitted, report.submission.files)
    audience = Audience(labels.language, released=release)
    view = view_of(report, audience, files.late, sources)
    shown = {question.id for question in view.report.questions}
    asked = {name: text for name, text in files.asked.items() if name in shown}
    values = {"staff": False, "asked": asked, "sources": (), "links": NO_LINKS}
    return _page(view, labels, shown_pictures(files.pictures, view.report), values)


def _page(
    view: ReportView, labels: Labels, pictures: Sequence[Picture], values: Mapping[str, object]
) -> str:
    known = {
        "view": view,
        "report": view.report,
        "pictures": _grouped(pictures),
        "place_of": partial(place_of, words=labels.words),
        "signed": signed,
        **values,
    }
    return render("submission.html", ("base.js", "submission.js"), labels, known)


def _grouped(pictures: Sequence[Picture]) -> dict[str, list[Picture]]:
    grouped: dict[str, list[Picture]] = {}
    for picture in pictures:
        grouped.setdefault(picture.question, []).append(picture)
    return grouped


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
        try:
            tree = ast.parse(path.read_bytes())
        except (OSError, SyntaxError, ValueError):
            continue
        for node in tree.body:
            if isinstance(node, _DEFINES) and (text := ast.get_docstring(node, clean=False)):
                found.setdefault(node.name, inspect.cleandoc(text))
    return found
