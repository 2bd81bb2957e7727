"""The host's side of the analysis: one short-lived process serves many hand-ins.

Defends against: text that kills the parser, loops in it or makes it eat memory. The process that
reads it has its limits, and its death is an answer: the source is unreadable.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from types import TracebackType

from grader.source.facts import SourceFacts
from grader.source.packed import MAX_ANSWER, unpack

_SECONDS = 15.0
_MOST_READ = 500
"""Hand-ins that one process reads before it is replaced."""


class SourceReader:
    """Reads hand-ins in a process of their own. A context manager; safe to use after a fork.

    Args:
        seconds: Wall time that one file may take.
    """

    def __init__(self, seconds: float = _SECONDS) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._read = 0

    def read(self, data: bytes) -> SourceFacts:
        """Return the facts about a file; why there are none, if it killed its reader. Never raises.

        Args:
            data: The exact bytes that run.
        """
        try:
            process = self._started()
            self._send(process, len(data).to_bytes(4, "big") + data)
            size = int.from_bytes(self._receive(process, 4), "big")
            if size > MAX_ANSWER:
                raise ValueError("an answer that is too long")
            return unpack(self._receive(process, size))
        except (OSError, ValueError, TimeoutError, EOFError) as error:
            self.close()
            return SourceFacts(unreadable=f"the analysis ended: {error}")

    def close(self) -> None:
        """End the process, if there is one and it is ours."""
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        if self._owner == os.getpid():
            process.kill()
            process.wait()

    def __enter__(self) -> SourceReader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _started(self) -> subprocess.Popen[bytes]:
        # After a fork the pipes are the parent's too: two readers would get each other's answers.
        if self._process is not None and (self._owner != os.getpid() or self._read >= _MOST_READ):
            self.close()
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-m", "grader.source"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                env={},
                close_fds=True,
            )
            self._owner, self._read = os.getpid(), 0
        self._read += 1
        return self._process

    def _send(self, process: subprocess.Popen[bytes], data: bytes) -> None:
        assert process.stdin is not None
        fd, view = process.stdin.fileno(), memoryview(data)
        while view:
            view = view[os.write(fd, view[: 1 << 16]) :]

    def _receive(self, process: subprocess.Popen[bytes], size: int) -> bytes:
        assert process.stdout is not None
        fd, end, parts = process.stdout.fileno(), time.monotonic() + self._seconds, bytearray()
        while len(parts) < size:
            if not select.select([fd], [], [], max(end - time.monotonic(), 0))[0]:
                raise TimeoutError("it took too long")
            part = os.read(fd, size - len(parts))
            if not part:
                raise EOFError("the process died of it")
            parts += part
        return bytes(parts)
