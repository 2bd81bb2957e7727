"""What a student is shown of a failed check: a timeline of devices, and where a tensor is wrong.

Both are drawn from what was observed of their own code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

import numpy as np

from grader.checks.arrays import Array, to_numpy
from grader.checks.base import Check, UnfitCaseError
from grader.checks.compare_trees import NoItemError, item_of, leaves
from grader.checks.overlap import DeviceTimeline
from grader.checks.placement import Placed
from grader.checks.traces import DeviceTrace
from grader.observation import Observation, Outcome
from grader.report.html.self_check import Heat
from grader.report.messages.catalogue import current
from grader.report.model import CheckResult, QuestionResult
from grader.run.observe import QuestionRun
from grader.run.plan import PlannedCase
from grader.selfcheck.workplace import Workplace
from grader.verdict import Code, Message, Param, plain
from grader.wire.values import Tensor

SIGNS = {"forward": "█", "backward": "▒", "copy": "→", "": "·"}
"""What a device did for most of a stretch; nothing, last."""
_COLUMNS = 56


def bars_of(timing: DeviceTimeline) -> Iterator[tuple[str, str]]:
    """Yield device and bar, the devices in order; none where the timeline has no length."""
    step = timing.elapsed / _COLUMNS
    if step <= 0:
        return
    for device in timing.busy:
        rows = [row for row in timing.rows if row[0] == device]
        yield device, "".join(_sign(rows, step * n, step) for n in range(_COLUMNS))


def _sign(rows: list[tuple[str, float, float, str]], start: float, step: float) -> str:
    spent = dict.fromkeys(SIGNS, 0.0)
    for _, first, last, sort in rows:
        if sort in spent:
            spent[sort] += max(0.0, min(last, start + step) - max(first, start))
    spent[""] = step - sum(spent.values())
    return SIGNS[max(spent, key=lambda sort: spent[sort])]


_ON_DEVICES = (
    Code.WRONG_DEVICE, Code.WRONG_TRANSFERS, Code.RAN_ELSEWHERE, Code.TOO_MUCH_MEMORY,
    Code.NOT_OVERLAPPED,
)  # fmt: skip


def device_lines(
    question: QuestionResult, place: Workplace, seen: Mapping[str, QuestionRun]
) -> dict[str, tuple[str, ...]]:
    """Return check → lines on what lay, ran and went where, and when, where it was wrong."""
    planned = next((item for item in place.public.plan if item.question.id == question.id), None)
    if planned is None or question.id not in seen:
        return {}
    checks = {check.id: check for check in planned.question.checks}
    keys = {case.case.id: case.key for case in reversed(planned.cases)}
    found = {}
    for result in question.checks:
        if result.code in _ON_DEVICES and result.case in keys:
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
    did = check.devices_in(seen)
    if isinstance(did, DeviceTrace):
        yield _say("happened")
        yield from _work(did)
        yield from _routes(did)
    elif isinstance(did, DeviceTimeline):
        yield from _bars(did)
    elif isinstance(did, list) and did:
        yield _say("lay")
        yield from _places(did)


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


def _bars(timing: DeviceTimeline) -> Iterator[str]:
    forward, backward, copy, idle = SIGNS.values()
    milliseconds = 1e3 * timing.elapsed
    yield _say(
        "timeline", forward=forward, backward=backward, copy=copy, idle=idle, elapsed=milliseconds
    )
    for device, bar in bars_of(timing):
        yield f"{plain(device)}  {bar}"


def _say(message: str, **params: Param) -> str:
    return current().render(Message(message, params))


_PICTURED = (Code.WRONG_VALUE, Code.NOT_FINITE)


def pictures(
    question: QuestionResult, place: Workplace, seen: Mapping[str, QuestionRun]
) -> dict[str, Heat]:
    """Return check → picture, for the checks of a question that found wrong numbers."""
    public = place.public
    planned = next((item for item in public.plan if item.question.id == question.id), None)
    if planned is None or question.id not in seen:
        return {}
    checks = {check.id: check for check in planned.question.checks}
    found = {}
    for result in question.checks:
        if result.code not in _PICTURED:
            continue
        for case in (item for item in planned.cases if item.case.id == result.case):
            reference = public.reference[question.id].observations[case.key]
            own = seen[question.id].observations.get(case.key)
            heat = own and heat_of(checks[result.id], result, case, (reference, own))
            if heat:
                found[result.id] = heat
                break
    return found


def heat_of(
    check: Check, result: CheckResult, case: PlannedCase, pair: tuple[Observation, Observation]
) -> Heat | None:
    """Return the picture of one case; None where nothing in it can be shown to be wrong.

    Args:
        check: The rule.
        result: What it found.
        case: With the inputs.
        pair: What the reference did with them, and what the submission did.
    """
    if pair[1].outcome is not Outcome.COMPLETED:
        return None
    where = str(result.params.get("where", "result"))
    try:
        if check.item is not None:
            pair = item_of(pair[0], check.item), item_of(pair[1], check.item)
            where = "result" + where.removeprefix(check.item)
        arrays = _arrays(check, case, pair, where)
    except (UnfitCaseError, NoItemError):
        return None
    if arrays is None or arrays[0].shape != arrays[1].shape or not arrays[0].size:
        return None
    actual, expected, allowed = (_wide(array) for array in arrays)
    with np.errstate(all="ignore"):
        # Not “>”: a difference that is NaN is never allowed. The next line lets off two NaNs, and
        # equal infinities.
        wrong = ~(np.abs(actual - expected) <= allowed)
        wrong &= ~(np.isnan(actual) & np.isnan(expected)) & (actual != expected)
    return Heat(case.case.id, where, actual, expected, wrong) if wrong.any() else None


def _arrays(
    check: Check, case: PlannedCase, pair: tuple[Observation, Observation], where: str
) -> tuple[Array, Array, Array] | None:
    """Return what was returned, what is right, and by how much they may differ."""
    reference, own = pair
    leaf = next(
        (leaf for leaf in leaves(own.claims.value, reference.claims.value) if leaf.where == where),
        None,
    )
    if leaf is None or not isinstance(leaf.actual, Tensor):
        return None
    right = check.margin(case.inputs, reference, where)
    return None if right is None else (to_numpy(leaf.actual), *right)


def _wide(array: Any) -> Array:
    wide: Array = np.abs(array) if np.iscomplexobj(array) else np.asarray(array, np.float64)
    return wide
