"""The starter folder that a student works in: found, read back as grading reads it, and packed.

The public cases mark the folder. The submission is the file that the assignment names, or the
notebook of its name where there is no such file.
"""

from __future__ import annotations

import io
import re
import shlex
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from grader.assignment.translation import Translation, file_of, parse
from grader.assignment.types import Question
from grader.errors import nearest_name
from grader.report.messages.catalogue import current
from grader.report.messages.language import current_language
from grader.report.messages.words import Words
from grader.selfcheck.files import read_public
from grader.selfcheck.folder import (
    InTheWay,
    Unreadable,
    module_missing,
    renamed,
    starter_folder,
    unreadable,
)
from grader.selfcheck.public import PublicCases
from grader.store.files import write_atomic
from grader.submission import Submission, Where, read_submission
from grader.submission.choose import only_uses
from grader.submission.notebook import NEWLINE
from grader.submission.submission import IntakeError, SubmittedFile
from grader.verdict import Param


@dataclass(frozen=True, slots=True)
class Workplace:
    """A folder in which an assignment is worked on.

    Attributes:
        folder: It.
        public: Its public cases.
        hand_in: What would be graded: a file where the assignment wants one, else the folder.
            With questions in several files always the folder.
    """

    folder: Path
    public: PublicCases
    hand_in: Path

    @property
    def where(self) -> Where:
        """What is read to be graded."""
        assignment = self.public.assignment
        documents = {name: self.folder / name for name in assignment.documents}
        there = {name: path for name, path in documents.items() if path.is_file()}
        if len(assignment.asked) == 1 and not there:
            return self.hand_in
        if self.hand_in.is_file():
            notebook = Path(assignment.module).with_suffix(".ipynb").name
            name = notebook if self.hand_in.suffix == ".ipynb" else assignment.module
            return {name: self.hand_in} | there
        code = (_present(self.hand_in, name) for name in assignment.hand_in)
        return {path.name: path for path in code if path is not None} | there

    @property
    def files(self) -> tuple[Path, ...]:
        """The files with questions that would be graded."""
        if len(self.public.assignment.asked) == 1:
            return (self.hand_in,)
        there = (_present(self.hand_in, name) for name in self.public.assignment.asked)
        return tuple(path for path in there if path is not None)

    def questions_in(self, file: Path) -> tuple[Question, ...]:
        """Return the questions that a file of ``files`` holds."""
        assignment = self.public.assignment
        several = len(assignment.asked) > 1
        return tuple(
            item
            for item in assignment.coded
            if not several or assignment.file_of(item).removesuffix(".py") == file.stem
        )

    @property
    def name(self) -> str:
        """What messages call that which would be graded."""
        several = len(self.public.assignment.asked) > 1
        return ", ".join(self.public.assignment.asked) if several else self.hand_in.name

    def module(self, question: str) -> Path:
        """The file that holds a question, or should."""
        return self.folder / self.public.assignment.file_of(self.question(question))

    def path_of(self, question: str, file: str = "") -> Path:
        """The file that a finding on a question points at.

        Args:
            question: Its id.
            file: The name that the finding gives, as grading calls the file.
        """
        asked = self.public.assignment.asked
        if len(asked) == 1 and self.hand_in.is_file() and file in {"", *asked}:
            return self.hand_in
        named = self.folder / file
        return named if named.is_file() else self.module(question)

    def name_of(self, question: str) -> str:
        """What messages call the file that holds a question."""
        return self.public.assignment.place_of(self.question(question)) or self.hand_in.name

    def function(self, question: str) -> str:
        """The name that a question's function should have."""
        return self.question(question).names[0]

    def question(self, name: str) -> Question:
        """The question of an id."""
        return next(item for item in self.public.assignment.questions if item.id == name)

    @property
    def support(self) -> dict[str, bytes]:
        """The support files as they are in the folder.

        Raises:
            InTheWay: One is missing.
        """
        return {name: self._support(name) for name in self.public.support}

    def _support(self, name: str) -> bytes:
        try:
            return (self.folder / name).read_bytes()
        except OSError:
            raise InTheWay("support_missing", file=str(self.folder / name)) from None


def open_workplace(path: Path) -> Workplace:
    """Return the workplace that a path means.

    Args:
        path: The folder, a file in it, a folder below it, or the folder that holds it.

    Raises:
        InTheWay: There is none, or several could be meant; says which, and what to do.
    """
    folder = starter_folder(path)
    public = _in_current_language(read_public(folder), folder)
    single = len(public.assignment.asked) == 1
    chosen = path if single and path.is_file() and path.suffix in (".py", ".ipynb") else None
    return Workplace(folder, public, chosen or _hand_in(folder, public))


