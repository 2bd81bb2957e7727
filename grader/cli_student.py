"""Commands of students: check, submit-zip."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from grader.cli_options import (
    DeviceChoice,
    DeviceOpt,
    IsolationChoice,
    Language,
    LanguageOpt,
    QuestionsOpt,
)
from grader.cli_support import interruptible, make_progress, split_ids
from grader.errors import UsageError
from grader.report.language import choose
from grader.report.model import Report, ReportStatus
from grader.report.student import (
    StudentView,
    asked_for,
    next_question,
    none_found,
    not_found,
    not_written,
)
from grader.report.summary import amount
from grader.selfcheck.engine import SelfCheck
from grader.selfcheck.folder import Workplace, open_workplace
from grader.selfcheck.hand_in import archive_name, line_of, pack, read_workplace
from grader.selfcheck.watch import Watch
from grader.verdict import Param

_HERE = Path()
PathArg = Annotated[
    Path, typer.Argument(help="The folder you work in, or a file in it.", show_default=False)
]
SelfIsolationOpt = Annotated[
    IsolationChoice,
    typer.Option("--isolation", help="Walls around your code; auto takes the best there are."),
]


def check(
    path: PathArg = _HERE,
    questions: QuestionsOpt = "",
    device: DeviceOpt = DeviceChoice.auto,
    isolation: SelfIsolationOpt = IsolationChoice.auto,
    watch: Annotated[
        bool, typer.Option("--watch", help="Stay, and check again what you change.")
    ] = False,
    lang: LanguageOpt = None,
) -> None:
    """Check your work on the public cases. No score: grading tries more."""
    _speak(lang)
    place = open_workplace(path)
    read_workplace(place)
    ids = split_ids(questions)
    console = Console()
    with interruptible("Nothing is lost."), SelfCheck(place, device.value, isolation.value) as own:
        view = StudentView(console, place.public.hints, own.details)
        if watch:
            _watch(own, ids, view)
            return
        with make_progress(console) as progress:
            task = progress.add_task("starting", total=len(ids or place.public.plan))
            report = own.check(ids, lambda name: progress.update(task, description=name, advance=1))
        view.report(report, ids)
        _conclude(report, place, view)
    if report.status is ReportStatus.INCOMPLETE:
        raise typer.Exit(1)


def submit_zip(path: PathArg = _HERE, lang: LanguageOpt = None) -> None:
    """Pack what you hand in, under the right name, and read it back."""
    _speak(lang)
    place = open_workplace(path)
    view = StudentView(Console(), place.public.hints)
    packed = pack(place)
    if not packed.same:
        view.say("packed_differs", "red", file=str(packed.path))
        raise typer.Exit(1)
    view.say("packed", "green", file=str(packed.path))
    for name, size, digest in packed.content:
        view.print(f"  {name}  {size} bytes  sha256 {digest[:16]}…")


def _speak(lang: Language | None) -> None:
    if lang is not None:
        choose(lang.value)


def _watch(own: SelfCheck, ids: tuple[str, ...], view: StudentView) -> None:
    watching = Watch(own, ids)
    place = own.workplace
    try:
        report = watching.run().report
        view.report(report, ids)
        _conclude(report, place, view)
        own.make_ready()
        view.say("watching", "bold", file=place.hand_in.name)
        for _ in watching.changes():
            _again(watching, view)
            own.make_ready()
    finally:
        watching.close()


def _again(watching: Watch, view: StudentView) -> None:
    try:
        rerun = watching.run()
    except UsageError as error:
        view.print(str(error), "red")
        return
    if not rerun.questions:
        view.say("unchanged", "dim")
        return
    view.print("")
    view.report(rerun.report, rerun.questions)
    names: list[Param] = [*rerun.questions]
    view.say("rechecked", "dim", names=names, seconds=round(rerun.seconds, 2))


def _conclude(report: Report, place: Workplace, view: StudentView) -> None:
    """Say what to do next, and what would be handed in."""
    view.print("")
    if none_found(report):
        names: list[Param] = [item.id for item in asked_for(report)]
        view.say("none_found", "bold red", file=place.hand_in.name, names=names)
        return
    step = next_question(report)
    if step is not None:
        name = next(
            question.names[0]
            for question in place.public.assignment.questions
            if question.id == step.id
        )
        line = line_of(place, name)
        view.say("next_step", "bold", question=step.id, file=place.hand_in.name, line=line)
        if not_written(step):
            view.say("next_first")
    elif report.status is not ReportStatus.INCOMPLETE:
        view.say("all_done", "bold green")
    if pending := math.fsum(item.pending for item in asked_for(report)):
        view.say("rest_pending", "cyan", points=amount(pending))
    _hand_in(report, place, view)


def _hand_in(report: Report, place: Workplace, view: StudentView) -> None:
    open_ones: list[Param] = [
        item.id for item in report.questions if not_written(item) or not_found(item)
    ]
    files: list[Param] = [*place.public.assignment.hand_in]
    view.say("handed_in", files=files)
    if open_ones:
        view.say("not_written", "yellow", names=open_ones)
    elif len(asked_for(report)) == len(report.questions):
        view.say("written", "green")
    view.say("make_zip", "dim", file=archive_name(place))
    for note in report.submission.notes:
        view.print(note, "yellow")
