"""Files that spare work when they are there, in the user's folder of caches.

Whatever is wrong with the folder or with a file in it, there is no file, and the work is done.

Defends against: a file that is cut short or altered by accident; one written by halves; a folder
that others may write; a folder that student processes are shown; growth without end.
Does not defend against: a process of the same user outside any sandbox, which may change as well
whatever else belongs to that user.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from grader.errors import GraderError
from grader.sandbox.walls import view
from grader.store.atomic import write_atomic

REFERENCES = "references"
"""The kind of files that ``grader.run.reference_cache`` keeps."""

_NAME = "torchgrade"
_DIGEST = hashlib.sha256().digest_size
_MOST_FILES = 64
_MOST_BYTES = 256 * 2**20


class UserCache:
    """Named files in a folder of one user.

    Args:
        folder: Theirs alone, see ``open_cache``.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, name: str) -> bytes | None:
        """Return what was written under a name; None where that is not there, or not whole."""
        path = self.folder / name
        try:
            data = path.read_bytes() if path.stat().st_size <= _MOST_BYTES else b""
        except OSError:
            return None
        digest, content = data[:_DIGEST], data[_DIGEST:]
        if hashlib.sha256(content).digest() == digest:
            return content
        self.drop(name)
        return None

    def write(self, name: str, content: bytes) -> None:
        """Keep content under a name, and drop the oldest files where there are too many."""
        # A full disk is nobody's business here.
        with contextlib.suppress(GraderError, OSError):
            write_atomic(self.folder / name, hashlib.sha256(content).digest() + content)
            self._shrink()

    def drop(self, name: str) -> None:
        """Remove a file."""
        with contextlib.suppress(OSError):
            (self.folder / name).unlink()

    def ages(self, beginning: str) -> Iterator[tuple[float, str]]:
        """Yield when each file was written whose name so begins, and its name; newest first."""
        for path, found in self._files():
            if path.name.startswith(beginning):
                yield found.st_mtime, path.name

    def _shrink(self) -> None:
        size = 0
        for number, (path, found) in enumerate(self._files()):
            size += found.st_size
            if number >= _MOST_FILES or size > _MOST_BYTES:
                self.drop(path.name)

    def _files(self) -> list[tuple[Path, os.stat_result]]:
        found = []
        with contextlib.suppress(OSError):
            for path in self.folder.iterdir():
                with contextlib.suppress(OSError):
                    found.append((path, path.lstat()))
        return sorted(found, key=lambda item: item[1].st_mtime, reverse=True)


def open_cache(kind: str) -> UserCache | None:
    """Return the cache of a kind of files; None where there is no folder for it.

    Args:
        kind: Name of its folder.
    """
    folder = cache_folder()
    if folder is None:
        return None
    folder = folder / kind
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
        shown = any(Path(path) in folder.resolve().parents for path in view.readable())
    except OSError:
        return None
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    # What others may write is not to be believed, and student processes must not see it.
    return UserCache(folder) if own and not found.st_mode & 0o077 and not shown else None


def cache_folder() -> Path | None:
    """Return where the user has this program's caches, whether it is there or not."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    try:
        # A relative path is to be ignored, says the convention.
        home = Path(named) if named.startswith("/") else Path.home() / ".cache"
    except RuntimeError:
        return None
    return home / _NAME
