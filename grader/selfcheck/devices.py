"""What a student's code did on the devices, told where a check of that failed: their own trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from grader.checks.base import Check
from grader.checks.findings import plain
from grader.checks.items import NoItemError, item_of
from grader.checks.overlap import Overlap
from grader.checks.placement import Placed, Placement, placed_in
from grader.checks.timelines import Timing, read_timing
from grader.checks.traced import Traced
from grader.checks.traces import DeviceTrace, trace_of
from grader.observation import Observation, Outcome
from grader.report.language import current
from grader.report.model import QuestionResult
from grader.run.observe import QuestionRun
from grader.selfcheck.bars import SIGNS, bars_of
from grader.selfcheck.folder import Workplace
from grader.verdict import Code, Message, Param

_TOLD = (
    Code.WRONG_DEVICE, Code.WRONG_TRANSFERS, Code.RAN_ELSEWHERE, Code.TOO_MUCH_MEMORY,
    Code.NOT_OVERLAPPED,
)  # fmt: skip


def device_lines(
    question: QuestionResult, place: Workplace, seen: Mapping[str, QuestionRun]
) -> dict[str, tuple[str, ...]]:
    """Return check → lines on what lay, ran and went where, and when, where that was found wrong.

    Args:
        question: As it was reported.
        place: With the public cases.
        seen: What the submission did, by question id.
    """
    planned = next((item for item in place.public.plan if item.question.id == question.id), None)
    if planned is None or question.id not in seen:
        return {}
    checks = {check.id: check for check in planned.question.checks}
    keys = {case.case.id: case.key for case in reversed(planned.cases)}
    found = {}
    for result in question.checks:
        if result.code in _TOLD and result.case in keys:
            own = seen[question.id].observations.get(keys[result.case])
            if lines := tuple(_lines(checks[result.id], own)):
                found[result.id] = lines
    return found


def _lines(check: Check, own: Observation | None) -> Iterator[str]:
    if own is None or own.outcome is not Outcome.COMPLETED:
        return
    try:
        seen = own if check.item is None else item_of(own, check.item)
    except NoItemError:
        return
    if isinstance(check, Placement) and (placed := placed_in(seen.claims.value)):
        yield _say("lay")
        yield from _places(placed)
    elif isinstance(check, Traced):
        trace = trace_of(seen, check.item is not None)
        if trace is not None:
            yield _say("happened")
            yield from _work(trace)
            yield from _routes(trace)
    elif isinstance(check, Overlap):
        timing = read_timing(seen.claims.value)
        if timing is not None:
            yield from _bars(timing)


def _places(placed: list[Placed]) -> Iterator[str]:
    def where(item: Placed) -> tuple[str, str]:
        return item.device, item.kind

    for (device, kind), group in groupby(sorted(placed, key=where), where):
        items = list(group)
        names: list[Param] = [item.name for item in items]
        total = sum(item.bytes for item in items)
        yield _say("lay_there", device=device, what=kind, names=names, bytes=total)


def _work(trace: DeviceTrace) -> Iterator[str]:
    for device in sorted({*trace.devices, *(item.device for item in trace.work)}):
        rows = sorted(
            (item for item in trace.work if item.device == device), key=lambda item: -item.flops
        )
        ops: list[Param] = [f"{item.op} × {item.count}" for item in rows]
        peak = trace.peaks.get(device)
        if ops:
            yield _say("ran_there", device=device, ops=ops, peak=peak)
        else:
            yield _say("idle_there", device=device)


def _routes(trace: DeviceTrace) -> Iterator[str]:
    for item in trace.routes:
        yield _say(
            "went", source=item.source, target=item.target, count=item.count, bytes=item.bytes
        )
    if not trace.routes:
        yield _say("nothing_went")


def _bars(timing: Timing) -> Iterator[str]:
    forward, backward, copy, idle = SIGNS.values()
    milliseconds = 1e3 * timing.elapsed
    yield _say(
        "timeline", forward=forward, backward=backward, copy=copy, idle=idle, elapsed=milliseconds
    )
    for device, bar in bars_of(timing):
        yield f"{plain(device)}  {bar}"


def _say(message: str, **params: Param) -> str:
    return current().render(Message(message, params))
