"""Which hand-ins a folder holds."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.batch.names import shortened, told
from grader.errors import UsageError
from grader.submission.reader import Where

ENDINGS = (".py", ".ipynb", ".zip", ".tar", ".tgz", ".tar.gz")


@dataclass(frozen=True, slots=True)
class Student:
    """Somebody who handed in, as the platform knows them.

    Attributes:
        name: Full name.
        email: Address; empty where the platform does not say.
        id: The platform's or the school's number.
    """

    name: str = ""
    email: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class HandIn:
    """One hand-in of a class.

    Attributes:
        name: Folder name, or file name without its ending; unique in the class.
        path: Where it is.
        students: Who handed it in, where the platform says; several for a group.
        created_at: When, with its time zone, where the platform says.
        late: Whether it came late, where the platform says that and no more.
        attempts: How often it was handed in, this time included, where the platform says.
    """

    name: str
    path: Where
    students: tuple[Student, ...] = ()
    created_at: dt.datetime | None = None
    late: bool | None = None
    attempts: int | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What a class folder holds.

    Attributes:
        hand_ins: By name.
        left_out: Names of entries that are nobody's hand-in by their ending.
        platform: Whose download this is, or empty.
    """

    hand_ins: tuple[HandIn, ...]
    left_out: tuple[str, ...] = field(default=())
    platform: str = ""


def is_hand_in(path: Path) -> bool:
    """Tell whether a path can be one by its kind and ending."""
    return path.is_dir() or path.name.lower().endswith(ENDINGS)


def entries_of(folder: Path, out: Path) -> list[Path]:
    """Return what lies in a folder, by name, without hidden files and the folder of reports.

    Raises:
        UsageError: It is no folder.
    """
    if not folder.is_dir():
        raise UsageError(
            f"{folder} is not a folder; `grader batch` takes one hand-in an entry, a platform’s "
            "download, or a .txt that lists repositories"
        )
    return sorted(
        path
        for path in folder.iterdir()
        if not path.name.startswith((".", "__")) and path.resolve() != out.resolve()
    )


def plain(folder: Path, entries: Sequence[Path]) -> Found:
    """Return the hand-ins of a folder, one for each sub-folder, archive, notebook or ``.py``.

    Args:
        folder: For messages.
        entries: What lies in it.

    Raises:
        UsageError: It holds none.
    """
    paths = [path for path in entries if is_hand_in(path)]
    if not paths:
        raise UsageError(
            f"{folder} holds no hand-ins: no sub-folder and no file ending in {' '.join(ENDINGS)}"
        )
    pairs = [(told(_stem(path)), told(path.name)) for path in paths]
    hand_ins = tuple(map(HandIn, shortened(pairs), paths))
    return Found(hand_ins, tuple(told(path.name) for path in entries if not is_hand_in(path)))


def _stem(path: Path) -> str:
    if path.is_dir():
        return path.name
    ending = max((e for e in ENDINGS if path.name.lower().endswith(e)), key=len)
    return path.name[: -len(ending)] or path.name
