"""The two pages of a hand-in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from grader.report.model import Report
from grader.report.pages import pictures as pictures_of
from grader.report.pages import redact
from grader.report.pages.excerpt import Excerpt, Text, excerpt_of, texts
from grader.report.pages.pictures import Picture
from grader.report.pages.redact import Release
from grader.report.pages.render import Labels, render
from grader.report.pages.translate import translated
from grader.report.summary import amount
from grader.sandbox.host.guests import Tier
from grader.submission.submission import SubmittedFile


@dataclass(frozen=True, slots=True)
class HandInFiles:
    """What lies beside a report.

    Attributes:
        submitted: What was handed in, read again; empty where it is gone.
        pictures: As ``read_pictures`` gives them.
        asked: Question → what was asked.
    """

    submitted: Sequence[SubmittedFile] = ()
    pictures: Sequence[Picture] = ()
    asked: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Links:
    """Where a staff page leads; empty for nowhere.

    Attributes:
        index: The class.
        previous: The hand-in before, as (link, name).
        next: The one after.
        student: The student's page.
    """

    index: str = ""
    previous: tuple[str, str] | None = None
    next: tuple[str, str] | None = None
    student: str = ""


NO_FILES = HandInFiles()
NO_LINKS = Links()


def hand_in_page(
    report: Report,
    labels: Labels,
    files: HandInFiles = NO_FILES,
    links: Links = NO_LINKS,
) -> str:
    """Return the page for staff, with everything."""
    known = translated(report, labels.words)
    sources = texts(files.submitted, report.submission.files)
    return _page(
        known,
        labels,
        {
            "staff": True,
            "notices": _notices(known, labels),
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
    files: HandInFiles = NO_FILES,
    release: Release = Release.NOW,
) -> str:
    """Return the page for the student: nothing hidden, nothing of anybody else."""
    full = translated(report, labels.words)
    shown = redact.for_student(full, release)
    sources = texts(files.submitted, report.submission.files)
    withheld = redact.withheld(full, release)
    notices = _notices(shown, labels)
    if withheld[""]:
        notices.append(labels("whole_note" if release is Release.PUBLISHED else "part_note"))
    ids = {question.id for question in shown.questions}
    return _page(
        shown,
        labels,
        {
            "staff": False,
            "notices": notices,
            "withheld": withheld,
            # Where a finding is said to be, is in parameters that the shown report lacks.
            "excerpts": _excerpts(full, sources, shown),
            "pictures": _grouped(pictures_of.for_student(files.pictures, shown)),
            "asked": {name: text for name, text in files.asked.items() if name in ids},
            "sources": (),
            "links": NO_LINKS,
        },
    )


def _page(report: Report, labels: Labels, values: Mapping[str, object]) -> str:
    return render("hand_in.html", ("base.js", "hand_in.js"), labels, {"report": report, **values})


def _notices(report: Report, labels: Labels) -> list[str]:
    lines = []
    if report.status.value == "incomplete":
        lines.append(labels("incomplete_note"))
    if report.pending:
        points = {"pending": amount(report.pending), "max": amount(report.max_score)}
        lines.append(labels("pending_note", **points))
    if not report.official:
        lines.append(labels("unofficial_note"))
    unwalled = [run for run in report.merged if run.isolation is Tier.NONE]
    if report.official and unwalled:
        checks = ", ".join(name for run in unwalled for name in run.checks)
        lines.append(labels("unwalled_note", checks=checks))
    return lines


def _excerpts(
    report: Report, sources: Sequence[Text], shown: Report | None = None
) -> dict[tuple[str, str], Excerpt]:
    known = {
        (question.id, check.id)
        for question in (shown or report).questions
        for check in question.checks
        if shown is None or not check.hidden
    }
    found = {
        (question.id, check.id): excerpt_of(check, sources)
        for question in report.questions
        for check in question.checks
        if (question.id, check.id) in known
    }
    return {key: excerpt for key, excerpt in found.items() if excerpt}


def _grouped(pictures: Sequence[Picture]) -> dict[str, list[Picture]]:
    grouped: dict[str, list[Picture]] = {}
    for picture in pictures:
        grouped.setdefault(picture.question, []).append(picture)
    return grouped
