"""Standard streams for a hand-in: what exceeds the cap is dropped, and ``print`` never fails."""

from __future__ import annotations

import io
import os
import sys
from typing import Any


class _Bounded(io.RawIOBase):
    """Writes at most ``cap`` bytes to a file descriptor and swallows the rest."""

    def __init__(self, fd: int, cap: int) -> None:
        super().__init__()
        self._fd = fd
        self._left = cap

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._fd

    def write(self, data: Any, /) -> int:
        view = memoryview(data).cast("B")
        part = view[: self._left]
        self._left -= len(part)
        try:
            while part:
                part = part[os.write(self._fd, part) :]
        except OSError:
            # The sealed capture file is full. An honest print must not fail for that.
            self._left = 0
        return len(view)


def install(cap: int) -> None:
    """Replace ``sys.stdout`` and ``sys.stderr`` by bounded streams over descriptors 1 and 2.

    Args:
        cap: Bytes kept of each.
    """
    for name, fd in (("stdout", 1), ("stderr", 2)):
        buffered = io.BufferedWriter(_Bounded(fd, cap), buffer_size=4096)
        stream = io.TextIOWrapper(buffered, "utf-8", errors="backslashreplace", line_buffering=True)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
