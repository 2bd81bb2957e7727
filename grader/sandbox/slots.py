"""A user and group of its own for each guest, where the host is root."""

from __future__ import annotations

import os
import secrets
import socket
import threading
import time
from pathlib import Path

from grader.errors import InfrastructureError

FIRST = 60_600
"""No distribution hands these out: after systemd-homed's, before its dynamic users'."""

COUNT = 500

_PATIENCE = 2.0
"""Seconds in which the kernel must have ended what it was told to end."""


class Slots:
    """Hands out user IDs that no process on the machine has, and no other grader holds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[int, socket.socket] = {}
        # Two graders on one machine begin at different places.
        self._next = secrets.randbelow(COUNT)

    def take(self) -> int:
        """Return a free user ID.

        Raises:
            InfrastructureError: None is free, or the range is not mapped in this container.
        """
        with self._lock:
            for _ in range(COUNT):
                uid = FIRST + self._next
                self._next = (self._next + 1) % COUNT
                claim = None if uid in self._held else _claim(uid)
                if claim is not None:
                    self._held[uid] = claim
                    return uid
        raise InfrastructureError(f"no free user ID from {FIRST} to {FIRST + COUNT - 1}")

    def give_back(self, uid: int) -> None:
        """Make a user ID available again.

        Raises:
            InfrastructureError: A process of that user survived; the ID stays taken.
        """
        deadline = time.monotonic() + _PATIENCE
        while in_use(uid):
            if time.monotonic() > deadline:
                if not lives(uid):
                    # Dead, and nobody reaps it: the fork-server died, and the first process of
                    # this container is no init. The ID stays taken.
                    return
                raise InfrastructureError(f"a process of a hand-in survived under user ID {uid}")
            time.sleep(0.005)
        with self._lock:
            self._held.pop(uid).close()


def _claim(uid: int) -> socket.socket | None:
    """Return what keeps other graders on this machine from the same ID, None if it is taken.

    The name of an abstract socket: the kernel lets one process have it, and takes it back at that
    process's death.
    """
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind(f"\0torchgrade-user-{uid}")
    except OSError:
        claim.close()
        return None
    if in_use(uid):
        claim.close()
        return None
    return claim


def in_use(uid: int) -> bool:
    """Return whether any process runs under a user ID; the kernel looks, in microseconds."""
    try:
        os.getpriority(os.PRIO_USER, uid)
    except ProcessLookupError:
        return False
    return True


def lives(uid: int) -> bool:
    """Return whether a process runs under a user ID that has not ended and waits to be reaped."""
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = status.read_text(encoding="ascii", errors="replace").splitlines()
        except OSError:  # It ended while we looked.
            continue
        fields = dict(line.split(":", 1) for line in lines if ":" in line)
        if str(uid) in fields["Uid"].split() and fields["State"].split()[0] not in "ZX":
            return True
    return False


def mapped() -> bool:
    """Return whether the whole range exists in this user namespace."""
    try:
        lines = Path("/proc/self/uid_map").read_text().splitlines()
    except OSError:
        return False
    ranges = [(int(first), int(size)) for first, _, size in (line.split() for line in lines)]
    return any(first <= FIRST and first + size >= FIRST + COUNT for first, size in ranges)
