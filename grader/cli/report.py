"""What becomes of reports: ``report`` writes pages, ``pictures`` drawings, ``export`` files."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli.options import LanguageOpt, LateOpt, MissingChoice, PendingChoice, PointsChoice
from grader.cli.support import lateness_of, make_console, make_folder, say, write_pages
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.batch.grades import Grade, LatePolicy
    from grader.batch.pages import Look
    from grader.batch.table import Exported

_SHOWN = 10
_NAME = 40


class Released(str, Enum):
    """What has been released to students, as Gradescope names it."""

    visible = "visible"
    after_due_date = "after_due_date"
    after_published = "after_published"


ReleasedOpt = Annotated[
    Released | None,
    typer.Option(
        "--released",
        help="What students may see: visible checks only, those for after the due date too, "
        "or those for after grades are published (course.yml may choose). Never hidden ones.",
    ),
]


def report_command(
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
    from dataclasses import replace

    from grader.batch.grades import read_policy
    from grader.batch.pages import write_one
    from grader.report.html.redact import ReleaseStage
    from grader.report.html.render import STUDENT_FILE
    from grader.report.summary import counted

    policy = read_policy(late) if late else None
    if students is not None:
        make_folder(students)
    grades, look = _read(folder, policy, lang.value if lang else None)
    release = ReleaseStage(released.value) if released else look.release
    look = replace(look, release=release, students=students)
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
    from grader.batch.discover import ClassSubmission
    from grader.batch.grades import Grade
    from grader.batch.merge import read_folder
    from grader.batch.pages import Look, labels_of, read_class
    from grader.store.journal import JOURNAL_FILE

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
    from grader.batch.merge import read_folder
    from grader.report.pictures import write_pictures

    reports = read_folder(folder)
    counts = [
        len(write_pictures(report, folder / name, form.value, everything=True))
        for name, report in reports.items()
    ]
    say(make_console(), f"Drawn: {sum(counts)} of {len(reports)} submissions' reports, beside each")


class ExportFormat(str, Enum):
    """What grades can be written as."""

    canvas = "canvas"
    moodle = "moodle"
    nbgrader = "nbgrader"
    junit = "junit"
    classroom50 = "classroom50"
    summary = "summary"
    gradescope = "gradescope"


IntoOpt = Annotated[
    Path | None,
    typer.Option(
        "--into",
        help="Your own export of the gradebook (canvas, moodle), or the packed autograder "
        "(gradescope).",
    ),
]
PendingOpt = Annotated[
    PendingChoice,
    typer.Option(
        "--pending",
        help="Points that wait for a machine: no final grade (ask), lost (zero) or earned (full).",
    ),
]
PointsOpt = Annotated[
    PointsChoice,
    typer.Option(
        "--points",
        help="Canvas, Moodle: points as they are (raw), on the scale of the column (scaled), or "
        "percent.",
    ),
]


MissingOpt = Annotated[
    MissingChoice | None,
    typer.Option(
        "--missing",
        help="Who is on the roster and handed in nothing: a 0 in an empty cell (zero), or left as "
        "it is (leave). zero for nbgrader, leave for the others where absent.",
    ),
]


def export(
    kind: Annotated[ExportFormat, typer.Argument(help="Who is to read it.")],
    folder: Annotated[Path, typer.Argument(help="--out of `grader batch` or `grader grade`.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="File to write; a folder for junit and classroom50."),
    ] = None,
    into: IntoOpt = None,
    column: Annotated[
        str, typer.Option("--column", help="Heading of the assignment in it (canvas).")
    ] = "",
    late: LateOpt = None,
    pending: PendingOpt = PendingChoice.ask,
    points: PointsOpt = PointsChoice.raw,
    missing: MissingOpt = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would change in your file.")
    ] = False,
) -> None:
    """Write grades for a learning platform or for CI. Whoever has no final grade is left alone."""
    if kind in (ExportFormat.junit, ExportFormat.classroom50, ExportFormat.summary):
        _reports(kind, folder, out)
        return
    if kind is ExportFormat.gradescope:
        _autograder(folder, into, out, late)
        return
    policy = lateness_of(folder, late, make_console(), kept=False)
    from grader.batch.export import ExportOptions, Points, export_table

    grades, due = _grades(folder, policy, pending), policy.due.isoformat(" ") if policy else ""
    zero = None if missing is None else missing is MissingChoice.zero
    asked = ExportOptions(folder, into, column, Points(points.value), zero, due)
    exported = export_table(kind.value, grades, asked)
    if dry_run:
        _show_changes(exported)
    else:
        _write(exported, out or folder / f"{kind.value}.csv")
    if pending is PendingChoice.ask:
        _list_waiting(grades)


def _grades(folder: Path, policy: LatePolicy | None, pending: PendingChoice) -> list[Grade]:
    from dataclasses import replace

    from grader.batch.grades import Pending
    from grader.batch.ledger import read_grades

    counts = Pending(pending.value)
    return [replace(grade, pending=counts) for grade in read_grades(folder, policy)]


def _list_waiting(grades: list[Grade]) -> None:
    from grader.report.summary import counted

    if waiting := sum(each.settleable > 0 for each in grades):
        say(
            make_console(),
            f"Points of {counted(waiting, 'submission')} wait for a machine: merge them from one "
            "that has it, or pass --pending zero (lost) or --pending full (earned) for all alike",
        )


def _show_changes(exported: Exported) -> None:
    from grader.report.summary import counted
    from grader.text import inert

    console = make_console()
    for name, before, now in exported.changed:
        say(console, f"{inert(name, _NAME)}: {before or 'empty'} → {now}")
    changes = counted(len(exported.changed), "change")
    say(console, f"{changes}, {counted(exported.filled, 'final grade')}. Nothing was written.")
    _list_left(exported)


def _write(exported: Exported, path: Path) -> None:
    from grader.report.summary import counted
    from grader.store.files import write_atomic

    write_atomic(path, exported.text.encode())
    say(make_console(), f"Written: {path}, {counted(exported.filled, 'final grade')}")
    _list_left(exported)


def _list_left(exported: Exported) -> None:
    for title, names in (
        ("Handed in nothing, and get 0", list(exported.zeros)),
        ("Handed in nothing; --missing zero writes a 0 into their cells", list(exported.blank)),
        ("Handed in nothing, and keep what stands in their cells", list(exported.kept)),
        ("No final grade yet", [f"{name} ({why})" for name, why in exported.open.items()]),
        ("Graded, but not in your file", list(exported.absent)),
        ("Whose row it is, nobody can tell; enter these by hand", list(exported.unclear)),
    ):
        _list(title, names)


def _autograder(folder: Path, into: Path | None, out: Path | None, late: Path | None) -> None:
    """Write an autograder that answers with the reports in a folder."""
    if late:
        raise UsageError("Gradescope counts lateness itself; leave --late out")
    if into is None:
        raise UsageError(
            "export gradescope needs --into ZIP, which `grader pack gradescope` wrote: the scores "
            "go into a copy of that, for Gradescope to run again"
        )
    path = out or folder / into.name
    if path.resolve() == into.resolve():
        raise UsageError(f"--out {path} is the archive itself; name another file")
    from grader.authoring.pack import with_reports
    from grader.batch.merge import read_folder
    from grader.report.summary import counted
    from grader.store.files import write_atomic

    done = with_reports(into, read_folder(folder).values())
    write_atomic(path, done.archive)
    scores = counted(done.reports, "submission")
    say(make_console(), f"Written: {path}, with the scores of {scores}")
    _list("Points still open", done.pending)
    _list("Left to Gradescope, as nothing of them could be run", done.left_out)
    said = "On Gradescope: upload it under Configure Autograder, then Manage Submissions"
    say(make_console(), f"{said}, Regrade All Submissions")


def _list(title: str, names: Sequence[str]) -> None:
    if names:
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        say(make_console(), f"{title}: {', '.join(names[:_SHOWN])}{more}")


def _homes(folder: Path) -> list[Path]:
    """Return the folders that hold the report of one submission.

    Raises:
        UsageError: There is none.
    """
    from grader.report.model import REPORT_FILE

    if (folder / REPORT_FILE).is_file():
        return [folder]
    if homes := sorted(path.parent for path in folder.glob(f"*/{REPORT_FILE}")):
        return homes
    raise UsageError(f"{folder}: holds no {REPORT_FILE}; name the --out folder of a grading")


def _summary(folder: Path, out: Path | None) -> None:
    from grader.report.model import REPORT_FILE, read_report
    from grader.report.summary import SUMMARY_FILE, summary_page
    from grader.store.files import write_atomic

    reports = [read_report(home / REPORT_FILE) for home in _homes(folder)]
    path = out or folder / SUMMARY_FILE
    write_atomic(path, summary_page(reports).encode())
    say(make_console(), f"Written: {path}")


def _reports(kind: ExportFormat, folder: Path, out: Path | None) -> None:
    if kind is ExportFormat.summary:
        _summary(folder, out)
        return
    import datetime as dt
    import os

    from grader.report.ci import write_classroom50, write_junit
    from grader.report.model import REPORT_FILE, read_report

    single = (folder / REPORT_FILE).is_file()
    homes = _homes(folder)
    if not single and kind is ExportFormat.classroom50:
        raise UsageError("export classroom50 takes the report of one submission, not a class")
    for home in homes:
        to = home if out is None else out if single else out / home.name
        make_folder(to)
        report = read_report(home / REPORT_FILE)
        if kind is ExportFormat.junit:
            write_junit(report, to)
        else:
            write_classroom50(report, to, os.environ, dt.datetime.now(dt.timezone.utc))
    say(make_console(), f"Written: {kind.value} of {len(homes)} in {out or folder}")
