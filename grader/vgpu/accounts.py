"""What each process of a program did on its devices: a file for each, read by the one that reports.

``python -m grader.vgpu`` makes a folder, which all processes know that its script starts. Each of
them leaves a file there as it ends: its name and rank, the memory that it held, its events. The
last one reads them all, for one summary and one timeline.
"""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.vgpu.core.machine import Machine
from grader.vgpu.core.trace import (
    Allocation,
    Collective,
    Kernel,
    Mark,
    Release,
    Synchronisation,
    TraceEvent,
    Transfer,
)
from grader.vgpu.log.summary import Held, summarise

_KINDS: dict[str, type[TraceEvent]] = {
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
    events: list[TraceEvent]
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


def write_account(folder: Path, account: Account) -> None:
    """Leave an account in a folder; whole, or not at all.

    Events that are alike are written once; the tape names them by their places.
    """
    rows: dict[TraceEvent, int] = {}
    tape = [rows.setdefault(event, len(rows)) for event in account.events]
    document = {
        "name": account.name,
        "rank": account.rank,
        "held": {name: dataclasses.asdict(held) for name, held in account.held.items()},
        "rows": [[type(event).__name__, *_field_values(event)] for event in rows],
        "tape": tape,
    }
    part = folder / f"{os.getpid()}.part"
    part.write_text(json.dumps(document), encoding="utf-8")
    part.replace(folder / f"{os.getpid()}.json")


def read_accounts(folder: Path) -> list[Account]:
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


def _field_values(event: TraceEvent) -> list[Any]:
    return [getattr(event, field.name) for field in dataclasses.fields(event)]


def _account(data: dict[str, Any]) -> Account:
    rows = [_event(*each) for each in data["rows"]]
    return Account(
        data["name"],
        data["rank"],
        [rows[place] for place in data["tape"]],
        {name: Held(**held) for name, held in data["held"].items()},
    )


def _event(kind: str, *values: Any) -> TraceEvent:
    made: Any = _KINDS[kind]
    names = [field.name for field in dataclasses.fields(made)]
    fields = {
        name: tuple(value) if name in _TUPLES else value
        for name, value in zip(names, values, strict=True)
    }
    event: TraceEvent = made(**fields)
    return event