def _in_current_language(public: PublicCases, folder: Path) -> PublicCases:
    """Return public cases with titles and hints in the current language, as far as there are any.

    Args:
        public: In English.
        folder: The starter's. A file there that is damaged counts as absent: it is no reason to
            check nothing.
    """
    language, asked = current_language(), public.assignment
    try:
        text = (folder / file_of(language)).read_text(encoding="utf-8")
        words = parse(text, [question.id for question in asked.questions])
    except (OSError, ValueError):
        return public
    questions = tuple(_named(item, words) for item in asked.questions)
    named = asked.model_copy(update={"title": words.title or asked.title, "questions": questions})
    # Results of single questions take their titles from the plan.
    plan = tuple(replace(item, question=_named(item.question, words)) for item in public.plan)
    return replace(public, assignment=named, plan=plan, hints={**public.hints, **words.hints})


def _named(question: Question, words: Translation) -> Question:
    return question.model_copy(update={"title": words.titles.get(question.id, question.title)})


def _present(folder: Path, name: str) -> Path | None:
    """Return a file of a folder, or the notebook that stands in for it; None without either."""
    either = (folder / name, (folder / name).with_suffix(".ipynb"))
    return next((path for path in either if path.is_file()), None)


def _hand_in(folder: Path, public: PublicCases) -> Path:
    wanted, asked = public.assignment.hand_in, public.assignment.asked
    # One of several is enough; the others' questions say that their file is not there.
    if len(asked) > 1 and any(_present(folder, name) for name in asked):
        others = [name for name in wanted if name not in asked and not _present(folder, name)]
        if others:
            raise module_missing(folder, others[0])
        return folder
    missing = [name for name in wanted if not (folder / name).is_file()]
    if len(wanted) > 1 and not missing:
        return folder
    if not missing:
        return folder / wanted[0]
    notebook = folder / Path(wanted[0]).with_suffix(".ipynb").name
    if len(wanted) == 1 and notebook.is_file():
        return notebook
    raise module_missing(folder, missing[0])


_THEN = (1980, 1, 1, 0, 0, 0)
"""The time of every entry, so that the same files make the same archive."""


@dataclass(frozen=True, slots=True)
class Packed:
    """An archive, as reading it back found it.

    Attributes:
        path: The archive.
        content: Name, bytes and sha256 of every file that grading takes from it.
        same: Whether that is what lies in the folder.
    """

    path: Path
    content: tuple[tuple[str, int, str], ...]
    same: bool


def read_workplace(place: Workplace) -> Submission:
    """Return the submission as it lies in the folder.

    Raises:
        InTheWay: It could not be graded; says why.
    """
    if not place.hand_in.exists():
        raise module_missing(place.folder, place.hand_in.name)
    assignment = place.public.assignment
    several = assignment.asked if len(assignment.asked) > 1 else {}
    try:
        submission = read_submission(
            place.where, assignment.hand_in, asked=several, documents=assignment.documents
        )
    except IntakeError as error:
        raise InTheWay(error.message.id, **error.message.params) from None
    module, code = assignment.module, submission.files[0].data
    if place.hand_in.suffix == ".ipynb" and only_uses(code, module, assignment.functions):
        if renamed(place.folder, module):
            raise module_missing(place.folder, module)
        if (place.folder / module).is_file():
            there = command(place, "check", module)
            raise InTheWay(
                "nothing_in_notebook", found=place.hand_in.name, file=module, command=there
            )
        raise InTheWay("only_notebook", found=place.hand_in.name, file=module)
    return submission


Found = TypeVar("Found")


def unreadable_whole(place: Workplace, submission: Submission) -> Unreadable | None:
    """Return what keeps Python from loading the file that all questions stand in; None if nothing.

    One of several files costs its own questions alone; the others are checked all the same.
    """
    return unreadable(submission) if len(place.public.assignment.asked) == 1 else None


def from_text(place: Workplace, read: Callable[[Submission], Found]) -> Found | None:
    """Return what the text of the submission shows; None where it cannot be read, or is no Python.

    Args:
        place: The folder.
        read: Reads the submission; may raise what ``ast.parse`` does.
    """
    try:
        return read(read_workplace(place))
    except (InTheWay, SyntaxError, ValueError, RecursionError):
        return None


_NUMBERED = re.compile(r"[Qq]?0*([1-9]\d*)")


