"""A class graded for ``grader batch``: each submission written down as soon as it is graded."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from grader.batch.class_run import ClassRun
from grader.batch.course import Course, course_of
from grader.batch.discover import Found, discover
from grader.batch.graded import GradedSubmission
from grader.batch.ledger import write_decided
from grader.batch.local import LocalWorkers
from grader.batch.merge import waiting
from grader.batch.profile import Profile
from grader.batch.ray_engine import RayWorkers
from grader.batch.schedule import Workers
from grader.batch.status import Tally
from grader.batch.terms import Terms, of_class, read_terms, settings_of
from grader.batch.watch import watch
from grader.cli.options import (
    ClockChoice,
    DeviceChoice,
    EngineChoice,
    IsolationChoice,
    WithoutChoice,
)
from grader.cli.support import (
    TerminatedExit,
    exit_for,
    interruptible,
    make_options,
    make_sandbox,
    prepared,
    renew_pages,
    say,
)
from grader.errors import UsageError
from grader.grading import Grader, Options
from grader.progress import make_progress
from grader.report.gradebook import GRADEBOOK_FILE
from grader.report.messages.language import choose
from grader.report.model import Report, ReportStatus
from grader.report.summary import amount, counted, sentences, summarise
from grader.report.terminal import print_class
from grader.run.materials import Materials, load_materials
from grader.sandbox.host.processes import OpenedSandbox, SandboxSource
from grader.text import inert

_MOST_ROWS = 60
_KEPT = "What was graded is kept; --resume goes on."
_GRADED = "All is graded and kept; --resume writes the pages."
_MAX_NAME = 60
_NOT_SENT = "A question is sent there only once everything else about it has passed."


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """What ``grader batch`` was asked; ``grader.cli.options`` says what each option means.

    Attributes:
        file: Of the assignment.
    """

    file: Path
    folder: Path
    out: Path
    jobs: int | None
    engine: EngineChoice
    resume: bool
    watch: bool
    isolation: IsolationChoice
    device: DeviceChoice
    seed: int | None
    questions: str
    clock: ClockChoice
    only_pending: Path | None
    late: Path | None
    roster: Path | None
    without: WithoutChoice | None
    profile: bool


def grade_class(asked: BatchOptions, given: Collection[str], sandbox: OpenedSandbox | None) -> None:
    """Grade the class, write what there is, and exit with the status of its reports.

    Args:
        asked: The options.
        given: Names of the options that were typed; the others are as the course says, if it does.
        sandbox: Opened as was asked, for the reference; None where that could not be.

    Raises:
        typer.Exit: A report is incomplete, or it was interrupted.
        GraderError: The folder or the assignment is not usable, or the machine failed.
    """
    found, out = _found_now(asked), asked.out
    materials, console = load_materials(asked.file), Console()
    course, opened = course_of(asked.file), asked.isolation
    asked, everybody = _completed(asked, course, given), found
    questions = asked.questions
    if asked.only_pending is not None:
        left = waiting(found, asked.only_pending, materials.assignment.id)
        found, questions = left.found, questions or ",".join(left.questions)
        if not found.submissions:
            say(console, f"Nothing in {asked.only_pending} waits for a GPU. {_NOT_SENT}")
            return
    with ClassRun(out, asked.resume) as run, interruptible(_KEPT):
        before = run.everybody() if asked.profile and run.goes_on else ()
        profile = Profile(_jobs(asked, found), {each.digest for each in before})
        if asked.resume and not run.goes_on:
            say(console, f"No batch was begun in {out}: it begins now.")
        terms, remarks = of_class(_terms(asked, course, materials), everybody, run.roster)
        for line in remarks:
            say(console, line)
        chosen = make_options(asked.device, asked.seed, questions, asked.clock)
        options = run.options(chosen, terms.get("gpu"))
        if sandbox is None or asked.isolation is not opened:
            sandbox = _another(sandbox, asked.isolation, materials, options)
        grader, sandboxes = _prepared(materials, sandbox, options, console)
        with sandboxes:
            watched = str(asked.folder) if asked.watch else ""
            settings = settings_of(
                grader, asked.isolation.value, terms, len(found.submissions), watched
            )
            run.begin(settings, grader.answers)
            workers = _workers(asked, found, grader, sandboxes)
            awaits_clock = grader.awaits_clock
            if asked.watch:
                statuses = _attend(run, asked.folder, workers, awaits_clock, console, profile)
            else:
                statuses = _go_through(run, found, workers, awaits_clock, console, profile)
    with interruptible(_GRADED):
        write_decided(out)
        renew_pages(out, console)
    for line in profile.sentences() if asked.profile else ():
        say(console, line)
    exit_for(statuses)


def _found_now(asked: BatchOptions) -> Found:
    """Return what the class folder holds; of one that is watched nothing yet.

    Raises:
        UsageError: It is not usable, or cannot be watched with the other options.
    """
    if asked.profile and asked.engine is EngineChoice.ray:
        raise UsageError("--profile measures this machine; leave --engine ray out")
    if not asked.watch:
        return discover(asked.folder, asked.out)
    if asked.engine is EngineChoice.ray or asked.only_pending is not None:
        raise UsageError(
            "--watch grades on this machine; leave --engine ray and --only-pending out"
        )
    if not asked.folder.exists():
        raise UsageError(f"{asked.folder} is not there, so it cannot be watched")
    return Found(())


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


def _terms(asked: BatchOptions, course: Course | None, materials: Materials) -> Terms:
    """Return what holds for the class beside the assignment; speak its language from now on."""
    without_gpu = asked.without is not None
    terms = read_terms(course, materials.assignment.id, asked.late, asked.roster, without_gpu)
    if terms.get("language"):
        choose(terms["language"])
    return terms


def _workers(
    asked: BatchOptions, found: Found, grader: Grader, sandboxes: SandboxSource
) -> Workers:
    """Return the workers; how many a cluster bears it knows best itself."""
    if asked.engine is EngineChoice.ray:
        count = len(found.submissions)
        materials, device = grader.materials, grader.options.device
        there = partial(make_sandbox, asked.isolation, materials, device)
        return RayWorkers(grader, there, asked.out, jobs=min(asked.jobs or count, count))
    return LocalWorkers(grader, sandboxes.open, asked.out, jobs=_jobs(asked, found))


def _jobs(asked: BatchOptions, found: Found) -> int:
    """Return how many submissions are graded at a time on this machine."""
    here = asked.jobs or os.cpu_count() or 1
    return here if asked.watch else min(here, len(found.submissions))


def _another(
    opened: OpenedSandbox | None,
    isolation: IsolationChoice,
    materials: Materials,
    options: Options,
) -> OpenedSandbox:
    """Return a sandbox as the course asks for it, in place of the one that was opened."""
    if opened is not None:
        # Its thread, too, is gone before workers are forked.
        opened.close()
    return make_sandbox(isolation, materials, options.device)


def _prepared(
    materials: Materials, sandbox: OpenedSandbox, options: Options, console: Console
) -> tuple[Grader, SandboxSource]:
    """Return a grader that has run the reference, and what opens sandboxes like the reference's."""
    # What shows this is gone before workers are forked: it has a thread.
    with sandbox, console.status("running the reference"):
        return prepared(materials, sandbox, options), sandbox.hand_on()


