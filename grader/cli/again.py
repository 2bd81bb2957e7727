"""``grader rejudge``, ``regrade`` and ``replay``: a batch gone over again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli.options import IsolationChoice, LateOpt, QuestionsOpt
from grader.cli.support import (
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

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from grader.batch.again import Again, Change
    from grader.batch.grades import LatePolicy
    from grader.batch.ledger import Setup
    from grader.report.model import CheckResult
    from grader.run.grade import Grader, Options

_ROWS = 40
_MAX_NAME = 40

OutOfBatch = Annotated[Path, typer.Argument(help="--out of `grader batch`.", metavar="DIR")]


def rejudge_command(
    folder: OutOfBatch,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would change.")
    ] = False,
    late: LateOpt = None,
) -> None:
    """Judge a class anew after a change of the checks. No hand-in runs again."""
    from grader.batch.again import rejudge

    policy = lateness_of(folder, late, make_console(), kept=not dry_run)
    with interruptible("What was judged is kept."):
        again = rejudge(folder, _prepare, dry_run)
    _tell(again, make_console())
    if not dry_run:
        _rewrite(folder, policy)


def regrade_command(
    folder: OutOfBatch,
    students: Annotated[
        str, typer.Option("--students", help="Hand-ins by name, separated by commas.")
    ] = "",
    questions: QuestionsOpt = "",
    late: LateOpt = None,
) -> None:
    """Run submissions of a class again, with the same inputs. Some of them, or some questions."""
    if not students and not questions:
        raise UsageError("regrade needs --students or --questions; for all, grade the class again")
    from grader.batch.again import regrade

    policy = lateness_of(folder, late, make_console(), kept=True)
    with interruptible("What was graded is kept."):
        again = regrade(folder, _prepare, _listed(students), _listed(questions))
    _tell(again, make_console())
    _rewrite(folder, policy)


def replay_command(
    report: Annotated[Path, typer.Argument(help="DIR/NAME: one hand-in of a batch.")],
) -> None:
    """Run one hand-in again and say whether its verdicts still hold. Writes nothing."""
    import tempfile

    from grader.batch.again import replay
    from grader.report.summary import counted

    folder, name = report.parent, report.name
    with interruptible("Nothing was written."), tempfile.TemporaryDirectory() as scratch:
        changes = replay(folder, name, _prepare, Path(scratch))
    console = make_console()
    if not changes:
        say(console, f"{name}: every verdict holds.")
        return
    console.print(_table(changes))
    say(console, f"{name}: {counted(len(changes), 'verdict')} not as before.")
    raise typer.Exit(1)


@contextmanager
def _prepare(setup: Setup, options: Options) -> Iterator[Grader]:
    materials = read_materials(setup.file)
    isolation = IsolationChoice(setup.isolation)
    with make_sandbox(isolation, materials, options.device) as sandbox:
        yield prepared(materials, sandbox, options)


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _tell(again: Again, console: Console) -> None:
    from grader.report.text import inert

    if again.changes:
        console.print(_table(again.changes[:_ROWS]))
    if len(again.changes) > _ROWS:
        say(console, f"… and {len(again.changes) - _ROWS} more")
    changed = {change.hand_in for change in again.changes}
    say(console, f"Changed: {len(changed)} of {len(again.reports)} hand-ins.")
    for name, reason in again.untouched.items():
        say(console, f"Not judged anew: {inert(name, _MAX_NAME)} ({reason})")


def _table(changes: tuple[Change, ...]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from grader.report.text import inert

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("Submission", "Check", "Before", "After"):
        table.add_column(heading, overflow="fold")
    for change in changes:
        table.add_row(
            Text(inert(change.hand_in, _MAX_NAME)),
            f"{change.question}: {change.check}",
            _cell(change.before),
            _cell(change.after),
        )
    return table


def _cell(check: CheckResult | None) -> str:
    from grader.report.summary import amount

    if check is None:
        return "–"
    points = f"{amount(check.score)}/{amount(check.max_score)}"
    open_ = f" +{amount(check.pending)}?" if check.pending else ""
    return f"{points}{open_} {check.code.value}"


def _rewrite(folder: Path, policy: LatePolicy | None) -> None:
    from grader.batch.awaited import overtaken
    from grader.batch.ledger import read_grades, write_decided, write_grades

    console = make_console()
    write_decided(folder)
    for line in overtaken(folder):
        say(console, line)
    say(console, f"Written: {write_grades(read_grades(folder, policy, keep=True), folder)}")
    renew_pages(folder, console)
