"""The ``grader`` command. Parses, calls, prints; what it calls does the work.

Exit status: 0 = graded, whatever the score, pending points included; 1 = incomplete for an
infrastructure reason; 2 = wrong usage or a broken assignment.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from grader import __version__
from grader.batch.discover import Found, discover
from grader.batch.local import grade_all
from grader.cli_authoring import lint, schema, starter
from grader.cli_options import (
    AssignmentArg,
    DeviceChoice,
    DeviceOpt,
    IsolationChoice,
    IsolationOpt,
    Out,
    QuestionsOpt,
    SeedOpt,
)
from grader.cli_student import check, submit_zip
from grader.cli_support import (
    interruptible,
    make_folder,
    make_options,
    make_progress,
    make_sandbox,
    read_materials,
    say,
)
from grader.errors import GraderError, UsageError
from grader.report.csv_file import write_gradebook
from grader.report.gradescope import write_results
from grader.report.json_file import write_report
from grader.report.model import Report, ReportStatus
from grader.report.terminal import print_class, print_report
from grader.run.grade import Grader, Options
from grader.run.materials import Materials
from grader.sandbox.base import Sandbox

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
    make_folder(out)
    options = make_options(device, seed, questions)
    materials, console = read_materials(assignment), Console()
    with interruptible("Nothing was written."), make_progress(console) as progress:
        task = progress.add_task("reference", total=None)
        with make_sandbox(isolation, materials) as sandbox:
            grader = _prepared(materials, sandbox, options)
            report = grader.grade(
                submission,
                submission.name,
                lambda question: progress.update(task, description=question),
            )
    write_report(report, out)
    write_results(report, out)
    print_report(report, console)
    say(console, f"Written: {out / 'report.json'}, {out / 'results.json'}")
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
    make_folder(out)
    found = discover(folder, out)
    options = make_options(device, seed, questions)
    materials, console = read_materials(assignment), Console()
    workers = min(jobs or os.cpu_count() or 1, len(found.hand_ins))
    reports: list[Report] = []
    with interruptible("What was graded is kept; run again for the rest."):
        with make_sandbox(isolation, materials) as sandbox:
            grader = _prepared(materials, sandbox, options)
        results = grade_all(
            grader, lambda: make_sandbox(isolation, materials), found.hand_ins, out, workers
        )
        try:
            _collect(results, reports, len(found.hand_ins), console)
        finally:
            results.close()
            _finish(reports, found, out, console)
    _exit_for(reports)


def _collect(
    results: Iterator[Report], reports: list[Report], total: int, console: Console
) -> None:
    with make_progress(console) as progress:
        task = progress.add_task("grading", total=total)
        for report in results:
            reports.append(report)
            progress.update(task, advance=1, description=escape(report.submission.id))


def _finish(reports: list[Report], found: Found, out: Path, console: Console) -> None:
    """Write and print what there is, also when a batch was stopped in the middle."""
    reports.sort(key=lambda report: report.submission.id)
    if reports:
        write_gradebook(reports, out)
        print_class(reports, console)
    if len(reports) < len(found.hand_ins):
        say(console, f"Stopped early: {len(reports)} of {len(found.hand_ins)} graded.")
    if found.left_out:
        say(console, f"Left out, by their endings no hand-ins: {', '.join(found.left_out)}")
    if reports:
        say(console, f"Written: {out / 'gradebook.csv'} and a folder for each hand-in")


app.command()(check)
app.command("submit-zip")(submit_zip)
app.command()(starter)
app.command()(lint)
app.command()(schema)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"torchgrade {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command and turn what a person should read into one line and an exit status."""
    # A CI job that is cancelled gets this, and must leave no guests behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        app(prog_name="grader")
    except GraderError as error:
        # Not wrapped: editors and CI look for file:line at the beginning of a line.
        said = f"[bold red]error:[/] {escape(str(error))}"
        Console(stderr=True).print(said, highlight=False, soft_wrap=True)
        sys.exit(error.exit_status)


def _prepared(materials: Materials, sandbox: Sandbox, options: Options) -> Grader:
    grader = Grader(materials, sandbox, options)
    grader.prepare()
    return grader


def _exit_for(reports: list[Report]) -> None:
    if any(report.status is ReportStatus.INCOMPLETE for report in reports):
        raise typer.Exit(1)


if __name__ == "__main__":
    main()
