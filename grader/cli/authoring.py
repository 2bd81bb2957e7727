"""Commands around one assignment, for its author: new, starter, lint, schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress

from grader.assignment.types import assignment_schema
from grader.authoring.labelled import write_proposals
from grader.authoring.lint import lint_assignment, new_assignment
from grader.authoring.mutants import LEAST, print_mutants, score_of, try_mutants
from grader.authoring.prices import price_rows
from grader.authoring.starter import (
    build_starter,
    check_public,
    check_starter,
    make_public,
    write_starter,
)
from grader.batch.course import course_schema
from grader.cli.options import (
    AssignmentArg,
    DeviceChoice,
    IsolationChoice,
    IsolationOpt,
    Language,
    QuestionsOpt,
    SeedOpt,
)
from grader.cli.support import (
    make_console,
    make_options,
    make_sandbox,
    read_materials,
)
from grader.grading import Grader, Options
from grader.progress import make_progress
from grader.report.model import report_schema
from grader.run.materials import Materials
from grader.selfcheck.files import to_files
from grader.selfcheck.warm_sandbox import open_for_check

LabelsOpt = Annotated[
    bool, typer.Option("--labels/--no-labels", help="Compare submissions with their labels.")
]


def new(
    name: Annotated[str, typer.Argument(metavar="ID", help="Id of the assignment, a Python name.")],
) -> None:
    """Begin an assignment here: one question that already grades."""
    for path in new_assignment(name, Path.cwd()):
        typer.echo(f"wrote {path.relative_to(Path.cwd())}")
    typer.echo(f"Next: grader starter {name}, then grader lint {name}")


def starter(
    assignment: AssignmentArg,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail if starter/ID is out of date.")
    ] = False,
    lang: Annotated[
        Language,
        typer.Option("--lang", help="Language of docstrings and notebook; ko: into starter.ko/ID."),
    ] = Language.en,
) -> None:
    """Generate starter/ID from reference/ID."""
    materials = read_materials(assignment)
    if lang is not Language.en:
        beside = materials.starter.parent.with_name(f"{materials.starter.parent.name}.{lang.value}")
        materials = replace(materials, starter=beside / materials.starter.name)

    spec, folder = materials.assignment, materials.starter
    files = build_starter(spec, materials.folder, materials.reference_folder, lang.value)
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
    typer.echo(f"{folder.parent.name}/{spec.id} is up to date")


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
    prices: Annotated[
        bool,
        typer.Option("--prices", help="Print what each known mistake earns instead."),
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

    if prices:
        _print_prices(materials, isolation, make_options(DeviceChoice.auto, seed, questions))
        return

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


def _print_prices(materials: Materials, isolation: IsolationChoice, options: Options) -> None:
    """Print what each known mistake earns."""
    with make_sandbox(isolation, materials) as sandbox, make_progress(make_console()) as progress:
        grader = Grader(materials, sandbox, options)
        grader.prepare()
        rows = list(price_rows(grader, _step(progress, "reference")))
    for row in rows:
        typer.echo(str(row))


def _step(progress: Progress, first: str) -> Callable[[str, int, int | None], None]:
    """Return what shows which step is done how far; ``first`` is shown until it is called."""
    task = progress.add_task(first, total=None)
    return lambda name, done, total: progress.update(
        task, description=name, completed=done, total=total
    )


def _try_mutants(
    materials: Materials, isolation: IsolationChoice, options: Options, written: bool
) -> None:
    console = make_console()
    with make_sandbox(isolation, materials) as sandbox, make_progress(console) as progress:
        tallies = try_mutants(materials, sandbox, options, _step(progress, "mutants"))
    print_mutants(tallies, console)
    for path in write_proposals(tallies, materials) if written else ():
        typer.echo(f"wrote {path}")
    if score_of(tallies) < LEAST:
        raise typer.Exit(2)


class Document(str, Enum):
    """Documents that have a JSON Schema."""

    ASSIGNMENT = "assignment"
    COURSE = "course"
    REPORT = "report"


def schema(name: Annotated[Document, typer.Argument(help="Document to describe.")]) -> None:
    """Print a JSON Schema.

    Those of assignment.yml and course.yml are for editors, that of report.json for scripts.
    """
    schemas: dict[Document, Callable[[], Any]] = {
        Document.ASSIGNMENT: assignment_schema,
        Document.COURSE: course_schema,
        Document.REPORT: report_schema,
    }
    typer.echo(json.dumps(schemas[name](), indent=2, ensure_ascii=False))
