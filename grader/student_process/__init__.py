"""Everything that runs on the untrusted side. Started by exec, imported by nobody on the host.

What lives here holds no reference, no expected value, no tolerance, no seed and no results handle.
Submissions share the process with it and may do to it what they like: whatever it says is a claim.

Here stand the standard streams of a submission, for both ways of starting a student process: what
exceeds the cap is dropped, and ``print`` never fails.
"""

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
        # All of it, also what was dropped: a smaller number makes Python try the rest again.
        return len(view)


def bound_output(cap: int) -> None:
    """Replace ``sys.stdout`` and ``sys.stderr`` by bounded streams over descriptors 1 and 2.

    Args:
        cap: Bytes kept of each.
    """
    for name, fd in (("stdout", 1), ("stderr", 2)):
        buffered = io.BufferedWriter(_Bounded(fd, cap), buffer_size=4096)
        # A lone surrogate must not fail an honest print; by lines, so that what came before a kill
        # is kept.
        stream = io.TextIOWrapper(buffered, "utf-8", errors="backslashreplace", line_buffering=True)
        setattr(sys, name, stream)
        # The original streams too: libraries restore them, and would print without a bound.
        setattr(sys, f"__{name}__", stream)
