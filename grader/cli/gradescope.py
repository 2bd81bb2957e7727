"""``grader on-gradescope``: what a packed autograder runs there; no command for people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grader.cli.options import (
    AssignmentArg,
    ClockChoice,
    DeviceChoice,
    IsolationChoice,
    IsolationOpt,
)
from grader.cli.support import (
    exit_for,
    grade_one,
    interruptible,
    make_console,
    make_options,
    make_sandbox,
    read_materials,
    say,
)

if TYPE_CHECKING:
    from grader.assignment.types import Assignment

_METADATA = "submission_metadata.json"


def on_gradescope(
    assignment: AssignmentArg,
    root: Annotated[Path, typer.Argument(help="/autograder, as Gradescope lays it out.")],
    isolation: IsolationOpt = IsolationChoice.restricted,
) -> None:
    """Grade what lies in ROOT/submission, and write ROOT/results/results.json.

    What is printed only instructors see.
    """
    materials, console = read_materials(assignment), make_console()
    from grader.authoring.recorded import FOLDER, recorded_report
    from grader.report.gradescope import write_results
    from grader.report.terminal import print_report
    from grader.run.grade import Grader

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
    exit_for([report])


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
