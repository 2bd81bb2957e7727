"""The folder of a starter: found by its public cases, before anything in it is read.

Imports little: a file that Python cannot read is told of before libraries are waited for.
"""

from __future__ import annotations

from pathlib import Path

from grader.errors import UsageError, nearest_name
from grader.verdict import Message, Param

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
    suffix = Path(name).suffix
    there = [
        entry.name
        for entry in sorted(folder.iterdir())
        if entry.is_file() and entry.suffix == suffix and entry.name != name
    ]
    return nearest_name(name, there)
