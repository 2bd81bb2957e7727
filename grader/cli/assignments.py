"""Commands around one assignment, for its author: new, starter, lint, schema, pack.

Beside ``pack``, what its packs start on the platform.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grader.cli.options import (
    AssignmentArg,
    ClockChoice,
    DeviceChoice,
    IsolationChoice,
    IsolationOpt,
    Language,
    QuestionsOpt,
    SchemaName,
    SeedOpt,
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

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from grader.assignment.types import Assignment
    from grader.authoring.instructions import Terms
    from grader.authoring.pack import Pack
    from grader.authoring.reach import Reach, Requirements
    from grader.grading import Options
    from grader.run.materials import Materials

LabelsOpt = Annotated[
    bool, typer.Option("--labels/--no-labels", help="Compare submissions with their labels.")
]


def new(
    name: Annotated[str, typer.Argument(metavar="ID", help="Id of the assignment, a Python name.")],
) -> None:
    """Begin an assignment here: one question that already grades."""
    from grader.authoring.lint import new_assignment

    for path in new_assignment(name, Path.cwd()):
        typer.echo(f"wrote {path.relative_to(Path.cwd())}")
    typer.echo(f"Next: grader starter {name}, then grader lint {name}")


def starter(
    assignment: AssignmentArg,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail if starter/ID is out of date.")
    ] = False,
) -> None:
    """Generate starter/ID from reference/ID."""
    materials = read_materials(assignment)
    from grader.authoring.starter import (
        build_starter,
        check_public,
        check_starter,
        make_public,
        write_starter,
    )
    from grader.selfcheck.files import to_files
    from grader.selfcheck.spare import open_for_check

    spec, folder = materials.assignment, materials.starter
    files = build_starter(spec, materials.folder, materials.reference_folder)
    if not check:
        # Known mistakes take dozens of student processes, which a fork-server starts without
        # importing torch again.
        with open_for_check() as sandbox:
            made = make_public(materials, sandbox)
        for path in write_starter(files | to_files(made.public), folder):
            typer.echo(f"wrote {path}")
        for (question, case), reason in made.left_out.items():
            typer.echo(f"left to grading: {question}, case {case}: {reason}")
        return
    problems = check_starter(files, folder) or check_public(materials)
    for problem in problems:
        typer.echo(str(problem), err=True)
    if problems:
        raise typer.Exit(2)
    typer.echo(f"starter/{spec.id} is up to date")


def lint(
    assignment: AssignmentArg,
    isolation: IsolationOpt = IsolationChoice.auto,
    mutants: Annotated[
        bool,
        typer.Option("--mutants", help="Grade the reference with one mistake at a time instead."),
    ] = False,
    write_missing: Annotated[
        bool,
        typer.Option(
            "--write-missing",
            help="As --mutants, and write what nothing catches as proposed wrong submissions.",
        ),
    ] = False,
    labels: LabelsOpt = True,
    seed: SeedOpt = None,
    questions: QuestionsOpt = "",
) -> None:
    """Try an assignment before students do.

    The reference earns full points on three seeds, the starter none, each check can fail, and
    labelled submissions get what their labels say.
    """
    materials = read_materials(assignment)
    if mutants or write_missing:
        options = make_options(DeviceChoice.auto, seed, questions)
        _try_mutants(materials, isolation, options, write_missing)
        return
    from grader.authoring.lint import lint_assignment
    from grader.progress import make_progress

    notes: list[str] = []
    with make_sandbox(isolation, materials) as sandbox, make_progress(make_console()) as progress:
        step = _step(progress, "reference")
        findings = lint_assignment(materials, sandbox, step, labels, notes.append)
    for note in notes:
        typer.echo(f"note: {note}")
    for finding in findings:
        typer.echo(str(finding), err=True)
    if findings:
        raise typer.Exit(2)
    typer.echo(f"{materials.assignment.id}: no problems found")


def _step(progress: Progress, first: str) -> Callable[[str, int, int | None], None]:
    """Return what shows which step is done how far; ``first`` is shown until it is called."""
    task = progress.add_task(first, total=None)
    return lambda name, done, total: progress.update(
        task, description=name, completed=done, total=total
    )


def _try_mutants(
    materials: Materials, isolation: IsolationChoice, options: Options, written: bool
) -> None:
    from grader.authoring.labelled import write_proposals
    from grader.authoring.mutants import LEAST, print_mutants, score_of, try_mutants
    from grader.progress import make_progress

    console = make_console()
    with make_sandbox(isolation, materials) as sandbox, make_progress(console) as progress:
        tallies = try_mutants(materials, sandbox, options, _step(progress, "mutants"))
    print_mutants(tallies, console)
    for path in write_proposals(tallies, materials) if written else ():
        typer.echo(f"wrote {path}")
    if score_of(tallies) < LEAST:
        raise typer.Exit(2)


def schema(name: Annotated[SchemaName, typer.Argument(help="Document to describe.")]) -> None:
    """Print a JSON Schema.

    Those of assignment.yml and course.yml are for editors, that of report.json for scripts.
    """
    import json

    from grader.assignment.types import assignment_schema
    from grader.batch.course import course_schema
    from grader.report.model import report_schema

    documents: dict[SchemaName, Any] = {
        SchemaName.assignment: assignment_schema,
        SchemaName.course: course_schema,
        SchemaName.report: report_schema,
    }
    typer.echo(json.dumps(documents[name](), indent=2, ensure_ascii=False))


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
) -> None:
    """Pack an assignment with its reference and this grader. Not for students' eyes.

    Grades the reference as the platform will, and says which points can be earned there.
    """
    materials, console = read_materials(assignment), make_console()
    from grader.authoring.instructions import Terms, assignment_file, points_text
    from grader.authoring.pack import Pack, packed_materials

    make_folder(out)
    tier = isolation or _TIER[platform]
    # First, as it is quick, and may find that a package is missing.
    requirements = _requirements(materials, tier)
    reach = _tried(materials, tier, console)
    terms = Terms(materials.assignment, _PLACE[platform], tier.value, unreachable.value, reach)
    file = assignment_file(materials, terms)
    packed = Pack(materials, requirements, tier.value, file, points_text(terms), lang.value)
    # Read once as it will be there: with checks left out it has to be an assignment still.
    packed_materials(packed.files)
    if platform is Platform.gradescope:
        _gradescope(packed, terms, out, console)
    else:
        _classroom50(packed, out, console)


def _requirements(materials: Materials, tier: IsolationChoice) -> Requirements:
    from grader.authoring.reach import gradable, required_by

    return required_by(gradable(materials.assignment.questions, tier.value))


def _tried(materials: Materials, tier: IsolationChoice, console: Console) -> Reach:
    from grader.authoring.reach import try_reference
    from grader.progress import make_progress

    with interruptible("Nothing was packed."), make_progress(console) as progress:
        task = progress.add_task("reference", total=None)
        return try_reference(
            materials, tier.value, lambda name: progress.update(task, description=name)
        )


def _gradescope(packed: Pack, terms: Terms, out: Path, console: Console) -> None:
    from grader.authoring.instructions import time_text
    from grader.authoring.pack import POINTS_FILE, gradescope_zip
    from grader.report.summary import counted
    from grader.store.files import write_atomic

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
    from grader.authoring.pack import classroom50_files, write_files

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
    from grader.authoring.pack import FOLDER, recorded_report
    from grader.grading import Grader
    from grader.report.gradescope import write_results
    from grader.report.terminal import print_report

    for line in _doubts(root / _METADATA, materials.assignment):
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
    write_results(report, root / "results")
    print_report(report, console)
    exit_for([report.status])


def _doubts(path: Path, assignment: Assignment) -> Iterator[str]:
    """Yield what an instructor should know of how the assignment is set up on Gradescope."""
    from grader.report.summary import amount

    try:
        worth = _worth(json.loads(path.read_bytes()))
    except OSError as error:
        yield f"{path} cannot be read ({error.strerror}); grading goes on without it."
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}"
        yield f"{path} is not what Gradescope writes ({reason}); grading goes on without it."
    else:
        if worth != assignment.points:
            yield (
                f"The assignment is worth {amount(worth)} points on Gradescope, and this "
                f"autograder gives up to {amount(assignment.points)}. Unless the rest is graded by "
                f"hand, set its autograder points to {amount(assignment.points)}."
            )


def _worth(document: Any) -> float:
    # Gradescope writes the number as text.
    return float(document["assignment"]["total_points"])
