"""Commands with which people give points and comment: decide, review and comment."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from grader.batch.comments import CommentRequest, comment_at
from grader.batch.review_queue import DecisionRequest, Finding, ReviewQueue, deciding, read_wishes
from grader.batch.status import lines_of
from grader.cli.options import OutOfBatch
from grader.cli.support import make_console, renew_pages, say
from grader.errors import UsageError
from grader.report.summary import amount, counted
from grader.text import inert

_NAMES = 6
_WIDE = 160

Who = Annotated[str, typer.Option("--who", help="Who you are; your user name without it.")]
Student = Annotated[
    str, typer.Argument(help="Submission, or address, number or name of its student.")
]
Where = Annotated[str, typer.Argument(help="The question or check.", metavar="QUESTION[.CHECK]")]
Items = Annotated[
    list[str] | None,
    typer.Option("--item", help="Item of the rubric that is met; its points. Repeatable."),
]


def decide(
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
        wishes = [DecisionRequest(student, where, points or 0.0, why, same, tuple(items or ()))]
    with deciding(folder) as course:
        _give(course, wishes, who, console)
    renew_pages(folder, console)


def comment(
    folder: OutOfBatch,
    student: Student,
    line: Annotated[
        str, typer.Argument(help="File and line, as they were graded.", metavar="FILE:LINE")
    ],
    text: Annotated[str, typer.Argument(help="The comment, which the student reads.")] = "",
    delete: Annotated[bool, typer.Option("--delete", help="Delete the comment there.")] = False,
    who: Who = "",
) -> None:
    """Comment on a line of a student's code. Kept through --resume, rejudge, regrade and merge."""
    console, (file, _, number) = make_console(), line.rpartition(":")
    if not (file and number.isdecimal()):
        raise UsageError(f"“{line}” names no line; needs FILE:LINE, such as toy.py:12")
    if bool(text.strip()) == delete:
        raise UsageError("comment needs the comment's text, or --delete")
    with deciding(folder) as course:
        done = course.submission(student)
        wanted = CommentRequest(file, int(number), text)
        if delete and comment_at(done, wanted) is None:
            raise UsageError(f"{done.name}: there is no comment on {line}")
        made = course.comment(done, wanted, who or getpass.getuser())
    what = f"said on “{inert(made.excerpt.strip(), _WIDE)}”" if made else "deleted"
    say(console, f"{inert(done.name, _WIDE)} {inert(line, _WIDE)}: {what}")
    renew_pages(folder, console)


def review(folder: OutOfBatch, who: Who = "") -> None:
    """Go through what waits for a person, and give points."""
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
    for finding in findings:
        concerned = counted(len(finding.everybody), "submission")
        say(console, f"{_what(finding)}: {concerned}, {_who(finding)}. {finding.checks[0].message}")


def _ask(course: ReviewQueue, finding: Finding, who: str, console: Console) -> bool:
    """Show a finding and take an answer; return False where no more are wanted."""
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


def _wishes(finding: Finding, answer: str, console: Console) -> Iterable[DecisionRequest]:
    """Return what an answer gives: points, or the items of the rubric whose keys it names."""
    if items := finding.by_keys(answer):
        said = "Anything to add (the student reads it; Enter adds nothing)"
        added = str(typer.prompt(said, default="", show_default=False))
        return finding.with_items(items, added)
    points = _number(answer)
    if points is None or not 0 <= points <= finding.worth:
        say(console, f"“{answer}” is no number from 0 to {amount(finding.worth)}; left open")
        return ()
    return finding.wishes(points, typer.prompt("Why (the student reads it)"))


def _give(
    course: ReviewQueue, wishes: Iterable[DecisionRequest], who: str, console: Console
) -> None:
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
    checks = ", ".join(check.id for check in finding.checks)
    return f"{finding.question} ({checks}), {counted(finding.worth, 'point')} open"


def _who(finding: Finding) -> str:
    names = [inert(done.submission.name, 40) for done in finding.everybody]
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return ", ".join(names[:_NAMES]) + more