def choose_questions(place: Workplace, words: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of the questions that a student means.

    Args:
        place: Names the questions.
        words: Each a name, the beginning of some names, or a number such as ``Q15`` or ``15``.

    Raises:
        InTheWay: A word means no question; says which name is nearest, and all there are.
    """
    found = dict.fromkeys(name for word in words for name in _meant(place, word))
    order = [item.id for item in place.public.assignment.questions]
    return tuple(name for name in order if name in found)


def is_question(place: Workplace, word: str) -> bool:
    """Return whether a word is the whole name of a question, or of the function of one."""
    return any(word in (item.id, *item.names) for item in place.public.assignment.questions)


def _meant(place: Workplace, word: str) -> list[str]:
    """Return ids: the whole name first, then a number, then the beginning of names.

    A question's own name goes before that of its function, which several may share.
    """
    questions, low = place.public.assignment.questions, word.lower()
    numbered = _NUMBERED.fullmatch(word)
    number = int(numbered[1]) if numbered else 0
    ways: tuple[Callable[[int, Question], bool], ...] = (
        lambda _, item: word == item.id,
        lambda _, item: word in item.names,
        lambda at, _: at == number,
        lambda _, item: low == item.id.lower(),
        lambda _, item: low in map(str.lower, item.names),
        lambda _, item: any(name.lower().startswith(low) for name in (item.id, *item.names)),
    )
    for means in ways if word else ():
        if found := [item.id for at, item in enumerate(questions, 1) if means(at, item)]:
            return found
    names = [name for item in questions for name in (item.id, *item.names)]
    raise InTheWay(
        "no_such_question",
        name=word,
        nearest=nearest_name(low, names),
        known=list[Param](item.id for item in questions),
        count=len(questions),
    )


def command(place: Workplace, name: str, file: str = "") -> str:
    """Return a command of a student, for the folder or the file that was meant, as it is typed.

    Args:
        place: The folder.
        name: Such as ``submit-zip``.
        file: Name of another file in the folder; empty for what ``place`` means.
    """
    single = len(place.public.assignment.asked) == 1
    # The file that is taken anyway need not be named.
    taken = _taken(place.folder, place.public)
    chosen = single and (taken is None or place.hand_in.resolve() != taken.resolve())
    meant = place.folder / file if file else place.hand_in if chosen else place.folder
    return " ".join(["grader", name, *_typed(meant)])


def _taken(folder: Path, public: PublicCases) -> Path | None:
    try:
        return _hand_in(folder, public)
    except InTheWay:
        return None


def _typed(path: Path) -> list[str]:
    here, there = Path.cwd(), path.resolve()
    if there == here:
        return []
    return [shlex.quote(str(there.relative_to(here) if there.is_relative_to(here) else there))]


def archive_name(place: Workplace) -> str:
    """Return the name that the archive has."""
    return f"{place.public.assignment.id}.zip"


def pack(place: Workplace) -> Packed:
    """Write the archive into the folder, and read it back.

    Raises:
        InTheWay: The submission could not be graded as it is.
    """
    own = read_workplace(place)
    assignment = place.public.assignment
    names, asked, documents = assignment.hand_in, assignment.asked, assignment.documents
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in _packed(place).items():
            archive.writestr(zipfile.ZipInfo(name, _THEN), path.read_bytes())
    target = place.folder / archive_name(place)
    write_atomic(target, buffer.getvalue())
    # As grading will read it: only that shows which of the files in it would be graded.
    back = read_submission(
        target, names, asked=asked if len(asked) > 1 else {}, documents=documents
    )
    files = (*back.files, *back.documents)
    content = tuple((file.path, len(file.data), file.sha256) for file in files)
    return Packed(target, content, back.digest == own.digest)


def _packed(place: Workplace) -> Mapping[str, Path]:
    """Return the files of the archive, by the names that they have in it."""
    where, names = place.where, place.public.assignment.hand_in
    if isinstance(where, Mapping):
        return where
    if not where.is_file():
        return {name: place.folder / name for name in names}
    return {str(Path(names[0]).with_suffix(where.suffix)): where}


def _definition(name: str, text: str) -> re.Match[str] | None:
    return re.search(rf"^(?:async\s+def|def|class)\s+{re.escape(name)}\b", text, re.MULTILINE)


def line_of(place: Workplace, question: str) -> int | None:
    """Return the line of a question's function or class in its file, or None.

    Looked for in the text: a student's file is not parsed in this process.
    """
    text = _text(_graded(place, place.module(question).name))
    found = _definition(place.function(question), text)
    return None if found is None else text.count("\n", 0, found.start()) + 1


def line_as_written(place: Workplace, name: str, number: int) -> str:
    """Return a line of a graded file, with its number there, or in its cell; empty without one."""
    file = _graded(place, name)
    lines = _text(file).split("\n")
    text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    cell = file.cells.cell_of(number) if file is not None and file.cells else None
    return f"{cell[1] if cell else number} │ {text}" if text else ""


def _graded(place: Workplace, name: str) -> SubmittedFile | None:
    """Return a file by its name in grading; a notebook as what its cells hold."""
    files = from_text(place, lambda submission: submission.files) or ()
    return next((file for file in files if file.path == name), None)


def _text(file: SubmittedFile | None) -> str:
    return NEWLINE.sub("\n", file.data.decode("utf-8", "replace")) if file else ""


def place_words(place: Workplace) -> Words:
    """Return the current language's words for what lies in a folder now."""
    try:
        return words_for(read_workplace(place))
    except InTheWay:
        return current()


def words_for(submission: Submission) -> Words:
    """Return the current language's words, which tell lines of notebooks by their cells."""
    return current().for_notebooks(
        (file.path, file.notebook, file.cells) for file in submission.files
    )
