"""Plain-text reports of what devices did, and one joint timeline for all processes of a program.

The processes share devices and links, and wait for each other in collectives.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from grader.vgpu.advice import Place, Processes, advice, looked_at, named
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
from grader.vgpu.memory import KINDS, Peak
from grader.vgpu.processes import Account, account_of
from grader.vgpu.recording.summary import Copies, Summary, Work, summarise
from grader.vgpu.timeline.line import Spans, Timeline
from grader.vgpu.timeline.profiles import PROFILES, Profile, collective_bytes, profile
from grader.vgpu.timeline.report import Report, Stretch, between, stream_name
from grader.vgpu.words import columns, in_korean, said

MOST_EVENTS = 500
_MOST_OPS = 8
_MANY_WAITS = 100
_MOST_LAPS = 40
_FEW = 8

TableRow = tuple[str, ...]


def overview(machine: Machine, since: int = 0, report: Report | None = None) -> str:
    """Return what this process did with the devices; arguments as of ``summary``.

    Args:
        machine: With its trace.
        since: Sequence number of the first event that counts.
        report: What happened when, where that was on a timeline.
    """
    return summary([account_of(machine, since)], machine.names, report)


def summary(
    accounts: Sequence[Account],
    devices: Sequence[str],
    report: Report | None = None,
    costs: Mapping[Place, str] | None = None,
) -> str:
    """Return what the devices did: by device, by route, the heaviest operations, and hints.

    Args:
        accounts: Of each process.
        devices: Names of all devices.
        report: What happened when, where that was on a timeline.
        costs: What lines of the program cost there, as ``costs`` returns it.
    """
    accounts = [account for account in accounts if account.events]
    if not accounts:
        nothing = "Virtual GPUs: the program did nothing with {devices}.\n"
        return said(nothing, devices=_these(devices))
    total = summarise(event for account in accounts for event in account.events)
    untimed = said(
        "Virtual GPUs: computed on the CPU, so nothing here says how fast a real one is."
    )
    unmoved = said("No tensor went from one device to another.")
    parts = [
        times(report) if report else untimed,
        _table(_devices(accounts)),
        _table(_routes(total)) if total.routes else unmoved,
    ]
    if total.exchanges:
        parts.append(_table(_exchanges(total)))
    if total.work:
        parts.append(_table(_operations(total)))
    lines = [f"! {hint}" for hint in hints(total, accounts, devices)]
    lines += [f"! {hint}" for hint in _without_overlap(total, report)] if report else []
    lines += [f"! {text}" for text in advice(_noted(accounts), costs)]
    return "\n\n".join([*parts, "\n".join(lines)] if lines else parts) + "\n"


def _noted(accounts: Sequence[Account]) -> Processes:
    return [(account.places, account.steps) for account in accounts]


_MOST_COSTS = 6
_MOST_LAID_OUT = 200_000


def costs(accounts: Sequence[Account], card: Profile) -> dict[Place, str]:
    """Return what the lines that advice names cost: how much sooner all is done without each.

    The timeline is laid out again without the line's waits and copies; those that should not have
    waited no longer do. Of many lines the first ones, of a very long program none: it takes as long
    as the timeline itself.

    Args:
        accounts: Of the processes; their names differ.
        card: Profile of every device.
    """
    if sum(len(account.events) for account in accounts) > _MOST_LAID_OUT:
        return {}
    whole = _laid_out(accounts, card)[0].end
    found = {}
    for place, _ in named(_noted(accounts)):
        changed = [_account_without(account, place) for account in accounts]
        if any(each is not account for each, account in zip(changed, accounts, strict=True)):
            saved = whole - _laid_out(changed, card)[0].end
            found[place] = said(
                "{saved} of {whole}", saved=_time(max(saved, 0.0)), whole=_time(whole)
            )
        if len(found) == _MOST_COSTS:
            break
    return found


def _account_without(account: Account, place: Place) -> Account:
    numbers = {
        number
        for each, numbers in account.waits.items()
        if looked_at(each) == place
        for number in numbers
    }
    if not numbers:
        return account
    events: list[TraceEvent] = []
    for number, event in enumerate(account.events):
        if number not in numbers or not isinstance(event, (Transfer, Synchronisation)):
            events.append(event)
        elif isinstance(event, Transfer) and place.what == "unpinned":
            events.append(replace(event, blocking=False))
    return replace(account, events=events)


_WORKS = 0.1
"""Share of the time that a device works at least, where it is one of a pipeline's."""
_OVERLAPS = 0.02


