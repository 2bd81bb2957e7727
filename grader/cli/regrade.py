"""Commands on what a batch has written down: rejudge, regrade, replay, status and merge."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.batch.changes import Change, Total, total
from grader.batch.course import policy_now
from grader.batch.grades import LatePolicy
from grader.batch.ledger import BatchSettings, count_gpu, renew_gradebook, write_decided
from grader.batch.merge import merge_folders, sentences
from grader.batch.rerun import RerunResult, regrade, rejudge, replay
from grader.batch.review_queue import overtaken
from grader.batch.status import read_standing
from grader.batch.what_if import what_if
from grader.cli.options import (
    IsolationChoice,
    LateOpt,
    OutOfBatch,
    QuestionsOpt,
    WithoutChoice,
    WithoutOpt,
)
from grader.cli.support import (
    exit_for,
    interruptible,
    lateness_of,
    make_console,
    make_sandbox,
    prepared,
    read_materials,
    renew_pages,
    say,
)
from grader.errors import UsageError
from grader.grading import Grader, Options
from grader.report.merge import Allowed
from grader.report.model import CheckResult, Report
from grader.report.summary import amount, counted
from grader.report.terminal import print_class, print_report
from grader.store.files import write_atomic
from grader.store.journal import JOURNAL_FILE
from grader.text import inert

_ROWS = 40
_MAX_NAME = 40


def rejudge_command(
    folder: OutOfBatch,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would change.")
    ] = False,
    into: Annotated[
        Path | None,
        typer.Option("--json", help="Write what would change into this file. With --dry-run."),
    ] = None,
    late: LateOpt = None,
) -> None:
    """Judge a class anew after a change of the checks. No submission runs again."""
    if into is not None and not dry_run:
        raise UsageError("--json writes what would change; it goes with --dry-run")
    policy = lateness_of(folder, late, make_console(), kept=not dry_run)
    with interruptible("What was judged is kept."):
        again = rejudge(folder, _prepare, dry_run, policy if late else policy_now(folder))
    if into is not None:
        write_atomic(into, json.dumps(what_if(folder, again), ensure_ascii=False).encode())
    _print_changes(again, make_console())
    if dry_run:
        _say_overtaken(folder, again.reports)
    else:
        _rewrite(folder, policy)


def regrade_command(
    folder: OutOfBatch,
    students: Annotated[
        str, typer.Option("--students", help="Submissions by name, separated by commas.")
    ] = "",
    questions: QuestionsOpt = "",
    late: LateOpt = None,
) -> None:
    """Run submissions of a class again, with the same inputs. Some of them, or some questions."""
    if not students and not questions:
        raise UsageError("regrade needs --students or --questions; for all, grade the class again")

    policy = lateness_of(folder, late, make_console(), kept=True)
    with interruptible("What was graded is kept."):
        again = regrade(folder, _prepare, _listed(students), _listed(questions))
    _print_changes(again, make_console())
    _rewrite(folder, policy)


def replay_command(
    report: Annotated[Path, typer.Argument(help="DIR/NAME: one submission of a batch.")],
) -> None:
    """Run one submission again and compare its verdicts. Writes nothing."""
    folder, name = report.parent, report.name
    with interruptible("Nothing was written."):
        changes = replay(folder, name, _prepare)
    console = make_console()
    if not changes:
        say(console, f"{name}: every verdict holds.")
        return
    console.print(_table(changes))
    say(console, f"{name}: {counted(len(changes), 'verdict')} not as before.")
    raise typer.Exit(1)


def count(
    folder: OutOfBatch,
    without: WithoutOpt = None,
    having: Annotated[
        WithoutChoice | None,
        typer.Option("--with", help="The course has a GPU: these points count again."),
    ] = None,
) -> None:
    """Count points that only a GPU can settle, or take them out.

    Nothing runs, and nothing that was graded is lost: the other option takes it back.
    """
    if (without is None) == (having is None):
        raise UsageError("count needs --without gpu or --with gpu")
    console = make_console()
    pairs = count_gpu(folder, "none" if without else "real")
    totals = [total(before, now) for before, now in pairs]
    others = sorted((each for each in totals if each.before != each.after), key=_order)
    if others:
        console.print(_totals(others))
    say(console, f"Other totals than before: {len(others)} of {counted(len(pairs), 'submission')}.")
    renew_pages(folder, console)


@contextmanager
def _prepare(setup: BatchSettings, options: Options) -> Iterator[Grader]:
    materials = read_materials(setup.file)
    isolation = IsolationChoice(setup.isolation)
    with make_sandbox(isolation, materials, options.device) as sandbox:
        yield prepared(materials, sandbox, options)


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _print_changes(again: RerunResult, console: Console) -> None:
    if again.changes:
        console.print(_table(again.changes[:_ROWS]))
    if len(again.changes) > _ROWS:
        say(console, f"… and {len(again.changes) - _ROWS} more")
    # All of them, and whoever loses most first: that is who will ask.
    others = sorted((each for each in again.totals if each.before != each.after), key=_order)
    if others:
        console.print(_totals(others))
    changed = {change.submission for change in again.changes}
    lose, gain = (sum(sign * each.difference > 0 for each in others) for sign in (-1, 1))
    of_all = counted(len(again.reports), "submission")
    say(console, f"Changed: {len(changed)} of {of_all}. Lose points: {lose}; gain points: {gain}.")
    for name, reason in again.untouched.items():
        say(console, f"Not judged anew: {inert(name, _MAX_NAME)} ({reason})")


def _order(total: Total) -> tuple[float, str]:
    return total.difference, total.submission


def _totals(totals: Sequence[Total]) -> Table:
    """Return the points in all of those who have others than before."""
    table = _headed("Submission", "Total before", "Total after", "Difference")
    for each in totals:
        table.add_row(
            Text(inert(each.submission, _MAX_NAME)),
            _points(*each.before),
            _points(*each.after),
            f"{'+' if each.difference > 0 else ''}{amount(each.difference)}",
        )
    return table


def _points(score: float, pending: float, worth: float) -> str:
    return f"{amount(score)}/{amount(worth)}" + (f" +{amount(pending)}?" if pending else "")


def _headed(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def _table(changes: tuple[Change, ...]) -> Table:
    table = _headed("Submission", "Check", "Before", "After")
    for change in changes:
        table.add_row(
            Text(inert(change.submission, _MAX_NAME)),
            f"{change.question}: {change.check}",
            _cell(change.before),
            _cell(change.after),
        )
    return table


def _cell(check: CheckResult | None) -> str:
    if check is None:
        return "–"
    return f"{_points(check.score, check.pending, check.max_score)} {check.code.value}"


def _rewrite(folder: Path, policy: LatePolicy | None) -> None:
    console = make_console()
    write_decided(folder)
    _say_overtaken(folder)
    say(console, f"Written: {renew_gradebook(folder, policy)}")
    renew_pages(folder, console)


def _say_overtaken(folder: Path, reports: Sequence[Report] = ()) -> None:
    for line in overtaken(folder, reports):
        say(make_console(), line)


def status(folder: OutOfBatch) -> None:
    """Say how far a batch is, while it runs or after it was stopped. Changes nothing."""
    for line in read_standing(folder).sentences(folder):
        say(make_console(), line)


Folders = Annotated[
    list[Path],
    typer.Argument(help="--out folders; the first is completed from the others.", metavar="DIR..."),
]
Unwalled = Annotated[
    bool,
    typer.Option(
        "--accept-unwalled",
        help="Take points from runs with --isolation none into reports that had a sandbox.",
    ),
]
Conflicts = Annotated[
    bool,
    typer.Option(
        "--leave-conflicts",
        help="Where the machines decided a check differently, leave its question as it is.",
    ),
]


def merge(
    folders: Folders, unwalled: Unwalled = False, conflicts: Conflicts = False, late: LateOpt = None
) -> None:
    """Fill in pending points that another machine has graded.

    Completes the first folder from the others. Rewrites report.json and results.json, and journal
    and gradebook.csv of a class. Decided checks stay. Ends with 1 if points wait for a GPU and none
    of them was completed.
    """
    console, batch = make_console(), (folders[0] / JOURNAL_FILE).is_file()
    if late and not batch:
        raise UsageError(f"--late: {folders[0]} holds no batch; lateness counts in a gradebook")
    policy = lateness_of(folders[0], late, console, kept=True) if batch else None
    merged = merge_folders(folders, Allowed(unwalled, conflicts), policy)
    if merged.batch:
        print_class(merged.reports, console)
    else:
        print_report(merged.reports[0], console)
    for line in sentences(merged):
        say(console, line)
    if batch:
        renew_pages(folders[0], console)
    exit_for(report.status for report in merged.reports)
    if merged.fruitless:
        raise typer.Exit(1)
