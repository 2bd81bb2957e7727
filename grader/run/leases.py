"""Who may use a device now, and which devices nobody may use.

A lease is a lock on a file, one file a device: the kernel gives it back when its holder dies. A
device that was found unhealthy has a file beside it, with the reason, until somebody removes that
file or the machine starts again: the folder is one that a restart empties.

Defends against: two timed runs on one device, by whatever graders run on the machine; a sick device
that is handed to one hand-in after another.
Does not defend against: programs on the device that ask for no lease.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

from grader.errors import InfrastructureError
from grader.store.atomic import write_atomic

_TICK = 0.05
"""Seconds between two looks at a lock that somebody else holds."""


class Leases:
    """Leases and quarantine of the devices of this machine.

    Args:
        folder: Where their files are; the same for all graders of a machine.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or Path(tempfile.gettempdir()) / "torchgrade-devices"

    @contextlib.contextmanager
    def hold(self, device: str, seconds: float) -> Iterator[bool]:
        """Hold a device: whether it could be had within so many seconds.

        Raises:
            InfrastructureError: Its file cannot be opened.
        """
        if sys.platform == "win32":
            yield True
            return
        fd = self._open(device)
        try:
            yield _locked(fd, time.monotonic() + seconds)
        finally:
            os.close(fd)

    def take_out(self, device: str, reason: str) -> None:
        """Let nobody use a device from now on.

        Raises:
            InfrastructureError: That cannot be written down.
        """
        when = datetime.now(timezone.utc).isoformat(timespec="seconds")
        note = {"device": device, "reason": reason, "since": when}
        self._make_folder()
        write_atomic(self._path(device, "out"), (json.dumps(note, indent=2) + "\n").encode())

    def why_out(self, device: str) -> str:
        """Return why a device is out, or an empty string."""
        path = self._path(device, "out")
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return ""
        except OSError as error:
            return f"{path} cannot be read: {error.strerror}"
        with contextlib.suppress(ValueError, KeyError, TypeError):
            return str(json.loads(text)["reason"])
        # Whatever is in it: the file is there, and the device is out.
        return f"{path} is there"

    def note(self, device: str) -> Path:
        """Return the file that keeps a device out; removing it puts the device back."""
        return self._path(device, "out")

    def _path(self, device: str, ending: str) -> Path:
        return self.folder / f"{re.sub(r'[^A-Za-z0-9-]', '_', device)}.{ending}"

    def _make_folder(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _open(self, device: str) -> int:
        path = self._path(device, "lock")
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            self._make_folder()
            return os.open(path, flags, 0o600)
        except OSError as error:
            raise InfrastructureError(
                f"{path}: cannot be opened ({error.strerror}); it keeps graders from timing on one "
                "device at once. Run all graders of a machine as one user"
            ) from None


def _locked(fd: int, deadline: float) -> bool:
    import fcntl  # noqa: PLC0415  not on Windows

    while True:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(_TICK)
