"""``grader report``: pages of what was graded, for staff and for students."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli.options import LanguageOpt, LateOpt
from grader.cli.support import make_console, make_folder, say, write_pages

if TYPE_CHECKING:
    from grader.batch.grades import Grade, LatePolicy
    from grader.batch.pages import Look
    from grader.report.pages import Labels


class Released(str, Enum):
    """What has been released to students, as Gradescope names it."""

    visible = "visible"
    after_due_date = "after_due_date"
    after_published = "after_published"


def report_command(
    folder: Annotated[
        Path, typer.Argument(help="--out of `grader batch` or `grader grade`.", metavar="DIR")
    ],
    released: Annotated[
        Released,
        typer.Option(
            "--released",
            help="What students may see: visible checks only, those for after the due date too, "
            "or those for after grades are published. Hidden ones never.",
        ),
    ] = Released.visible,
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
    from dataclasses import replace

    from grader.batch.grades import read_policy
    from grader.batch.pages import labels_of, write_one
    from grader.report.pages import STUDENT_FILE, Release

    policy = read_policy(late) if late else None
    if students is not None:
        make_folder(students)
    grades, look = _read(folder, policy, labels_of(lang.value if lang else None))
    look = replace(look, release=Release(released.value), students=students)
    console = make_console()
    if len(grades) == 1 and not grades[0].hand_in.name:
        path = write_one(grades[0].report, folder, look)
        say(console, f"Written: {path}, for staff, and {path.with_name(STUDENT_FILE)}")
        return
    write_pages(grades, folder, look, console)
    if students is not None:
        say(console, f"To hand back: {len(grades)} pages in {students}")


def _read(folder: Path, policy: LatePolicy | None, labels: Labels) -> tuple[list[Grade], Look]:
    """Return the grades in a folder; of one hand-in, a single one without a name."""
    from grader.batch.discover import HandIn
    from grader.batch.grades import Grade
    from grader.batch.merge import read_folder
    from grader.batch.pages import Look, read_class
    from grader.store.journal import JOURNAL_FILE

    if (folder / JOURNAL_FILE).is_file():
        grades, look = read_class(folder, labels, policy)
        if grades:
            return grades, look
    # No journal says where the hand-ins lie: the folder of a report holds none.
    found = read_folder(folder)
    return [Grade(HandIn(name, folder / name), each) for name, each in found.items()], Look(labels)
