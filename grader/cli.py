"""The ``grader`` command. Parses, calls, prints; what it calls does the work.

Exit status: 0 = graded, whatever the score, pending points included; 1 = incomplete for an
infrastructure reason; 2 = wrong usage or a broken assignment.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

from grader import __version__
from grader.authoring.lint import lint_assignment
from grader.authoring.mutants import LEAST, score_of, try_mutants
from grader.authoring.mutants_table import print_mutants
from grader.authoring.starter import build_starter, check_starter, write_starter
from grader.batch.discover import discover
from grader.batch.local import grade_all
from grader.cli_options import (
    AssignmentArg,
    DeviceChoice,
    DeviceOpt,
    IsolationChoice,
    IsolationOpt,
    Out,
    QuestionsOpt,
    SchemaName,
    SeedOpt,
)
from grader.errors import GraderError, UsageError
from grader.report.csv_file import write_gradebook
from grader.report.gradescope import write_results
from grader.report.json_file import write_report
from grader.report.model import Report, ReportStatus, report_schema
from grader.report.terminal import print_class, print_report
from grader.run.grade import Grader, Options
from grader.run.materials import Materials, load_materials
from grader.sandbox.base import Sandbox
from grader.sandbox.open import open_sandbox
from grader.spec.find import find_assignment, locate
from grader.spec.load import load_assignment
from grader.spec.schema import assignment_schema

app = typer.Typer(
    help="Grade PyTorch assignments.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command()
def grade(
    assignment: AssignmentArg,
    submission: Annotated[Path, typer.Argument(help="A .py, .ipynb, .zip, .tar.gz or folder.")],
    out: Out,
    isolation: IsolationOpt = IsolationChoice.auto,
    device: DeviceOpt = DeviceChoice.auto,
    seed: SeedOpt = None,
    questions: QuestionsOpt = "",
) -> None:
    """Grade one hand-in; writes report.json and results.json (Gradescope's) into --out."""
    if not submission.exists():
        raise UsageError(f"{submission} does not exist; SUBMISSION is a file or folder to grade")
    options = _options(device, seed, questions)
    materials, console = _materials(assignment), Console()
    with _sandbox(isolation, materials) as sandbox, _progress(console) as progress:
        task = progress.add_task("reference", total=None)
        grader = _prepared(materials, sandbox, options)
        report = grader.grade(
            submission,
            submission.name,
            lambda question: progress.update(task, description=question),
        )
    write_report(report, out)
    write_results(report, out)
    print_report(report, console)
    console.print(f"Written: {out / 'report.json'}, {out / 'results.json'}", highlight=False)
    _exit_for([report])


@app.command()
def batch(
    assignment: AssignmentArg,
    folder: Annotated[Path, typer.Argument(help="One hand-in an entry: folder, archive or file.")],
    out: Out,
    jobs: Annotated[
        int | None,
        typer.Option("-j", "--jobs", min=1, help="Hand-ins at a time; one a core where absent."),
    ] = None,
    isolation: IsolationOpt = IsolationChoice.auto,
    device: DeviceOpt = DeviceChoice.auto,
    seed: SeedOpt = None,
    questions: QuestionsOpt = "",
) -> None:
    """Grade every hand-in of a folder; adds gradebook.csv beside the reports."""
    hand_ins = discover(folder)
    options = _options(device, seed, questions)
    materials, console = _materials(assignment), Console()
    reports: list[Report] = []
    workers = min(jobs or os.cpu_count() or 1, len(hand_ins))
    with _sandbox(isolation, materials) as sandbox:
        grader = _prepared(materials, sandbox, options)
    results = grade_all(grader, lambda: _sandbox(isolation, materials), hand_ins, out, workers)
    with _progress(console) as progress:
        task = progress.add_task("grading", total=len(hand_ins))
        for report in results:
            reports.append(report)
            progress.update(task, advance=1, description=escape(report.submission.id))
    reports.sort(key=lambda report: report.submission.id)
    write_gradebook(reports, out)
    print_class(reports, console)
    console.print(
        f"Written: {out / 'gradebook.csv'} and a folder for each hand-in", highlight=False
    )
    _exit_for(reports)


@app.command()
def starter(
    assignment: AssignmentArg,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail if starter/ID is out of date.")
    ] = False,
) -> None:
    """Generate starter/ID from reference/ID."""
    file = find_assignment(assignment, Path.cwd())
    spec = load_assignment(file)
    located = locate(file, spec)
    files = build_starter(spec, located.folder, located.reference)
    if not check:
        for path in write_starter(files, located.starter):
            typer.echo(f"wrote {path}")
        return
    problems = check_starter(files, located.starter)
    for problem in problems:
        typer.echo(str(problem), err=True)
    if problems:
        raise typer.Exit(2)
    typer.echo(f"starter/{spec.id} is up to date")


