"""Where a guest prints to: memory of a fixed size that nobody has to drain."""

from __future__ import annotations

import fcntl
import os
import tempfile

_F_ADD_SEALS = 1033
_SEALS = 0x0001 | 0x0002 | 0x0004  # SEAL, SHRINK, GROW: the size can never change again


class Capture:
    """A file for a guest's standard output and error.

    On Linux a sealed memfd: a flood stops at its size, costs no disk, and blocks nobody, unlike a
    pipe that has to be read. Elsewhere an unlinked temporary file, read up to the cap.

    Args:
        cap: Bytes kept.
    """

    def __init__(self, cap: int) -> None:
        self._cap = cap
        if hasattr(os, "memfd_create"):
            self.fd = os.memfd_create("output", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            os.truncate(self.fd, cap)
            fcntl.fcntl(self.fd, _F_ADD_SEALS, _SEALS)
        else:
            self.fd, path = tempfile.mkstemp()
            os.unlink(path)  # noqa: PTH108  the descriptor is all that is wanted

    def read(self) -> bytes:
        """Return what was printed so far."""
        return os.pread(self.fd, self._cap, 0).rstrip(b"\0")

    def close(self) -> None:
        """Give the memory back."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
