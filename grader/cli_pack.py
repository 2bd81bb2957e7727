"""``grader pack``: an assignment with its grader, for a platform that runs it."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from grader.cli_options import AssignmentArg, IsolationChoice
from grader.cli_support import make_console, make_folder, read_materials, say


class Platform(str, Enum):
    """Who is to run it."""

    gradescope = "gradescope"
    classroom50 = "classroom50"


def pack(
    platform: Annotated[Platform, typer.Argument(help="Who is to run it.")],
    assignment: AssignmentArg,
    out: Annotated[Path, typer.Option("--out", help="Folder to write into; made if absent.")],
    isolation: Annotated[
        IsolationChoice | None,
        typer.Option(
            "--isolation",
            help="Walls to insist on there; restricted for gradescope and auto for classroom50 "
            "where absent.",
        ),
    ] = None,
) -> None:
    """Pack an assignment with its reference and this grader. Not for students' eyes."""
    materials, console = read_materials(assignment), make_console()
    from grader.authoring.pack import classroom50_files, gradescope_zip, write_files
    from grader.store.atomic import write_atomic

    make_folder(out)
    name = materials.assignment.id
    if platform is Platform.gradescope:
        path = out / f"{name}-gradescope.zip"
        tier = isolation or IsolationChoice.restricted
        write_atomic(path, gradescope_zip(materials, tier.value))
        say(console, f"Written: {path}")
        points = materials.assignment.points
        say(console, f"Upload it as the autograder of an assignment worth {points:g} points,")
        say(console, "in a container of at least 2 CPUs and 3 GB.")
        return
    files = classroom50_files(materials, (isolation or IsolationChoice.auto).value)
    write_files(files, out)
    say(console, f"Written: {len(files)} files in {out}")
    say(console, "Keep that repository private: it holds the reference.")
