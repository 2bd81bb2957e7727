"""Commands ``report``, which writes pages, and ``pictures``, which draws."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from grader.batch.discover import ClassSubmission
from grader.batch.grades import Grade, LatePolicy, read_policy
from grader.batch.merge import read_folder
from grader.batch.pages import Look, labels_of, read_class, write_one
from grader.cli.options import LanguageOpt, LateOpt
from grader.cli.support import make_console, make_folder, say, write_pages
from grader.report.html.render import STUDENT_FILE
from grader.report.pictures import write_pictures
from grader.report.summary import counted
from grader.report.view import ReleaseStage
from grader.store.journal import JOURNAL_FILE

ReleasedOpt = Annotated[
    ReleaseStage | None,
    typer.Option(
        "--released",
        help="What students may see: visible checks only, those for after the due date too, "
        "or those for after grades are published (course.yml may choose). Never hidden ones.",
    ),
]


def report(
    folder: Annotated[
        Path, typer.Argument(help="--out of `grader batch` or `grader grade`.", metavar="DIR")
    ],
    released: ReleasedOpt = None,
    students: Annotated[
        Path | None,
        typer.Option(
            "--students", help="Folder for the students' pages alone, NAME.html, to hand back."
        ),
    ] = None,
    lang: LanguageOpt = None,
    late: LateOpt = None,
) -> None:
    """Write pages for staff and students.

    DIR/index.html is the class; DIR/NAME has report.html and student.html.
    """
    policy = read_policy(late) if late else None
    if students is not None:
        make_folder(students)
    grades, look = _read(folder, policy, lang.value if lang else None)
    look = replace(look, release=released or look.release, students=students)
    console = make_console()
    if len(grades) == 1 and not grades[0].submission.name:
        path = write_one(grades[0].report, folder, look)
        say(console, f"Written: {path}, for staff, and {path.with_name(STUDENT_FILE)}")
        return
    write_pages(grades, folder, look, console)
    if students is not None:
        say(console, f"To hand back: {counted(len(grades), 'page')} in {students}")


def _read(
    folder: Path, policy: LatePolicy | None, language: str | None
) -> tuple[list[Grade], Look]:
    """Return the grades in a folder; of one submission, a single one without a name."""
    if (folder / JOURNAL_FILE).is_file():
        grades, look = read_class(folder, language, policy)
        if grades:
            return grades, look
    # No journal says where the submissions lie: the folder of a report holds none.
    found = read_folder(folder)
    return [
        Grade(ClassSubmission(name, folder / name), each) for name, each in found.items()
    ], Look(labels_of(language))


class PictureFormat(str, Enum):
    """Forms of a picture's file."""

    svg = "svg"
    png = "png"


FolderArg = Annotated[
    Path, typer.Argument(help="--out folder of `grader grade` or `grader batch`.", metavar="DIR")
]
FormatOpt = Annotated[
    PictureFormat, typer.Option("--format", help="svg, as grading writes them, or png.")
]


def pictures(folder: FolderArg, form: FormatOpt = PictureFormat.png) -> None:
    """Draw the reports' pictures again, from the numbers in them."""
    reports = read_folder(folder)
    counts = [
        len(write_pictures(report, folder / name, form.value, everything=True))
        for name, report in reports.items()
    ]
    say(make_console(), f"Drawn: {sum(counts)} of {len(reports)} submissions' reports, beside each")
