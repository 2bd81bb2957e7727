"""Commands on what a batch has written down: rejudge, replay, status, decide and others."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli.options import IsolationChoice, LateOpt, QuestionsOpt
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

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from grader.batch.again import Again, Change
    from grader.batch.awaited import Finding, GradedClass, Wish
    from grader.batch.grades import LatePolicy
    from grader.batch.ledger import Setup
    from grader.grading import Grader, Options
    from grader.report.model import CheckResult, Report

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
    """Judge a class anew after a change of the checks. No submission runs again."""
    from grader.batch.again import rejudge

    policy = lateness_of(folder, late, make_console(), kept=not dry_run)
    with interruptible("What was judged is kept."):
        again = rejudge(folder, _prepare, dry_run)
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
    from grader.batch.again import regrade

    policy = lateness_of(folder, late, make_console(), kept=True)
    with interruptible("What was graded is kept."):
        again = regrade(folder, _prepare, _listed(students), _listed(questions))
    _print_changes(again, make_console())
    _rewrite(folder, policy)


def replay_command(
    report: Annotated[Path, typer.Argument(help="DIR/NAME: one submission of a batch.")],
) -> None:
    """Run one submission again and compare its verdicts. Writes nothing."""
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


def _print_changes(again: Again, console: Console) -> None:
    from grader.report.summary import counted
    from grader.text import inert

    if again.changes:
        console.print(_table(again.changes[:_ROWS]))
    if len(again.changes) > _ROWS:
        say(console, f"… and {len(again.changes) - _ROWS} more")
    changed = {change.submission for change in again.changes}
    say(console, f"Changed: {len(changed)} of {counted(len(again.reports), 'submission')}.")
    for name, reason in again.untouched.items():
        say(console, f"Not judged anew: {inert(name, _MAX_NAME)} ({reason})")


def _table(changes: tuple[Change, ...]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from grader.text import inert

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("Submission", "Check", "Before", "After"):
        table.add_column(heading, overflow="fold")
    for change in changes:
        table.add_row(
            Text(inert(change.submission, _MAX_NAME)),
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
    from grader.batch.ledger import renew_gradebook, write_decided

    console = make_console()
    write_decided(folder)
    _say_overtaken(folder)
    say(console, f"Written: {renew_gradebook(folder, policy)}")
    renew_pages(folder, console)


def _say_overtaken(folder: Path, reports: Sequence[Report] = ()) -> None:
    from grader.batch.awaited import overtaken

    for line in overtaken(folder, reports):
        say(make_console(), line)


def status_command(folder: OutOfBatch) -> None:
    """Say how far a batch is, while it runs or after it was stopped. Changes nothing."""
    from grader.batch.shown import read_standing

    for line in read_standing(folder).sentences(folder):
        say(make_console(), line)


_NAMES = 6
_WIDE = 160

Who = Annotated[str, typer.Option("--who", help="Who decides; your user name without it.")]
Student = Annotated[
    str, typer.Argument(help="Submission, or address, number or name of its student.")
]
Where = Annotated[str, typer.Argument(help="The question or check.", metavar="QUESTION[.CHECK]")]
Items = Annotated[
    list[str] | None,
    typer.Option("--item", help="Item of the rubric that is met; its points. Repeatable."),
]


def decide_command(
    folder: OutOfBatch,
    student: Student = "",
    where: Where = "",
    points: Annotated[float | None, typer.Option("--points", help="Points to give.")] = None,
    items: Items = None,
    why: Annotated[str, typer.Option("--why", help="The reason, which the student reads.")] = "",
    same: Annotated[
        bool, typer.Option("--same", help="For everybody with the same finding, too.")
    ] = False,
    table: Annotated[
        Path | None,
        typer.Option("--from", help="CSV with the columns student, question, points, why."),
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take the decision back.")] = False,
    who: Who = "",
) -> None:
    """Give points by hand. Kept through --resume, rejudge, regrade and merge."""
    from grader.batch.awaited import Wish, deciding, read_wishes

    console = make_console()
    if table is not None:
        wishes = read_wishes(table)
    elif not (student and where):
        raise UsageError("decide needs DIR STUDENT QUESTION[.CHECK], or --from FILE")
    elif undo:
        with deciding(folder) as course:
            say(console, f"Taken back: {', '.join(course.undo(student, where, same))}")
        renew_pages(folder, console)
        return
    elif (points is None) == (not items):
        raise UsageError("decide needs --points and --why, or --item, or --undo")
    else:
        wishes = [Wish(student, where, points or 0.0, why, same, tuple(items or ()))]
    with deciding(folder) as course:
        _give(course, wishes, who, console)
    renew_pages(folder, console)


def review_command(folder: OutOfBatch, who: Who = "") -> None:
    """Go through what waits for a person, and give points."""
    from grader.batch.awaited import deciding

    console = make_console()
    with deciding(folder) as course:
        findings = course.findings()
        if not findings:
            say(console, f"Nothing in {folder} waits for a person.")
            return
        if not sys.stdin.isatty():
            _list(findings, console)
            say(console, "Answer on a terminal, or with `grader decide`.")
            return
        for number, finding in enumerate(findings, 1):
            say(console, f"\n[{number} of {len(findings)}]")
            if not _ask(course, finding, who, console):
                break
    renew_pages(folder, console)


def _list(findings: list[Finding], console: Console) -> None:
    from grader.report.summary import counted

    for finding in findings:
        concerned = counted(len(finding.everybody), "submission")
        say(console, f"{_what(finding)}: {concerned}, {_who(finding)}. {finding.checks[0].message}")


def _ask(course: GradedClass, finding: Finding, who: str, console: Console) -> bool:
    """Show a finding and take an answer; return False where no more are wanted."""
    from grader.batch.shown import lines_of
    from grader.report.summary import amount, counted
    from grader.text import inert

    say(console, f"{_what(finding)}: {_who(finding)}")
    say(console, finding.checks[0].message)
    for line in lines_of(finding):
        say(console, inert(line, _WIDE))
    for key, item in finding.keys.items():
        say(console, inert(f"  {key}  {item.text} ({amount(item.points)})", _WIDE))
    concerned = counted(len(finding.everybody), "submission")
    by_key = "keys of what is met, such as ab, or " if finding.keys else ""
    ends = "Enter leaves it open, q stops"
    prompt = f"Points for {concerned} ({by_key}0 to {amount(finding.worth)}; {ends})"
    answer = str(typer.prompt(prompt, default="", show_default=False)).strip()
    if answer in {"", "q"}:
        return answer != "q"
    _give(course, _wishes(finding, answer, console), who, console)
    return True


def _wishes(finding: Finding, answer: str, console: Console) -> Iterable[Wish]:
    """Return what an answer gives: points, or the items of the rubric whose keys it names."""
    from grader.report.summary import amount

    if items := finding.by_keys(answer):
        said = "Anything to add (the student reads it; Enter adds nothing)"
        added = str(typer.prompt(said, default="", show_default=False))
        return finding.with_items(items, added)
    points = _number(answer)
    if points is None or not 0 <= points <= finding.worth:
        say(console, f"“{answer}” is no number from 0 to {amount(finding.worth)}; left open")
        return ()
    return finding.wishes(points, typer.prompt("Why (the student reads it)"))


def _give(course: GradedClass, wishes: Iterable[Wish], who: str, console: Console) -> None:
    import getpass

    from grader.report.summary import amount, counted
    from grader.text import inert

    given = course.decide(wishes, who or getpass.getuser())
    for name, item in given.made:
        before = f"{item.said.value}, {counted(item.said_points, 'point')}"
        points = f"{amount(item.points)} of {counted(item.worth, 'point')}"
        say(console, f"{inert(name, _WIDE)} {item.place}: {points} (the grader: {before})")
    if given.kept:
        names = inert(", ".join(given.kept), _WIDE)
        say(console, f"Decided on already, and left as it was: {names}")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _what(finding: Finding) -> str:
    from grader.report.summary import counted

    checks = ", ".join(check.id for check in finding.checks)
    return f"{finding.question} ({checks}), {counted(finding.worth, 'point')} open"


def _who(finding: Finding) -> str:
    from grader.text import inert

    names = [inert(done.submission.name, 40) for done in finding.everybody]
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return ", ".join(names[:_NAMES]) + more


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
    from grader.batch.merge import merge_folders, sentences
    from grader.report.merge import Allowed
    from grader.report.terminal import print_class, print_report
    from grader.store.journal import JOURNAL_FILE

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
