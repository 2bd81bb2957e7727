"""A class graded for ``grader batch``: each submission written down as soon as it is graded."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Generator
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from grader import __version__
from grader.assignment.find import FILE_NAME
from grader.batch.class_run import ClassRun
from grader.batch.course import Course, course_of
from grader.batch.discover import Found, discover
from grader.batch.grades import read_policy
from grader.batch.ledger import Setup, write_decided
from grader.batch.local import LocalWorkers
from grader.batch.merge import waiting
from grader.batch.ray_engine import RayWorkers
from grader.batch.roster import Roster, read_roster
from grader.batch.schedule import Graded, Workers
from grader.cli.options import ClockChoice, DeviceChoice, EngineChoice, IsolationChoice
from grader.cli.support import (
    exit_for,
    interruptible,
    make_options,
    make_sandbox,
    prepared,
    read_materials,
    renew_pages,
    say,
)
from grader.grading import Grader, Options
from grader.progress import make_progress
from grader.report.export.gradebook import GRADEBOOK_FILE
from grader.report.messages.catalogue import choose
from grader.report.model import Report, ReportStatus
from grader.report.summary import few, sentences, summarise
from grader.report.terminal import print_class
from grader.run.materials import Materials
from grader.run.plan import plan_digests
from grader.sandbox.host.guests import Sandbox

_MOST_ROWS = 60
_KEPT = "What was graded is kept; --resume goes on."
_NOT_SENT = "A question is sent there only once everything else about it has passed."


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """What ``grader batch`` was asked; ``grader.cli.options`` says what each option means."""

    assignment: str
    folder: Path
    out: Path
    jobs: int | None
    engine: EngineChoice
    resume: bool
    isolation: IsolationChoice
    device: DeviceChoice
    seed: int | None
    questions: str
    clock: ClockChoice
    only_pending: Path | None
    late: Path | None
    roster: Path | None


def grade_class(asked: BatchOptions, given: Collection[str]) -> None:
    """Grade the class, write what there is, and exit with the status of its reports.

    Args:
        asked: The options.
        given: Names of the options that were typed; the others are as the course says, if it does.

    Raises:
        typer.Exit: A report is incomplete, or it was interrupted.
        GraderError: The folder or the assignment is not usable, or the machine failed.
    """
    found, out = discover(asked.folder, asked.out), asked.out
    materials, console = read_materials(asked.assignment), Console()
    course = course_of(materials.folder / FILE_NAME)
    asked, everybody = _completed(asked, course, given), found
    questions = asked.questions
    if asked.only_pending is not None:
        left = waiting(found, asked.only_pending, materials.assignment.id)
        found, questions = left.found, questions or ",".join(left.questions)
        if not found.submissions:
            say(console, f"Nothing in {asked.only_pending} waits for a GPU. {_NOT_SENT}")
            return
    with ClassRun(out, asked.resume) as run, interruptible(_KEPT):
        if asked.resume and not run.goes_on:
            say(console, f"No batch was begun in {out}: it begins now.")
        terms = _terms(asked, course, materials.assignment.id)
        remembered = _of_class(terms, everybody, run.roster, console)
        seed = asked.seed if run.seed is None else run.seed
        options = make_options(asked.device, seed, questions, asked.clock)
        grader = _prepared(materials, asked.isolation, options, console)
        remembered |= {"total": len(found.submissions), "begun_at": datetime.now(timezone.utc)}
        run.begin(_setup(grader, options, asked.isolation).model_copy(update=remembered))
        another = partial(make_sandbox, asked.isolation, materials, options.device)
        workers = _workers(asked.engine, asked.jobs, found)(grader, another, out)
        results = run.grade(workers, found.submissions, grader.awaits_clock)
        try:
            _watch(results, len(found.submissions), console)
        finally:
            results.close()
            statuses = _finish(run, found, console)
    write_decided(out)
    renew_pages(out, console)
    exit_for(statuses)


def _completed(asked: BatchOptions, course: Course | None, given: Collection[str]) -> BatchOptions:
    """Return what was asked, with the course's word on what was not typed."""
    if course is None:
        return asked
    batch = course.spec.batch
    said: dict[str, Any] = {
        "isolation": batch.isolation and IsolationChoice(batch.isolation),
        "clock": batch.clock and ClockChoice(batch.clock),
        "jobs": batch.jobs,
    }
    changes = {name: value for name, value in said.items() if value and name not in given}
    return replace(asked, **changes)


