"""``grader pictures``: what reports have numbers for, drawn again in another form."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from grader.cli.support import make_console, say


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
    say(make_console(), f"Drawn: {sum(counts)} of {len(reports)} hand-ins' reports, beside each")
