"""From observations to verdicts, one a check. Pure: same observations, same verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from grader.assignment.types import Question
from grader.checks.causes import across_cases
from grader.checks.judge import combine, judge_case, settle, told_once
from grader.errors import nearest_name
from grader.observation import Observation, Outcome
from grader.run.observe import QuestionRun
from grader.run.plan import PlannedQuestion
from grader.static_analysis.facts import Mention
from grader.verdict import (
    Basis,
    Code,
    Message,
    Owner,
    Param,
    Status,
    Verdict,
    deferred,
    failed,
    fault,
    plain,
    review,
)
from grader.wire.messages import Fault

Verdicts = dict[str, Verdict]
"""Check id → verdict."""


def judge_question(
    planned: PlannedQuestion, reference: QuestionRun, submission: QuestionRun
) -> Verdicts:
    """Judge every check of a question on all of its cases.

    Args:
        planned: The question with the inputs that both runs got.
        reference: What the reference did with them.
        submission: What the submission did.
    """
    question = planned.question
    stopped = _reference_problem(question, reference) or _import_problem(question, submission)
    if stopped is not None:
        return for_all(question, stopped)
    verdicts = {}
    for check in question.checks:
        judged = [
            (
                case.inputs,
                judge_case(
                    check,
                    case.inputs,
                    reference.observations[case.key],
                    submission.observations[case.key],
                    question.id,
                ),
            )
            for case in planned.cases
            if check.cases is None or case.case.id in check.cases
        ]
        combined = combine([verdict for _, verdict in judged]) if judged else left_to_grading()
        verdicts[check.id] = _not_by_word(across_cases(judged, combined), submission.reach)
    return told_once(question.checks, settle(question.checks, verdicts))


def _not_by_word(verdict: Verdict, reach: Mention | None) -> Verdict:
    """Return a verdict; a person's, where code that may have changed the word would earn by it."""
    earns = verdict.status in (Status.PASSED, Status.PARTIAL)
    if reach is None or not earns or verdict.basis is not Basis.CLAIM:
        return verdict
    return review(Message("claim_reached", {"name": plain(reach.name), "line": reach.place.line}))


def for_all(question: Question, verdict: Verdict) -> Verdicts:
    """Give one verdict to every check of a question."""
    return {check.id: verdict for check in question.checks}


def left_to_grading() -> Verdict:
    """Return the verdict of a self-check on what only cases judge that it does not have."""
    return deferred(Code.NOT_RUN, Message("left_to_grading"))


def _reference_problem(question: Question, run: QuestionRun) -> Verdict | None:
    if run.entry is not None:
        return None
    if run.failed_load is not None:
        if run.failed_load.outcome is Outcome.SANDBOX_FAILED:
            detail = Message("sandbox_failed", {"detail": run.failed_load.detail})
            return fault(Code.SANDBOX_FAILED, Owner.INFRASTRUCTURE, detail)
        why = run.failed_load.detail
    elif run.loaded is not None and run.loaded.fault is not None:
        why = f"{run.loaded.fault.type}: {run.loaded.fault.message}"
    else:
        why = f"it defines none of {', '.join(question.names)}"
    return fault(
        Code.REFERENCE_FAILED, Owner.INSTRUCTOR, Message("reference_failed", {"detail": why})
    )


def _import_problem(question: Question, run: QuestionRun) -> Verdict | None:
    """Return the verdict for a submission whose entry point could not be called at all."""
    if run.entry is not None:
        return None
    if run.failed_load is not None:
        return _load_verdict(run.failed_load)
    assert run.loaded is not None
    error = run.loaded.fault
    if error is not None:
        return _import_fault(error)
    return _missing(question, run.loaded.names)


def _load_verdict(observation: Observation) -> Verdict:
    if observation.outcome is Outcome.SANDBOX_FAILED:
        told = Message("sandbox_failed", {"detail": observation.detail})
        return fault(Code.SANDBOX_FAILED, Owner.INFRASTRUCTURE, told)
    code = {
        Outcome.TIMED_OUT: Code.TIMED_OUT,
        Outcome.OUT_OF_MEMORY: Code.OUT_OF_MEMORY,
        Outcome.PROTOCOL_VIOLATION: Code.PROTOCOL_VIOLATION,
    }.get(observation.outcome, Code.CRASHED)
    return failed(code, Message("died_at_import", {"detail": observation.detail}))


def _import_fault(error: Fault) -> Verdict:
    params: dict[str, Param] = {
        "type": error.type, "message": error.message, "file": error.file, "line": error.line,
        "column": error.column,
    }  # fmt: skip
    if error.type in ("SyntaxError", "IndentationError", "TabError"):
        return failed(Code.SYNTAX_ERROR, Message("syntax_error", params), trace=error.trace)
    return failed(Code.IMPORT_FAILED, Message("import_failed", params), trace=error.trace)


def _missing(question: Question, names: Sequence[str]) -> Verdict:
    found: list[Param] = list(names[:20])
    params: dict[str, Param] = {
        "function": question.names[0],
        "names": found,
        "nearest": nearest_name(question.names[0], names),
    }
    return failed(Code.MISSING_FUNCTION, Message("missing_function", params))
