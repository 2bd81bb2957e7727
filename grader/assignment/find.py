"""ASSIGNMENT on the command line → the files that belong to it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.errors import UsageError, nearest

if TYPE_CHECKING:
    from grader.assignment.types import Assignment

FILE_NAME = "assignment.yml"
SCENARIO = "scenario.py"
COURSE_FILE = "course.yml"
GIVEN = "given.py"
_HOME = "assignments"


@dataclass(frozen=True, slots=True)
class Located:
    """Where everything that belongs to an assignment is, or would be.

    Attributes:
        file: Its ``assignment.yml``.
        folder: The folder of that file.
        root: The folder that holds ``assignments/``, ``reference/`` and ``starter/``.
        reference: Folder of the solution; need not exist.
        starter: Folder of what students start from; need not exist.
        scenario: ``scenario.py`` beside the file, None where there is none.
        given: ``given.py`` beside the file, None where there is none.
        hand_in: The solution's files, in the order of ``hand_in``; need not exist.
        support: Read-only files that go with every submission, in the order of ``support``.
    """

    file: Path
    folder: Path
    root: Path
    reference: Path
    starter: Path
    scenario: Path | None
    given: Path | None
    hand_in: tuple[Path, ...]
    support: tuple[Path, ...]


def find_assignment(name_or_path: str, start: Path) -> Path:
    """Return the ``assignment.yml`` that is meant.

    Args:
        name_or_path: A path to such a file or to its folder, or an id that is looked up as
            ``assignments/<id>/assignment.yml`` from ``start`` upward.
        start: Where relative paths begin; as a rule the working directory.

    Raises:
        UsageError: There is none; names those that there are.
    """
    given = start / name_or_path
    if given.is_file():
        return given
    if (given / FILE_NAME).is_file():
        return given / FILE_NAME
    signs = filter(None, ("/", os.sep, os.altsep))
    if any(sign in name_or_path for sign in signs) or name_or_path.endswith((".yml", ".yaml")):
        raise UsageError(f"{name_or_path}: no {FILE_NAME} there")
    known = {path.parent.name: path for path in reversed(list(_known(start)))}
    if name_or_path in known:
        return known[name_or_path]
    if not known:
        raise UsageError(
            f"no assignment “{name_or_path}”: no folder from here upward has "
            f"{_HOME}/<id>/{FILE_NAME}; give the path of an {FILE_NAME}"
        )
    names = sorted(known)
    hint = nearest(name_or_path, names)
    raise UsageError(f"no assignment “{name_or_path}”; known are {', '.join(names)}{hint}")


def locate(file: Path, assignment: Assignment) -> Located:
    """Return the places that belong to an assignment that was read from ``file``."""
    folder = file.resolve().parent
    root = folder.parent.parent
    scenario, given = (folder / name for name in (SCENARIO, GIVEN))
    reference = root / "reference" / assignment.id
    return Located(
        file=file,
        folder=folder,
        root=root,
        reference=reference,
        starter=root / "starter" / assignment.id,
        scenario=scenario if scenario.is_file() else None,
        given=given if given.is_file() else None,
        hand_in=tuple(reference / name for name in assignment.hand_in),
        support=tuple(folder / name for name in assignment.support),
    )


def assignment_digest(located: Located) -> str:
    """Return a sha256 that changes when anything that grades could depend on does.

    Over the assignment's file, the reference, the scenario, ``given.py`` and the support files,
    names included. A file that is not there counts as such.
    """
    total = hashlib.sha256()
    for role, paths in (
        ("assignment", (located.file,)),
        ("reference", located.hand_in),
        ("scenario", (located.scenario,) if located.scenario else ()),
        ("given", (located.given,) if located.given else ()),
        ("support", located.support),
    ):
        for path in paths:
            content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "absent"
            total.update(f"{role}\0{path.name}\0{content}\n".encode())
    return total.hexdigest()


def _known(start: Path) -> Iterator[Path]:
    """Yield the assignments in every ``assignments/`` from ``start`` upward, nearest first."""
    here = start.resolve()
    for folder in (here, *here.parents):
        yield from sorted((folder / _HOME).glob(f"*/{FILE_NAME}"))
