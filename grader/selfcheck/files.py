"""The two files that travel with a starter: written from public cases, and read back.

Defends against: a trace from which the way could be copied, with each kernel, each copy and each
synchronisation. What is kept is what a message to a student says anyway: the work of each device,
the copies of each direction, and the most memory in use.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from grader.assignment.types import Assignment, Question
from grader.checks.arrays import to_numpy
from grader.checks.base import Probe
from grader.checks.counts import counts_of
from grader.checks.proved import shows
from grader.checks.traces import DeviceTrace, read_trace
from grader.observation import Claims, Companions, Observation, Outcome
from grader.run.observe import QuestionRun
from grader.run.plan import PlannedCase, PlannedQuestion, checks_on, make_plan
from grader.selfcheck.folder import CASES_FILE, TENSORS_FILE, InTheWay
from grader.selfcheck.public import (
    PUBLIC_SEED,
    Packing,
    PublicCases,
    lines,
    public_questions,
    unpacking,
)
from grader.wire.codec import Decoder, Node
from grader.wire.tree import combine, map_leaves, map_tensors, tensors
from grader.wire.values import ProtocolError, Tensor, Value

SCHEMA = "torchgrade/public-cases/v1"
_OF_A_TENSOR = 250
"""Bytes that names, shape and place of a tensor take in both files."""
_NO_COUNTS: dict[Value, Value] = {
    "events": 0, "lines": [], "calls": {}, "ops": {}, "under": {}, "bare": 0, "escapes": {},
}  # fmt: skip
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

    def leaf(part: Value) -> Value:
        trace = read_trace(part)
        return part if trace is None else _sums(trace, ops)

    return map_leaves(leaf, value, whole=lambda part: read_trace(part) is not None)


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
    return sum(len(tensor.data) + _OF_A_TENSOR for tensor in tensors(values))


def needs_numbers(planned: PlannedQuestion, case: PlannedCase) -> bool:
    """Return whether a check of the case looks at the numbers that the reference returned."""
    return any(check.numbers for check in planned.question.checks if check.judges(case.case.id))


def _question(planned: PlannedQuestion, public: PublicCases, packing: Packing) -> dict[str, Any]:
    run = public.reference[planned.question.id]
    ops = patterns(planned)
    cases = {}
    for case in planned.cases:
        packing.within(f"{planned.question.id}/{case.key}")
        numbers = needs_numbers(planned, case)
        seen = run.observations[case.key]
        cases[case.key] = {
            "digest": case.digest,
            "generated": [packing.encode(args) for args in _generated(case)],
            **_expected(_public_observation(seen, ops), numbers, packing),
        }
        checks = checks_on(planned.question, case.case)
        shown: list[Node] = [check.id for check in checks if shows(check, case.inputs, seen)]
        if shown:
            cases[case.key]["shown"] = shown
    return {"entry": run.entry, "cases": cases}


def _generated(case: PlannedCase) -> list[tuple[Value, ...]]:
    """Return the inputs that are not drawn, in the order in which a plan asks for them."""
    if case.case.generate is None:
        return []
    return [case.inputs.args, *(item.args for item in case.counted)]


def _public_observation(seen: Observation, ops: Sequence[str]) -> Observation:
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


def _counts(seen: Observation) -> int | None:
    # The one number that checks read: which operations ran would tell a student how.
    counts = counts_of(seen)
    return None if counts is None else counts.greatest


def blank(value: Value) -> Value:
    """Return a value with zeros for the numbers of its tensors; layout and form stay."""
    return map_tensors(lambda tensor: replace(tensor, data=bytes(len(tensor.data))), value)


def _envelope(runs: Companions) -> tuple[Value, Value]:
    """Return the reference in float64, and one answer that is as far from it as any moved one."""
    wide = runs.wide.claims.value
    return wide, combine(_farthest, wide, *(run.claims.value for run in runs.perturbed))


def _farthest(wide: Any, *moved: Any) -> Any:
    if isinstance(wide, Tensor):
        centre = to_numpy(wide)
        if centre.dtype.kind != "f":
            return wide
        spread = np.max([np.abs(to_numpy(item) - centre) for item in moved], axis=0)
        return replace(wide, data=(centre + spread).astype("<f8").tobytes())
    return wide + max(abs(item - wide) for item in moved) if isinstance(wide, float) else wide


def read_public(folder: Path) -> PublicCases:
    """Read the public cases of a starter folder.

    Raises:
        InTheWay: A file is missing or damaged, or of another version.
    """
    document = _document(folder / CASES_FILE)
    tensors = _bytes(folder / TENSORS_FILE)
    try:
        if hashlib.sha256(tensors).hexdigest() != document["tensors_sha256"]:
            raise InTheWay("tensors_differ", tensors=str(folder / TENSORS_FILE), file=CASES_FILE)
        decoder = unpacking(document["blobs"], tensors, str(folder / TENSORS_FILE))
        return _public(document, decoder)
    except KeyError as error:
        lacking = str(error.args[0]) if error.args else ""
        raise InTheWay("file_lacks", file=str(folder / CASES_FILE), what=lacking) from None
    except ValidationError as error:
        first = error.errors()[0]
        reason = f"assignment.{'.'.join(map(str, first['loc']))}: {first['msg']}"
        where = str(folder / CASES_FILE)
        raise InTheWay("file_not_of_here", file=where, reason=reason) from None
    except (
        AssertionError, AttributeError, IndexError, ProtocolError, TypeError,
        ValueError,
    ) as error:  # fmt: skip
        reason = str(error) or "not what belongs there"
        raise InTheWay("file_damaged", file=str(folder / CASES_FILE), reason=reason) from None


def _document(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(_bytes(path))
    except ValueError as error:
        raise InTheWay("file_damaged", file=str(path), reason=str(error)) from None
    found = document.get("schema") if isinstance(document, dict) else None
    if found != SCHEMA:
        raise InTheWay("other_version", file=str(path), found=str(found), wanted=SCHEMA)
    return document  # type: ignore[no-any-return]


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InTheWay("file_unreadable", file=str(path), reason=str(error.strerror)) from None


def _public(document: dict[str, Any], decoder: Decoder) -> PublicCases:
    for question in document["assignment"].get("questions", ()):
        question.get("needs", {}).pop("scratch", None)  # in older starters; it meant nothing
    content = json.dumps(document["assignment"])
    assignment = Assignment.model_validate_json(content, strict=True)
    kept = {
        question: {key: _PublicCase(case, decoder) for key, case in item["cases"].items()}
        for question, item in document["questions"].items()
    }
    plan = _plan(assignment, kept)
    mistakes = document.get("mistakes", {})  # older starters have none
    runs = {
        question: QuestionRun(
            document["questions"][question]["entry"],
            None,
            None,
            {key: case.observation for key, case in cases.items()},
        )
        for question, cases in kept.items()
    }
    return PublicCases(
        assignment,
        str(document["made_from"]),
        str(document["scenario"]),
        str(document.get("given", "")),
        dict(document["support"]),
        dict(document["hints"]),
        plan,
        runs,
        {name: [str(item) for item in sealed] for name, sealed in mistakes.items()},
    )


class _PublicCase:
    """One case as it was kept."""

    def __init__(self, item: dict[str, Any], decoder: Decoder) -> None:
        self.digest: str = item["digest"]
        # In the order in which they were written: a blob is read once.
        self.generated: list[Value] = [decoder.decode(node) for node in item["generated"]]
        value = decoder.decode(item["value"])
        after = () if item.get("args_after") else None
        probes = {name: decoder.decode(node) for name, node in item.get("probes", {}).items()}
        seen = Observation(Outcome.COMPLETED, claims=Claims(value, after, None, probes))
        companions = None
        if "wide" in item:
            wide, moved = (_returned(decoder.decode(item[name])) for name in ("wide", "moved"))
            companions = Companions(wide, (moved,))
        counted = {name: _counted(found) for name, found in item.get("counted", {}).items()}
        shown = tuple(item.get("shown", ()))
        self.observation = replace(seen, companions=companions, counted=counted, shown=shown)


def _returned(value: Value) -> Observation:
    return Observation(Outcome.COMPLETED, claims=Claims(value))


def _counted(greatest: int | None) -> Observation:
    if greatest is None:
        return _returned(None)
    counts: Value = {**_NO_COUNTS, "greatest": greatest}
    return Observation(Outcome.COMPLETED, claims=Claims(probes={Probe.COUNTING.value: counts}))


def _plan(
    assignment: Assignment, kept: Mapping[str, Mapping[str, _PublicCase]]
) -> tuple[PlannedQuestion, ...]:
    """Draw the inputs again; what the reference's file made comes from what was kept."""
    waiting: dict[str, list[Value]] = {}
    for question, cases in kept.items():
        for key, item in cases.items():
            waiting.setdefault(f"{question}.{key.split('#')[0]}", []).extend(item.generated)

    def generate(where: str, _: str, __: dict[str, Value]) -> tuple[Value, ...]:
        args = waiting[where].pop(0)
        assert isinstance(args, tuple)
        return args

    ids = public_questions(assignment)
    questions = [
        _with_kept(item, kept[item.id])
        for item in assignment.questions
        if item.id in ids and kept.get(item.id)
    ]
    plan = make_plan(assignment, questions, PUBLIC_SEED, generate)
    for planned in plan:
        _same_inputs(planned.question.id, planned.cases, kept[planned.question.id])
    return plan


def _with_kept(question: Question, kept: Mapping[str, _PublicCase]) -> Question:
    """Return a question without the cases of which nothing was kept; grading has them."""
    names = {key.split("#")[0] for key in kept}
    cases = tuple(case for case in question.cases if case.id in names)
    return question.model_copy(update={"cases": cases})


def _same_inputs(
    question: str, cases: tuple[PlannedCase, ...], kept: Mapping[str, _PublicCase]
) -> None:
    for case in cases:
        if kept[case.key].digest != case.digest:
            raise InTheWay("other_inputs", question=question, case=case.key)
