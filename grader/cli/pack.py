"""Command ``pack``, and what its packs start on the platform."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from grader.assignment.find import FILE_NAME
from grader.authoring.instructions import Terms, assignment_file, points_text, time_text
from grader.authoring.pack import (
    FOLDER,
    POINTS_FILE,
    Pack,
    classroom50_files,
    gradescope_zip,
    packed_materials,
    recorded_report,
    write_files,
)
from grader.authoring.platform_dry_run import (
    Reach,
    Requirements,
    gradable,
    required_by,
    try_reference,
)
from grader.batch.course import gpu_in_course
from grader.cli.options import (
    AssignmentArg,
    ClockChoice,
    DeviceChoice,
    IsolationChoice,
    IsolationOpt,
    Language,
    WithoutOpt,
)
from grader.cli.support import (
    exit_for,
    grade_one,
    interruptible,
    make_console,
    make_folder,
    make_options,
    make_sandbox,
    read_materials,
    say,
)
from grader.grading import Grader
from grader.progress import make_progress
from grader.report.gradescope import write_results
from grader.report.summary import amount, counted
from grader.report.terminal import print_report
from grader.report.without_gpu import points_without_gpu, without_gpu
from grader.run.materials import Materials
from grader.store.files import write_atomic


class Platform(str, Enum):
    """Who is to run it."""

    gradescope = "gradescope"
    classroom50 = "classroom50"


class UnreachableChoice(str, Enum):
    """What becomes of checks that nobody can pass on the platform."""

    keep = "keep"
    leave_out = "leave-out"
    scale = "scale"


_TIER = {
    Platform.gradescope: IsolationChoice.restricted,
    Platform.classroom50: IsolationChoice.auto,
}
_PLACE = {Platform.gradescope: "Gradescope", Platform.classroom50: "GitHub's runners"}

SpokenThereOpt = Annotated[
    Language, typer.Option("--lang", help="Language in which students read messages there.")
]


def pack(
    platform: Annotated[Platform, typer.Argument(help="Who is to run it.")],
    assignment: AssignmentArg,
    out: Annotated[Path, typer.Option("--out", help="Folder to write into; made if absent.")],
    isolation: Annotated[
        IsolationChoice | None,
        typer.Option(
            "--isolation",
            help="Tier to insist on there; restricted for gradescope and auto for classroom50 "
            "where absent.",
        ),
    ] = None,
    unreachable: Annotated[
        UnreachableChoice,
        typer.Option(
            "--unreachable",
            help="Points that nobody can earn there: keep them, pending; leave their checks out; "
            "or leave these out and scale the others to the same total.",
        ),
    ] = UnreachableChoice.keep,
    lang: SpokenThereOpt = Language.en,
    without: WithoutOpt = None,
) -> None:
    """Pack an assignment with its reference and this grader. Not for students' eyes.

    Grades the reference as the platform will, and says which points can be earned there.
    """
    materials, console = read_materials(assignment), make_console()

    make_folder(out)
    tier = isolation or _TIER[platform]
    # First, as it is quick, and may find that a package is missing.
    requirements = _requirements(materials, tier)
    without_gpu = bool(without) or gpu_in_course(materials.folder / FILE_NAME) == "none"
    reach = _tried(materials, tier, console, without_gpu)
    terms = Terms(materials.assignment, _PLACE[platform], tier.value, unreachable.value, reach)
    file = assignment_file(materials, terms)
    points = points_text(terms)
    packed = Pack(materials, requirements, tier.value, file, points, lang.value, without_gpu)
    # Read once as it will be there: with checks left out it has to be an assignment still.
    packed_materials(packed.files)
    if platform is Platform.gradescope:
        _gradescope(packed, terms, out, console)
    else:
        _classroom50(packed, out, console)


def _requirements(materials: Materials, tier: IsolationChoice) -> Requirements:
    return required_by(gradable(materials.assignment, tier.value))


def _tried(
    materials: Materials, tier: IsolationChoice, console: Console, without_gpu: bool
) -> Reach:
    with interruptible("Nothing was packed."), make_progress(console) as progress:
        task = progress.add_task("reference", total=None)
        return try_reference(
            materials, tier.value, lambda name: progress.update(task, description=name), without_gpu
        )


def _gradescope(packed: Pack, terms: Terms, out: Path, console: Console) -> None:
    stem = f"{terms.assignment.id}-gradescope"
    archive, points = out / f"{stem}.zip", out / f"{stem}-{POINTS_FILE}"
    text = f"{packed.points}{time_text(terms.reach.seconds, terms.reach.hanging)}\n"
    write_atomic(archive, gradescope_zip(packed))
    write_atomic(points, text.encode())
    say(console, f"Written: {archive}")
    say(console, f"Written: {points}, which says the following")
    say(console, f"\nUpload the zip as an autograder worth {counted(terms.total, 'point')}, in a")
    say(console, "container of at least 2 CPUs and 3 GB.\n")
    console.print(text, end="", markup=False, highlight=False, soft_wrap=True)


def _classroom50(packed: Pack, out: Path, console: Console) -> None:
    files = classroom50_files(packed)
    write_files(files, out)
    say(console, f"Written: {len(files)} files in {out}")
    say(console, "Keep that repository private: it holds the reference.\n")
    console.print(packed.points, end="", markup=False, highlight=False, soft_wrap=True)


_METADATA = "submission_metadata.json"


def on_gradescope(
    assignment: AssignmentArg,
    root: Annotated[Path, typer.Argument(help="/autograder, as Gradescope lays it out.")],
    isolation: IsolationOpt = IsolationChoice.restricted,
) -> None:
    """Grade what lies in ROOT/submission, and write ROOT/results/results.json.

    Only instructors see what it prints.
    """
    materials, console = read_materials(assignment), make_console()

    none = gpu_in_course(materials.folder / FILE_NAME) == "none"
    points = points_without_gpu(materials.assignment) if none else materials.assignment.points
    for line in _doubts(root / _METADATA, points):
        say(console, line)
    submission = root / "submission"
    report = recorded_report(root / "source" / FOLDER, materials, submission)
    if report:
        say(console, "These files were graded elsewhere; this is that report.")
    else:
        # No GPU is ever there.
        options = make_options(DeviceChoice.virtual, None, "", ClockChoice.auto)
        sandboxed = make_sandbox(isolation, materials, options.device)
        with interruptible("Nothing was written."), sandboxed as sandbox:
            report = grade_one(Grader(materials, sandbox, options), submission, sandbox, console)
    if none:
        report = without_gpu(report)
    write_results(report, root / "results")
    print_report(report, console)
    exit_for([report.status])


def _doubts(path: Path, points: float) -> Iterator[str]:
    """Yield what an instructor should know of how the assignment is set up on Gradescope."""
    try:
        worth = _worth(json.loads(path.read_bytes()))
    except OSError as error:
        yield f"{path} cannot be read ({error.strerror}); grading goes on without it."
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}"
        yield f"{path} is not what Gradescope writes ({reason}); grading goes on without it."
    else:
        if worth != points:
            yield (
                f"The assignment is worth {amount(worth)} points on Gradescope, and this "
                f"autograder gives up to {amount(points)}. Unless the rest is graded by "
                f"hand, set its autograder points to {amount(points)}."
            )


def _worth(document: Any) -> float:
    # Gradescope writes the number as text.
    return float(document["assignment"]["total_points"])
