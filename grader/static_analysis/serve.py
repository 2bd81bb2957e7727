"""A process that reads hostile text and may die of it: its own side. It holds nothing."""

from __future__ import annotations

import contextlib
import resource
import sys
from collections.abc import Callable

from grader.static_analysis.disposable import MAX_ANSWER

MEMORY = 1 << 30
SECONDS = 10


def serve(answer: Callable[[bytes], bytes], too_much: bytes) -> None:
    """Answer texts, within limits, until the line is closed.

    A request is its length as four bytes and the text; an answer likewise.

    Args:
        answer: Reads a text. May be killed for it.
        too_much: Stands for an answer that is too long.
    """
    with contextlib.suppress(ValueError, OSError):  # a system that has no such limit
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while head := source.read(4):
        _allow(SECONDS)
        said = answer(source.read(int.from_bytes(head, "big")))
        if len(said) > MAX_ANSWER:
            said = too_much
        sink.write(len(said).to_bytes(4, "big") + said)
        sink.flush()


def _allow(seconds: int) -> None:
    """Let this process compute for so many seconds more."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    spent = int(usage.ru_utime + usage.ru_stime)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (spent + seconds, hard))
