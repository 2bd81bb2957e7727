"""What each process of a program did with the devices, for one summary and one timeline.

``python -m grader.vgpu`` makes a folder, which all processes know that its script starts. Each of
them leaves a file there as it ends: its name and rank, the memory that it held, its events. The
last one reads them all.
"""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import multiprocessing.util
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.vgpu.machine import Machine, installed
from grader.vgpu.summary import Held, summarise
from grader.vgpu.trace import (
    Allocation,
    Collective,
    Event,
    Kernel,
    Mark,
    Release,
    Synchronisation,
    Transfer,
)

_KINDS: dict[str, type[Event]] = {
    kind.__name__: kind
    for kind in (Kernel, Transfer, Synchronisation, Mark, Collective, Allocation, Release)
}
_TUPLES = frozenset({"shape", "ranks"})


@dataclass(frozen=True, slots=True)
class Account:
    """What one process did.

    Attributes:
        name: ``rank 1``, ``SpawnPoolWorker-2``, or ``script``.
        rank: In its group of processes, or −1.
        events: In the order of their issue.
        held: Device → memory.
    """

    name: str
    rank: int
    events: list[Event]
    held: dict[str, Held]


def account_of(here: Machine, since: int = 0) -> Account:
    """Return what this process did from an event on."""
    events = list(here.trace.since(since))
    total = summarise(events)
    held = {
        name: total.held(name, here.memory(n).live, here.memory(n).limit)
        for n, name in enumerate(here.names)
    }
    # One that torchrun started is a rank, also where it is in no group.
    rank = int(os.environ.get("RANK", "-1")) if here.rank is None else here.rank
    started = multiprocessing.parent_process() is not None
    name = multiprocessing.current_process().name if started else "script"
    return Account(f"rank {rank}" if rank >= 0 else name, rank, events, held)


def write(folder: Path, account: Account) -> None:
    """Leave an account in a folder; whole, or not at all.

    Events that are alike are written once; the tape names them by their places.
    """
    rows: dict[Event, int] = {}
    tape = [rows.setdefault(event, len(rows)) for event in account.events]
    told = {
        "name": account.name,
        "rank": account.rank,
        "held": {name: dataclasses.asdict(held) for name, held in account.held.items()},
        "rows": [[type(event).__name__, *_fields(event)] for event in rows],
        "tape": tape,
    }
    part = folder / f"{os.getpid()}.part"
    part.write_text(json.dumps(told), encoding="utf-8")
    part.replace(folder / f"{os.getpid()}.json")


def read(folder: Path) -> list[Account]:
    """Return the accounts that were left in a folder, by rank."""
    found = [_account(json.loads(path.read_text(encoding="utf-8"))) for path in _files(folder)]
    found.sort(key=lambda account: (account.rank, account.name))
    names = [account.name for account in found]
    # Two pools each have a first worker.
    return [
        dataclasses.replace(account, name=f"{account.name} ({names[:place].count(account.name)})")
        if account.name in names[:place]
        else account
        for place, account in enumerate(found)
    ]


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.iterdir()) if path.suffix == ".json")


def _fields(event: Event) -> list[Any]:
    return [getattr(event, field.name) for field in dataclasses.fields(event)]


def _account(told: dict[str, Any]) -> Account:
    rows = [_event(*each) for each in told["rows"]]
    return Account(
        told["name"],
        told["rank"],
        [rows[place] for place in told["tape"]],
        {name: Held(**held) for name, held in told["held"].items()},
    )


def _event(kind: str, *values: Any) -> Event:
    made: Any = _KINDS[kind]
    names = [field.name for field in dataclasses.fields(made)]
    fields = {
        name: tuple(value) if name in _TUPLES else value
        for name, value in zip(names, values, strict=True)
    }
    event: Event = made(**fields)
    return event


# What the process does at its end; Python's own processes forget it as they begin, and set it anew.
_ending: list[multiprocessing.util.Finalize] = []


def tell_at_exit(here: Machine) -> None:
    """Let this process leave its account as it ends, also where it is told to end."""
    if here.shared is None:
        return
    # A fork has its parent's events too.
    since = 0 if here.shared.process == os.getpid() else here.trace.count
    _ending[:] = [multiprocessing.util.Finalize(None, _tell, args=(here, since), exitpriority=0)]
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _stop)


def _stop(number: int, _: Any) -> None:
    # A pool that is left ends its workers so.
    for ending in _ending:
        ending()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _tell(here: Machine, since: int) -> None:
    # A pool may send its signal while a worker that has nothing left to do is writing this.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    account = account_of(here, since)
    if here.shared is not None and account.events and here.shared.folder.is_dir():
        write(here.shared.folder, account)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _forked(_: object) -> None:
    here = installed()
    if here is not None:
        tell_at_exit(here)


# Where Python's own processes begin after a fork.
multiprocessing.util.register_after_fork(_forked, _forked)
