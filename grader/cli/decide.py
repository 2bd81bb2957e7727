"""``grader decide`` and ``grader review``: what a person decides on a graded class."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli.support import make_console, renew_pages, say
from grader.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from grader.batch.awaited import Class, Finding, Wish

_NAMES = 6
_WIDE = 160

OutOfBatch = Annotated[Path, typer.Argument(help="--out of `grader batch`.", metavar="DIR")]
Who = Annotated[str, typer.Option("--who", help="Who decides; your user name without it.")]


def decide_command(
    folder: OutOfBatch,
    student: Annotated[
        str, typer.Argument(help="Submission, or address, number or name of its student.")
    ] = "",
    where: Annotated[
        str, typer.Argument(help="The question or check.", metavar="QUESTION[.CHECK]")
    ] = "",
    points: Annotated[float | None, typer.Option("--points", help="Points to give.")] = None,
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
            say(console, f"Taken back: {', '.join(course.undo(student, where))}")
        renew_pages(folder, console)
        return
    elif points is None:
        raise UsageError("decide needs --points and --why, or --undo")
    else:
        wishes = [Wish(student, where, points, why, same)]
    with deciding(folder) as course:
        for wish in wishes:
            _give(course, wish, who, console)
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


def _ask(course: Class, finding: Finding, who: str, console: Console) -> bool:
    """Show a finding and take an answer; return False where no more are wanted."""
    from grader.batch.awaited import lines_of
    from grader.report.summary import amount, counted
    from grader.report.text import inert

    say(console, f"{_what(finding)}: {_who(finding)}")
    say(console, finding.checks[0].message)
    for line in lines_of(finding):
        say(console, inert(line, _WIDE))
    concerned = counted(len(finding.everybody), "submission")
    said = f"Points for {concerned} (0 to {amount(finding.worth)}; Enter leaves it open, q stops)"
    answer = str(typer.prompt(said, default="", show_default=False)).strip()
    if answer in {"", "q"}:
        return answer != "q"
    points = _number(answer)
    if points is None or not 0 <= points <= finding.worth:
        say(console, f"“{answer}” is no number from 0 to {amount(finding.worth)}; left open")
        return True
    for wish in finding.wishes(points, typer.prompt("Why (the student reads it)")):
        _give(course, wish, who, console)
    return True


def _give(course: Class, wish: Wish, who: str, console: Console) -> None:
    import getpass

    from grader.report.summary import amount
    from grader.report.text import inert

    for name, item in course.decide(wish, who or getpass.getuser()):
        before = f"{item.said.value}, {amount(item.said_points)} points"
        given = f"{amount(item.points)} of {amount(item.worth)} points"
        say(console, f"{inert(name, _WIDE)} {item.place}: {given} (the grader: {before})")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _what(finding: Finding) -> str:
    from grader.report.summary import amount

    checks = ", ".join(check.id for check in finding.checks)
    return f"{finding.question} ({checks}), {amount(finding.worth)} points open"


def _who(finding: Finding) -> str:
    from grader.report.text import inert

    names = [inert(done.hand_in.name, 40) for done in finding.everybody]
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return ", ".join(names[:_NAMES]) + more
