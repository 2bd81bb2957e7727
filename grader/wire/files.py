"""Files that stage and actor share: each has a copy, and changes travel with messages.

Defends against: paths that lead out of a folder, links and pipes left in one (only plain files are
sent), folders without end. No process opens a file that another one can still write.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from grader.wire.values import Buffer, ProtocolError

NAME = re.compile(r"shared-[0-9]{1,4}")
"""Of a shared folder, relative to the scratch."""

MAX_FILES = 1_000
MAX_BYTES = 64 * 2**20


def check_paths(files: Iterable[str]) -> None:
    """Check that every path lies in a shared folder.

    Raises:
        ProtocolError: One does not.
    """
    for path in files:
        first, *rest = PurePosixPath(path).parts
        if not NAME.fullmatch(first) or not rest or ".." in rest or "\0" in path:
            raise ProtocolError(f"{path[:80]!r} is not in a shared folder")


class Folder:
    """One side's copies.

    Args:
        scratch: Holds the shared folders.
    """

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._known: dict[str, bytes] = {}
        self._made: set[str] = set()

    def take(self, files: Mapping[str, Buffer | None], folders: Iterable[str] = ()) -> None:
        """Do what the other side did: write files, remove files, make folders.

        Raises:
            ProtocolError: A path leads elsewhere, or there is too much.
        """
        check_paths(files)
        check_paths(f"{name}/x" for name in folders)
        for name in folders:
            (self._scratch / name).mkdir(exist_ok=True)
            self._made.add(name)
        # First what is gone: a folder may be in a file's place by now.
        for path, data in sorted(files.items(), key=lambda item: item[1] is not None):
            target = self._scratch / path
            # A new file each time: what stands there may be a link.
            _clear(target)
            self._known.pop(path, None)
            if data is not None:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
                self._known[path] = bytes(data)
        self._bound(self._known)

    def changed(self, folders: Iterable[str]) -> dict[str, Buffer | None]:
        """Return path → content of files that are new or changed since the last time.

        None stands for a file that is gone.

        Raises:
            ProtocolError: There is too much.
        """
        shared = set(folders)
        now: dict[str, bytes] = {}
        for name in sorted(shared):
            for path in sorted(_files(self._scratch / name)):
                now[path.relative_to(self._scratch).as_posix()] = path.read_bytes()
                self._bound(now)
        before = {key: data for key, data in self._known.items() if key.split("/")[0] in shared}
        found: dict[str, Buffer | None] = dict.fromkeys(before.keys() - now.keys())
        found |= {key: data for key, data in now.items() if before.get(key) != data}
        others = {key: data for key, data in self._known.items() if key not in before}
        self._bound(others | now)
        self._known = others | now
        return found

    def remove(self) -> None:
        """Remove the folders that were made here: the next case's have the same names."""
        for name in self._made:
            shutil.rmtree(self._scratch / name, ignore_errors=True)

    @staticmethod
    def _bound(files: Mapping[str, Buffer]) -> None:
        total = sum(map(len, files.values()))
        if len(files) > MAX_FILES or total > MAX_BYTES:
            most = f"the most is {MAX_FILES} and {MAX_BYTES}"
            raise ProtocolError(f"{len(files)} shared files of {total} bytes; {most}")


def _clear(target: Path) -> None:
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)


def _files(folder: Path) -> Iterable[Path]:
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            found = path.lstat()
            # Read only what can end: what is larger than allowed is refused by its size.
            if stat.S_ISREG(found.st_mode):
                if found.st_size > MAX_BYTES:
                    raise ProtocolError(f"{name[:80]!r} is larger than {MAX_BYTES} bytes")
                yield path
