"""A question that could not be called."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.assignment.types import Question
from grader.checks.base import CaseInputs
from grader.observation import Claims, Observation, Outcome
from grader.run import judge_submission
from grader.run.judge_submission import judge_question
from grader.run.observe import QuestionRun
from grader.run.plan import PlannedCase, PlannedQuestion
from grader.verdict import Code, Owner, Status
from grader.wire.messages import Fault, Loaded
from grader.wire.values import Value

FINE = QuestionRun("f", Loaded(("f",)), None)


def question(**changes: object) -> Question:
    return Question.model_validate(
        {
            "id": "f",
            "title": "F",
            "points": 1,
            "cases": [{"id": "one"}],
            "checks": [{"id": "value", "kind": "exact", "points": 1}],
            **changes,
        }
    )


def died(outcome: Outcome) -> QuestionRun:
    return QuestionRun(None, None, Observation(outcome, detail="gone"))


def loaded(*names: str, fault: Fault | None = None) -> QuestionRun:
    return QuestionRun(None, Loaded(names, fault), None)


@pytest.mark.parametrize(
    ("run", "code"),
    [
        (died(Outcome.TIMED_OUT), Code.TIMED_OUT),
        (died(Outcome.CRASHED), Code.CRASHED),
        (died(Outcome.OUT_OF_MEMORY), Code.OUT_OF_MEMORY),
        (died(Outcome.PROTOCOL_VIOLATION), Code.PROTOCOL_VIOLATION),
        (loaded(fault=Fault("SyntaxError", "bad", "f.py", 3, 4)), Code.SYNTAX_ERROR),
        (loaded(fault=Fault("TabError", "bad", "f.py", 3, 4)), Code.SYNTAX_ERROR),
        (loaded(fault=Fault("ZeroDivisionError", "bad", "f.py", 3)), Code.IMPORT_FAILED),
        (loaded("g", "ff"), Code.MISSING_FUNCTION),
    ],
)
def test_a_submission_that_cannot_be_called_fails_with_its_own_code(
    run: QuestionRun, code: Code
) -> None:
    verdict = judge_question(PlannedQuestion(question(), ()), FINE, run)["value"]
    assert (verdict.status, verdict.code, verdict.owner) == (Status.FAILED, code, Owner.STUDENT)


@pytest.mark.parametrize(
    ("run", "code", "owner"),
    [
        (died(Outcome.CRASHED), Code.REFERENCE_FAILED, Owner.INSTRUCTOR),
        (died(Outcome.SANDBOX_FAILED), Code.SANDBOX_FAILED, Owner.INFRASTRUCTURE),
        (loaded("g"), Code.REFERENCE_FAILED, Owner.INSTRUCTOR),
        (loaded(fault=Fault("ValueError", "x")), Code.REFERENCE_FAILED, Owner.INSTRUCTOR),
    ],
)
def test_a_reference_that_fails_never_costs_the_student(
    run: QuestionRun, code: Code, owner: Owner
) -> None:
    broken = loaded("nothing")
    verdict = judge_question(PlannedQuestion(question(), ()), run, broken)["value"]
    assert (verdict.status, verdict.code, verdict.owner) == (Status.ERROR, code, owner)


def test_missing_function_names_the_nearest() -> None:
    run = loaded("normalise", "f_old")
    verdict = judge_question(PlannedQuestion(question(id="f_odd"), ()), FINE, run)["value"]
    assert verdict.message.params["nearest"] == "f_old"


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("find_classifier", "LinearClassifier"),  # a class, and given
        ("normalize_columns", "normalize_rows"),  # another question's name
        ("softmax_loss", "softmax_loss_naive"),  # the reference's own helper
    ],
)
def test_no_name_of_something_else_is_to_be_renamed(wanted: str, found: str) -> None:
    reference = replace(loaded(wanted, "softmax_loss_naive"), entry=wanted)
    planned, run = PlannedQuestion(question(id=wanted), ()), loaded(found)
    verdict = judge_question(planned, reference, run, {wanted, "normalize_rows"})["value"]
    assert verdict.message.params["nearest"] == ""


@pytest.mark.parametrize(
    ("message", "code", "called"),
    [
        ("f is not written yet", Code.NOT_IMPLEMENTED, "f"),
        ("g is not written yet", Code.RAISED, "g"),
        ("G.step is not written yet", Code.RAISED, "G"),
        # A method, as starters named them before: perhaps the question's own.
        ("step is not written yet", Code.NOT_IMPLEMENTED, "f"),
        ("later", Code.NOT_IMPLEMENTED, "f"),
    ],
)
def test_a_function_that_calls_an_unwritten_one_is_not_called_unwritten_itself(
    message: str, code: Code, called: str
) -> None:
    case = PlannedCase("one", question().cases[0], CaseInputs("one", (), (), False, {}), {}, "")
    right = replace(FINE, observations={"one": Observation(Outcome.COMPLETED)})
    stub = Claims(fault=Fault("NotImplementedError", message, "f.py", 3))
    seen = {"one": Observation(Outcome.RAISED, claims=stub)}
    run = QuestionRun("f", Loaded(("f", "g", "G")), None, seen)
    verdict = judge_question(PlannedQuestion(question(), (case,)), right, run)["value"]
    assert verdict.code is code
    assert verdict.message is not None
    assert verdict.message.params["function"] == called


@pytest.mark.parametrize(
    ("value", "looked_at"),
    [
        (None, True),
        ((None, None), True),
        # A scenario that asks by key: one part is missing, so the text has to tell why.
        ({"size": (2, 3), "contiguous": [None, None]}, True),
        ((1.5, None), True),
        ({"size": (2, 3), "contiguous": [True, None]}, False),
        ((1.5, 2), False),
        (1.5, False),
        ("None", False),
    ],
)
def test_the_text_is_read_where_a_part_of_a_result_is_nothing(
    value: Value, looked_at: bool
) -> None:
    seen = {"one": Observation(Outcome.COMPLETED, claims=Claims(value=value))}
    run = QuestionRun("f", Loaded(("f",)), None, seen)
    assert judge_submission._looks_unwritten(run) is looked_at
