"""The two files that travel with a starter → public cases."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from grader.assignment.types import Assignment, Question
from grader.checks.base import Probe
from grader.observation import Claims, Companions, Observation, Outcome
from grader.run.observe import QuestionRun
from grader.run.plan import PlannedCase, PlannedQuestion, make_plan
from grader.selfcheck.folder import CASES_FILE, TENSORS_FILE, InTheWay
from grader.selfcheck.public import PUBLIC_SEED, PublicCases, public_questions, unpacking
from grader.selfcheck.write import SCHEMA
from grader.wire.codec import Decoder
from grader.wire.values import ProtocolError, Value

_NO_COUNTS: dict[Value, Value] = {
    "events": 0, "lines": [], "calls": {}, "ops": {}, "under": {}, "bare": 0, "escapes": {},
    "threads": 0,
}  # fmt: skip


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
    except (
        AssertionError, AttributeError, IndexError, ProtocolError, TypeError,
        ValueError,
    ) as error:  # fmt: skip
        raise InTheWay("file_damaged", file=str(folder / CASES_FILE), reason=_why(error)) from None


def _why(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"assignment.{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error) or "not what belongs there"


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
        self.observation = replace(seen, companions=companions, counted=counted)


def _returned(value: Value) -> Observation:
    return Observation(Outcome.COMPLETED, claims=Claims(value))


def _counted(found: list[int] | None) -> Observation:
    if found is None:
        return _returned(None)
    work, greatest = found
    counts: Value = {**_NO_COUNTS, "work": work, "greatest": greatest}
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
