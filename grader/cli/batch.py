"""Commands on a class: ``batch`` grades it, ``similarity`` says which submissions look alike."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from grader.cli.options import (
    AssignmentArg,
    ClassArg,
    ClockChoice,
    ClockOpt,
    DeviceChoice,
    DeviceOpt,
    EngineChoice,
    EngineOpt,
    IsolationChoice,
    IsolationOpt,
    JobsOpt,
    LateOpt,
    OnlyPendingOpt,
    Out,
    ProfileOpt,
    QuestionsOpt,
    ResumeOpt,
    RosterOpt,
    SeedOpt,
    WatchOpt,
    WithoutOpt,
)
from grader.cli.support import find_file, make_folder, open_early
from grader.errors import InfrastructureError

if TYPE_CHECKING:
    from grader.sandbox.host.processes import OpenedSandbox


def batch(
    context: typer.Context,
    assignment: AssignmentArg,
    folder: ClassArg,
    out: Out,
    jobs: JobsOpt = None,
    engine: EngineOpt = EngineChoice.local,
    resume: ResumeOpt = False,
    watch: WatchOpt = False,
    isolation: IsolationOpt = IsolationChoice.auto,
    device: DeviceOpt = DeviceChoice.auto,
    seed: SeedOpt = None,
    questions: QuestionsOpt = "",
    clock: ClockOpt = ClockChoice.auto,
    only_pending: OnlyPendingOpt = None,
    late: LateOpt = None,
    roster: RosterOpt = None,
    without: WithoutOpt = None,
    profile: ProfileOpt = False,
) -> None:
    """Grade every submission of a class. Adds gradebook.csv beside the reports."""
    file = find_file(assignment)
    make_folder(out)
    with _opened(isolation, file, device) as sandbox:
        # Its fork-server imports torch meanwhile.
        from grader.cli.class_run import BatchOptions, grade_class

        options = BatchOptions(
            file=file, folder=folder, out=out, jobs=jobs, engine=engine,
            resume=resume or watch, watch=watch, isolation=isolation, device=device, seed=seed,
            questions=questions, clock=clock, only_pending=only_pending, late=late, roster=roster,
            without=without, profile=profile,
        )  # fmt: skip
        given = {name for name in context.params if _was_given(context, name)}
        grade_class(options, given, sandbox)


def _opened(
    isolation: IsolationChoice, file: Path, device: DeviceChoice
) -> AbstractContextManager[OpenedSandbox | None]:
    try:
        return open_early(isolation, file, device.value)
    except InfrastructureError:
        # The course, which is not read yet, may ask for less; where it does not, this comes again.
        return nullcontext()


def _was_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"
