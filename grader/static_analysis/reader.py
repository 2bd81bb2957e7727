"""Both ends of a process that reads hostile text and may die of it; one such reads submissions.

Defends against: text that kills a parser, loops in it or makes it eat memory. The process that
reads it has its limits, holds nothing, and is replaced; its death is an answer.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable

from typing_extensions import Self

from grader.interpreter import running
from grader.static_analysis.facts import SourceFacts, unpack

if sys.platform != "win32":  # The host's end is imported there too; ``serve`` then cannot run.
    import resource

MAX_ANSWER = 16 * 2**20
"""Bytes of the longest answer that is read."""
SECONDS = 15.0
_MOST_READ = 500
"""Texts that one process reads before it is replaced."""


class Disposable:
    """The host's end. A context manager; safe to use after a fork.

    Args:
        module: What the process runs: ``python -I -m module``, which calls ``serve``.
        seconds: Wall time that one text may take.
    """

    def __init__(self, module: str, seconds: float = SECONDS) -> None:
        self._module = module
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._read = 0

    def start(self) -> None:
        """Have the process begin, so that it is there when it is asked; takes no time now.

        Raises:
            OSError: It cannot be started.
        """
        # After a fork the pipes are the parent's too: two readers would get each other's answers.
        if self._process is not None and (self._owner != os.getpid() or self._read >= _MOST_READ):
            self.close()
        if self._process is None:
            # Unbuffered, for select does not see bytes that Python has read ahead; and without
            # environment.
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-I", "-c", running(self._module)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                env={},
                close_fds=True,
            )
            self._owner, self._read = os.getpid(), 0

    def ask(self, data: bytes) -> bytes:
        """Return what the process answers to a text.

        Raises:
            OSError, ValueError, EOFError: The process died of it, or said what it may not.
            TimeoutError: It took too long. Whatever is raised, ``close`` has to be called.
        """
        self.start()
        assert self._process is not None
        process = self._process
        self._read += 1
        self._send(process, len(data).to_bytes(4, "big") + data)
        size = int.from_bytes(self._receive(process, 4), "big")
        # The process read hostile text and may have been taken over by it: its answer is checked
        # like one.
        if size > MAX_ANSWER:
            raise ValueError("an answer that is too long")
        return self._receive(process, size)

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

    def __del__(self) -> None:
        # Python keeps a running process, pipes and all, though nobody names it any more; and this
        # one runs as long as the pipes are open.
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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


class SourceReader(Disposable):
    """Reads submissions in a process of their own. A context manager; safe to use after a fork.

    Args:
        seconds: Wall time that one file may take.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        super().__init__("grader.static_analysis.analyse", seconds)

    def read(self, data: bytes) -> SourceFacts:
        """Return the facts about a file; why there are none, if it killed its reader. Never raises.

        Args:
            data: The exact bytes that run.
        """
        try:
            return unpack(self.ask(data))
        except (OSError, ValueError, TimeoutError, EOFError) as error:
            self.close()
            # No fact is not “no loop”: the judge leaves what rests on the source to a person.
            return SourceFacts(unreadable=f"the analysis ended: {error}")


_MEMORY = 1 << 30
_CPU_SECONDS = 10


def serve(answer: Callable[[bytes], bytes], too_much: bytes) -> None:
    """Answer texts, within limits, until the line is closed.

    A request is its length as four bytes and the text; an answer likewise.

    Args:
        answer: Reads a text. May be killed for it.
        too_much: Stands for an answer that is too long.
    """
    with contextlib.suppress(ValueError, OSError):  # a system that has no such limit
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while head := source.read(4):
        usage = resource.getrusage(resource.RUSAGE_SELF)
        spent = int(usage.ru_utime + usage.ru_stime)
        # The soft limit alone, raised with each text: a hard one cannot be raised again by an
        # ordinary user.
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (spent + _CPU_SECONDS, hard))
        said = answer(source.read(int.from_bytes(head, "big")))
        if len(said) > MAX_ANSWER:
            said = too_much
        sink.write(len(said).to_bytes(4, "big") + said)
        sink.flush()
