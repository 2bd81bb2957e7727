"""Laying a trace out in time.

The rules, and where they come from:

- A kernel takes ``max(FLOPs / (peak · sustained), bytes / bandwidth, floor)``: the roofline
  (Williams, Waterman, Patterson 2009) with the shortest time that any kernel takes.
- A stream runs in order; streams of one device wait for each other only where they are told to, as
  those that torch makes do (``cudaStreamNonBlocking``), and those of two devices always. What they
  share is the device: one kernel at a time, and one copy at a time on each link, one way
  (``engine``).
- The host issues one operation after another, each for ``launch`` seconds, and runs ahead of the
  devices. Python's threads take turns at that; what one of them waits for, the others need not.
- A copy between two GPUs is on the source's stream, begins when the target's has done what was
  issued before, and the target goes on after it (``aten/src/ATen/native/cuda/Copy.cu``: a two-way
  barrier).
- A copy from or to the host takes the stream of its GPU. The host waits where the trace says so.
- A collective (``ring``) begins when the streams of all its ranks have come to it, and ends on all
  of them at once. It is on links, and on the stream that NCCL keeps for it: devices compute
  meanwhile.
- Processes share devices and links, and nothing else: streams, threads and events are their own.
- A wait ends when the device, the stream or the event is done. ``.item()`` waits for the stream.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import overload

import numpy as np

from grader.vgpu.core.trace import Collective, Kernel, Mark, Synchronisation, TraceEvent, Transfer
from grader.vgpu.timeline.profiles import Engine, Profile, collective_seconds


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
        """Tell whether bytes went somewhere."""
        return bool(self.target)


Kind = tuple[str, str, int, str, Waited, str, int, bool, int]
"""All of a span but when it ran and what it ran after; the fields in their order."""

_NOWHERE: Kind = "", "", 0, "forward", Waited.STREAM, "", 0, False, 0


class Spans(Sequence[Span]):
    """Millions of spans, which are mostly alike: what they are once, when they ran in columns.

    A span as an object takes seven times as much memory. So one is made when somebody looks.

    Attributes:
        starts: Seconds.
        ends: Likewise.
        after: Numbers of the spans that they had to wait for.
        kinds: Their places in ``table``.
        table: All different kinds.
    """

    def __init__(self) -> None:
        self.starts, self.ends = array("d"), array("d")
        self.after, self.kinds = array("q"), array("q")
        self.table: list[Kind] = []
        self._known: dict[Kind, int] = {}

    def add(self, start: float, end: float, after: int, kind: Kind) -> None:
        """Add a span at the end."""
        self.starts.append(start)
        self.ends.append(end)
        self.after.append(after)
        self.kinds.append(self.place(kind))

    def place(self, kind: Kind) -> int:
        """Return the place of a kind in the table; put it there where it is new."""
        found = self._known.get(kind)
        if found is None:
            found = self._known[kind] = len(self.table)
            self.table.append(kind)
        return found

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, at: int) -> Span: ...

    @overload
    def __getitem__(self, at: slice) -> Spans: ...

    def __getitem__(self, at: int | slice) -> Span | Spans:
        if isinstance(at, slice):
            part = Spans()
            # Shared, both of them: a kind that a part adds must have one place for all parts.
            part.table, part._known = self.table, self._known
            part.starts, part.ends = self.starts[at], self.ends[at]
            part.after, part.kinds = self.after[at], self.kinds[at]
            return part
        what, device, stream, phase, *rest = self.table[self.kinds[at]]
        times = self.starts[at], self.ends[at]
        waited, *more = rest
        return Span(what, device, stream, *times, phase, waited, self.after[at], *more)  # type: ignore[arg-type]

    def cut(self, start: float, end: float) -> tuple[int, Spans]:
        """Return the number of the first span between two moments, and those from there on.

        What reaches over an end is cut off. A span that lies outside is on no device; it stays,
        for the others know each other by their numbers.
        """
        starts, ends = np.array(self.starts), np.array(self.ends)
        inside = np.flatnonzero((ends > start) & (starts < end))
        first, last = (int(inside[0]), int(inside[-1]) + 1) if len(inside) else (0, 0)
        part = self[first:last]
        outside = ((ends <= start) | (starts >= end)) & ((starts < start) | (ends > end))
        part.starts = array("d", np.clip(starts[first:last], start, None).tobytes())
        part.ends = array("d", np.clip(ends[first:last], None, end).tobytes())
        for number in np.flatnonzero(outside[first:last]).tolist():
            part.kinds[number] = part.place(_NOWHERE)
            part.starts[number] = part.ends[number] = start
        return first, part


Queue = tuple[str, int, str]
"""A stream: its device, its number there, and whose it is."""

_ALL_STREAMS = frozenset({"torch.cuda.synchronize", "torch.accelerator.synchronize"})
_BY_EVENT = "Event.synchronize"


@dataclass(slots=True)
class _Tail:
    """How far a stream has come: when it is done, and with which span."""

    end: float = 0.0
    span: int = -1
    other: bool = False


@dataclass(slots=True)
class _HostThread:
    """A host thread: where it stands in time, and what it waited for last, until when."""

    now: float = 0.0
    blocked_by: int = -1
    until: float = -1.0


class Timeline:
    """Events of a trace, taken in the order of their issue.

    Attributes:
        profile: Of every device.
        spans: What ran, in the order of its issue.
        process: Whose the events are that come next; empty where there is only one.
    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.spans = Spans()
        self.process = ""
        self._tails: dict[Queue, _Tail] = {}
        self._threads: dict[tuple[str, int], _HostThread] = {}
        # Python's threads take turns: none issues before the one before it has.
        self._issued: defaultdict[str, float] = defaultdict(float)
        self._marks: dict[tuple[str, int], _Tail] = {}
        # By device, and by source and target.
        self._engines: dict[tuple[str, ...], Engine] = {}

    def take(self, events: Iterable[TraceEvent]) -> None:
        """Take in what was issued since."""
        for event in events:
            if isinstance(event, Kernel):
                self._kernel(event)
            elif isinstance(event, Transfer):
                self._copy(event)
            elif isinstance(event, Synchronisation):
                self._wait(event)
            elif isinstance(event, Mark):
                self._mark(event)
            elif isinstance(event, Collective):
                self.meet([(self.process, event)])

    def meet(self, parts: Sequence[tuple[str, Collective]]) -> None:
        """Take in a collective: the process of each part, and the part itself."""
        arrived = []
        # Sets `self.process` with each part: threads and streams are looked up by it.
        for self.process, event in parts:
            issued, _ = self._issue(event)
            tail = self._tail(event.device, event.stream)
            arrived.append((max(issued, tail.end), tail.span, tail, event))
        start, after = max((ready, span) for ready, span, _, _ in arrived)
        first = parts[0][1]
        end = start + collective_seconds(first.op, first.bytes, len(first.ranks), self.profile)
        for ready, span, tail, event in arrived:
            waited = Waited.OTHER if start > ready else Waited.STREAM
            kind = (
                event.op, event.device, event.stream, event.phase, waited, "ranks", event.bytes,
                False, 0,
            )  # fmt: skip
            self.spans.add(start, end, after if start > ready else span, kind)
            tail.end, tail.span, tail.other = end, len(self.spans) - 1, True

    @property
    def now(self) -> float:
        """Seconds at which the thread that has come farthest stands."""
        return max((thread.now for thread in self._threads.values()), default=0.0)

    @property
    def end(self) -> float:
        """Seconds at which host and devices are done with all of it."""
        return max([self.now, *(tail.end for tail in self._tails.values())])

    def rest(self) -> float:
        """Let everything end before anything new begins; return when that is, in seconds."""
        end = self.end
        # Whoever begins only afterwards must not begin before the end either.
        self._issued = defaultdict(lambda: end)
        for thread in self._threads.values():
            thread.now = end
        for tail in self._tails.values():
            tail.end, tail.span, tail.other = end, -1, False
        self._engines.clear()
        return end

    def time_of(self, mark: int) -> float:
        """Return the seconds at which the stream of a recorded event reached it.

        Raises:
            KeyError: It was not recorded.
        """
        return self._marks[self.process, mark].end

    def reached(self, process: str) -> float:
        """Return the seconds at which a process's host has issued all that was taken in."""
        return self._issued[process]

    def _thread(self, event: TraceEvent) -> _HostThread:
        # A thread begins where the one that has started it stands by then.
        begun = _HostThread(self._issued[self.process])
        return self._threads.setdefault((self.process, event.thread), begun)

    def _tail(self, device: str, stream: int) -> _Tail:
        return self._tails.setdefault((device, stream, self.process), _Tail())

    def _issue(self, event: TraceEvent) -> tuple[float, _HostThread]:
        thread = self._thread(event)
        thread.now = max(thread.now, self._issued[self.process]) + self.profile.launch
        self._issued[self.process] = thread.now
        return thread.now, thread

    def _kernel(self, event: Kernel) -> None:
        card = self.profile
        compute = event.flops / (card.flops * card.sustained)
        lasts = max(compute, event.bytes / card.bandwidth, card.floor)
        tail = self._tail(event.device, event.stream)
        self._run(event, (event.op, event.device), lasts, [tail])

    def _copy(self, event: Transfer) -> None:
        on_gpu = [name for name in (event.source, event.target) if name != "cpu"]
        tails = [self._tail(on_gpu[0], event.stream)]
        card, speed = self.profile, self.profile.peer
        if len(on_gpu) == 1:
            # What the host need not wait for comes from page-locked memory, or goes there.
            speed = card.pageable if event.blocking else card.pinned
        elif on_gpu[1] != on_gpu[0]:
            tails.append(self._tail(on_gpu[1], event.target_stream))
        lasts = card.latency + event.bytes / speed
        self._run(event, ("copy", on_gpu[0]), lasts, tails)
        if event.blocking and len(on_gpu) == 1:
            self._block(event, tails[0])

    def _run(
        self, event: Kernel | Transfer, what: tuple[str, str], lasts: float, tails: list[_Tail]
    ) -> None:
        """Put work on its stream, or a copy on two."""
        issued, thread = self._issue(event)
        latest = max(tails, key=lambda tail: tail.end)
        start = max(issued, latest.end)
        target, there = "", 0
        if isinstance(event, Transfer):
            target, there = event.target, event.target_stream
        engine = self._engines.setdefault((what[1], target), Engine())
        start, shared = engine.place(start, lasts, issued, len(self.spans))
        # The device was at other work, which streams of its own cannot avoid.
        if shared >= 0:
            waited, after = Waited.STREAM, shared
        elif start > latest.end:
            waited = Waited.BLOCKED if thread.until > latest.end else Waited.LAUNCH
            after = thread.blocked_by
        else:
            crossed = latest is not tails[0] or latest.other
            waited, after = Waited.OTHER if crossed else Waited.STREAM, latest.span
        kind = (
            *what, event.stream, event.phase, waited, target, event.bytes, len(tails) > 1, there,
        )  # fmt: skip
        end = start + lasts
        self.spans.add(start, end, after, kind)
        for tail in tails:
            tail.end, tail.span, tail.other = end, len(self.spans) - 1, tail is not tails[0]

    def _block(self, event: TraceEvent, *tails: _Tail) -> None:
        """Let the host wait until streams are done."""
        thread = self._thread(event)
        latest = max(tails, key=lambda tail: tail.end, default=_Tail())
        if latest.end > thread.now:
            thread.now = thread.until = latest.end
            thread.blocked_by = latest.span

    def _wait(self, event: Synchronisation) -> None:
        if event.why == _BY_EVENT:
            # What it waits for is in the mark that comes before it.
            return
        if event.why in _ALL_STREAMS:
            every = [
                tail
                for (device, _, process), tail in self._tails.items()
                if device == event.device and process == self.process
            ]
            self._block(event, *every)
        else:
            self._block(event, self._tail(event.device, event.stream))

    def _mark(self, event: Mark) -> None:
        tail = self._tail(event.device, event.stream)
        thread = self._thread(event)
        if event.action == "record":
            # Not before it was issued, even where the stream had been done by then.
            self._marks[self.process, event.event] = _Tail(max(tail.end, thread.now), tail.span)
            return
        mark = self._marks.get((self.process, event.event), _Tail())
        if event.action == "host":
            self._block(event, mark)
        elif mark.end > tail.end:
            tail.end, tail.span, tail.other = mark.end, mark.span, True
