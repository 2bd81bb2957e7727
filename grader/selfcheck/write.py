"""Public cases → the two files that travel with a starter. ``grader.selfcheck.read`` undoes it.

Defends against: a trace from which the way could be copied, with each kernel, each copy and each
synchronisation. What is kept is what a message to a student says anyway: the work of each device,
the copies of each direction, and the most memory in use.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from grader.checks.arrays import to_numpy
from grader.checks.counts import counts_of
from grader.checks.traces import DeviceTrace, read_trace
from grader.observation import Companions, Observation
from grader.run.plan import PlannedCase, PlannedQuestion
from grader.selfcheck.folder import CASES_FILE, TENSORS_FILE
from grader.selfcheck.public import PUBLIC_SEED, Packing, PublicCases, lines
from grader.wire.codec import Node
from grader.wire.values import Tensor, Value

_OTHER = ""
"""Stands for every operation that no check asks for; no pattern but “*” meets it."""


def patterns(planned: PlannedQuestion) -> tuple[str, ...]:
    """Return the names of operations that checks of a question ask for."""
    checks = planned.question.checks
    return tuple(dict.fromkeys(name for check in checks for name in check.operations()))


def without_the_way(value: Value, ops: Sequence[str]) -> Value:
    """Return a value in which device traces, wherever they are, tell sums only.

    Args:
        value: What the reference returned, or what a probe says of it.
        ops: Patterns of the operations that are named; all others are one.
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


SCHEMA = "torchgrade/public-cases/v1"
_OF_A_TENSOR = 250
"""Bytes that names, shape and place of a tensor take in both files."""


def to_files(public: PublicCases) -> dict[str, bytes]:
    """Return name → content of the files."""
    packing = Packing()
    questions = {
        planned.question.id: _question(planned, public, packing) for planned in public.plan
    }
    tensors = packing.tensors()
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "made_from": public.digest,
        "seed": PUBLIC_SEED,
        "assignment": public.assignment.model_dump(mode="json", by_alias=True, exclude_unset=True),
        "scenario": public.scenario,
        "given": public.given,
        "support": dict(public.support),
        "hints": dict(public.hints),
        "questions": questions,
        "mistakes": {name: list(sealed) for name, sealed in public.mistakes.items()},
        "blobs": packing.table,
        "tensors_sha256": hashlib.sha256(tensors).hexdigest(),
    }
    return {CASES_FILE: f"{lines(document)}\n".encode(), TENSORS_FILE: tensors}


def size_of(planned: PlannedCase, observation: Observation, numbers: bool) -> int:
    """Return about how many bytes of tensors a case takes.

    Args:
        planned: With its inputs.
        observation: The reference's.
        numbers: Whether a check looks at the numbers that the reference returned.
    """
    values: list[Value] = [*_generated(planned)]
    if numbers:
        values.append(observation.claims.value)
    if observation.companions is not None:
        values += [observation.companions.wide.claims.value] * 2
    return sum(_room(value) for value in values)


def needs_numbers(planned: PlannedQuestion, case: PlannedCase) -> bool:
    """Return whether a check of the case looks at the numbers that the reference returned."""
    return any(
        check.numbers
        for check in planned.question.checks
        if check.cases is None or case.case.id in check.cases
    )


def _room(value: Value) -> int:
    if isinstance(value, Tensor):
        return len(value.data) + _OF_A_TENSOR
    if isinstance(value, dict):
        return sum(_room(item) for item in value.values())
    return sum(_room(item) for item in value) if isinstance(value, (tuple, list)) else 0


def _question(planned: PlannedQuestion, public: PublicCases, packing: Packing) -> dict[str, Any]:
    run = public.reference[planned.question.id]
    ops = patterns(planned)
    cases = {}
    for case in planned.cases:
        packing.within(f"{planned.question.id}/{case.key}")
        numbers = needs_numbers(planned, case)
        cases[case.key] = {
            "digest": case.digest,
            "generated": [packing.encode(args) for args in _generated(case)],
            **_expected(_public_observation(run.observations[case.key], ops), numbers, packing),
        }
    return {"entry": run.entry, "cases": cases}


def _generated(case: PlannedCase) -> list[tuple[Value, ...]]:
    """Return the inputs that are not drawn, in the order in which a plan asks for them."""
    if case.case.generate is None:
        return []
    return [case.inputs.args, *(item.args for item in case.counted if item.grown)]


def _public_observation(seen: Observation, ops: Sequence[str]) -> Observation:
    """Return what the reference did, as far as a student may see it."""
    claims = replace(
        seen.claims,
        value=without_the_way(seen.claims.value, ops),
        probes={name: without_the_way(item, ops) for name, item in seen.claims.probes.items()},
    )
    return replace(seen, claims=claims)


def _expected(seen: Observation, numbers: bool, packing: Packing) -> dict[str, Node]:
    claims = seen.claims
    value = claims.value if numbers else blank(claims.value)
    expected: dict[str, Any] = {"value": packing.encode(value)}
    if claims.args_after is not None:
        expected["args_after"] = True
    if probes := {name: packing.encode(item) for name, item in claims.probes.items()}:
        expected["probes"] = probes
    if seen.companions is not None:
        wide, moved = _envelope(seen.companions)
        expected["wide"], expected["moved"] = packing.encode(wide), packing.encode(moved)
    if counted := {name: _counts(item) for name, item in seen.counted.items()}:
        expected["counted"] = counted
    return expected


def _counts(seen: Observation) -> list[int] | None:
    """Return what checks read of the reference's counts; which operations ran would tell how."""
    counts = counts_of(seen)
    return None if counts is None else [counts.work, counts.greatest]


def blank(value: Value) -> Value:
    """Return a value with zeros for the numbers of its tensors; layout and form stay."""
    if isinstance(value, Tensor):
        return replace(value, data=bytes(len(value.data)))
    if isinstance(value, (tuple, list)):
        return type(value)(blank(item) for item in value)
    if isinstance(value, dict):
        return {key: blank(item) for key, item in value.items()}
    return value


def _envelope(runs: Companions) -> tuple[Value, Value]:
    """Return the reference in float64, and one answer that is as far from it as any moved one."""
    wide = runs.wide.claims.value
    return wide, _farthest(wide, [run.claims.value for run in runs.perturbed])


def _farthest(wide: Any, moved: Sequence[Any]) -> Any:
    if isinstance(wide, Tensor):
        centre = to_numpy(wide)
        if centre.dtype.kind != "f":
            return wide
        spread = np.max([np.abs(to_numpy(item) - centre) for item in moved], axis=0)
        return replace(wide, data=(centre + spread).astype("<f8").tobytes())
    if isinstance(wide, float):
        return wide + max(abs(item - wide) for item in moved)
    if isinstance(wide, (tuple, list)):
        pairs = zip(wide, *moved, strict=True)
        return type(wide)(_farthest(item, others) for item, *others in pairs)
    if isinstance(wide, dict):
        return {key: _farthest(item, [run[key] for run in moved]) for key, item in wide.items()}
    return wide
