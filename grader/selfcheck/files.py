"""The two files that travel with a starter: public cases written as they are, and read back.

Values lie in both: their structure in JSON, with the nodes of ``grader.wire.codec``, their tensors
in a safetensors file. Tensors keep dtype and shape there where NumPy has the dtype, so that anybody
can look at them; other bytes are kept as they are. Tensors of zeros only, and copies, take no room.

What may stand in them is decided in ``grader.selfcheck.public``. Nothing is left out here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from pydantic import ValidationError

from grader.assignment.types import Assignment, Question
from grader.observation import Claims, Companions, Observation, Outcome
from grader.run.observe import QuestionRun
from grader.run.plan import PlannedCase, PlannedQuestion, make_plan
from grader.selfcheck.folder import CASES_FILE, TENSORS_FILE, InTheWay
from grader.selfcheck.public import (
    PUBLIC_SEED,
    PublicCases,
    counted_call,
    greatest_of,
    public_questions,
    returned_call,
)
from grader.wire.codec import Decoder, Encoder, Node
from grader.wire.tree import tensors
from grader.wire.values import Buffer, ProtocolError, Tensor, Value

SCHEMA = "torchgrade/public-cases/v1"
_OF_A_TENSOR = 250
"""Bytes that names, shape and place of a tensor take in both files."""
Blob = tuple[int, "str | None"]
"""Length in bytes, and the tensor that holds them; None for zeros only."""

_NUMPY = frozenset({
    "bool", "uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16",
    "float32", "float64",
})  # fmt: skip


class Packing(Encoder):
    """Collects the tensors of the values that it encodes."""

    def __init__(self) -> None:
        super().__init__()
        self.table: list[Blob] = []
        self._names: dict[bytes, str] = {}
        self._arrays: dict[str, np.ndarray[Any, Any]] = {}
        self._prefix = ""
        self._tensor: Tensor | None = None

    def within(self, prefix: str) -> None:
        """Name the tensors of what follows ``prefix/0``, ``prefix/1`` ….

        Args:
            prefix: Such as ``question/case``.
        """
        self._prefix = prefix

    def encode(self, value: Value, depth: int = 0) -> Node:
        """See ``Encoder.encode``."""
        self._tensor = value if isinstance(value, Tensor) else None
        return super().encode(value, depth)

    def blob(self, data: Buffer) -> int:
        """See ``Encoder.blob``."""
        content = bytes(data)
        # Zeros are told by their number alone: blanked answers would else fill the starter.
        self.table.append((len(content), self._kept(content) if any(content) else None))
        return len(self.table) - 1

    def tensors(self) -> bytes:
        """Return the safetensors file."""
        return safetensors.numpy.save(self._arrays)

    def _kept(self, content: bytes) -> str:
        key = hashlib.sha256(content).digest()
        if key not in self._names:
            number = sum(name.startswith(f"{self._prefix}/") for name in self._arrays)
            self._names[key] = f"{self._prefix}/{number}"
            self._arrays[self._names[key]] = _array(content, self._tensor)
        return self._names[key]


def _array(content: bytes, tensor: Tensor | None) -> np.ndarray[Any, Any]:
    if tensor is None or tensor.dtype not in _NUMPY:
        return np.frombuffer(content, np.uint8)
    return np.frombuffer(content, np.dtype(tensor.dtype).newbyteorder("<")).reshape(tensor.shape)


def unpacking(table: Sequence[Blob], tensors: bytes, file: str) -> Decoder:
    """Return what turns the nodes back into values.

    Raises:
        InTheWay: The file is damaged, or lacks a tensor.
    """
    try:
        arrays = safetensors.numpy.load(tensors)
        parts = [
            bytes(length) if name is None else arrays[name].tobytes() for length, name in table
        ]
    except (safetensors.SafetensorError, KeyError) as error:
        raise InTheWay("file_damaged", file=file, reason=str(error)) from None
    return Decoder([length for length, _ in table], memoryview(b"".join(parts)))


def lines(document: dict[str, Any], depth: int = 2) -> str:
    """Return JSON with a line for each entry down to ``depth``, and no more.

    Small enough to keep, and a change shows in the line that it is in.
    """
    if depth == 0 or not isinstance(document, dict) or not document:
        return json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    parts = (f"{json.dumps(key)}: {lines(value, depth - 1)}" for key, value in document.items())
    return "{\n" + ",\n".join(parts) + "\n}"


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


def _question(planned: PlannedQuestion, public: PublicCases, packing: Packing) -> dict[str, Any]:
    run = public.reference[planned.question.id]
    cases = {}
    for case in planned.cases:
        packing.within(f"{planned.question.id}/{case.key}")
        cases[case.key] = {
            "digest": case.digest,
            "generated": [packing.encode(args) for args in _generated(case)],
            **_expected(run.observations[case.key], packing),
        }
    return {"entry": run.entry, "cases": cases}


def _generated(case: PlannedCase) -> list[tuple[Value, ...]]:
    """Return the inputs that are not drawn, in the order in which a plan asks for them."""
    if case.case.generate is None:
        return []
    return [case.inputs.args, *(item.args for item in case.counted)]


def _expected(seen: Observation, packing: Packing) -> dict[str, Node]:
    claims = seen.claims
    expected: dict[str, Any] = {"value": packing.encode(claims.value)}
    if claims.args_after is not None:
        expected["args_after"] = True
    if probes := {name: packing.encode(item) for name, item in claims.probes.items()}:
        expected["probes"] = probes
    if seen.companions is not None:
        wide, (moved,) = seen.companions.wide, seen.companions.perturbed
        expected["wide"], expected["moved"] = map(
            packing.encode, (wide.claims.value, moved.claims.value)
        )
    if counted := {name: greatest_of(item) for name, item in seen.counted.items()}:
        expected["counted"] = counted
    if seen.shown:
        expected["shown"] = list(seen.shown)
    return expected


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
            wide, moved = (returned_call(decoder.decode(item[name])) for name in ("wide", "moved"))
            companions = Companions(wide, (moved,))
        self.observation = replace(
            seen,
            companions=companions,
            counted={name: counted_call(found) for name, found in item.get("counted", {}).items()},
            shown=tuple(item.get("shown", ())),
        )


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
