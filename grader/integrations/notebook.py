"""IPython extension: ``%load_ext grader``, then ``%check name`` in a starter's notebook.

Virtual GPUs (``%vgpu``, ``%%vgpu``, ``%vgpu_trace``) come with it, and torch only with the first of
those; ``%load_ext grader.vgpu`` loads them alone.

Works wherever a process can be started, Colab included: no fork-server, no widgets. The page is
plain HTML with styles of its own, so that it looks the same in every front end and in an export.
"""

from __future__ import annotations

import atexit
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from grader.assignment.types import Question
from grader.errors import GraderError
from grader.integrations.kernel import KernelCells, TypedFunctions, write_typed
from grader.report.html.self_check import result_html, text_html
from grader.report.messages.catalogue import current
from grader.report.model import QuestionResult, Report
from grader.report.pictures import picture_of
from grader.report.student import points_of
from grader.selfcheck.engine import SelfCheck
from grader.selfcheck.pictures import pictures
from grader.selfcheck.terminal import SaveWatch
from grader.selfcheck.warm_sandbox import open_for_check
from grader.selfcheck.workplace import Workplace, choose_questions, open_workplace
from grader.verdict import Message, Param, Status


class Shell(Protocol):
    """What is used of an IPython shell."""

    def register_magic_function(self, function: Callable[..., Any], kind: str, name: str) -> None:
        """Make a function a magic command."""


