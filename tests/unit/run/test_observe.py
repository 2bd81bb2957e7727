"""In which order questions run, and in how many guests."""

from __future__ import annotations

import pytest

from grader.checks.base import CaseInputs, Probe
from grader.observation import Claims, Observation, Outcome
from grader.run.growth import CountedCall
from grader.run.observe import observe
from grader.run.plan import PlannedCase, PlannedQuestion
from grader.sandbox.base import GuestNeeds
from grader.spec.types import Case, Limits, Question
from grader.wire.messages import Call, Loaded

CPU, GPU = GuestNeeds(), GuestNeeds(virtual=1)


class Recorded:
    """Stands for a session: notes calls, and the guests that it would have started."""

    loaded = Loaded(("a", "b", "c"))
    failed_load = None
    alive = True

    def __init__(self) -> None:
        self.guests: list[GuestNeeds] = []
        self.calls: list[str] = []

    def prepare(self, _: Limits, needs: GuestNeeds) -> None:
        if not self.guests or self.guests[-1] != needs:
            self.guests.append(needs)

    def call(self, call: Call, _: float) -> Observation:
        counted = "+" if Probe.COUNTING.value in call.probes else ""
        self.calls.append(f"{call.entry}.{call.args[0]}{counted}")
        return Observation(Outcome.COMPLETED, claims=Claims(1))

    def close(self) -> None:
        self.calls.append("end")


def planned(name: str, needs: GuestNeeds = CPU, counted: bool = False) -> PlannedQuestion:
    question = Question.model_validate(
        {
            "id": name,
            "title": name,
            "points": 1,
            "cases": [{"id": "one"}],
            "checks": [{"id": "value", "kind": "exact", "points": 1}],
        }
    )
    cases = [
        PlannedCase(
            word, Case(id=word), CaseInputs(word, (), (word,), hidden), {}, "",
            (CountedCall("", (word,), {}),) if counted else (),
        )
        for word, hidden in (("seen", False), ("hidden", True))
    ]  # fmt: skip
    return PlannedQuestion(question, tuple(cases), needs)


@pytest.fixture
def session() -> Recorded:
    return Recorded()


def run(session: Recorded, *questions: PlannedQuestion) -> list[str]:
    told: list[str] = []
    observe(session, questions, lambda _: Limits(), told.append)  # type: ignore[arg-type]
    return told


def test_questions_of_one_guest_run_together_and_back(session: Recorded) -> None:
    told = run(session, planned("a"), planned("b", GPU), planned("c"))
    assert told == ["a", "c", "b"]
    assert session.calls == [
        "a.seen", "c.seen", "b.seen", "b.hidden", "a.hidden", "c.hidden", "end",
    ]  # fmt: skip
    assert session.guests == [CPU, GPU, CPU]


def test_one_guest_is_enough_where_all_need_the_same(session: Recorded) -> None:
    assert run(session, planned("a"), planned("b"), planned("c")) == ["a", "b", "c"]
    assert session.guests == [CPU]


def test_what_is_counted_of_visible_cases_knows_no_hidden_one(session: Recorded) -> None:
    run(session, planned("a", counted=True), planned("b", GPU, counted=True), planned("c"))
    assert session.calls == [
        "a.seen", "c.seen", "a.seen+", "b.seen", "b.seen+",
        "b.hidden", "b.hidden+", "a.hidden", "c.hidden", "a.hidden+", "end",
    ]  # fmt: skip
    assert session.guests == [CPU, GPU, CPU]