def _without_overlap(total: Summary, report: Report) -> Iterator[str]:
    """Yield which GPUs that hand tensors to each other never work at the same time."""
    data: Any = report
    pairs = combinations(data["devices"], 2)
    for first, second in pairs:
        if not {(first, second), (second, first)} & set(total.routes):
            continue
        works = [_rows_of(data["rows"], device) for device in (first, second)]
        least = min(sum(end - start for start, end in rows) for rows in works)
        both = sum(max(0.0, min(a[1], b[1]) - max(a[0], b[0])) for a in works[0] for b in works[1])
        if least > _WORKS * data["elapsed"] and both < _OVERLAPS * least:
            yield said(
                "{first} and {second} never work at the same time: cut each batch into splits, so "
                "that one works on a split while the other does the next.",
                first=first, second=second,
            )  # fmt: skip


def _rows_of(rows: Any, device: str) -> list[tuple[float, float]]:
    return [(start, end) for name, start, end, kind in rows if name == device and kind != "copy"]


def times(report: Report) -> str:
    """Return what a timeline says in numbers: in all, by device, and what set the pace."""
    data: Any = report
    name = data["profile"]
    text, title = "Virtual GPUs, in the time of {card} by published figures: {elapsed}.", name
    if name in PROFILES:
        title = PROFILES[name].title
    elif name.endswith(".json"):
        text = "Virtual GPUs, in the time of {card} as measured: {elapsed}."
        title = profile(name).title
    head = said(text, card=title, elapsed=_time(data["elapsed"]))
    order = said(
        "One piece after another takes {serial}; at best it is {ideal}, the busiest GPU's.",
        serial=_time(data["serial"]), ideal=_time(data["ideal"]),
    )  # fmt: skip
    way = [f"{said(name)} {_time(spent)}" for name, spent in data["critical"].items() if spent]
    pace = said("What set the pace: {way}.", way=", ".join(way)) if way else said("Nothing ran.")
    return "\n\n".join([f"{head}\n{order}", _table(_busy(data)), pace])


def laps(found: Sequence[tuple[float, float]], left_out: int) -> str:
    """Return how long each stretch between two readings of a clock took; those alike as one.

    Args:
        found: Beginning and end of each, in seconds.
        left_out: Repeats of ``timeit`` that were not run.
    """
    groups: list[tuple[int, int, float]] = []
    for number, (start, end) in enumerate(found, 1):
        text = _time(end - start)
        if groups and _time(groups[-1][2]) == text:
            groups[-1] = groups[-1][0], number, end - start
        else:
            groups.append((number, number, end - start))
    lines = [
        f"{first}: {_time(took)}"
        if first == last
        else said("{laps}: {took} each", laps=f"{first}–{last}", took=_time(took))
        for first, last, took in groups[:_MOST_LAPS]
    ]
    if len(groups) > _MOST_LAPS:
        lines.append(said("… up to {count}", count=len(found)))
    shown = [said("Laps from one reading of a clock to the next (--lap N shows one):"), *lines]
    if left_out:
        unrun = "{count} repeats of timeit were not run: each would do what the one before did."
        shown.append(said(unrun, count=left_out))
    return "\n".join(shown) + "\n"


def listing(machine: Machine, since: int = 0) -> str:
    """Return events one by one, in order; of very many the first."""
    lines: list[str] = []
    left = 0
    for event in machine.trace.since(since):
        # Of some events there is nothing to say.
        if len(lines) < MOST_EVENTS:
            lines += filter(None, [_line(event)])
        else:
            left += not isinstance(event, Mark)
    more = [said("… and {count} more", count=left)] if left else []
    return "\n".join([*lines, *more]) + "\n"