class NotebookAnswer:
    """A page for a notebook, and the same in plain text for a terminal."""

    def __init__(self, html: str, text: str) -> None:
        self._html = html
        self._text = text

    def _repr_html_(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return self._text


class NotebookCheck:
    """Checks the workplace around a notebook, and stays warm between two checks.

    Functions that were typed into cells and differ from the file's are checked as the kernel has
    them.

    Args:
        shell: The notebook's; without one, the file alone is looked at.
    """

    def __init__(self, shell: object = None) -> None:
        self._shell = shell
        self._live: SelfCheck | None = None
        self._check: SelfCheck | None = None
        self._watch: SaveWatch | None = None

    def check(self, line: str) -> NotebookAnswer:
        """Check the questions that a line names; all where it names none."""
        try:
            return self._checked(shlex.split(line))
        except GraderError as error:
            return NotebookAnswer(text_html(str(error), Status.ERROR), str(error))

    def close(self) -> None:
        """End every process."""
        if self._live is not None:
            self._live.close()
        if self._check is not None and self._watch is not None:
            self._watch.close()
            self._check.close()

    def _checked(self, words: Sequence[str]) -> NotebookAnswer:
        place = open_workplace(Path())
        questions = choose_questions(place, words)
        asked = place.public.assignment.questions
        wanted = [item for item in asked if not questions or item.id in questions]
        live = self._in_kernel(place, wanted)
        if live is None:
            return self._of_the_file(place, questions)
        names = [item.id for item in live.report.questions if item.status is not Status.SKIPPED]
        rest = tuple(item.id for item in wanted if item.id not in names)
        answers = [live.answer]
        if rest:
            answers.append(self._of_the_file(place, rest))
        return _joined(answers)

    def _in_kernel(self, place: Workplace, wanted: Sequence[Question]) -> _Live | None:
        """Check functions of cells; None where there are none that differ from the file's."""
        values = getattr(self._shell, "user_ns", {})
        history = getattr(getattr(self._shell, "history_manager", None), "input_hist_raw", [])
        if len(history) < 2:
            return None
        typed = list(_typed(place, history[1:], values, wanted))
        names = {name for each in typed for name in each.names}
        ids = [item.id for item in wanted if {*item.names} & names]
        if not ids:
            return None
        with TemporaryDirectory() as folder:
            as_typed = replace(place, hand_in=write_typed(Path(folder), place, typed))
            if self._live is None:
                self._live = SelfCheck(as_typed, open_for_check("none"))
            self._live.workplace = as_typed
            report = self._live.check(ids, on_result=lambda _: None)
            self._live.make_ready()
            chosen = [item for item in report.questions if item.id in ids]
            notes = [_note(each, len(place.public.assignment.asked) > 1) for each in typed]
            shown = _shown(chosen, as_typed, self._live)
        said = [NotebookAnswer(text_html(note, Status.DEFERRED), note) for note in notes]
        return _Live(report, _joined([*said, shown]))

    def _of_the_file(self, place: Workplace, questions: tuple[str, ...]) -> NotebookAnswer:
        check, watch = self._warm(place)
        # All at once the first time: a notebook that is run from top to bottom waits once.
        rerun = watch.run()
        if rerun.questions:
            check.make_ready()
        chosen = [item for item in rerun.report.questions if not questions or item.id in questions]
        return _shown(chosen, place, check)

    def _warm(self, place: Workplace) -> tuple[SelfCheck, SaveWatch]:
        same = self._check and self._check.workplace.folder.resolve() == place.folder.resolve()
        if self._check is None or self._watch is None or not same:
            self.close()
            self._check = SelfCheck(place, open_for_check("none"))
            self._watch = SaveWatch(self._check)
        self._check.workplace = place
        return self._check, self._watch


def _typed(
    place: Workplace, cells: Sequence[str], values: Mapping[str, Any], wanted: Sequence[Question]
) -> Iterator[TypedFunctions]:
    """Yield for each file of an assignment what a kernel has and the file has not, or otherwise."""
    assignment = place.public.assignment
    for name in assignment.asked:
        here = [item for item in wanted if assignment.file_of(item) == name]
        ran, file = KernelCells(cells, name), place.folder / name
        own = file.read_bytes() if file.is_file() else b""
        if found := ran.unlike((each for item in here for each in item.names), values, own):
            yield TypedFunctions(name, ran, found, own)


def _note(typed: TypedFunctions, several: bool) -> str:
    params: dict[str, Param] = {"names": list[Param](typed.names), "file": typed.file}
    sentence = "checked_in_kernel_of_several" if several else "checked_in_kernel"
    return current().render(Message(sentence, params))


@dataclass(frozen=True, slots=True)
class _Live:
    """What came of the functions in cells."""

    report: Report
    answer: NotebookAnswer


def _joined(answers: Sequence[NotebookAnswer]) -> NotebookAnswer:
    pages = "".join(each._repr_html_() for each in answers)
    return NotebookAnswer(pages, "\n".join(map(repr, answers)))


def _shown(chosen: Sequence[QuestionResult], place: Workplace, check: SelfCheck) -> NotebookAnswer:
    pages = [
        result_html(
            item, place.public.hints, pictures(item, place, check.seen), *_happened(item, check)
        )
        for item in chosen
    ]
    lines = [f"{item.id}: {points_of(item)}" for item in chosen]
    texts = [result.student_message for item in chosen for result in item.checks]
    return NotebookAnswer("".join(pages), "\n".join([*lines, *dict.fromkeys(filter(None, texts))]))


def _happened(
    question: QuestionResult, check: SelfCheck
) -> tuple[Mapping[str, Sequence[str]], Mapping[str, bytes]]:
    """Return check → what there is to say beside its message, and check → its picture."""
    details = check.details(question)
    try:
        drawn = {each.id: picture for each in question.checks if (picture := picture_of(each))}
    except ImportError:
        more = current().render(Message("no_matplotlib"))
        undrawn = dict.fromkeys(check.devices(question), (more,))
        return {name: lines + undrawn.get(name, ()) for name, lines in details.items()}, {}
    return details, drawn


def load(shell: Shell) -> None:
    """Register ``%check``, and the magics of virtual GPUs."""
    notebook = NotebookCheck(shell)
    atexit.register(notebook.close)
    shell.register_magic_function(notebook.check, "line", "check")
    shell.register_magic_function(_on_first_use(shell, "vgpu"), "line_cell", "vgpu")
    shell.register_magic_function(_on_first_use(shell, "vgpu_trace"), "line", "vgpu_trace")


def _on_first_use(shell: Shell, name: str) -> Callable[..., Any]:
    def magic(line: str, *cell: str) -> Any:
        # Torch takes seconds to load; who only checks need not wait for it.
        from grader.vgpu.magics import Magics  # noqa: PLC0415

        return getattr(Magics(shell), name)(line, *cell)

    return magic