@app.command()
def lint(
    assignment: AssignmentArg,
    isolation: IsolationOpt = IsolationChoice.auto,
    mutants: Annotated[
        bool,
        typer.Option("--mutants", help="Grade the reference with one mistake at a time instead."),
    ] = False,
    seed: SeedOpt = None,
    questions: QuestionsOpt = "",
) -> None:
    """Try an assignment: reference full on three seeds, starter zero, every check can fail."""
    materials = _materials(assignment)
    if mutants:
        _try_mutants(materials, isolation, _options(DeviceChoice.auto, seed, questions))
        return
    with _sandbox(isolation, materials) as sandbox:
        findings = lint_assignment(materials, sandbox)
    for finding in findings:
        typer.echo(str(finding), err=True)
    if findings:
        raise typer.Exit(2)
    typer.echo(f"{materials.assignment.id}: no problems found")


def _try_mutants(materials: Materials, isolation: IsolationChoice, options: Options) -> None:
    console = Console()
    with _sandbox(isolation, materials) as sandbox, _progress(console) as progress:
        task = progress.add_task("mutants", total=None)
        tallies = try_mutants(
            materials,
            sandbox,
            options,
            lambda name, done, total: progress.update(
                task, description=name, completed=done, total=total
            ),
        )
    print_mutants(tallies, console)
    if score_of(tallies) < LEAST:
        raise typer.Exit(2)


@app.command()
def schema(
    name: Annotated[SchemaName, typer.Argument(help="Document to describe.")],
) -> None:
    """Print the JSON Schema of assignment.yml (for editors) or report.json (for scripts)."""
    documents: dict[SchemaName, Any] = {
        SchemaName.assignment: assignment_schema,
        SchemaName.report: report_schema,
    }
    typer.echo(json.dumps(documents[name](), indent=2, ensure_ascii=False))


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"torchgrade {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command and turn what a person should read into one line and an exit status."""
    try:
        app(prog_name="grader")
    except GraderError as error:
        Console(stderr=True).print(f"[bold red]error:[/] {escape(str(error))}", highlight=False)
        sys.exit(error.exit_status)


def _options(device: DeviceChoice, seed: int | None, questions: str) -> Options:
    ids = tuple(name.strip() for name in questions.split(",") if name.strip())
    # Drawn anew each time: a fixed default would let answers be looked up beforehand.
    drawn = secrets.randbelow(2**31) if seed is None else seed
    return Options(drawn, device.value, ids)


def _materials(assignment: str) -> Materials:
    return load_materials(find_assignment(assignment, Path.cwd()))


def _sandbox(isolation: IsolationChoice, materials: Materials) -> Sandbox:
    secret = (materials.reference_folder, materials.root / "tests")
    return open_sandbox(
        isolation.value, hidden=tuple(str(path) for path in secret if path.exists())
    )


def _prepared(materials: Materials, sandbox: Sandbox, options: Options) -> Grader:
    grader = Grader(materials, sandbox, options)
    grader.prepare()
    return grader


def _progress(console: Console) -> Progress:
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        console=console,
        transient=True,
    )


def _exit_for(reports: list[Report]) -> None:
    if any(report.status is ReportStatus.INCOMPLETE for report in reports):
        raise typer.Exit(1)


if __name__ == "__main__":
    main()
