"""A user and group of its own for each guest, where the host is root."""

from __future__ import annotations

import os
import secrets
import threading
from pathlib import Path

from grader.errors import InfrastructureError

FIRST = 60_600
"""No distribution hands these out: after systemd-homed's, before its dynamic users'."""

COUNT = 500


class Slots:
    """Hands out user IDs that no process on the machine has."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: set[int] = set()
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
                if uid not in self._held and not in_use(uid):
                    self._held.add(uid)
                    return uid
        raise InfrastructureError(f"no free user ID from {FIRST} to {FIRST + COUNT - 1}")

    def give_back(self, uid: int) -> None:
        """Make a user ID available again.

        Raises:
            InfrastructureError: A process of that user survived; the ID stays taken.
        """
        if in_use(uid):
            raise InfrastructureError(f"a process of a hand-in survived under user ID {uid}")
        with self._lock:
            self._held.discard(uid)


def in_use(uid: int) -> bool:
    """Return whether any process runs under a user ID; the kernel looks, in microseconds."""
    try:
        os.getpriority(os.PRIO_USER, uid)
    except ProcessLookupError:
        return False
    return True


def mapped() -> bool:
    """Return whether the whole range exists in this user namespace."""
    try:
        lines = Path("/proc/self/uid_map").read_text().splitlines()
    except OSError:
        return False
    ranges = [(int(first), int(size)) for first, _, size in (line.split() for line in lines)]
    return any(first <= FIRST and first + size >= FIRST + COUNT for first, size in ranges)
