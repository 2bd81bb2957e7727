"""Public cases → the two files that travel with a starter. ``grader.selfcheck.read`` undoes it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grader.checks.arrays import to_numpy
from grader.checks.counts import counts_of
from grader.observation import Companions, Observation
from grader.run.plan import PlannedCase, PlannedQuestion
from grader.selfcheck.pack import Packing, lines
from grader.selfcheck.public import CASES_FILE, PUBLIC_SEED, TENSORS_FILE, PublicCases
from grader.selfcheck.traces import patterns, without_the_way
from grader.wire.codec import Node
from grader.wire.values import Tensor, Value

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
            **_expected(_told(run.observations[case.key], ops), numbers, packing),
        }
    return {"entry": run.entry, "cases": cases}


def _generated(case: PlannedCase) -> list[tuple[Value, ...]]:
    """Return the inputs that are not drawn, in the order in which a plan asks for them."""
    if case.case.generate is None:
        return []
    return [case.inputs.args, *(item.args for item in case.counted if item.grown)]


def _told(seen: Observation, ops: Sequence[str]) -> Observation:
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
