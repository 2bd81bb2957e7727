"""Waiting for one descriptor, for so long and no longer."""

from __future__ import annotations

import select


def readable(fd: int, seconds: float) -> bool:
    """Return whether something can be read, or the other side hung up, within so many seconds."""
    return ready(fd, select.POLLIN, seconds)


def ready(fd: int, event: int, seconds: float) -> bool:
    """Return whether an event of ``select.poll`` happens within so many seconds."""
    poller = select.poll()
    poller.register(fd, event)
    return bool(poller.poll(seconds * 1000))
