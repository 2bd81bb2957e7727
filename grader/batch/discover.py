"""Which hand-ins a folder holds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.errors import UsageError

_ENDINGS = (".py", ".ipynb", ".zip", ".tar", ".tgz", ".tar.gz")


@dataclass(frozen=True, slots=True)
class HandIn:
    """One entry of a class folder.

    Attributes:
        name: Folder name, or file name without its ending; unique in the class.
        path: Where it is.
    """

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class Found:
    """What a class folder holds.

    Attributes:
        hand_ins: By name.
        left_out: Names of entries that are nobody's hand-in by their ending.
    """

    hand_ins: tuple[HandIn, ...]
    left_out: tuple[str, ...]


def discover(folder: Path, out: Path) -> Found:
    """Return the hand-ins of a folder, one for each sub-folder, archive, notebook or ``.py``.

    Args:
        folder: One hand-in an entry.
        out: Where reports go; no hand-in, should it lie in the folder.

    Raises:
        UsageError: It is no folder, or holds none.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; `grader batch` takes one hand-in an entry")
    entries = sorted(
        path
        for path in folder.iterdir()
        if not path.name.startswith((".", "__")) and path.resolve() != out.resolve()
    )
    paths = [path for path in entries if _is_hand_in(path)]
    if not paths:
        raise UsageError(
            f"{folder} holds no hand-ins: no sub-folder and no file ending in {' '.join(_ENDINGS)}"
        )
    stems = [_stem(path) for path in paths]
    hand_ins = tuple(
        HandIn(stem if stems.count(stem) == 1 else path.name, path)
        for stem, path in zip(stems, paths, strict=True)
    )
    return Found(hand_ins, tuple(path.name for path in entries if not _is_hand_in(path)))


def _is_hand_in(path: Path) -> bool:
    return path.is_dir() or path.name.lower().endswith(_ENDINGS)


def _stem(path: Path) -> str:
    if path.is_dir():
        return path.name
    ending = max((e for e in _ENDINGS if path.name.lower().endswith(e)), key=len)
    return path.name[: -len(ending)] or path.name
