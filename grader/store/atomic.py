"""Writing a file so that a reader sees the old one or the new one, never half of one.

Defends against: a killed process or a full disk in the middle of writing, a symlink laid at the
target.
Does not defend against: a power cut, after which a file of the last seconds may be empty: waiting
for the disk four times a hand-in would take as long as grading it. And a hostile process that may
write to the same folder; results folders are never reachable from a guest.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from pathlib import Path

from grader.errors import GraderError, InfrastructureError, UsageError

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
