"""What the host lays out for guests to try their hands on; see ``walls.plan.Canary``."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import socket
import tempfile
import time
from pathlib import Path

from grader.sandbox.walls import namespaces
from grader.sandbox.walls.plan import Canary

_PLACE = "/var/tmp"  # noqa: S108  not /tmp: a guest's own scratch would hide it by chance

_PREFIX = "grader-canary-"
_YOUNG = 10.0
"""Seconds in which a folder may not be locked yet."""


class Yard:
    """A folder open to everybody and a listening abstract socket, for as long as guests run.

    Args:
        hidden: Further paths that guests must not be able to open.
    """

    def __init__(self, hidden: tuple[str, ...] = ()) -> None:
        place = _PLACE if os.access(_PLACE, os.W_OK) else tempfile.gettempdir()
        _sweep(Path(place))
        self._folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
        # Held for as long as this process lives, however it ends.
        self._lock = os.open(self._folder, os.O_RDONLY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        # Only a wall may stand between it and a guest.
        self._folder.chmod(0o777)
        secret = self._folder / "secret"
        secret.write_text(secrets.token_hex(), encoding="ascii")
        secret.chmod(0o644)
        name = f"grader-{secrets.token_hex(8)}"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind("\0" + name)
        self._socket.listen(64)
        present = tuple(path for path in hidden if Path(path).exists())
        self.canary = Canary(str(self._folder), name, namespaces.current(), present)

    def close(self) -> None:
        """Remove everything; harmless when it is gone already."""
        self._socket.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
        shutil.rmtree(self._folder, ignore_errors=True)


def _sweep(place: Path) -> None:
    """Remove what graders left that were killed before they could tidy up."""
    for folder in place.glob(f"{_PREFIX}*"):
        # Another grader may be sweeping, or be somebody else's.
        with contextlib.suppress(OSError):
            if folder.stat().st_mtime < time.time() - _YOUNG and not _is_held(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_held(folder: Path) -> bool:
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False
