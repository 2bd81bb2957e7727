"""What will be called, with what: an assignment and a seed become a list of calls."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from grader.assignment.types import Assignment, Case, Question
from grader.checks.base import GROWTH_FACTOR, CaseInputs, Check, Probe, unnamed
from grader.errors import AssignmentError, Problem
from grader.run.draw import DrawKey, Drawn, digest_of, draw_case
from grader.sandbox.host.guests import GuestNeeds
from grader.verdict import Visibility
from grader.wire.messages import Call
from grader.wire.values import Value


@dataclass(frozen=True, slots=True)
class CountedCall:
    """Inputs of a call that is made to be counted.

    Attributes:
        grown: Name of the dim that is larger than in the case; empty for the case's own inputs.
        args: Positional arguments.
        kwargs: Keyword arguments.
    """

    grown: str
    args: tuple[Value, ...]
    kwargs: dict[str, Value]


def scales(question: Question, case: Case) -> Iterator[dict[str, int]]:
    """Yield how the sizes of a case are multiplied for each call that its checks want counted.

    Growth is looked at in one case a question, the one with the most dims: what a function does
    as a size grows does not depend on which numbers it gets.
    """
    wanted = {probe for check in _checks_on(question, case) for probe in check.needs()}
    if not wanted & {Probe.COUNTING, Probe.GROWTH}:
        return
    yield {}
    if Probe.GROWTH in wanted and case is _growing_case(question):
        for name in sorted(case.dims):
            yield {name: GROWTH_FACTOR}


def _checks_on(question: Question, case: Case) -> Sequence[Check]:
    return [check for check in question.checks if check.cases is None or case.id in check.cases]


def _growing_case(question: Question) -> Case:
    asked = [
        case
        for case in question.cases
        if any(Probe.GROWTH in check.needs() for check in _checks_on(question, case))
    ]
    # A plain call before a scenario: what is counted there is the function alone.
    return max(asked, key=lambda case: (len(case.dims), case.scenario is None))


Generate = Callable[[str, str, dict[str, Value]], tuple[Value, ...]]
"""Calls a generator of the reference file: for which case, its name, keywords → the arguments."""


@dataclass(frozen=True, slots=True)
class PlannedCase:
    """One call of one question: a case, drawn once.

    Attributes:
        key: ``case`` or ``case#repeat``; unique within the question.
        digest: Of the inputs.
        counted: Calls that are made only to be counted.
        seed: Of the stage's random numbers.
    """

    key: str
    case: Case
    inputs: CaseInputs
    kwargs: dict[str, Value]
    digest: str
    counted: tuple[CountedCall, ...] = ()
    seed: int = 0

    def call(self, entry: str, probes: tuple[str, ...]) -> Call:
        """The request that a student process gets; the same for reference and submission."""
        # Nothing here may depend on who is asked: the two results could not be compared.
        scenario = self.case.scenario
        return Call(
            entry=scenario or entry,
            args=self.inputs.args,
            kwargs=self.kwargs,
            scenario=scenario is not None,
            probes=probes,
            seed=self.seed,
        )

    def counting_call(self, entry: str, counted: CountedCall) -> Call:
        """The request for a call that is made only to be counted."""
        probes = (Probe.COUNTING.value,)
        return replace(self.call(entry, probes), args=counted.args, kwargs=counted.kwargs)


@dataclass(frozen=True, slots=True)
class PlannedQuestion:
    """A question with all of its calls."""

    question: Question
    cases: tuple[PlannedCase, ...]
    needs: GuestNeeds = field(default_factory=GuestNeeds)

    def probes(self, planned: PlannedCase) -> tuple[str, ...]:
        """Names of the probes that the checks on this case need in the call itself."""
        needed = {
            probe.value
            for check in self.question.checks
            if check.cases is None or planned.case.id in check.cases
            for probe in check.needs()
            if probe.in_the_call
        }
        return tuple(sorted(needed))


def make_plan(
    assignment: Assignment, questions: Sequence[Question], seed: int, generate: Generate
) -> tuple[PlannedQuestion, ...]:
    """Draw the inputs of every case.

    Args:
        assignment: The whole assignment, for its id.
        questions: Those to grade.
        seed: Chosen by whoever grades; the same seed gives the same inputs.
        generate: Asked for cases whose inputs come from the reference file.

    Raises:
        AssignmentError: Inputs cannot be drawn or generated; names every such case.
    """
    problems: list[Problem] = []
    plan: list[PlannedQuestion] = []
    for question in questions:
        planned: list[PlannedCase] = []
        for case in question.cases:
            keys = (DrawKey(seed, assignment.id, question.id, n) for n in range(case.repeats))
            try:
                planned += [_plan_case(question, case, key, generate) for key in keys]
            except AssignmentError as error:
                problems += error.problems
        # All cases are tried before any problem is raised: an author mends them in one go.
        plan.append(PlannedQuestion(question, tuple(planned)))
    if problems:
        raise AssignmentError(problems)
    return tuple(plan)


def _plan_case(question: Question, case: Case, key: DrawKey, generate: Generate) -> PlannedCase:
    drawn = _drawn(case, key, {}, generate)
    hidden = case.visibility is not Visibility.VISIBLE
    inputs = CaseInputs(case.id, drawn.names, drawn.args, hidden, drawn.dims)
    name = case.id if case.repeats == 1 else f"{case.id}#{key.repeat + 1}"
    # In the first repeat alone: what is counted does not depend on which numbers a call gets.
    counted = tuple(
        # One name or none: only one size is made larger at a time.
        CountedCall("".join(scale), larger.args, dict(larger.kwargs))
        for scale in (scales(question, case) if key.repeat == 0 else ())
        for larger in [_drawn(case, key, scale, generate) if scale else drawn]
    )
    # Not of the inputs alone, which the submission sees: it must not know the stage's numbers.
    seed = int.from_bytes(hashlib.sha256(b"stage" + key.digest(case.id)).digest()[:4], "big") >> 1
    return PlannedCase(name, case, inputs, dict(drawn.kwargs), drawn.digest, counted, seed)


def _drawn(case: Case, key: DrawKey, scale: dict[str, int], generate: Generate) -> Drawn:
    drawn = draw_case(case, key, scale)
    if case.generate is None:
        return drawn
    keywords: dict[str, Value] = {"seed": drawn.seed, **drawn.dims}
    value = generate(f"{key.question_id}.{case.id}", case.generate, keywords)
    names = tuple(map(unnamed, range(len(value))))
    return replace(drawn, args=value, names=names, before=drawn.digest)


def plan_digests(plan: Sequence[PlannedQuestion]) -> dict[str, str]:
    """Return question → digest of its calls, inputs and what is looked at included."""
    return {
        planned.question.id: digest_of(
            tuple((case.key, case.digest, planned.probes(case)) for case in planned.cases)
        )
        for planned in plan
    }
