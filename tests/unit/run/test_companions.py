"""The reference's further runs, for real: in float64 and on moved inputs."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import toy_starter

from grader.assignment.types import Case, FixedTensor, Limits, Question, RandomTensor
from grader.checks.arguments import NotViewOf, ViewOf
from grader.checks.arrays import to_numpy
from grader.checks.judge import judge_case
from grader.checks.rounding import Envelope
from grader.observation import Observation, Outcome
from grader.run.observe import observe, runs_of
from grader.run.plan import PlannedQuestion, make_plan
from grader.run.reference import add_companions, changed
from grader.run.session import ProcessSession
from grader.verdict import Status
from grader.wire.messages import Load
from grader.wire.values import Tensor

MODULE = b"""
import torch


def centre(x, by):
    if (x > 100).any() and x.dtype == torch.float64:
        raise ValueError("too large")
    return (x - x.mean(0)) / by


def slices(x):
    return x[1:, 0], x.T


def copies(x):
    return x[[0]], x.clone()
"""


def question(name: str, *cases: Case, check: Any) -> Question:
    return Question(id=name, title="t", points=1, cases=cases, checks=(check,))


@pytest.fixture(scope="module")
def session() -> Iterator[ProcessSession]:
    with toy_starter.lent() as sandbox:
        session = ProcessSession(sandbox, Load({"work.py": MODULE}, "work.py"))
        yield session
        session.close()


def planned(*questions: Question) -> tuple[PlannedQuestion, ...]:
    assignment: Any = SimpleNamespace(id="toy", limits_of=lambda _: Limits(), file_of=lambda _: "")
    return make_plan(assignment, questions, 1, lambda *_: ())


def observations(session: ProcessSession, question: Question) -> dict[str, Observation]:
    plan = planned(question)
    runs = add_companions(session, plan, runs_of(observe(session, plan)))
    return runs[question.id].observations


X = RandomTensor(randn=[5, 3])
BY = FixedTensor(tensor=2, dtype="int64")


def test_companions_are_in_float64_and_on_moved_inputs(session: ProcessSession) -> None:
    envelope = Envelope(id="e", points=1, cases=("asked",))
    cases = [Case(id=name, args={"x": X, "by": BY}) for name in ("asked", "other")]
    seen = observations(session, question("centre", *cases, check=envelope))

    assert seen["other"].companions is None
    companions = seen["asked"].companions
    assert companions is not None
    assert len(companions.perturbed) == 8
    narrow, wide, *moved = [
        to_numpy(run.claims.value)  # type: ignore[arg-type]
        for run in (seen["asked"], companions.wide, *companions.perturbed)
    ]
    assert {array.dtype.name for array in (wide, *moved)} == {"float64"}
    assert np.abs(narrow - wide).max() < 1e-5
    apart = [float(np.abs(array - wide).max()) for array in moved]
    assert all(2**-27 < distance < 2**-18 for distance in apart)
    assert len(set(apart)) > 4


def test_a_reference_that_fails_in_float64_is_told(session: ProcessSession) -> None:
    envelope = Envelope(id="e", points=1)
    large = RandomTensor(rand=[5, 3], shift=101.0)
    asked = question("centre", Case(id="large", args={"x": large, "by": BY}), check=envelope)
    seen = observations(session, asked)["large"]

    assert seen.outcome is Outcome.COMPLETED
    inputs = planned(asked)[0].cases[0].inputs
    verdict = judge_case(envelope, inputs, seen, seen)
    assert verdict.status is Status.ERROR
    assert verdict.message is not None
    assert "ValueError: too large" in str(verdict.message.params["detail"])


@pytest.mark.parametrize(("name", "is_view"), [("slices", True), ("copies", False)])
def test_memory_is_told_by_the_process(session: ProcessSession, name: str, is_view: bool) -> None:
    for kind, passes in ((ViewOf, is_view), (NotViewOf, not is_view)):
        check = kind(id="v", points=1, argument="x")
        asked = question(name, Case(id="any", args={"x": X}), check=check)
        seen = observations(session, asked)["any"]
        verdict = check.judge(planned(asked)[0].cases[0].inputs, seen, seen)
        assert (verdict.status is Status.PASSED) is passes


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_only_floating_tensors_are_changed(dtype: str) -> None:
    floating = Tensor(dtype, (2,), np.array([1.5, -2.0], dtype).tobytes())
    whole = Tensor("int64", (1,), np.array([3]).tobytes())
    asked: list[str] = []

    def double(array: Any, name: str) -> Any:
        asked.append(name)
        return 2 * array

    result: Any = changed({"a": [floating, (whole, 1.5)], "b": None}, double)
    assert asked == [dtype]
    assert result["a"][1] == (whole, 1.5)
    assert result["b"] is None
    first = result["a"][0]
    assert (first.dtype, to_numpy(first).tolist()) == ("float64", [3.0, -4.0])
