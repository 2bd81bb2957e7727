"""The starter folder that a student works in: found, read back as grading reads it, and packed.

The public cases mark the folder. The submission is the file that the assignment names, or the
notebook of its name where there is no such file.
"""

from __future__ import annotations

import ast
import io
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.errors import nearest_name
from grader.selfcheck.folder import InTheWay, module_missing, renamed, starter_folder
from grader.selfcheck.public import PublicCases
from grader.selfcheck.read import read_public
from grader.selfcheck.translation import in_current_language
from grader.store.files import write_atomic
from grader.submission import Submission, read_submission
from grader.submission.choose import only_uses
from grader.submission.submission import IntakeError


@dataclass(frozen=True, slots=True)
class Workplace:
    """A folder in which an assignment is worked on.

    Attributes:
        folder: It.
        public: Its public cases.
        hand_in: What would be graded: a file where the assignment wants one, else the folder.
    """

    folder: Path
    public: PublicCases
    hand_in: Path

    @property
    def module(self) -> Path:
        """The file that holds the questions, or should."""
        return self.folder / self.public.assignment.module

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
    public = in_current_language(read_public(folder), folder)
    chosen = path if path.is_file() and path.suffix in (".py", ".ipynb") else None
    return Workplace(folder, public, chosen or _hand_in(folder, public))


def _hand_in(folder: Path, public: PublicCases) -> Path:
    wanted = public.assignment.hand_in
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
    try:
        submission = read_submission(place.hand_in, place.public.assignment.hand_in)
    except IntakeError as error:
        raise InTheWay(error.message.id, **error.message.params) from None
    asked = place.public.assignment.functions
    code = submission.files[0].data
    if place.hand_in.suffix == ".ipynb" and only_uses(code, place.module.name, asked):
        if renamed(place.folder, place.module.name):
            raise module_missing(place.folder, place.module.name)
        raise InTheWay("only_notebook", found=place.hand_in.name, file=place.module.name)
    return submission


_NUMBERED = re.compile(r"[Qq]?0*([1-9]\d*)")


def choose_questions(place: Workplace, words: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of the questions that a student means.

    Args:
        place: Names the questions.
        words: Each a name, the beginning of some names, or a number such as ``Q15`` or ``15``.

    Raises:
        InTheWay: A word means no question; says which name is nearest.
    """
    found = dict.fromkeys(name for word in words for name in _meant(place, word))
    order = [item.id for item in place.public.assignment.questions]
    return tuple(name for name in order if name in found)


def _meant(place: Workplace, word: str) -> list[str]:
    questions = place.public.assignment.questions
    names = {name: item.id for item in questions for name in (item.id, *item.names)}
    if word in names:
        return [names[word]]
    numbered = _NUMBERED.fullmatch(word)
    if numbered and int(numbered[1]) <= len(questions):
        return [questions[int(numbered[1]) - 1].id]
    begun = [name for known, name in names.items() if known.lower().startswith(word.lower())]
    if begun and word:
        return begun
    nearest = nearest_name(word.lower(), names)
    raise InTheWay("no_such_question", name=word, nearest=nearest, count=len(questions))


def unwritten(place: Workplace, submission: Submission) -> list[str]:
    """Return the questions whose function, as the text shows it, does nothing but say so.

    Args:
        place: Names the questions.
        submission: Can be read by Python.
    """
    tree = ast.parse(submission.files[0].data)
    stubs = {item.name for item in tree.body if isinstance(item, _DEFINITIONS) and _stub(item)}
    return [item.id for item in place.public.assignment.questions if stubs & set(item.names)]


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _stub(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Return whether a function raises ``NotImplementedError`` alone, or any method of a class."""
    if isinstance(node, ast.ClassDef):
        return any(_stub(item) for item in node.body if isinstance(item, _DEFINITIONS))
    body = [item for item in node.body if not _is_text(item)]
    error = body[0].exc if len(body) == 1 and isinstance(body[0], ast.Raise) else None
    name = error.func if isinstance(error, ast.Call) else error
    return isinstance(name, ast.Name) and name.id == "NotImplementedError"


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def archive_name(place: Workplace) -> str:
    """Return the name that the archive has."""
    return f"{place.public.assignment.id}.zip"


def pack(place: Workplace) -> Packed:
    """Write the archive into the folder, and read it back.

    Raises:
        InTheWay: The submission could not be graded as it is.
    """
    own = read_workplace(place)
    names = place.public.assignment.hand_in
    paths = [place.hand_in] if place.hand_in.is_file() else [place.folder / name for name in names]
    wanted = place.hand_in.name if place.hand_in.suffix == ".ipynb" else names[0]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in zip([wanted, *names[1:]], paths, strict=True):
            archive.writestr(zipfile.ZipInfo(name, _THEN), path.read_bytes())
    target = place.folder / archive_name(place)
    write_atomic(target, buffer.getvalue())
    back = read_submission(target, names)
    content = tuple((file.path, len(file.data), file.sha256) for file in back.files)
    return Packed(target, content, back.digest == own.digest)


def _definition(name: str, text: str) -> re.Match[str] | None:
    return re.search(rf"^(?:async\s+def|def|class)\s+{re.escape(name)}\b", text, re.MULTILINE)


def line_of(place: Workplace, name: str) -> int | None:
    """Return the line of the function or class ``name`` in the module, or None.

    Looked for in the text: a student's file is not parsed in this process.
    """
    try:
        text = place.module.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = _definition(name, text)
    return None if found is None else text.count("\n", 0, found.start()) + 1


def text_of_line(place: Workplace, number: int) -> str:
    """Return a line of the module without its indentation; empty where there is none."""
    try:
        lines = place.module.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""
