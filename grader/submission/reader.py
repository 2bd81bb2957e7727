"""Read a submission of any accepted form, from plain files and folders on the grader's own disk.

Defends against: links, FIFOs and devices (a FIFO would block, a device may act); folders without
end; a file that is exchanged between being listed and being read.
Does not defend against: someone who can write to the submission while its bytes are being read.
"""

from __future__ import annotations

import os
import re
import stat
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Union

from grader.errors import UsageError
from grader.submission.archives import gunzip, list_tar, list_zip
from grader.submission.choose import (
    ARCHIVE,
    Chosen,
    choose,
    choose_documents,
    foreign,
    has_all,
    only_uses,
)
from grader.submission.notebook import convert
from grader.submission.submission import (
    Bounds,
    FileKind,
    FoundFile,
    IntakeError,
    Submission,
    SubmittedFile,
    bad,
    entry_of,
    is_ignored,
    no_content,
    show,
)
from grader.submission.text import check_source
from grader.verdict import Code, Message

if TYPE_CHECKING:
    # A self-check reads a file's text before anything large is imported.
    from grader.assignment.types import Assignment

# O_NONBLOCK: opening a FIFO for reading would otherwise wait for a writer that never comes.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def read_given(path: Path, limit: int) -> bytes:
    """Return the bytes of the file that the command names; it may be reached through a link.

    Raises:
        UsageError: If it cannot be read, or is no plain file.
        IntakeError: If it is larger than ``limit`` bytes.
    """
    return _read(path, _FLAGS, limit, None)


def list_folder(
    root: Path, bounds: Bounds, enough: Callable[[list[FoundFile]], bool]
) -> list[FoundFile]:
    """List a folder, nearest levels first.

    Args:
        root: The submitted folder.
        bounds: Limits on entries and depth.
        enough: Asked after the top level; if it holds all that is wanted, a data set in a folder
            below is not walked (and no reason to refuse).

    Raises:
        UsageError: If ``root`` cannot be listed.
        IntakeError: If there is too much in it.
    """
    found: list[FoundFile] = []
    waiting = deque([""])
    seen = 0
    while waiting:
        folder = waiting.popleft()
        for path, is_folder in _children(root, folder):
            seen += 1
            # Counted while listing: a folder of a million files is left after the first few
            # thousand.
            if seen > bounds.entries:
                raise bad("too_many_files", limit=bounds.entries)
            if path.count("/") >= bounds.depth:
                raise bad("path_too_deep", file=show(path), limit=bounds.depth)
            if is_folder:
                waiting.append(path)
            else:
                found.append(_entry(root, path, bounds))
        if not folder and enough(found):
            break
    return sorted(found, key=lambda entry: (entry.path.count("/"), entry.path))


def _children(root: Path, folder: str) -> Iterator[tuple[str, bool]]:
    """Yield what one folder holds, lazily, as (path, is a folder)."""
    try:
        listing = os.scandir(root / folder)
    except OSError as error:
        if not folder:
            raise UsageError(f"{root}: cannot list this folder: {error.strerror}") from error
        return  # a folder below that is closed to us holds nothing that was handed in
    with listing:
        for item in listing:
            if not is_ignored(item.name):
                path = f"{folder}/{item.name}" if folder else item.name
                yield path, item.is_dir(follow_symlinks=False)


def _entry(root: Path, path: str, bounds: Bounds) -> FoundFile:
    try:
        info = os.lstat(root / path)
    except OSError:  # gone, or not ours to look at
        return FoundFile(path, FileKind.SPECIAL, no_content)
    read = partial(_read, root / path, _FLAGS | _NO_LINK, bounds.largest(path), info)
    # A hard link is a second name of a file that may lie anywhere on the disk.
    link = stat.S_ISLNK(info.st_mode) or info.st_nlink > 1
    return entry_of(path, read, link=link, plain=stat.S_ISREG(info.st_mode))


