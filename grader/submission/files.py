"""Plain files and folders on the grader's own disk.

Defends against: links, FIFOs and devices (a FIFO would block, a device may act); folders without
end; a file that is exchanged between being listed and being read.
Does not defend against: someone who can write to the hand-in while its bytes are being read.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from grader.errors import UsageError
from grader.submission.bounds import Bounds
from grader.submission.entry import Entry, Kind, no_content
from grader.submission.names import bad, is_ignored, show

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


def list_folder(root: Path, bounds: Bounds, enough: Callable[[list[Entry]], bool]) -> list[Entry]:
    """List a folder, nearest levels first.

    Args:
        root: The folder handed in.
        bounds: Limits on entries and depth.
        enough: Asked after the top level; if it holds all that is wanted, a data set in a folder
            below is not walked (and no reason to refuse).

    Raises:
        UsageError: If ``root`` cannot be listed.
        IntakeError: If there is too much in it.
    """
    found: list[Entry] = []
    waiting = deque([""])
    seen = 0
    while waiting:
        folder = waiting.popleft()
        for path, is_folder in _children(root, folder):
            seen += 1
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


def _entry(root: Path, path: str, bounds: Bounds) -> Entry:
    try:
        info = os.lstat(root / path)
    except OSError:  # gone, or not ours to look at
        return Entry(path, Kind.SPECIAL, no_content)
    # A hard link is a second name of a file that may lie anywhere on the disk.
    if stat.S_ISLNK(info.st_mode) or info.st_nlink > 1:
        return Entry(path, Kind.LINK, no_content)
    if not stat.S_ISREG(info.st_mode):
        return Entry(path, Kind.SPECIAL, no_content)
    limit = bounds.largest(path)
    return Entry(path, Kind.FILE, partial(_read, root / path, _FLAGS | _NO_LINK, limit, info))


def _read(path: Path, flags: int, limit: int, listed: os.stat_result | None) -> bytes:
    """Read through one descriptor, which must be the file that was listed."""
    try:
        descriptor = os.open(path, flags)
        with os.fdopen(descriptor, "rb") as file:
            info = os.fstat(file.fileno())
            if not stat.S_ISREG(info.st_mode):
                raise UsageError(f"{path}: this is no plain file, folder or archive")
            if listed is not None and not os.path.samestat(info, listed):
                raise UsageError(f"{path}: was exchanged while being read; run the command again")
            data = file.read(limit + 1)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    if len(data) > limit:
        raise bad("too_large", file=show(path.name), limit=limit)
    return data
