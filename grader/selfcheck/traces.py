"""What a starter tells of the reference's devices: what checks compare, and not how it was done.

Defends against: a trace from which the way could be copied, with each kernel, each copy and each
synchronisation. What is kept is what a message to a student says anyway: the work of each device,
the copies of each direction, and the most memory in use.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from grader.checks.ran_on import RanOn
from grader.checks.traces import DeviceTrace, read_trace
from grader.run.plan import PlannedQuestion
from grader.wire.values import Value

_OTHER = ""
"""Stands for every operation that no check asks for; no pattern but “*” meets it."""


def patterns(planned: PlannedQuestion) -> tuple[str, ...]:
    """Return the names of operations that checks of a question ask for."""
    asked = (check.ops for check in planned.question.checks if isinstance(check, RanOn))
    return tuple(dict.fromkeys(pattern for ops in asked for pattern in ops))


def without_the_way(value: Value, ops: Sequence[str]) -> Value:
    """Return a value in which device traces, wherever they are, tell sums only.

    Args:
        value: What the reference returned, or what a probe told of it.
        ops: Patterns of the operations that are told apart from others.
    """
    trace = read_trace(value)
    if trace is not None:
        return _sums(trace, ops)
    if isinstance(value, dict):
        return {key: without_the_way(item, ops) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(without_the_way(item, ops) for item in value)
    return value


def _sums(trace: DeviceTrace, ops: Sequence[str]) -> Value:
    flops: dict[tuple[str, str], int] = {}
    for item in trace.work:
        row = _label(item.op, ops), item.device
        flops[row] = flops.get(row, 0) + item.flops
    return {
        "devices": list(trace.devices),
        "kernels": [
            {"op": op, "device": device, "count": 0, "flops": number, "bytes": 0}
            for (op, device), number in sorted(flops.items())
        ],
        "transfers": [
            {
                "source": route.source, "target": route.target, "count": route.count,
                "bytes": route.bytes, "parameters": 0,
            }
            for route in trace.routes
        ],
        "memory": {name: {"peak": peak} for name, peak in trace.peaks.items()},
    }  # fmt: skip


def _label(op: str, ops: Sequence[str]) -> str:
    """Return a pattern in place of an operation's name where that meets the same patterns."""
    met = _met(op, ops)
    return next((pattern for pattern in met if _met(pattern, ops) == met), op if met else _OTHER)


def _met(name: str, ops: Sequence[str]) -> list[str]:
    return [pattern for pattern in ops if fnmatchcase(name, pattern)]