def hints(total: Summary, accounts: Sequence[Account], devices: Sequence[str]) -> Iterator[str]:
    """Yield what is likely to be a mistake, or slow on real GPUs."""
    busy = {device for _, device in total.work}
    for name in devices:
        # One that the program has never put anything on was not asked for.
        asked = any(name in account.held and account.held[name].allocations for account in accounts)
        if asked and name not in busy:
            yield said("{device} holds tensors and computed nothing.", device=name)
    copied = sum(copies.parameters for copies in total.routes.values())
    between = [copies.parameters for (source, _), copies in total.routes.items() if source != "cpu"]
    if sum(between):
        moved = (
            "Parameters were copied {count} times, {back} of them from one GPU: move a model once, "
            "when it is made."
        )
        yield said(moved, count=copied, back=sum(between))
    for name in devices:
        waits = _waits(total, name)
        if waits >= _MANY_WAITS:
            waited = (
                "The program waited {count} times for {device}: .item(), .cpu() and print make it "
                "stand still until all work there is done."
            )
            yield said(waited, count=waits, device=name)


_MOST_MODULES = 20


def by_module(accounts: Sequence[Account]) -> Iterator[str]:
    """Yield what each device held when it held most, by module and kind.

    Args:
        accounts: Of the processes, with whose their memory is.
    """
    several = len(accounts) > 1
    for name in accounts[0].held if accounts else ():
        for account in accounts:
            peak = account.peaks.get(name)
            if not peak:
                continue
            text = "{device} held most, {size}, like this:"
            if several:
                text = "{device} held most for {process}, {size}, like this:"
            head = said(text, device=name, size=size(sum(peak.values())), process=account.name)
            yield f"{head}\n{_table(_peak_rows(peak))}"


def _peak_rows(peak: Peak) -> Iterator[TableRow]:
    yield _head("module", "parameters", "gradients", "activations", "optimizer state", "others")
    modules = Counter[str]()
    for owner, held in peak.items():
        modules[owner.module] += held
    # What belongs to no module stands last, before the sum.
    order = [name for name, _ in modules.most_common() if name]
    shown, rest = order[:_MOST_MODULES], order[_MOST_MODULES:]
    for name in shown:
        yield _peak_row(name, peak, {name})
    if rest:
        yield _peak_row(said("{count} more", count=len(rest)), peak, set(rest))
    yield _peak_row(said("no module"), peak, {""})
    yield _peak_row(said("in all"), peak, set(modules))


def _peak_row(name: str, peak: Peak, modules: set[str]) -> TableRow:
    held = Counter[str]()
    for owner, number in peak.items():
        held[owner.kind] += number if owner.module in modules else 0
    return (name, *(size(held[kind]) for kind in KINDS))


def size(number: int) -> str:
    """Return bytes in words: ``512 B``, ``1.5 MiB``."""
    return _scaled(number, 1024, ("B", "KiB", "MiB", "GiB", "TiB"))


def _these(devices: Sequence[str]) -> str:
    first, last = devices[0], devices[-1]
    return first if first == last else f"{first} … {last}"


def _flops(number: int) -> str:
    return _scaled(number, 1000, ("FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"))


def _scaled(number: float, step: int, units: Sequence[str]) -> str:
    for unit in units[:-1]:
        if number < step:
            return f"{number:.4g} {unit}"
        number /= step
    return f"{number:.4g} {units[-1]}"


def _devices(accounts: Sequence[Account]) -> Iterator[TableRow]:
    several = len(accounts) > 1
    head = _head("device", "kernels", "work", "peak memory", "still held", "waited for")
    yield (head[0], said("process"), *head[1:]) if several else head
    for name in accounts[0].held:
        for account in accounts:
            done = summarise(account.events)
            works = [work for (_, device), work in done.work.items() if device == name]
            memory = account.held[name]
            if several and not (works or memory.allocations):
                continue
            row = (
                str(sum(work.count for work in works)),
                _flops(sum(work.flops for work in works)),
                said("{size} of {limit}", size=size(memory.peak), limit=size(memory.limit))
                if memory.limit
                else size(memory.peak),
                size(memory.after),
                f"{_waits(done, name)}×",
            )
            yield (name, account.name, *row) if several else (name, *row)


