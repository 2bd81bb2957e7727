"""Calls in which a submission starts no processes: what they computed, nobody would count.

Python itself asks before it starts one, by an audit event, and such a hook stays for good. So it is
installed with the first of these calls, and refuses only while one of them runs.

Does not defend against: processes that ran before, and native code that asks the kernel by itself.
What these work out is in no log either.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_STARTS = frozenset({
    "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen",
})  # fmt: skip


class _Refusal:
    """A hook that refuses to start processes while it is on."""

    def __init__(self) -> None:
        self.on = False
        self._installed = False

    def install(self) -> None:
        """Have Python ask, from now on."""
        if not self._installed:
            self._installed = True
            sys.addaudithook(self._asked)

    def _asked(self, event: str, _: tuple[Any, ...]) -> None:
        if self.on and event in _STARTS:
            # As the kernel answers where the function is timed.
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))


_REFUSAL = _Refusal()


@contextmanager
def alone(wanted: bool) -> Iterator[None]:
    """Refuse to start processes within this context, if that is wanted."""
    if wanted:
        _REFUSAL.install()
    _REFUSAL.on = wanted
    try:
        yield
    finally:
        _REFUSAL.on = False
