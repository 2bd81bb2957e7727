"""Writing whole files, and the user's folder of caches.

A reader of ``write_atomic``'s file sees the old one or the new one, never half of one. Files of the
cache spare work when they are there: whatever is wrong with the folder or with a file in it, there
is no file, and the work is done.

Defends against: a killed process or a full disk in the middle of writing, a symlink laid at the
target. Of the cache: a file that is cut short or altered by accident; a folder that others may
write, or that student processes are shown; growth without end.
Does not defend against: a power cut, after which a file of the last seconds may be empty: waiting
for the disk four times a submission would take as long as grading it. A hostile process that may
write to the same folder; results folders are never reachable from a student process. A process of
the same user outside any sandbox, which may change as well whatever else belongs to that user.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from grader.errors import GraderError, InfrastructureError, UsageError
from grader.sandbox.walls import view

PROBE_FILE = ".grader-writable"
"""Made and removed to see whether a folder can be written."""
_MACHINE_FAULTS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE})
_ADVICE = {
    errno.ENOSPC: "the disk is full; free some space and run again",
    errno.EDQUOT: "the disk quota is used up; free some space and run again",
    errno.EEXIST: "its parent is not a folder; name another one",
    errno.ENOTDIR: "its parent is not a folder; name another one",
    errno.EACCES: "its folder is not writable; change its permissions, or name another one",
    errno.EPERM: "its folder is not writable; change its permissions, or name another one",
    errno.EROFS: "its disk is read-only; name a folder on another one",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
}


def write_atomic(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path`` in one step, readable by everybody (mode 0644).

    Args:
        path: Where to; its folder is made if absent. A file that is already there is replaced.
        data: The whole content.

    Raises:
        UsageError: The target is a link or a folder, or its folder cannot be made or written.
        InfrastructureError: The disk is full or broken.
    """
    # The rename would replace the link and leave the file that it points to as it was.
    if path.is_symlink():
        raise UsageError(f"{path}: is a symbolic link; remove it, or name another file")
    if path.is_dir():
        raise UsageError(f"{path}: is a folder; name a file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, data)
    except OSError as error:
        raise _explained(path, error) from error


def _replace(path: Path, data: bytes) -> None:
    # The same folder, so that the final step is a rename within one file system.
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".tmp", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        # mkstemp makes it for its owner alone; a platform reads results as another user.
        temporary.chmod(0o644)
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _explained(path: Path, error: OSError) -> GraderError:
    number = error.errno or 0
    kind = InfrastructureError if number in _MACHINE_FAULTS else UsageError
    advice = _ADVICE.get(number, error.strerror or str(error))
    return kind(f"{path}: cannot be written: {advice}")


REFERENCES = "references"
"""The kind of files that ``grader.run.baseline_file`` keeps."""

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
        # A machine that lost power may leave a file of the right length with other content.
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
    """Return the cache of a kind of files; None where there is no folder for it."""
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
    # Others could write false entries there, and a student process could read the reference's
    # answers: a folder that either can reach is not used.
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
