"""``grader batch``: what it takes; ``cli_class`` does it."""

from __future__ import annotations

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
    QuestionsOpt,
    ResumeOpt,
    SeedOpt,
)
from grader.cli.support import make_folder


def batch(
    assignment: AssignmentArg,
    folder: ClassArg,
    out: Out,
    jobs: JobsOpt = None,
    engine: EngineOpt = EngineChoice.local,
    resume: ResumeOpt = False,
    isolation: IsolationOpt = IsolationChoice.auto,
    device: DeviceOpt = DeviceChoice.auto,
    seed: SeedOpt = None,
    questions: QuestionsOpt = "",
    clock: ClockOpt = ClockChoice.auto,
    only_pending: OnlyPendingOpt = None,
    late: LateOpt = None,
) -> None:
    """Grade every submission of a class. Adds gradebook.csv beside the reports."""
    make_folder(out)
    from grader.cli.class_run import Asked, grade_class

    grade_class(
        Asked(
            assignment=assignment,
            folder=folder,
            out=out,
            jobs=jobs,
            engine=engine,
            resume=resume,
            isolation=isolation,
            device=device,
            seed=seed,
            questions=questions,
            clock=clock,
            only_pending=only_pending,
            late=late,
        )
    )
