"""``grader merge``: points that another machine has graded come into the reports they belong to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.cli.options import LateOpt
from grader.cli.support import exit_for, lateness_of, make_console, renew_pages, say
from grader.errors import UsageError

Folders = Annotated[
    list[Path],
    typer.Argument(help="--out folders; the first is completed from the others.", metavar="DIR..."),
]
Unwalled = Annotated[
    bool,
    typer.Option(
        "--accept-unwalled",
        help="Take points from runs with --isolation none into reports that had walls.",
    ),
]
Conflicts = Annotated[
    bool,
    typer.Option(
        "--leave-conflicts",
        help="Where the machines decided a check differently, leave its question as it is.",
    ),
]


def merge(
    folders: Folders, unwalled: Unwalled = False, conflicts: Conflicts = False, late: LateOpt = None
) -> None:
    """Fill in pending points that another machine has graded.

    Completes the first folder from the others. Rewrites report.json and results.json, and journal
    and gradebook.csv of a class. Decided checks stay. Ends with 1 if points wait for a GPU and none
    of them was completed.
    """
    from grader.batch.merge import merge_folders, sentences
    from grader.report.merge import Allowed
    from grader.report.terminal import print_class, print_report
    from grader.store.journal import JOURNAL_FILE

    console, batch = make_console(), (folders[0] / JOURNAL_FILE).is_file()
    if late and not batch:
        raise UsageError(f"--late: {folders[0]} holds no batch; lateness counts in a gradebook")
    policy = lateness_of(folders[0], late, console, kept=True) if batch else None
    merged = merge_folders(folders, Allowed(unwalled, conflicts), policy)
    if merged.batch:
        print_class(merged.reports, console)
    else:
        print_report(merged.reports[0], console)
    for line in sentences(merged):
        say(console, line)
    if batch:
        renew_pages(folders[0], console)
    exit_for(merged.reports)
    if merged.fruitless:
        raise typer.Exit(1)
