"""What of an assignment is public: the part that a starter carries, and nothing more.

``public_part`` takes the assignment, ``public_runs`` what the reference did with its public cases.
What comes out of both is written and read as it is (``grader.selfcheck.files``).

Defends against, in what students are given:

* a hidden case, check or question, and the reference's text;
* operations and lines that were counted of the reference;
* a trace from which the way could be copied, with each kernel, each copy and each synchronisation.
  What is kept is what a message to a student says anyway: the work of each device, the copies of
  each direction, and the most memory in use.

Does not defend against: a visible case whose inputs give a hidden one away; that is for the author.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from grader.assignment.types import Assignment, Case, Question
from grader.checks.arrays import to_numpy
from grader.checks.base import Check, Probe
from grader.checks.compare_trees import NoItemError, item_of
from grader.checks.counts import counts_of
from grader.checks.proved import shows
from grader.checks.traces import DeviceTrace, read_trace
from grader.observation import Claims, Companions, Observation, Outcome
from grader.run.observe import QuestionRun
from grader.run.plan import PlannedCase, PlannedQuestion, checks_on
from grader.verdict import Visibility
from grader.wire.tree import combine, map_leaves
from grader.wire.values import Tensor, Value

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
        reference: What students may have of what the reference did with them, by question.
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


def public_runs(
    plan: Sequence[PlannedQuestion], reference: Mapping[str, QuestionRun]
) -> dict[str, QuestionRun]:
    """Return of what the reference did what students may have, and no more.

    Right values, but for numbers that no check looks at; of devices sums, of counts the one number
    that checks read; of runs in another precision how far apart they may be. Nothing that a clock
    measured, and nothing of the reference's source.

    Args:
        plan: The public inputs.
        reference: What the reference did with them, by question id.
    """
    return {
        planned.question.id: _public_run(planned, reference[planned.question.id])
        for planned in plan
    }


def _public_run(planned: PlannedQuestion, run: QuestionRun) -> QuestionRun:
    seen = {case.key: _public(planned, case, run.observations[case.key]) for case in planned.cases}
    return QuestionRun(run.entry, None, None, seen)


def _public(planned: PlannedQuestion, case: PlannedCase, seen: Observation) -> Observation:
    claims, ops = seen.claims, patterns(planned)
    value = without_the_way(claims.value, ops)
    checks = checks_on(planned.question, case.case)
    return Observation(
        Outcome.COMPLETED,
        claims=Claims(
            blank(value, items_with_numbers(planned, case)),
            None if claims.args_after is None else (),
            None,
            {name: without_the_way(item, ops) for name, item in claims.probes.items()},
        ),
        companions=None if seen.companions is None else _envelope(seen.companions),
        counted={name: counted_call(greatest_of(item)) for name, item in seen.counted.items()},
        shown=tuple(check.id for check in checks if shows(check, case.inputs, seen)),
    )


def greatest_of(seen: Observation) -> int | None:
    """Return the one number that checks read of a counted call; None where nothing was counted."""
    counts = counts_of(seen)
    return None if counts is None else counts.greatest


def counted_call(greatest: int | None) -> Observation:
    """Return a counted call of which no more is known: operations would tell a student how."""
    if greatest is None:
        return returned_call(None)
    counts: Value = {**_NO_COUNTS, "greatest": greatest}
    return Observation(Outcome.COMPLETED, claims=Claims(probes={Probe.COUNTING.value: counts}))


def returned_call(value: Value) -> Observation:
    """Return a call of which its result alone is known."""
    return Observation(Outcome.COMPLETED, claims=Claims(value))


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


def items_with_numbers(planned: PlannedQuestion, case: PlannedCase) -> frozenset[str]:
    """Return the items of a result whose numbers a check of the case looks at; ``""`` for all."""
    checks = planned.question.checks
    looking = (check for check in checks if check.numbers and check.judges(case.case.id))
    return frozenset(check.item or "" for check in looking)


def has_numbers(planned: PlannedQuestion, case: PlannedCase, item: str) -> bool:
    """Return whether the numbers of an item are public; of a whole result where it is empty."""
    known = items_with_numbers(planned, case)
    return any(not each or f"{item}.".startswith(f"{each}.") for each in known)


def blank(value: Value, beside: Collection[str] = ()) -> Value:
    """Return a value with zeros for the numbers of its tensors; layout and form stay.

    What no check looks at can be anything, such as memory that the reference's process had used
    for its own text before.

    Args:
        value: Of a call.
        beside: Items that stay as they are, as checks name them; ``""`` for all.
    """
    kept = {id(part) for item in beside for part in _parts(value, item)}

    def leaf(part: Value) -> Value:
        if id(part) in kept or not isinstance(part, Tensor):
            return part
        return replace(part, data=bytes(len(part.data)))

    return map_leaves(leaf, value, whole=lambda part: id(part) in kept)


def _parts(value: Value, item: str) -> Iterator[Value]:
    """Yield an item of a result, if it has it; the whole result where no item is named."""
    if not item:
        yield value
    else:
        with suppress(NoItemError):
            yield item_of(returned_call(value), item).claims.value


def _envelope(runs: Companions) -> Companions:
    """Return the reference in float64, and one answer that is as far from it as any moved one."""
    wide = runs.wide.claims.value
    moved = combine(_farthest, wide, *(run.claims.value for run in runs.perturbed))
    return Companions(returned_call(wide), (returned_call(moved),))


def _farthest(wide: Any, *moved: Any) -> Any:
    if isinstance(wide, Tensor):
        centre = to_numpy(wide)
        if centre.dtype.kind != "f":
            return wide
        spread = np.max([np.abs(to_numpy(item) - centre) for item in moved], axis=0)
        return replace(wide, data=(centre + spread).astype("<f8").tobytes())
    return wide + max(abs(item - wide) for item in moved) if isinstance(wide, float) else wide
