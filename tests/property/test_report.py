"""Whatever the verdicts, a report awards no more than there is and is valid JSON."""

from __future__ import annotations

import json
import math

import jsonschema
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.assignment.types import Assignment
from grader.errors import InfrastructureError
from grader.report.build import RunRecord, Verdicts, build_report
from grader.report.gradebook import gradebook
from grader.report.gradescope import gradescope_results
from grader.report.model import (
    Environment,
    IsolationInfo,
    Report,
    SubmissionInfo,
    json_bytes,
    report_bytes,
    report_schema,
)
from grader.sandbox.host.processes import Tier
from grader.verdict import Basis, Code, Message, Owner, Status, Verdict

_VALIDATOR = jsonschema.Draft202012Validator(report_schema())
_ENVIRONMENT = Environment(
    torch="2.4.0",
    python="3.11",
    platform="Linux",
    device="cpu",
    isolation=IsolationInfo(tier=Tier.NONE),
    seed=0,
    grader_version="0",
)
_LEAST = {Status.PASSED: 1.0}
_MOST = {Status.PASSED: 1.0, Status.PARTIAL: 1.0}

texts = st.text(st.characters(exclude_categories=()), max_size=40)
params = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=6,
)
mappings = st.dictionaries(st.sampled_from(["type", "message", "line", "file", "total"]), params)
messages = st.builds(
    Message, st.sampled_from(["raised", "wrong_value", "crashed", "unheard_of"]), mappings
)


@st.composite
def assignments(draw: st.DrawFn) -> Assignment:
    questions = []
    for index in range(draw(st.integers(1, 3))):
        worth = st.floats(0, 1e4) | st.integers(0, 20).map(float)
        points = draw(st.lists(worth, min_size=1, max_size=4))
        checks = [
            {"kind": "shape", "id": f"check{number}", "points": value}
            for number, value in enumerate(points)
        ]
        questions.append(
            {
                "id": f"question{index}",
                "title": "A question",
                "points": math.fsum(points),
                "cases": [{"id": "only"}],
                "checks": checks,
            }
        )
    return Assignment.model_validate(
        {
            "schema": "torchgrade/assignment/v1",
            "id": "toy",
            "version": "1",
            "title": "A toy",
            "hand_in": ["toy.py"],
            "questions": questions,
        }
    )


@st.composite
def verdicts(draw: st.DrawFn, shares: st.SearchStrategy[float] | None = None) -> Verdict:
    status = draw(st.sampled_from(Status))
    fitting = st.floats(_LEAST.get(status, 0.0), _MOST.get(status, 0.0))
    return Verdict(
        status=status,
        code=draw(st.sampled_from(Code)),
        owner=draw(st.none() | st.sampled_from(Owner)),
        credit=draw(fitting if shares is None else shares),
        message=draw(st.none() | messages),
        evidence=draw(mappings),
        basis=draw(st.sampled_from(Basis)),
        case=draw(st.none() | st.just("only")),
        hidden=draw(st.booleans()),
    )


def _some(data: st.DataObject, toy: Assignment) -> Verdicts:
    return {
        question.id: {
            check.id: data.draw(verdicts())
            for check in question.checks
            if data.draw(st.integers(0, 4))
        }
        for question in toy.questions
    }


def _build(toy: Assignment, given_verdicts: Verdicts) -> Report:
    return build_report(toy, SubmissionInfo(id="x"), given_verdicts, RunRecord(_ENVIRONMENT))


@settings(max_examples=60, deadline=None)
@given(assignments(), st.data())
def test_any_verdicts_make_a_sound_report(toy: Assignment, data: st.DataObject) -> None:
    report = _build(toy, _some(data, toy))
    for part in (report, *report.questions, *(c for q in report.questions for c in q.checks)):
        assert 0 <= part.score <= part.max_score
        assert part.pending >= 0
        assert part.score + part.pending <= part.max_score + 1e-9 * (1 + part.max_score)
    document = json.loads(report_bytes(report))
    _VALIDATOR.validate(document)
    assert Report.model_validate(document) == report
    assert gradebook([report])


@settings(max_examples=30, deadline=None)
@given(assignments(), st.data())
def test_any_report_makes_valid_results(toy: Assignment, data: st.DataObject) -> None:
    report = _build(toy, _some(data, toy))
    results = json.loads(json_bytes(gradescope_results(report)))
    rows = [
        {check.visibility or question.visibility for check in question.checks}
        for question in toy.questions
    ]
    assert len(results["tests"]) == sum(map(len, rows))
    scored = [test for test in results["tests"] if "score" in test]
    assert len(scored) in (0, len(results["tests"]))
    assert ("score" in results) == bool(scored)
    assert all(0 <= test["score"] <= test["max_score"] for test in scored)


@settings(max_examples=60, deadline=None)
@given(assignments(), verdicts(shares=st.floats()))
def test_any_credit_is_a_share_or_refused(toy: Assignment, verdict: Verdict) -> None:
    question = toy.questions[0]
    try:
        report = _build(toy, {question.id: {question.checks[0].id: verdict}})
    except InfrastructureError:
        assert not _LEAST.get(verdict.status, 0) <= verdict.credit <= _MOST.get(verdict.status, 0)
    else:
        assert 0 <= report.score <= report.max_score
