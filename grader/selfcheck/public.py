"""What of an assignment is public: the part that a starter carries, and nothing more.

Values lie in two files: their structure in JSON, with the nodes of ``grader.wire.codec``, their
tensors in a safetensors file. Tensors keep dtype and shape there where NumPy has the dtype, so that
anybody can look at them; other bytes are kept as they are. Tensors of zeros only, and copies, take
no room.

Defends against: a hidden case, check or question, the reference's text and the reference's op
counts in what students are given.
Does not defend against: a visible case whose inputs give a hidden one away; that is for the author.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import safetensors.numpy

from grader.assignment.types import Assignment, Case, Question
from grader.checks.base import Check
from grader.run.observe import QuestionRun
from grader.run.plan import PlannedQuestion
from grader.selfcheck.folder import InTheWay
from grader.verdict import Visibility
from grader.wire.codec import Decoder, Encoder, Node
from grader.wire.values import Buffer, Tensor, Value

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


PUBLIC_SEED = 0
"""Of all public inputs: everyone who takes the assignment has the same."""

_NOWHERE = Case(id="graded_later")
"""Stands where a question has no public case; no check looks at it, and it is never run."""

CaseName = tuple[str, str]
"""Question and case."""


Sealed = Mapping[str, Sequence[str]]
"""Question → sealed sentences on known mistakes, in base 85; see ``sealed``."""


@dataclass(frozen=True, slots=True)
class PublicCases:
    """Everything that a self-check needs beside the student's own files.

    Attributes:
        assignment: Its public part.
        digest: Of the assignment's files that this was made from.
        scenario: Source of the scenario file without what is hidden, or empty.
        given: Likewise of the file whose functions run beside the student's.
        support: Name of a support file → sha256 of the one that was given.
        hints: Question → what its docstring says under “Hint:”.
        plan: The inputs.
        reference: What the reference did with them, by question.
        mistakes: What authors say of known mistakes.
    """

    assignment: Assignment
    digest: str
    scenario: str
    given: str
    support: Mapping[str, str]
    hints: Mapping[str, str]
    plan: tuple[PlannedQuestion, ...]
    reference: Mapping[str, QuestionRun]
    mistakes: Sealed = field(default_factory=dict)


def public_part(assignment: Assignment, without: Collection[CaseName] = ()) -> Assignment:
    """Return an assignment without its hidden questions, checks and cases.

    A check keeps its points where all of its cases are hidden; it judges no case then.
    """
    questions = [
        _public_question(question, without)
        for question in assignment.questions
        if question.visibility is Visibility.VISIBLE
    ]
    return assignment.model_copy(update={"questions": tuple(questions)})


def public_questions(assignment: Assignment) -> tuple[str, ...]:
    """Return the questions of a public part that have a case to run."""
    return tuple(item.id for item in assignment.coded if item.cases != (_NOWHERE,))


def _public_question(question: Question, without: Collection[CaseName]) -> Question:
    kept = [
        case
        for case in question.cases
        if case.visibility is Visibility.VISIBLE and (question.id, case.id) not in without
    ]
    visible = [item for item in question.checks if item.visibility in (None, Visibility.VISIBLE)]
    names = frozenset(case.id for case in kept)
    checks = [_on_cases(check, names, {other.id for other in visible}) for check in visible]
    if question.document:
        checks = visible
    # A case that nothing public judges would be run for nothing.
    cases = tuple(case for case in kept if any(_judges(check, case) for check in checks))
    return question.model_copy(
        update={
            "cases": () if question.document else cases or (_NOWHERE,),
            "checks": tuple(checks),
            "points": sum(check.points for check in checks if not check.bonus),
        }
    )


def _on_cases(check: Check, kept: frozenset[str], visible: Collection[str]) -> Check:
    cases = check.cases if kept else ()
    requires = check.requires
    return check.model_copy(
        update={
            "cases": None if cases is None else tuple(name for name in cases if name in kept),
            "requires": requires and tuple(name for name in requires if name in visible),
        }
    )


def _judges(check: Check, case: Case) -> bool:
    return check.judges(case.id)
