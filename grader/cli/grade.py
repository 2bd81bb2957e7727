"""Command ``grade``: one submission."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
    WithoutOpt,
)
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
)
from grader.errors import UsageError


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
    without: WithoutOpt = None,
) -> None:
    """Grade one submission. Writes report.json and results.json (Gradescope's) into --out."""
    if not submission.exists():
        raise UsageError(f"{submission} does not exist; SUBMISSION is a file or folder to grade")
    file = find_file(assignment)
    make_folder(out)
    sandboxed = open_early(isolation, file, device.value)
    with interruptible("Nothing was written."), sandboxed as sandbox:
        # Its fork-server imports torch, for seconds: all that this process imports takes less.
        from grader.batch.course import gpu_in_course
        from grader.grading import Grader
        from grader.report.gradescope import write_results
        from grader.report.model import write_report
        from grader.report.pictures import write_pictures
        from grader.report.terminal import print_report
        from grader.report.without_gpu import without_gpu
        from grader.run.materials import load_materials

        materials, console = load_materials(file), make_console()
        options = make_options(device, seed, questions, clock)
        if cache:
            grader = remembering(materials, sandbox, options, drawn=seed is None)
        else:
            grader = Grader(materials, sandbox, options)
        report = grade_one(grader, submission, sandbox, console)
        if without or gpu_in_course(file) == "none":
            report = without_gpu(report)
    write_report(report, out)
    write_results(report, out)
    write_pictures(report, out)
    print_report(report, console)
    say(console, f"Written: {out / 'report.json'}, {out / 'results.json'}")
    exit_for([report.status])
