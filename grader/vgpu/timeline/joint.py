"""One timeline of several processes: they share devices and links, and meet in collectives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from grader.vgpu.accounts import Account
from grader.vgpu.timeline.line import Timeline
from grader.vgpu.timeline.profiles import Profile
from grader.vgpu.timeline.report import Report, Stretch, between
from grader.vgpu.timeline.spans import Span
from grader.vgpu.trace import Collective, Event


@dataclass(slots=True)
class _Process:
    """A process, and how far its events have been taken in.

    Attributes:
        account: What it did.
        at: Number of its next event.
    """

    account: Account
    at: int = 0

    @property
    def next(self) -> Event | None:
        """Its next event, or None."""
        events = self.account.events
        return events[self.at] if self.at < len(events) else None


def joint_report(accounts: Sequence[Account], card: Profile, start: float = 0.0) -> Report:
    """Return what several processes did together, each device of each of them in a row.

    Args:
        accounts: Of the processes; their names differ.
        card: Profile of every device.
        start: Seconds that are left out at the beginning.
    """
    line, owners = _laid_out(accounts, card)
    spans = [_labelled(span, owner) for span, owner in zip(line.spans, owners, strict=True)]
    devices = sorted({span.device for span in spans})
    whole = Stretch(card.name, spans, 0, 0.0, line.end, devices)
    return between(whole, start, line.end).report()


def _laid_out(accounts: Sequence[Account], card: Profile) -> tuple[Timeline, list[str]]:
    line, owners = Timeline(card), list[str]()
    processes = [_Process(account) for account in accounts]
    while any(process.next for process in processes):
        for ready in _ready(processes, line):
            event = ready.next
            if isinstance(event, Collective):
                parts = _parts(event, processes)
                line.meet([(part.account.name, met) for part, met in parts])
                owners += [part.account.name for part, _ in parts]
                for part, _ in parts:
                    part.at += 1
            elif event is not None:
                line.process = ready.account.name
                line.take([event])
                owners += [ready.account.name] * (len(line.spans) - len(owners))
                ready.at += 1
    return line, owners


def _ready(processes: Sequence[_Process], line: Timeline) -> list[_Process]:
    """Return the process whose turn it is: of those that wait for nobody, the one farthest back."""
    going = [process for process in processes if process.next is not None]
    free = [process for process in going if _complete(process, processes)]
    # Where all wait (one of them ended early), the first goes on without the others.
    return sorted(free or going, key=lambda process: line.reached(process.account.name))[:1]


def _complete(process: _Process, processes: Sequence[_Process]) -> bool:
    event = process.next
    if not isinstance(event, Collective):
        return True
    known = {each.account.rank for each in processes} & set(event.ranks)
    return len(_parts(event, processes)) == len(known)


def _parts(event: Collective, processes: Sequence[_Process]) -> list[tuple[_Process, Collective]]:
    """Return the processes that have come to the same collective, and the part of each."""
    return [
        (process, there)
        for process in processes
        if isinstance(there := process.next, Collective) and there.exchange == event.exchange
    ]


def _labelled(span: Span, owner: str) -> Span:
    return replace(span, device=f"{span.device} {owner}".strip())