def _waits(total: Summary, device: str) -> int:
    """Return how often the host waited for a device; a copy that blocks is a wait, too."""
    copies = total.routes.get((device, "cpu"), Copies())
    return total.waits[device] + copies.waits


def _exchanges(total: Summary) -> Iterator[TableRow]:
    yield _head("between processes", "ranks", "times", "in all", "sent by each")
    for (op, ranks), done in sorted(total.exchanges.items()):
        each = collective_bytes(op, done.bytes, len(ranks))
        many = said("{count} of them", count=len(ranks))
        between = ", ".join(map(str, ranks)) if len(ranks) <= _FEW else many
        yield op, between, str(len(done.marks)), size(done.bytes), size(round(each))


def _busy(data: Any) -> Iterator[TableRow]:
    yield (*_head("device", "busy", "of the time", "longest idle"), _from(), said("waiting for"))
    for name, work in data["devices"].items():
        share = work["busy"] / data["elapsed"] if data["elapsed"] else 0.0
        gap = next((gap for gap in data["gaps"] if gap["device"] == name), None)
        if gap is None or not work["busy"]:
            idle = "–", "–", "" if work["busy"] else said("no work came")
        else:
            cause = said("nothing more") if gap["waited"] == "end" else said(gap["for"])
            idle = _time(gap["end"] - gap["start"]), _time(gap["start"]), cause
        yield name, _time(work["busy"]), f"{100 * share:.0f} %", *idle


def _time(seconds: float) -> str:
    return _scaled(1e6 * seconds, 1000, ("µs", "ms", "s"))


def _routes(total: Summary) -> Iterator[TableRow]:
    yield _head("from", "to", "copies", "in all", "of parameters")
    for (source, target), copies in sorted(total.routes.items()):
        yield source, target, str(copies.count), size(copies.bytes), str(copies.parameters)


def _operations(total: Summary) -> Iterator[TableRow]:
    yield _head("operation", "device", "times", "work", "read and written")
    heaviest = sorted(total.work.items(), key=lambda item: (-item[1].flops, item[0]))
    for (op, device), work in heaviest[:_MOST_OPS]:
        yield op, device, str(work.count), _flops(work.flops), size(work.bytes)
    rest = Work()
    for _, work in heaviest[_MOST_OPS:]:
        rest = Work(rest.count + work.count, rest.flops + work.flops, rest.bytes + work.bytes)
    if rest.count:
        yield said("others"), "", str(rest.count), _flops(rest.flops), size(rest.bytes)


def _table(rows: Iterator[TableRow]) -> str:
    filled = list(rows)
    widths = [max(columns(row[column]) for row in filled) for column in range(len(filled[0]))]

    def padded(cell: str, column: int) -> str:
        # Words to the left, numbers to the right.
        blanks = " " * (widths[column] - columns(cell))
        left = column == 0 or not _is_number(filled[-1][column])
        return cell + blanks if left else blanks + cell

    return "\n".join(
        "  ".join(padded(cell, column) for column, cell in enumerate(row)).rstrip()
        for row in filled
    )


def _head(*words: str) -> TableRow:
    return tuple(said(word) for word in words)


def _from() -> str:
    """Return the head of a column of moments; the other language has another word for places."""
    return said("begins at") if in_korean() else said("from")


def _is_number(cell: str) -> bool:
    return cell[:1].isdigit()


def _line(event: TraceEvent) -> str:
    if isinstance(event, Kernel):
        return f"{event.device:8}  {event.op}  {_flops(event.flops)}"
    if isinstance(event, Transfer):
        shape = "×".join(map(str, event.shape)) or "number"
        what = "parameter" if event.parameter else "tensor"
        return f"{event.source} → {event.target}  {what} {shape}, {size(event.bytes)}"
    if isinstance(event, Synchronisation):
        return f"{event.device:8}  waited for ({event.why})"
    if isinstance(event, (Allocation, Release)):
        word = "takes" if isinstance(event, Allocation) else "gives back"
        return f"{event.device:8}  {word} {size(event.bytes)}"
    return ""


