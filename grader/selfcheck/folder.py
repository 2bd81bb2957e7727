"""Finds the starter folder that a student works in, and says what is in the way.

The public cases mark the folder. The hand-in is the file that the assignment names, or the notebook
of its name where there is no such file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.errors import nearest_name
from grader.selfcheck.in_the_way import InTheWay
from grader.selfcheck.public import CASES_FILE, PublicCases
from grader.selfcheck.read import read_public

_ASSIGNMENT = "assignment.yml"
_MOST_LOOKED_AT = 200


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
    if not path.exists():
        raise InTheWay("no_such_path", path=str(path))
    folder = _folder(path)
    public = read_public(folder)
    chosen = path if path.is_file() and path.suffix in (".py", ".ipynb") else None
    return Workplace(folder, public, chosen or _hand_in(folder, public))


def is_workplace(folder: Path) -> bool:
    """Return whether public cases lie in a folder."""
    return (folder / CASES_FILE).is_file()


def _folder(path: Path) -> Path:
    here = path if path.is_dir() else path.parent
    for folder in (here, *here.resolve().parents):
        if is_workplace(folder):
            return folder
    below = _below(here)
    if len(below) == 1:
        return below[0]
    if below:
        raise InTheWay(
            "several_here", path=str(here.resolve()), names=[str(folder) for folder in below]
        )
    raise _not_here(here)


def _below(here: Path) -> list[Path]:
    try:
        entries = sorted(here.iterdir())[:_MOST_LOOKED_AT]
    except OSError:
        return []
    return [entry for entry in entries if entry.is_dir() and is_workplace(entry)]


def _not_here(here: Path) -> InTheWay:
    if (here / _ASSIGNMENT).is_file():
        return InTheWay("authors_folder", path=str(here), name=here.resolve().name)
    return InTheWay("wrong_folder", path=str(here.resolve()), file=CASES_FILE)


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


def module_missing(folder: Path, name: str) -> InTheWay:
    """Return that a file of the hand-in is not there, with what is there under a name like it."""
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
