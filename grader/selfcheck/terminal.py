"""A self-check at a terminal: what to do next, and checking again what was changed."""

from __future__ import annotations

import math

from grader.errors import UsageError
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
from grader.selfcheck.folder import Workplace
from grader.selfcheck.hand_in import archive_name, line_of
from grader.selfcheck.watch import Watch
from grader.verdict import Param


def watch_folder(own: SelfCheck, ids: tuple[str, ...], view: StudentView) -> None:
    """Check the whole file, then again what changes, until it is interrupted."""
    watching = Watch(own, ids)
    place = own.workplace
    try:
        report = watching.run().report
        view.report(report, ids)
        conclude(report, place, view)
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


def conclude(report: Report, place: Workplace, view: StudentView) -> None:
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
