"""``python -I -m grader.source``: analyses hand-ins until the line is closed.

A request is its length as four bytes and the file; an answer is its length and JSON. The text is
hostile: it may kill this process, which holds nothing and is replaced.
"""

from __future__ import annotations

import contextlib
import resource
import sys

from grader.source.analyse import analyse
from grader.source.facts import SourceFacts
from grader.source.packed import MAX_ANSWER, pack

MEMORY = 1 << 30
SECONDS = 10


def main() -> None:
    """Answer requests."""
    with contextlib.suppress(ValueError, OSError):  # a system that has no such limit
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while head := source.read(4):
        _allow(SECONDS)
        answer = pack(analyse(source.read(int.from_bytes(head, "big"))))
        if len(answer) > MAX_ANSWER:
            answer = pack(SourceFacts(unreadable="the analysis says too much"))
        sink.write(len(answer).to_bytes(4, "big") + answer)
        sink.flush()


def _allow(seconds: int) -> None:
    """Let this process compute for so many seconds more."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    spent = int(usage.ru_utime + usage.ru_stime)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (spent + seconds, hard))


main()