def _read(path: Path, flags: int, limit: int, listed: os.stat_result | None) -> bytes:
    """Read through one descriptor, which must be the file that was listed."""
    try:
        descriptor = os.open(path, flags)
        with os.fdopen(descriptor, "rb") as file:
            info = os.fstat(file.fileno())
            if not stat.S_ISREG(info.st_mode):
                raise UsageError(f"{path}: this is no plain file, folder or archive")
            # The file could be replaced between listing and opening, by a link to the reference
            # say.
            if listed is not None and not os.path.samestat(info, listed):
                raise UsageError(f"{path}: was exchanged while being read; run the command again")
            # One byte beyond the limit tells that there is more, without reading it.
            data = file.read(limit + 1)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    if len(data) > limit:
        raise bad("too_large", file=show(path.name), limit=limit)
    return data


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
"""Where a submission lies: one path, or, where a platform has renamed its files and put them beside
those of others, the name of each as it was submitted and its path now."""


def read_submission(  # noqa: PLR0913  all but two by their names; most callers give three
    path: Where,
    hand_in: Sequence[str],
    *,
    name: str | None = None,
    asked: Mapping[str, Collection[str]] = MappingProxyType({}),
    documents: Sequence[str] = (),
    bounds: Bounds = Bounds(),  # noqa: B008  frozen, so sharing it is safe
) -> Submission:
    """Read the wanted files of a submission; everything else in it is left unread.

    Args:
        path: A folder, a ``.py``, a notebook, or a zip, tar or gzipped tar archive; or several
            such files by their names.
        hand_in: Files that the assignment names.
        name: Id of the submission; taken from ``path`` if not given.
        asked: File → functions that the assignment asks for in it, to know a submission for
            something else by. Of several such files one is enough; all others are required.
        documents: Files that a person reads. They lie beside the others, and may be missing.
        bounds: What the submission may ask for.

    Raises:
        UsageError: If ``path`` does not exist or cannot be read: nothing that a student did.
        IntakeError: If the submission cannot be graded as it is.
    """
    notes: list[Message] = []
    if isinstance(path, Mapping):
        given, entries, chosen, notes = _from_several(path, hand_in, asked, bounds)
    elif _is_folder(path):
        given = path.name or path.resolve().name
        entries = _in_folder(path, hand_in, bounds)
        chosen = choose(entries, hand_in, asked)
    else:
        given = path.name
        entries, chosen, notes = _from_file(path, given, hand_in, asked, bounds)
    refused: dict[str, IntakeError] = {}
    files: list[SubmittedFile] = []
    for item in chosen:
        read = _submitted(item, given, bounds, asked.get(item.wanted, ()))
        if not isinstance(read, IntakeError):
            files.append(read[0])
            notes += read[1]
            continue
        refused[item.wanted] = read
        # One of several costs its own questions alone; without any of them nothing is left.
        if item.wanted not in asked or len(refused) == len(asked):
            raise _none_left(refused) if item.wanted in asked else read
    found = {
        item.wanted: _submitted(item, given, bounds, ())
        for item in choose_documents(entries, chosen, documents)
    }
    refused |= {file: read for file, read in found.items() if isinstance(read, IntakeError)}
    others = tuple(read[0] for read in found.values() if not isinstance(read, IntakeError))
    if sum(len(file.data) for file in (*files, *others)) > bounds.total_bytes:
        raise bad("too_large", file=show(given), limit=bounds.total_bytes)
    return Submission(name or _id(given), tuple(files), tuple(notes), refused, others)


def _none_left(refused: Mapping[str, IntakeError]) -> IntakeError:
    """Return why nothing can be graded: for all, what is wrong with a file that was handed in."""
    errors = sorted(refused.values(), key=lambda each: each.code is Code.MISSING_FILE)
    return IntakeError(errors[0].code, errors[0].message, refused)


def read_for(assignment: Assignment, path: Where, name: str | None = None) -> Submission:
    """Read the files of a submission that an assignment names; see ``read_submission``."""
    return read_submission(
        path,
        assignment.hand_in,
        name=name,
        asked=assignment.asked,
        documents=assignment.documents,
    )


def read_again(
    path: Where, names: Sequence[str], documents: Sequence[str] = ()
) -> Submission | None:
    """Return files of a submission that was graded, as they lie there now; None if they are gone.

    Args:
        path: Where it was read.
        names: Files that were graded.
        documents: Files that a person reads; see ``read_submission``.
    """
    if not (names or documents):
        return None
    try:
        return read_submission(path, names, documents=documents)
    except (IntakeError, UsageError):
        return None  # moved or changed since: whoever looks at grades does without


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
    paths: Mapping[str, Path],
    hand_in: Sequence[str],
    asked: Mapping[str, Collection[str]],
    bounds: Bounds,
) -> tuple[str, list[FoundFile], list[Chosen], list[Message]]:
    """Return what to call the whole, what it holds, the wanted files, and what was assumed."""
    if len(paths) == 1:
        ((given, path),) = paths.items()
        return given, *_from_file(path, given, hand_in, asked, bounds)
    entries = [
        FoundFile(name, FileKind.FILE, partial(read_given, path, bounds.largest(name)))
        for name, path in paths.items()
    ]
    return next(iter(paths)), entries, choose(entries, hand_in, asked), []


