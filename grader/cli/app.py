"""The ``grader`` command. Parses, calls, prints; what it calls does the work.

The modules of the command import little when they are loaded: each command imports what it needs
when it runs. ``--help``, ``--version`` and a usage error would otherwise wait a second or two for
libraries that they never use.

Exit status: 0 = graded, whatever the score, pending points included; 1 = incomplete for an
infrastructure reason; 2 = wrong usage or a broken assignment; 3 = `check --fail` found something.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from grader import __version__
from grader.cli.assignments import lint, new, on_gradescope, pack, schema, starter
from grader.cli.batch import batch, similarity
from grader.cli.decide import decide_command, review_command
from grader.cli.journal import (
    merge,
    regrade_command,
    rejudge_command,
    replay_command,
    status_command,
)
from grader.cli.options import (
    AssignmentArg,
    CacheOpt,
    ClockChoice,
    ClockOpt,
    DeviceChoice,
    DeviceOpt,
    IsolationChoice,
    IsolationOpt,
    Out,
    QuestionsOpt,
    SeedOpt,
)
from grader.cli.report import export, pictures, report_command
from grader.cli.student import check, submit_zip
from grader.cli.support import (
    exit_for,
    find_file,
    grade_one,
    interruptible,
    make_console,
    make_folder,
    make_options,
    open_early,
    remembering,
    say,
    terminate,
)
from grader.errors import GraderError, UsageError

app = typer.Typer(
    help="Grade PyTorch assignments.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    # Typer's frames double the time that a help text or a usage error takes.
    rich_markup_mode=None,
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
    clock: ClockOpt = ClockChoice.auto,
    cache: CacheOpt = True,
) -> None:
    """Grade one submission. Writes report.json and results.json (Gradescope's) into --out."""
    if not submission.exists():
        raise UsageError(f"{submission} does not exist; SUBMISSION is a file or folder to grade")
    file = find_file(assignment)
    make_folder(out)
    sandboxed = open_early(isolation, file, device.value)
    with interruptible("Nothing was written."), sandboxed as sandbox:
        # Its fork-server imports torch, for seconds: all that this process imports takes less.
        from grader.grading import Grader
        from grader.report.gradescope import write_results
        from grader.report.model import write_report
        from grader.report.pictures import write_pictures
        from grader.report.terminal import print_report
        from grader.run.materials import load_materials

        materials, console = load_materials(file), make_console()
        options = make_options(device, seed, questions, clock)
        if cache:
            grader = remembering(materials, sandbox, options, drawn=seed is None)
        else:
            grader = Grader(materials, sandbox, options)
        report = grade_one(grader, submission, sandbox, console)
    write_report(report, out)
    write_results(report, out)
    write_pictures(report, out)
    print_report(report, console)
    say(console, f"Written: {out / 'report.json'}, {out / 'results.json'}")
    exit_for([report.status])


app.command()(batch)
app.command()(merge)
app.command()(export)
app.command("rejudge")(rejudge_command)
app.command("regrade")(regrade_command)
app.command("replay")(replay_command)
app.command("decide")(decide_command)
app.command("review")(review_command)
app.command("status")(status_command)
app.command()(pictures)
app.command()(similarity)
app.command("report")(report_command)
app.command()(check)
app.command("submit-zip")(submit_zip)
app.command()(new)
app.command()(starter)
app.command()(lint)
app.command()(schema)
app.command()(pack)
app.command("on-gradescope", hidden=True)(on_gradescope)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"torchgrade {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command and turn what a person should read into one line and an exit status."""
    # A CI job that is cancelled gets this, and must leave no student processes behind.
    signal.signal(signal.SIGTERM, terminate)
    try:
        app(prog_name="grader")
    except GraderError as error:
        from rich.markup import escape

        # Not wrapped: editors and CI look for file:line at the beginning of a line.
        line = f"[bold red]error:[/] {escape(str(error))}"
        make_console(stderr=True).print(line, highlight=False, soft_wrap=True)
        sys.exit(error.exit_status)


if __name__ == "__main__":
    main()
