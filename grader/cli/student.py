"""Commands of students: check, submit-zip."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli.options import (
    DeviceChoice,
    DeviceOpt,
    IsolationChoice,
    Language,
    LanguageOpt,
    QuestionsOpt,
)
from grader.cli.support import exit_for, interruptible, make_console, split_ids

if TYPE_CHECKING:
    from rich.console import Console

    from grader.report.model import Report
    from grader.report.student import StudentView
    from grader.selfcheck.engine import SelfCheck
    from grader.selfcheck.workplace import Unreadable

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
    from grader.selfcheck.spare import open_for_check

    with interruptible("Nothing is lost."), open_for_check(isolation.value) as sandbox:
        # The fork-server imports torch, for seconds, while the judge is imported.
        from grader.report.student import StudentView
        from grader.selfcheck.engine import SelfCheck
        from grader.selfcheck.watch import conclude, watch_folder
        from grader.selfcheck.workplace import open_workplace, read_workplace, syntax_error

        place = open_workplace(path)
        unreadable = syntax_error(read_workplace(place))
        ids, console = split_ids(questions), make_console()
        own = SelfCheck(place, sandbox, device.value)
        view = StudentView(console, place.public.hints, own.details)
        if watch:
            watch_folder(own, ids, view)
            return
        if unreadable is not None:
            _show(unreadable, view)
            return
        report = _checked(own, ids, view, console)
        for message in own.noticed_while_loading():
            view.tell(message, "red")
        view.report(report, ids)
        conclude(report, place, view)
    exit_for([report])


def _show(unreadable: Unreadable, view: StudentView) -> None:
    """Print a syntax error, and the line with a mark below where Python stopped."""
    view.tell(unreadable.message, "red")
    if unreadable.line:
        view.print(f"    {unreadable.line}")
        view.print(f"    {' ' * unreadable.column}^", "red")


def _checked(own: SelfCheck, ids: tuple[str, ...], view: StudentView, console: Console) -> Report:
    """Check, and print each question as soon as it is judged."""
    public = own.workplace.public
    order = [item.id for item in public.assignment.questions if not ids or item.id in ids]
    from grader.progress import make_progress

    with make_progress(console, lines=False) as progress:
        task = progress.add_task("starting", total=len(ids or public.plan))
        return own.check(
            ids,
            lambda name: progress.update(task, description=name, advance=1),
            lambda result: view.result(result, order),
        )


def submit_zip(path: PathArg = _HERE, lang: LanguageOpt = None) -> None:
    """Pack what you hand in, under the right name, and read it back."""
    _speak(lang)
    from grader.report.student import StudentView
    from grader.selfcheck.workplace import open_workplace, pack

    place = open_workplace(path)
    view = StudentView(make_console(), place.public.hints)
    packed = pack(place)
    if not packed.same:
        view.say("packed_differs", "red", file=str(packed.path))
        raise typer.Exit(1)
    view.say("packed", "green", file=str(packed.path))
    for name, size, digest in packed.content:
        view.print(f"  {name}  {size} bytes  sha256 {digest[:16]}…")


def _speak(lang: Language | None) -> None:
    if lang is not None:
        from grader.report.language import choose

        choose(lang.value)