@dataclass(slots=True)
class _ProcessEvents:
    """A process, and how far its events have been taken in.

    Attributes:
        account: What it did.
        at: Number of its next event.
    """

    account: Account
    at: int = 0

    @property
    def next(self) -> TraceEvent | None:
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
    spans = _labelled(line.spans, owners)
    devices = sorted({device for _, device, *_ in spans.table})
    whole = Stretch(card.name, spans, 0, 0.0, line.end, devices)
    return between(whole, start, line.end).report()


def chrome_trace(accounts: Sequence[Account], card: Profile) -> str:
    """Return the joint timeline as Chrome's trace events, which Perfetto opens.

    A process of the program is a process there, a stream of a device a thread. Times are
    microseconds of the card.

    Args:
        accounts: Of the processes; their names differ.
        card: Profile of every device.
    """
    line, owners = _laid_out(accounts, card)
    processes = {name: number for number, name in enumerate(dict.fromkeys(owners), 1)}
    rows: dict[tuple[str, str, int], int] = {}
    events: list[dict[str, Any]] = []
    for span, owner in zip(line.spans, owners, strict=True):
        row = rows.setdefault((owner, span.device, span.stream), len(rows) + 1)
        copied = {"to": span.target} if span.is_copy else {}
        events.append({
            "name": span.what, "cat": span.phase, "ph": "X", "pid": processes[owner], "tid": row,
            "ts": 1e6 * span.start, "dur": 1e6 * (span.end - span.start),
            "args": {"bytes": span.bytes, "waited for": span.waited.value, **copied},
        })  # fmt: skip
    names = [
        {"name": "process_name", "ph": "M", "pid": number, "args": {"name": name}}
        for name, number in processes.items()
    ]
    names += [
        {"name": "thread_name", "ph": "M", "pid": processes[owner], "tid": row,
         "args": {"name": f"{device} {stream_name(stream)}"}}
        for (owner, device, stream), row in rows.items()
    ]  # fmt: skip
    return json.dumps({"traceEvents": [*names, *events], "displayTimeUnit": "ms"})


def _laid_out(accounts: Sequence[Account], card: Profile) -> tuple[Timeline, list[str]]:
    line, owners = Timeline(card), list[str]()
    processes = [_ProcessEvents(account) for account in accounts]
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
                # One owner a span: a single event may make several of them, or none.
                owners += [ready.account.name] * (len(line.spans) - len(owners))
                ready.at += 1
    return line, owners


def _ready(processes: Sequence[_ProcessEvents], line: Timeline) -> list[_ProcessEvents]:
    """Return the process whose turn it is: of those that wait for nobody, the one farthest back."""
    going = [process for process in processes if process.next is not None]
    free = [process for process in going if _complete(process, processes)]
    # Where all wait (one of them ended early), the first goes on without the others.
    return sorted(free or going, key=lambda process: line.reached(process.account.name))[:1]


def _complete(process: _ProcessEvents, processes: Sequence[_ProcessEvents]) -> bool:
    event = process.next
    if not isinstance(event, Collective):
        return True
    known = {each.account.rank for each in processes} & set(event.ranks)
    return len(_parts(event, processes)) == len(known)


def _parts(
    event: Collective, processes: Sequence[_ProcessEvents]
) -> list[tuple[_ProcessEvents, Collective]]:
    """Return the processes that have come to the same collective, and the part of each."""
    return [
        (process, there)
        for process in processes
        if isinstance(there := process.next, Collective) and there.exchange == event.exchange
    ]


def _labelled(spans: Spans, owners: Sequence[str]) -> Spans:
    """Return the spans on devices that bear their process's name too."""
    made = Spans()
    for number, owner in enumerate(owners):
        what, device, *rest = spans.table[spans.kinds[number]]
        kind: Any = (what, f"{device} {owner}".strip(), *rest)
        made.add(spans.starts[number], spans.ends[number], spans.after[number], kind)
    return made
