"""Reads a hand-in of any accepted form."""

from __future__ import annotations

import re
import stat
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Union

from grader.errors import UsageError
from grader.submission.bounds import Bounds
from grader.submission.choose import Chosen, choose, has_all
from grader.submission.entry import Entry, Kind
from grader.submission.files import list_folder, read_given
from grader.submission.foreign import foreign
from grader.submission.names import bad, show
from grader.submission.notebook import convert
from grader.submission.submission import Submission, SubmittedFile
from grader.submission.tarball import gunzip, list_tar
from grader.submission.text import check_source
from grader.submission.zipped import list_zip
from grader.verdict import Message

_ARCHIVE = re.compile(r"\.(zip|tgz|tar\.gz|gz|tar)$", re.IGNORECASE)
_GRADED_ALONE = (".py", ".ipynb")
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_GZIP = b"\x1f\x8b"
_TAR_MARK = slice(257, 262)
_FOREIGN = (
    (b"Rar!", "RAR"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
)


Where = Union[Path, Mapping[str, Path]]
"""Where a hand-in lies: one path, or, where a platform has renamed its files and put them beside
those of others, the name of each as it was handed in and its path now."""


def read_submission(
    path: Where,
    hand_in: Sequence[str],
    *,
    name: str | None = None,
    asked: Collection[str] = (),
    bounds: Bounds = Bounds(),  # noqa: B008  frozen, so sharing it is safe
) -> Submission:
    """Read the wanted files of a hand-in; everything else in it is left unread.

    Args:
        path: A folder, a ``.py``, a notebook, or a zip, tar or gzipped tar archive; or several
            such files by their names.
        hand_in: Files that the assignment names, all of them required.
        name: Id of the submission; taken from ``path`` if not given.
        asked: Functions that the assignment asks for, to know a hand-in for something else by.
        bounds: What the hand-in may ask for.

    Raises:
        UsageError: If ``path`` does not exist or cannot be read: nothing that a student did.
        IntakeError: If the hand-in cannot be graded as it is.
    """
    notes: list[Message] = []
    if isinstance(path, Mapping):
        given, chosen, notes = _from_several(path, hand_in, asked, bounds)
    elif _is_folder(path):
        given = path.name or path.resolve().name
        entries = list_folder(path, bounds, lambda found: has_all(found, hand_in))
        chosen = choose(entries, hand_in, asked)
    else:
        given = path.name
        chosen, notes = _from_file(path, given, hand_in, asked, bounds)
    files = []
    for item in chosen:
        file, note = _submitted(item, given, bounds)
        files.append(file)
        notes += note
    if sum(len(file.data) for file in files) > bounds.total_bytes:
        raise bad("too_large", file=show(given), limit=bounds.total_bytes)
    return Submission(name or _id(given), tuple(files), tuple(notes))


def _is_folder(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{path}: cannot read this submission: {reason}") from error
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
        raise UsageError(f"{path}: is a device, pipe or socket; give a folder, file or archive")
    return stat.S_ISDIR(mode)


def _from_several(
    paths: Mapping[str, Path], hand_in: Sequence[str], asked: Collection[str], bounds: Bounds
) -> tuple[str, list[Chosen], list[Message]]:
    """Return what to call the whole, the entry for each wanted file, and what was assumed."""
    if len(paths) == 1:
        ((given, path),) = paths.items()
        return given, *_from_file(path, given, hand_in, asked, bounds)
    entries = [
        Entry(name, Kind.FILE, partial(read_given, path, bounds.largest(name)))
        for name, path in paths.items()
    ]
    return next(iter(paths)), choose(entries, hand_in, asked), []


def _from_file(
    path: Path, given: str, hand_in: Sequence[str], asked: Collection[str], bounds: Bounds
) -> tuple[list[Chosen], list[Message]]:
    """Return the entry for each wanted file, and what was assumed to find it."""
    alone = given.lower().endswith(_GRADED_ALONE)
    data = read_given(path, bounds.largest(given) if alone else bounds.total_bytes)
    single = Entry(given, Kind.FILE, lambda: data)
    if not alone:
        return choose(_unpack(single, bounds), hand_in, asked), []
    wanted = hand_in[0]
    stem = wanted.removesuffix(".py")
    if len(hand_in) > 1 or stem == wanted or given in {wanted, f"{stem}.ipynb"}:
        return choose([single], hand_in, asked), []
    others = foreign([single], asked)
    known = "taken_as" if others is None else "taken_as_another"
    note = Message(known, {"found": show(given), "wanted": wanted})
    return [Chosen(wanted, single)], [note]


def _unpack(file: Entry, bounds: Bounds) -> list[Entry]:
    """List an archive, known by its content, since names lie; any other file is its own entry."""
    data = file.content()
    if data.startswith(_ZIP):
        return list_zip(file.path, data, bounds)
    if data.startswith(_GZIP):
        data = gunzip(file.path, data, bounds)
        return list_tar(file.path, data, bounds)
    for magic, kind in _FOREIGN:
        if data.startswith(magic):
            raise bad("unknown_archive", file=show(file.path), kind=kind)
    # An empty tar, and one of the oldest kind, are known by their name only.
    if data[_TAR_MARK] == b"ustar" or (data and file.path.lower().endswith(".tar")):
        return list_tar(file.path, data, bounds)
    if not _ARCHIVE.search(file.path):
        return [file]
    if not data:
        raise bad("empty_file", file=show(file.path))
    raise bad("not_an_archive", file=show(file.path))


def _submitted(item: Chosen, given: str, bounds: Bounds) -> tuple[SubmittedFile, list[Message]]:
    """Read one wanted file, checked as text where it is Python."""
    content, inside = item.entry.read(), show(item.entry.path)
    origin = inside if item.entry.path == given else f"{show(given)}/{inside}"
    if not item.is_notebook:
        if item.wanted.endswith(".py"):
            check_source(item.wanted, content)
        return SubmittedFile(item.wanted, content, origin), []
    source, cells = convert(item.entry.path, content, item.wanted, bounds)
    check_source(item.wanted, source)
    note = Message("converted_notebook", {"found": inside, "wanted": item.wanted})
    return SubmittedFile(item.wanted, source, origin, cells), [note]


def _id(given: str) -> str:
    """Return a name that is safe for a folder; braces left over from a pattern go."""
    stem = _ARCHIVE.sub("", given)
    for suffix in _GRADED_ALONE:
        stem = stem[: -len(suffix)] if stem.lower().endswith(suffix) else stem
    safe = re.sub(r"[^\w.-]+", "_", re.sub(r"[{}]", "", stem)).strip("._")
    return safe[:80] or "submission"
