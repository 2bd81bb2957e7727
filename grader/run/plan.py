"""What will be called, with what: an assignment and a seed become a list of calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from grader.checks.base import CaseInputs
from grader.errors import AssignmentError, Problem
from grader.run.draw import DrawKey, Drawn, digest_of, draw_case
from grader.spec.types import Assignment, Case, Question
from grader.verdict import Visibility
from grader.wire.messages import Call
from grader.wire.values import Value

Generate = Callable[[str, dict[str, Value]], Value]
"""Calls a generator of the reference file: its name and keyword arguments → what it returned."""


@dataclass(frozen=True, slots=True)
class PlannedCase:
    """One call of one question: a case, drawn once.

    Attributes:
        key: ``case`` or ``case#repeat``; unique within the question.
        digest: Of the inputs.
    """

    key: str
    case: Case
    inputs: CaseInputs
    kwargs: dict[str, Value]
    digest: str

    def call(self, entry: str, probes: tuple[str, ...]) -> Call:
        """The request that a guest gets; the same for reference and submission."""
        scenario = self.case.scenario
        return Call(
            entry=scenario or entry,
            args=self.inputs.args,
            kwargs=self.kwargs,
            scenario=scenario is not None,
            probes=probes,
        )


@dataclass(frozen=True, slots=True)
class PlannedQuestion:
    """A question with all of its calls."""

    question: Question
    cases: tuple[PlannedCase, ...]

    def probes(self, planned: PlannedCase) -> tuple[str, ...]:
        """Names of the probes that the checks on this case need."""
        needed = {
            probe.value
            for check in self.question.checks
            if check.cases is None or planned.case.id in check.cases
            for probe in check.needs()
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
    """
    return tuple(
        PlannedQuestion(
            question,
            tuple(
                _plan_case(case, DrawKey(seed, assignment.id, question.id, repeat), generate)
                for case in question.cases
                for repeat in range(case.repeats)
            ),
        )
        for question in questions
    )


def _plan_case(case: Case, key: DrawKey, generate: Generate) -> PlannedCase:
    drawn = draw_case(case, key)
    if case.generate is not None:
        drawn = _generated(case, drawn, generate)
    hidden = case.visibility is not Visibility.VISIBLE
    inputs = CaseInputs(case.id, drawn.names, drawn.args, hidden)
    name = case.id if case.repeats == 1 else f"{case.id}#{key.repeat + 1}"
    return PlannedCase(name, case, inputs, dict(drawn.kwargs), drawn.digest)


def _generated(case: Case, drawn: Drawn, generate: Generate) -> Drawn:
    assert case.generate is not None
    keywords: dict[str, Value] = {"seed": drawn.seed, **drawn.dims}
    value = generate(case.generate, keywords)
    if not isinstance(value, tuple):
        raise AssignmentError([
            Problem(
                "the reference file", None, case.generate,
                f"returned a {type(value).__name__} for case “{case.id}”; "
                "a generator returns the arguments as a tuple",
            )
        ])  # fmt: skip
    names = tuple(f"argument {number}" for number in range(1, len(value) + 1))
    digest = digest_of((drawn.digest, value))
    return replace(drawn, args=value, names=names, digest=digest)
