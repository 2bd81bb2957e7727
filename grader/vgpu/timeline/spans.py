"""Stretches of time on a timeline, and what each of them had to wait for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

HOST = "host"


class Waited(str, Enum):
    """What a stretch of work could not begin without."""

    STREAM = "stream"
    OTHER = "other"
    LAUNCH = "launch"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class Span:
    """Work on a stream, from its start to its end.

    Attributes:
        what: ATen's name of a kernel; ``copy`` of a copy.
        device: ``cuda:N``; of a copy between GPUs its source.
        stream: Number of the stream on it.
        start: Seconds since the timeline began.
        end: Likewise.
        phase: ``forward`` or ``backward``.
        waited: What it began after: the work before it on its stream (or the beginning of all), the
            other GPU of a copy or an event of another stream, the host's launching of it, or the
            host, which was blocked by another device before it got round to it.
        after: Number of the span whose end that was, −1 where it was the host.
        target: Of a copy, where to; else empty.
        bytes: Moved, or read and written.
        arrives: It keeps a stream of its target busy too.
        target_stream: That stream.
    """

    what: str
    device: str
    stream: int
    start: float
    end: float
    phase: str
    waited: Waited
    after: int = -1
    target: str = ""
    bytes: int = 0
    arrives: bool = False
    target_stream: int = 0

    @property
    def is_copy(self) -> bool:
        """Whether bytes went somewhere."""
        return bool(self.target)

    @property
    def duration(self) -> float:
        """Seconds."""
        return self.end - self.start
