"""Commands of a student, in the folder of the starter: check, submit-zip."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from enum import Enum
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
from grader.cli.support import exit_for, interruptible, make_console, say, split_ids

if TYPE_CHECKING:
    from rich.console import Console

    from grader.report.messages.words import Words
    from grader.report.model import Report
    from grader.report.student import StudentView
    from grader.selfcheck.engine import SelfCheck
    from grader.selfcheck.folder import Unreadable
    from grader.selfcheck.workplace import Workplace


class FormatChoice(str, Enum):
    """How a self-check is printed."""

    text = "text"
    json = "json"
    lines = "lines"


WhatArg = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME|PATH]...",
        help="Questions: name, beginning of names, number (Q15). Also the folder you work in.",
        show_default=False,
    ),
]
PathArg = Annotated[
    Path, typer.Argument(help="The folder you work in, or a file in it.", show_default=False)
]
SelfIsolationOpt = Annotated[
    IsolationChoice,
    typer.Option("--isolation", help="Sandbox around your code; auto takes the best there is."),
]
WatchOpt = Annotated[bool, typer.Option("--watch", help="Stay, and check again what you change.")]
AllOpt = Annotated[
    bool, typer.Option("--all", help="Show what is right, too, where something is wrong.")
]
FailOpt = Annotated[
    bool, typer.Option("--fail", help="Exit with status 3 where something is wrong.")
]
FormatOpt = Annotated[
    FormatChoice,
    typer.Option("--format", help="text; json as in report.json; lines: FILE:LINE: MESSAGE."),
]
_HERE = Path()
_WRONG = 3
"""Exit status of ``--fail``. Not 1, which says that the grader or the machine failed: a script that
retries for the one must not retry for the other."""
_UNASKED = 4
"""Exit status where nothing was packed, since another file is probably meant."""


def check(
    what: WhatArg = None,
    questions: QuestionsOpt = "",
    device: DeviceOpt = DeviceChoice.auto,
    isolation: SelfIsolationOpt = IsolationChoice.auto,
    watch: WatchOpt = False,
    everything: AllOpt = False,
    fail: FailOpt = False,
    form: FormatOpt = FormatChoice.text,
    lang: LanguageOpt = None,
) -> None:
    """Check your work on the public cases. No score: grading tries more."""
    _speak(lang)
    named = [*(what or ()), *split_ids(questions)]
    if form is not FormatChoice.json and not watch and _told_at_sight(_path_among(named), form):
        raise typer.Exit(_WRONG if fail else 0)
    from grader.selfcheck.warm_sandbox import open_for_check

    with interruptible("Nothing is lost."), open_for_check(isolation.value) as sandbox:
        # The fork-server imports torch, for seconds, while the judge is imported.
        from grader.report.student import StudentView, all_right
        from grader.selfcheck.engine import SelfCheck
        from grader.selfcheck.terminal import watch_folder
        from grader.selfcheck.workplace import choose_questions, is_question, open_workplace

        place = open_workplace(_path_among(named))
        ids = choose_questions(
            place, [word for word in named if not _is_path(word) or is_question(place, word)]
        )
        console = make_console()
        own = SelfCheck(place, sandbox, device.value)
        view = StudentView(console, place.public.hints, own.details, own.printed, lambda: own.words)
        view.everything = everything or watch or bool(ids)
        if watch:
            watch_folder(own, ids, view)
            return
        report = _checked(own, ids, view, form)
    exit_for([report.status] if report else [])
    if fail and (report is None or not all_right(report)):
        raise typer.Exit(_WRONG)


def _is_path(word: str) -> bool:
    return "/" in word or Path(word).exists()


def _path_among(words: Sequence[str]) -> Path:
    """Return the first of the words that is a path, or where we are."""
    return next((Path(word) for word in words if _is_path(word)), _HERE)


def _told_at_sight(path: Path, form: FormatChoice) -> bool:
    """Say what keeps Python from loading a file, where the text alone shows it.

    Before anything large is imported: numpy and the judge take half a second.
    """
    from grader.selfcheck.folder import starter_folder, unreadable_in

    folder = starter_folder(path)
    broken = unreadable_in(folder, path)
    if broken is not None:
        _show(broken, folder / broken.file, form)
    return broken is not None


def _checked(
    own: SelfCheck, ids: tuple[str, ...], view: StudentView, form: FormatChoice
) -> Report | None:
    """Check and print; return None where the file cannot be read."""
    from grader.selfcheck.workplace import read_workplace, unreadable_whole, words_for

    place, console = own.workplace, make_console()
    submission = read_workplace(place)
    if form is FormatChoice.json:
        report = own.check(ids)
        typer.echo(report.model_dump_json(indent=2))
        return report
    if (broken := unreadable_whole(place, submission)) is not None:
        _show(broken, place.hand_in, form, words_for(submission))
        return None
    if form is FormatChoice.lines:
        report = own.check(ids)
        for message in own.noticed_while_loading():
            line = message.params.get("line") or 1
            say(console, f"{_shown_path(place.files[0])}:{line}: {own.words.render(message)}")
        for line in _problem_lines(report, place):
            say(console, line)
        return report
    return _told(own, ids, view, console)


def _told(own: SelfCheck, ids: tuple[str, ...], view: StudentView, console: Console) -> Report:
    """Check, and print each question as soon as it is judged."""
    from grader.progress import make_progress
    from grader.selfcheck.terminal import conclude

    public = own.workplace.public
    order = [item.id for item in public.assignment.questions if not ids or item.id in ids]
    with make_progress(console, lines=False) as progress:
        task = progress.add_task("starting", total=len(ids or public.plan))
        report = own.check(
            ids,
            lambda name: progress.update(task, description=name, advance=1),
            lambda result: view.result(result, order),
        )
    for message in own.noticed_while_loading():
        view.tell(message, "red")
    view.report(report, ids)
    conclude(report, own.workplace, view)
    return report


def _show(broken: Unreadable, path: Path, form: FormatChoice, words: Words | None = None) -> None:
    """Print what keeps the file from being loaded, and the line with a mark below it."""
    from grader.report.messages.catalogue import current
    from grader.text import print_marked

    console, sentence = make_console(), (words or current()).render(broken.message)
    if form is FormatChoice.lines:
        line = 1 if path.suffix == ".ipynb" else broken.message.params.get("line")
        say(console, f"{_shown_path(path)}:{line}: {sentence}")
        return
    print_marked(console, sentence, broken.line, broken.column)


def _problem_lines(report: Report, place: Workplace) -> Iterator[str]:
    """Yield a line for each finding, as editors and CI look for them."""
    from grader.report.student import findings
    from grader.selfcheck.workplace import line_of

    for question in report.questions:
        for result in findings(question):
            line = result.params.get("line")
            if not isinstance(line, int) or line < 1:
                line = line_of(place, question.id) or 1
            shown = place.path_of(question.id, str(result.params.get("file") or ""))
            line = 1 if shown.suffix == ".ipynb" else line
            where = f"{_shown_path(shown)}:{line}: {question.id}"
            yield f"{where}: {result.id}: {result.student_message}"


def _shown_path(file: Path) -> str:
    here, file = Path.cwd(), file.resolve()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)


def submit_zip(path: PathArg = _HERE, lang: LanguageOpt = None) -> None:
    """Pack what you hand in, under the right name, and read it back.

    A file that Python cannot load is refused; what is not written yet is listed. Where nothing is
    written, but another file in the folder has some of it, you are asked first; without a terminal,
    or in a notebook's cell, nothing is packed then, and the exit status is 4. Name the file to pack
    it all the same.
    """
    _speak(lang)
    from grader.report.student import StudentView
    from grader.selfcheck.folder import unreadable
    from grader.selfcheck.terminal import tell_elsewhere, tell_inside
    from grader.selfcheck.workplace import open_workplace, pack, read_workplace, words_for
    from grader.selfcheck.written_stubs import absent, nothing_written, unwritten

    place = open_workplace(path)
    submission = read_workplace(place)
    words = words_for(submission)
    view = StudentView(make_console(), place.public.hints, words=lambda: words)
    if (broken := unreadable(submission)) is not None:
        _show(broken, place.hand_in, FormatChoice.text, words)
        view.say("not_packed", "bold red")
        raise typer.Exit(1)
    if not path.is_file() and nothing_written(place, submission):
        _ask_first(place, view)
    packed = pack(place)
    if not packed.same:
        view.say("packed_differs", "red", file=str(packed.path))
        raise typer.Exit(1)
    asked = place.public.assignment
    named = {"title": asked.title, "version": asked.version}
    view.say("packed", "green", file=packed.path.name, **named)
    for name, size, digest in packed.content:
        view.print(f"  {words.label('packed_file', name=name, size=size, digest=digest[:16])}")
    for error in submission.refused.values():
        view.tell(error.message, "red")
    if lacking := absent(place, submission):
        misplaced = tell_inside(place, submission, view)
        whole = len(lacking) == len(asked.coded) and not misplaced
        message = "none_found" if whole else "not_in_file"
        view.say(message, "red", file=place.name, count=len(lacking), names=list(lacking))
    if left := unwritten(place, submission):
        view.say("not_written", "yellow", count=len(left), names=list(left))
    tell_elsewhere(place, view)


def _ask_first(place: Workplace, view: StudentView) -> None:
    """Ask whether to pack what has nothing in it, where another file of the folder has something.

    Raises:
        Exit: It is not to be packed, or there is nobody to ask.
    """
    from grader.report.messages.catalogue import current
    from grader.selfcheck.terminal import tell_elsewhere
    from grader.selfcheck.workplace import command
    from grader.verdict import Message

    if not tell_elsewhere(place, view):
        return
    file = place.name
    if not _can_answer():
        view.say(
            "not_packed_unasked", "bold red", file=file, command=command(place, "submit-zip", file)
        )
        raise typer.Exit(_UNASKED)
    if not typer.confirm(current().render(Message("pack_anyway", {"file": file}))):
        raise typer.Exit(_UNASKED)


def _can_answer() -> bool:
    """Return whether somebody can type an answer.

    A command in a notebook's cell (``!grader …``) has a terminal, too, but nobody can type there:
    a question would keep the cell running for ever.
    """
    as_kernels_set_it = (os.environ.get("TERM"), os.environ.get("PAGER")) == ("xterm-color", "cat")
    in_a_cell = "JPY_PARENT_PID" in os.environ or as_kernels_set_it
    return sys.stdin.isatty() and not in_a_cell


def _speak(lang: Language | None) -> None:
    if lang is not None:
        from grader.report.messages.language import choose

        choose(lang.value)
