"""Command ``export``: grades into the files that platforms and CI read."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from grader.batch.export import TABLES, ExportOptions, Points
from grader.batch.grades import Grade, Pending
from grader.batch.ledger import read_grades
from grader.batch.lms_csv import ExportResult
from grader.batch.merge import read_folder
from grader.cli.options import LateOpt
from grader.cli.support import lateness_of, make_console, make_folder, say
from grader.errors import UsageError, nearest
from grader.report.ci import write_classroom50, write_junit
from grader.report.model import REPORT_FILE, read_report
from grader.report.summary import SUMMARY_FILE, counted, summary_page
from grader.store.files import write_atomic
from grader.text import inert

_SHOWN = 10
_NAME = 40


_FOR_CI = ("junit", "classroom50", "summary")
KINDS = (*TABLES, *_FOR_CI, "gradescope")
_TAKES: Mapping[str, tuple[str, ...]] = {
    **{kind: ("--late", "--pending", "--dry-run", *table.takes) for kind, table in TABLES.items()},
    **dict.fromkeys(_FOR_CI, ()),
    "gradescope": ("--into", "--late"),
}
"""The options that each kind heeds."""


IntoOpt = Annotated[
    Path | None,
    typer.Option(
        "--into",
        help="Your own export of the gradebook (canvas, moodle), or the packed autograder "
        "(gradescope).",
    ),
]
PendingOpt = Annotated[
    Pending,
    typer.Option(
        "--pending",
        help="Points that wait for a machine: no final grade (ask), lost (zero) or earned (full).",
    ),
]
PointsOpt = Annotated[
    Points,
    typer.Option(
        "--points",
        help="Canvas, Moodle: points as they are (raw), on the scale of the column (scaled), or "
        "percent.",
    ),
]


class MissingChoice(str, Enum):
    """What those get who handed in nothing."""

    leave = "leave"
    zero = "zero"


MissingOpt = Annotated[
    MissingChoice | None,
    typer.Option(
        "--missing",
        help="Who is on the roster and handed in nothing: a 0 in an empty cell (zero), or left as "
        "it is (leave). zero for nbgrader, leave for the others where absent.",
    ),
]


def export(
    kind: Annotated[str, typer.Argument(help=f"Who is to read it: {', '.join(KINDS)}.")],
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
    pending: PendingOpt = Pending.ASK,
    points: PointsOpt = Points.RAW,
    missing: MissingOpt = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would change in your file.")
    ] = False,
) -> None:
    """Write grades for a learning platform or for CI. Whoever has no final grade is left alone."""
    if kind not in KINDS:
        raise UsageError(f"export {kind}: there is no such file{nearest(kind, KINDS)}")
    given = {
        "--into": into is not None, "--column": bool(column), "--late": late is not None,
        "--pending": pending is not Pending.ASK, "--points": points is not Points.RAW,
        "--missing": missing is not None, "--dry-run": dry_run,
    }  # fmt: skip
    _refuse_others(kind, [name for name, there in given.items() if there])
    if kind in _FOR_CI:
        _reports(kind, folder, out)
        return
    if kind == "gradescope":
        _autograder(folder, into, out, late)
        return
    policy = lateness_of(folder, late, make_console(), kept=False)
    grades = [replace(grade, pending=pending) for grade in read_grades(folder, policy)]
    zero = None if missing is None else missing is MissingChoice.zero
    due = policy.due.isoformat(" ") if policy else ""
    exported = TABLES[kind].make(grades, ExportOptions(folder, into, column, points, zero, due))
    if dry_run:
        _show_changes(exported)
    else:
        _write(exported, out or folder / f"{kind}.csv")
    if pending is Pending.ASK:
        _list_waiting(grades)


def _refuse_others(kind: str, options: Sequence[str]) -> None:
    """Refuse options that a kind would pass over: who asked for percent must not get points."""
    for option in options:
        if option not in _TAKES[kind]:
            kinds = ", ".join(other for other in KINDS if option in _TAKES[other])
            raise UsageError(
                f"export {kind} takes no {option}; leave it out. It is for {kinds}. "
                "Nothing was written"
            )


def _list_waiting(grades: list[Grade]) -> None:
    if waiting := sum(each.settleable > 0 for each in grades):
        say(
            make_console(),
            f"Points of {counted(waiting, 'submission')} wait for a machine: merge them from one "
            "that has it, or pass --pending zero (lost) or --pending full (earned) for all alike",
        )


def _show_changes(exported: ExportResult) -> None:
    console = make_console()
    for name, before, now in exported.changed:
        say(console, f"{inert(name, _NAME)}: {before or 'empty'} → {now}")
    changes = counted(len(exported.changed), "change")
    say(console, f"{changes}, {counted(exported.filled, 'final grade')}. Nothing was written.")
    _list_left(exported)


def _write(exported: ExportResult, path: Path) -> None:
    write_atomic(path, exported.text.encode())
    say(make_console(), f"Written: {path}, {counted(exported.filled, 'final grade')}")
    _list_left(exported)


def _list_left(exported: ExportResult) -> None:
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

    from grader.authoring.pack import with_reports  # all kinds of checks, which takes long

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
    if (folder / REPORT_FILE).is_file():
        return [folder]
    if homes := sorted(path.parent for path in folder.glob(f"*/{REPORT_FILE}")):
        return homes
    raise UsageError(f"{folder}: holds no {REPORT_FILE}; name the --out folder of a grading")


def _summary(folder: Path, out: Path | None) -> None:
    reports = [read_report(home / REPORT_FILE) for home in _homes(folder)]
    path = out or folder / SUMMARY_FILE
    write_atomic(path, summary_page(reports).encode())
    say(make_console(), f"Written: {path}")


def _reports(kind: str, folder: Path, out: Path | None) -> None:
    if kind == "summary":
        _summary(folder, out)
        return

    single = (folder / REPORT_FILE).is_file()
    homes = _homes(folder)
    if not single and kind == "classroom50":
        raise UsageError("export classroom50 takes the report of one submission, not a class")
    for home in homes:
        to = home if out is None else out if single else out / home.name
        make_folder(to)
        report = read_report(home / REPORT_FILE)
        if kind == "junit":
            write_junit(report, to)
        else:
            write_classroom50(report, to, os.environ, dt.datetime.now(dt.timezone.utc))
    say(make_console(), f"Written: {kind} of {len(homes)} in {out or folder}")