def _terms(asked: BatchOptions, course: Course | None, assignment: str) -> dict[str, Any]:
    """Return what holds for a class and changes no report, options before the course's file."""
    terms: dict[str, Any] = {"late": None, "roster": None}
    if course is not None:
        terms |= {"language": course.spec.language, "released": course.spec.released}
        terms["late"] = None if asked.late else course.policy(assignment)
        terms["roster"] = None if asked.roster else course.roster()
    if asked.late:
        terms["late"] = read_policy(asked.late)
    if asked.roster:
        terms["roster"] = read_roster(asked.roster)
    if terms.get("language"):
        choose(terms["language"])
    return terms


def _of_class(
    terms: dict[str, Any], found: Found, known: Roster | None, console: Console
) -> dict[str, Any]:
    """Return the terms with who is absent; say who is on no roster.

    Args:
        terms: Of the course.
        found: Everybody who handed in.
        known: The roster that the batch remembers, where the terms name none.
        console: Where to say it.

    Raises:
        UsageError: An extension is for somebody who is not in the class.
    """
    roster = terms["roster"] or known or Roster()
    ours = [roster.named(submission) for submission in found.submissions]
    absent = roster.absent(ours)
    if terms["late"]:
        terms["late"].refuse_strangers(ours, [each.student() for each in absent])
    if roster.students:
        terms["absent"] = absent
        if strangers := roster.strangers(found.submissions):
            say(console, f"On no line of the roster: {few(strangers)}. Graded like the others.")
    # What an earlier run was given stays where nothing is said now.
    return {name: value for name, value in terms.items() if value is not None}


def _workers(
    engine: EngineChoice, jobs: int | None, found: Found
) -> Callable[[Grader, Callable[[], Sandbox], Path], Workers]:
    """Return what makes the workers; how many a cluster bears it knows best itself."""
    count = len(found.submissions)
    if engine is EngineChoice.ray:
        return partial(RayWorkers, jobs=min(jobs or count, count))
    return partial(LocalWorkers, jobs=min(jobs or os.cpu_count() or 1, count))


def _prepared(
    materials: Materials, isolation: IsolationChoice, options: Options, console: Console
) -> Grader:
    # What shows this is gone before workers are forked: it has a thread.
    with (
        console.status("running the reference"),
        make_sandbox(isolation, materials, options.device) as sandbox,
    ):
        return prepared(materials, sandbox, options)


def _setup(grader: Grader, options: Options, isolation: IsolationChoice) -> Setup:
    materials = grader.materials
    return Setup(
        assignment=materials.assignment.id,
        file=str(materials.folder / "assignment.yml"),
        version=materials.assignment.version,
        digest=materials.digest,
        seed=options.seed,
        device=options.device,
        questions=options.questions,
        isolation=isolation.value,
        clock=options.clock,
        plan=plan_digests(grader.plan),
        grader_version=__version__,
    )


def _watch(results: Generator[Graded, None, None], total: int, console: Console) -> None:
    """Show how far it is, how long it will take, and how it goes."""
    tally: Counter[str] = Counter()
    graded_once: set[str] = set()
    with make_progress(console) as progress:
        task = progress.add_task("grading", total=total)
        for graded in results:
            name = graded.submission.name
            first = name not in graded_once
            graded_once.add(name)
            tally.update([_standing(graded.report)] if first else [])
            # What waits for the clock comes once more, at the end.
            total += not graded.timed
            progress.update(
                task,
                total=total,
                advance=1,
                description=escape(name if first else f"timed {name}")[:24],
                tally=" · ".join(f"{count} {word}" for word, count in tally.most_common()),
            )


def _standing(report: Report) -> str:
    """Return how a submission stands, in a word; points that are open count for neither side."""
    if report.status is ReportStatus.INCOMPLETE:
        return "incomplete"
    if report.score + report.pending >= report.max_score:
        return "full"
    return "partial" if report.score else "zero"


def _finish(run: ClassRun, found: Found, console: Console) -> set[ReportStatus]:
    """Write and print what there is, also of a batch that was stopped.

    Returns:
        The statuses of its reports; the reports themselves take memory that pages need.
    """
    graded = list(run.graded())
    reports = [each.report for each in graded]
    if reports:
        run.write_gradebook(graded)
        if len(reports) <= _MOST_ROWS:
            print_class(reports, console)
        for line in sentences(summarise(reports)):
            say(console, line)
    if len(reports) < len(found.submissions):
        say(console, f"Stopped early: {len(reports)} of {len(found.submissions)} graded.")
    if found.left_out:
        say(console, f"Left out, by their endings no submissions: {', '.join(found.left_out)}")
    if reports:
        say(console, f"Written: {run.out / GRADEBOOK_FILE} and a folder for each submission")
    return {report.status for report in reports}
