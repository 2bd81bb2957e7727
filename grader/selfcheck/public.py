"""What of an assignment is public: the part that a starter carries, and nothing more.

Defends against: a hidden case, check or question, the reference's text and the reference's op
counts in what students are given.
Does not defend against: a visible case whose inputs give a hidden one away; that is for the author.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from grader.assignment.types import Assignment, Case, Question
from grader.checks.base import Check
from grader.run.observe import QuestionRun
from grader.run.plan import PlannedQuestion
from grader.verdict import Visibility

CASES_FILE = "public_cases.json"
TENSORS_FILE = "public_cases.safetensors"
PUBLIC_SEED = 0
"""Of all public inputs: everyone who takes the assignment has the same."""

_NOWHERE = Case(id="graded_later")
"""Stands where a question has no public case; no check looks at it, and it is never run."""

CaseName = tuple[str, str]
"""Question and case."""


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
    """

    assignment: Assignment
    digest: str
    scenario: str
    given: str
    support: Mapping[str, str]
    hints: Mapping[str, str]
    plan: tuple[PlannedQuestion, ...]
    reference: Mapping[str, QuestionRun]


def public_part(assignment: Assignment, without: Collection[CaseName] = ()) -> Assignment:
    """Return an assignment without its hidden questions, checks and cases.

    A check keeps its points where all of its cases are hidden; it judges no case then.

    Args:
        assignment: The whole.
        without: Further cases to leave out.
    """
    questions = [
        _public_question(question, without)
        for question in assignment.questions
        if question.visibility is Visibility.VISIBLE
    ]
    return assignment.model_copy(update={"questions": tuple(questions)})


def public_questions(assignment: Assignment) -> tuple[str, ...]:
    """Return the questions of a public part that have a case to run."""
    return tuple(item.id for item in assignment.questions if item.cases != (_NOWHERE,))


def _public_question(question: Question, without: Collection[CaseName]) -> Question:
    kept = [
        case
        for case in question.cases
        if case.visibility is Visibility.VISIBLE and (question.id, case.id) not in without
    ]
    visible = [item for item in question.checks if item.visibility in (None, Visibility.VISIBLE)]
    names = frozenset(case.id for case in kept)
    checks = [_on_cases(check, names, {other.id for other in visible}) for check in visible]
    # A case that nothing public judges would be run for nothing.
    cases = tuple(case for case in kept if any(_judges(check, case) for check in checks))
    return question.model_copy(
        update={
            "cases": cases or (_NOWHERE,),
            "checks": tuple(checks),
            "points": sum(check.points for check in checks),
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
    return check.cases is None or case.id in check.cases
