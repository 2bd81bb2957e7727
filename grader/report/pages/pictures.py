"""Pictures that lie beside a report, as images inside a page."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.report.model import CheckResult, Report
from grader.report.pictures.files import FOLDER

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


def for_student(pictures: Iterable[Picture], shown: Report) -> tuple[Picture, ...]:
    """Return the pictures of shown checks that no hidden case decided.

    Args:
        pictures: All.
        shown: What the student may know.
    """
    known: Mapping[tuple[str, str], CheckResult] = {
        (question.id, check.id): check for question in shown.questions for check in question.checks
    }
    return tuple(
        each
        for each in pictures
        if (check := known.get((each.question, each.check))) is not None and not check.hidden
    )
