"""The folder of a starter: found by its public cases; and whether its files are Python at all.

A submission's text is read as Python would, before anything is run: does it end, is it Python?
Imports little: what is wrong here is told before numpy and the judge are imported, in a third of a
second.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.errors import UsageError, nearest_name
from grader.verdict import Message, Param

if TYPE_CHECKING:
    from grader.submission import Submission

CASES_FILE = "public_cases.json"
TENSORS_FILE = "public_cases.safetensors"
_ASSIGNMENT = "assignment.yml"
_MOST_LOOKED_AT = 200


class InTheWay(UsageError):  # noqa: N818  it is no error of the grader's
    """Something in the student's folder, or on their machine, is not as it should be."""

    def __init__(self, message: str, **params: Param) -> None:
        # Reading every message takes longer than starting the fork-server, which comes first.
        from grader.report.messages.catalogue import current  # noqa: PLC0415

        self.message = Message(message, params)
        self.prefix = current().label("usage_error")
        super().__init__(current().render(self.message))


def starter_folder(path: Path) -> Path:
    """Return the folder of a starter that a path means.

    Args:
        path: The folder, a file in it, a folder below it, or the folder that holds it.

    Raises:
        InTheWay: There is none, or several could be meant; says which, and what to do.
    """
    if not path.exists():
        raise InTheWay("no_such_path", path=str(path))
    here = path if path.is_dir() else path.parent
    for folder in (here, *here.resolve().parents):
        if _is_starter(folder):
            return folder
    below = _below(here)
    if len(below) == 1:
        return below[0]
    if below:
        raise InTheWay(
            "several_here", path=str(here.resolve()), names=[str(folder) for folder in below]
        )
    raise _not_here(here)


def _is_starter(folder: Path) -> bool:
    return (folder / CASES_FILE).is_file()


def _below(here: Path) -> list[Path]:
    try:
        entries = sorted(here.iterdir())[:_MOST_LOOKED_AT]
    except OSError:
        return []
    return [entry for entry in entries if entry.is_dir() and _is_starter(entry)]


def _not_here(here: Path) -> InTheWay:
    if (here / _ASSIGNMENT).is_file():
        return InTheWay("authors_folder", path=str(here), name=here.resolve().name)
    return InTheWay("wrong_folder", path=str(here.resolve()), file=CASES_FILE)


def module_missing(folder: Path, name: str) -> InTheWay:
    """Return that a file of the submission is missing, and what has a name like it."""
    nearest = renamed(folder, name)
    return InTheWay("module_missing", file=name, path=str(folder.resolve()), nearest=nearest)


def renamed(folder: Path, name: str) -> str | None:
    """Return the file of a folder that is called much like a file that is not there."""
    wanted = Path(name)
    # Without the ending, which all have: svm.py is no knn.py under another name.
    there = {
        entry.stem: entry.name
        for entry in sorted(folder.iterdir())
        if entry.is_file() and entry.suffix == wanted.suffix and entry.name != name
    }
    return there.get(nearest_name(wanted.stem, there, likeness=0.6))


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that Python cannot read, or would never have done with.

    Attributes:
        file: Its name.
        message: The syntax error, or which loop does not end.
        line: Where it stopped, as it stands there; empty where that is unknown.
        column: Characters before that place; None where it is the whole line.
    """

    file: str
    message: Message
    line: str
    column: int | None = None


def unreadable(submission: Submission) -> Unreadable | None:
    """Return what keeps Python from loading a file, as the text shows it; nothing is run."""
    found = (_unreadable(file.path, file.data) for file in submission.files)
    return next(filter(None, found), None)


def unreadable_in(folder: Path, chosen: Path) -> Unreadable | None:
    """Return what keeps Python from loading a file of a starter's folder, from the folder alone.

    Does not read the public cases beyond the names of the files, and knows no notebooks. None
    where anything else is amiss: opening the workplace says what. None where questions stand in
    several files as well: one of them costs its own questions alone.

    Args:
        folder: The starter's.
        chosen: The folder, or the file in it that is to be checked.
    """
    for path in _sources(folder, chosen):
        try:
            data = path.read_bytes()
        except OSError:
            return None
        if (broken := _unreadable(path.name, data)) is not None:
            return broken if _is_source(path.name, data) else None
    return None


def _sources(folder: Path, chosen: Path) -> Sequence[Path]:
    if chosen.is_file():
        return [chosen] if chosen.suffix == ".py" else []
    try:
        assignment = json.loads((folder / CASES_FILE).read_bytes())["assignment"]
        if any("file" in question for question in assignment["questions"]):
            return []
        return [folder / name for name in assignment["hand_in"] if name.endswith(".py")]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return []


def _is_source(name: str, data: bytes) -> bool:
    """Return whether bytes are text at all; what is not has a message of its own."""
    # The readers of archives take longer to import than everything else here.
    from grader.submission.submission import IntakeError  # noqa: PLC0415
    from grader.submission.text import check_source  # noqa: PLC0415

    try:
        check_source(name, data)
    except IntakeError:
        return False
    return True


def _unreadable(name: str, data: bytes) -> Unreadable | None:
    if not name.endswith(".py"):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Without its name: Python would show the line of a file that is called so here.
            tree = ast.parse(data)
    except SyntaxError as error:
        return _syntax_error(error, name)
    except (ValueError, RecursionError, MemoryError):
        return None  # running it says more
    loop = next((item for item in tree.body if _never_ends(item)), None)
    if loop is None:
        return None
    params: dict[str, Param] = {"file": name, "line": loop.lineno}
    lines = data.decode("utf-8", "replace").splitlines()
    return Unreadable(name, Message("endless_at_import", params), lines[loop.lineno - 1])


def _syntax_error(error: SyntaxError, path: str) -> Unreadable:
    params: dict[str, Param] = {
        "type": type(error).__name__, "message": error.msg, "file": path,
        "line": error.lineno, "column": error.offset,
    }  # fmt: skip
    # Indented as it stands there: that may be what is wrong. A tab is as wide as it looks.
    place = max(0, (error.offset or 1) - 1)
    text = (error.text or "").rstrip()
    before, text = len(text[:place].expandtabs(4)) + max(0, place - len(text)), text.expandtabs(4)
    # Python stumbles over the mark itself; where a remainder goes on in this line, it does not.
    if not text[:before].strip() and _MAGIC.match(text, before):
        params["magic"] = text.strip()
    # A line that wraps would part the mark from its place.
    start = max(0, before - _SHOWN // 2) if len(text) > _SHOWN else 0
    return Unreadable(
        path, Message("syntax_error", params), text[start : start + _SHOWN], before - start
    )


_MAGIC = re.compile(r"(?:%%?|!)[A-Za-z]")
_SHOWN = 70
"""Characters of a line that are shown."""

_RETURN = ("print", "sleep", "time.sleep")
_LEAVES = (ast.Break, ast.Raise, ast.Await, ast.Yield, ast.YieldFrom, ast.Assert)


def _never_ends(node: ast.stmt) -> bool:
    """Return whether a statement is a loop without an end: ``while True``, and no way out of it.

    Where it calls anything but ``print`` and ``sleep``, that might be a way out.
    """
    if not isinstance(node, ast.While) or not isinstance(node.test, ast.Constant):
        return False
    parts = [part for item in node.body for part in ast.walk(item)]
    calls = [part.func for part in parts if isinstance(part, ast.Call)]
    returns = all(ast.unparse(call) in _RETURN for call in calls)
    return bool(node.test.value) and returns and not any(isinstance(p, _LEAVES) for p in parts)