def _from_file(
    path: Path,
    given: str,
    hand_in: Sequence[str],
    asked: Mapping[str, Collection[str]],
    bounds: Bounds,
) -> tuple[list[FoundFile], list[Chosen], list[Message]]:
    """Return what there is, the entry for each wanted file, and what was assumed to find it."""
    alone = given.lower().endswith(_GRADED_ALONE)
    data = read_given(path, bounds.largest(given) if alone else bounds.total_bytes)
    single = FoundFile(given, FileKind.FILE, lambda: data)
    if not alone:
        entries = _unpack(single, bounds)
        return entries, choose(entries, hand_in, asked), []
    wanted = hand_in[0]
    stem = wanted.removesuffix(".py")
    if len(hand_in) > 1 or stem == wanted or given in {wanted, f"{stem}.ipynb"}:
        return [single], choose([single], hand_in, asked), []
    others = foreign([single], asked.get(wanted, ()))
    known = "taken_as" if others is None else "taken_as_another"
    named = f"{stem}.ipynb" if given.lower().endswith(".ipynb") else wanted
    note = Message(known, {"found": show(given), "wanted": named})
    return [single], [Chosen(wanted, single)], [note]


def _in_folder(path: Path, hand_in: Sequence[str], bounds: Bounds) -> list[FoundFile]:
    """Return what a folder holds; one that holds an archive and nothing else is that archive.

    So Moodle hands out a class: a folder for each student, in it what they uploaded.
    """
    entries = list_folder(path, bounds, lambda found: has_all(found, hand_in))
    if len(entries) != 1 or not ARCHIVE.search(entries[0].path):
        return entries
    data = entries[0].read()
    return _unpack(FoundFile(entries[0].path, FileKind.FILE, lambda: data), bounds)


def _unpack(file: FoundFile, bounds: Bounds) -> list[FoundFile]:
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
    if not ARCHIVE.search(file.path):
        return [file]
    if not data:
        raise bad("empty_file", file=show(file.path))
    raise bad("not_an_archive", file=show(file.path))


def _submitted(
    item: Chosen, given: str, bounds: Bounds, asked: Collection[str]
) -> tuple[SubmittedFile, list[Message]] | IntakeError:
    """Return one wanted file and what was assumed, or why it cannot be graded."""
    try:
        return _checked(item, given, bounds, asked)
    except IntakeError as error:
        return error


def _checked(
    item: Chosen, given: str, bounds: Bounds, asked: Collection[str]
) -> tuple[SubmittedFile, list[Message]]:
    """Read one wanted file, checked as text where it is Python."""
    content, inside = item.entry.read(), show(item.entry.path)
    origin = inside if item.entry.path == given else f"{show(given)}/{inside}"
    if not item.is_notebook:
        if item.wanted.endswith(".py"):
            check_source(item.wanted, content)
        return SubmittedFile(item.wanted, content, origin), []
    source, cells = convert(item.entry.path, content, item.wanted, bounds)
    check_source(item.wanted, source)
    if only_uses(source, item.wanted, asked):
        message = Message("only_notebook", {"found": inside, "file": item.wanted})
        raise IntakeError(Code.MISSING_FILE, message)
    note = Message("converted_notebook", {"found": inside, "wanted": item.wanted})
    return SubmittedFile(item.wanted, source, origin, cells), [note]


def _id(given: str) -> str:
    """Return a name that is safe for a folder; braces left over from a pattern go."""
    stem = ARCHIVE.sub("", given)
    for suffix in _GRADED_ALONE:
        stem = stem[: -len(suffix)] if stem.lower().endswith(suffix) else stem
    safe = re.sub(r"[^\w.-]+", "_", re.sub(r"[{}]", "", stem)).strip("._")
    return safe[:80] or "submission"