def _go_through(
    run: ClassRun,
    found: Found,
    workers: Workers,
    awaits_clock: Callable[[Report], bool],
    console: Console,
    profile: Profile,
) -> set[ReportStatus]:
    """Grade the class that is there; return the statuses of its reports."""
    results = run.grade(workers, found.submissions, awaits_clock)
    try:
        _show(results, len(found.submissions), console, profile)
    finally:
        results.close()
        graded, total = list(run.graded()), len(found.submissions)
        statuses = _finish(run, graded, total, console, found.left_out)
    return statuses


def _attend(
    run: ClassRun,
    folder: Path,
    workers: Workers,
    awaits_clock: Callable[[Report], bool],
    console: Console,
    profile: Profile,
) -> set[ReportStatus]:
    """Grade what arrives until somebody ends it; return the statuses of all reports."""
    say(console, f"Watching {folder}. Ctrl-C or SIGTERM ends it; what is graded is kept.")
    try:
        with closing(watch(run, folder, workers, awaits_clock)) as news:
            for each in news:
                if isinstance(each, str):
                    say(console, each)
                else:
                    say(console, _line(each))
                    profile.add(each)
    except (KeyboardInterrupt, TerminatedExit):
        # The one way in which a watch ends, so no failure. What was under way is graded next time.
        say(console, f"No longer watching {folder}. The same command goes on.")
    finally:
        statuses = _finish(run, list(run.everybody()), run.total, console)
    return statuses


def _line(graded: GradedSubmission) -> str:
    """Return how a submission fared, for a log."""
    report, name = graded.report, inert(graded.name, _MAX_NAME)
    if report.status is ReportStatus.INCOMPLETE:
        return f"{name}: the grader failed; no points are lost, and the next start runs it again"
    line = f"{name}: {amount(report.score)} of {counted(report.max_score, 'point')}"
    if not graded.timed:
        return f"{line} so far, and is timed next"
    return line + (f", {amount(report.pending)} pending" if report.pending else "")


def _show(
    results: Generator[GradedSubmission, None, None],
    total: int,
    console: Console,
    profile: Profile,
) -> None:
    """Show how far it is, how long it will take, and how it goes."""
    tally = Tally(total)
    with make_progress(console) as progress:
        task = progress.add_task("grading", total=total)
        for graded in results:
            profile.add(graded)
            name = graded.name if tally.add(graded) else f"timed {graded.name}"
            progress.update(
                task,
                total=tally.total,
                advance=1,
                description=escape(name)[:24],
                tally=str(tally),
            )


def _finish(
    run: ClassRun,
    graded: list[GradedSubmission],
    total: int,
    console: Console,
    left_out: Sequence[str] = (),
) -> set[ReportStatus]:
    """Write and print what there is, also of a batch that was stopped.

    Returns:
        The statuses of its reports; the reports themselves take memory that pages need.
    """
    reports = [each.report for each in graded]
    if reports:
        run.write_gradebook(graded)
        if len(reports) <= _MOST_ROWS:
            print_class(reports, console)
        for line in sentences(summarise(reports)):
            say(console, line)
    if len(reports) < total:
        say(console, f"Stopped early: {len(reports)} of {total} graded.")
    if left_out:
        say(console, f"Left out, by their endings no submissions: {', '.join(left_out)}")
    if reports:
        say(console, f"Written: {run.out / GRADEBOOK_FILE} and a folder for each submission")
    return {report.status for report in reports}
