"""In which order questions run, and in how many processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from grader.assignment.types import Case, Question
from grader.checks.base import CaseInputs, Probe
from grader.observation import Claims, Observation, Outcome
from grader.run.observe import Event, QuestionObserved, QuestionStarted, observe, runs_of
from grader.run.plan import CountedCall, PlannedCase, PlannedQuestion
from grader.sandbox.host.processes import ProcessSpec
from grader.wire.frames import FrameSize
from grader.wire.messages import Call, Loaded

CPU, GPU = ProcessSpec(), ProcessSpec(virtual_gpus=1)


class Recorded:
    """Stands for a session: notes calls, and the processes that it would have started."""

    loaded = Loaded(("a", "b", "c"))
    failed_load = None
    alive = True
    starting = counting = 0.0

    def __init__(self, ends: dict[str, Outcome] | None = None) -> None:
        self.ends = ends or {}
        self.processes: list[ProcessSpec] = []
        self.calls: list[str] = []

    def prepare(self, spec: ProcessSpec) -> None:
        if not self.alive or not self.processes or self.processes[-1] != spec:
            self.processes.append(spec)
            self.alive = True

    def call_fairly(self, call: Call, _: float) -> Observation:
        counted = "+" if Probe.COUNTING.value in call.probes else ""
        self.calls.append(f"{call.entry}.{call.args[0]}{counted}")
        outcome = self.ends.get(self.calls[-1], Outcome.COMPLETED)
        self.alive = outcome in (Outcome.COMPLETED, Outcome.RAISED)
        return Observation(outcome, claims=Claims(1))

    def calls_fairly(
        self, calls: Sequence[tuple[Call, FrameSize | None]], seconds: float
    ) -> list[Observation]:
        seen: list[Observation] = []
        for call, _ in calls:
            seen.append(self.call_fairly(call, seconds))
            if not self.alive:
                break
        return seen

    def printed(self) -> bytes:
        return "".join(f"{call}\n" for call in self.calls).encode()

    def close_all(self) -> None:
        self.calls.append("end")


def planned(name: str, process: ProcessSpec = CPU, counted: bool = False) -> PlannedQuestion:
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
    return PlannedQuestion(question, tuple(cases), process)


@pytest.fixture
def session() -> Recorded:
    return Recorded()


def run(session: Recorded, *questions: PlannedQuestion) -> list[str]:
    told: list[str] = []
    runs_of(observe(session, questions), told.append)  # type: ignore[arg-type]
    return told


def test_questions_of_one_process_run_together_and_back(session: Recorded) -> None:
    told = run(session, planned("a"), planned("b", GPU), planned("c"))
    assert told == ["a", "c", "b"]
    assert session.calls == [
        "a.seen", "c.seen", "b.seen", "b.hidden", "a.hidden", "c.hidden", "end",
    ]  # fmt: skip
    assert session.processes == [CPU, GPU, CPU]


def test_one_process_is_enough_where_all_need_the_same(session: Recorded) -> None:
    assert run(session, planned("a"), planned("b"), planned("c")) == ["a", "b", "c"]
    assert session.processes == [CPU]


def test_what_is_counted_of_visible_cases_knows_no_hidden_one(session: Recorded) -> None:
    run(session, planned("a", counted=True), planned("b", GPU, counted=True), planned("c"))
    assert session.calls == [
        "a.seen", "c.seen", "a.seen+", "b.seen", "b.seen+",
        "b.hidden", "b.hidden+", "a.hidden", "c.hidden", "a.hidden+", "end",
    ]  # fmt: skip
    assert session.processes == [CPU, GPU, CPU]


def one_by_one(session: Recorded, *questions: PlannedQuestion) -> Iterator[Event]:
    return observe(session, questions, one_by_one=True)  # type: ignore[arg-type]


def test_whoever_waits_has_each_question_whole_before_the_next_begins(session: Recorded) -> None:
    visible = planned("a", counted=True)
    visible = replace(visible, cases=visible.cases[:1])
    told = [
        event.id
        if isinstance(event, QuestionStarted)
        else f"{event.id}: {', '.join(event.run.observations)}"
        for event in one_by_one(session, visible, planned("b"))
    ]
    assert told == ["a", "a: seen", "b", "b: seen, hidden"]
    assert session.calls == ["a.seen", "a.seen+", "b.seen", "b.hidden", "end"]


def test_whoever_waits_is_told_what_the_visible_cases_printed(session: Recorded) -> None:
    events = one_by_one(session, planned("a", counted=True), planned("b"))
    told = {event.id: event.printed for event in events if isinstance(event, QuestionObserved)}
    assert told == {"a": "a.seen\n", "b": "b.seen\n"}


def outcomes(ends: dict[str, Outcome]) -> tuple[Recorded, list[str]]:
    session = Recorded(ends)
    question = planned("a")
    words = ("one", False), ("two", False), ("three", True), ("four", True)
    cases = tuple(
        PlannedCase(word, Case(id=word), CaseInputs(word, (), (word,), hidden), {}, "")
        for word, hidden in words
    )
    plan = [PlannedQuestion(question.question, cases, CPU)]
    runs = runs_of(observe(session, plan))  # type: ignore[arg-type]
    return session, [seen.outcome.value for seen in runs["a"].observations.values()]


@pytest.mark.parametrize("outcome", [Outcome.TIMED_OUT, Outcome.CRASHED, Outcome.OUT_OF_MEMORY])
def test_cases_after_one_that_ended_its_process_run_in_a_new_one(outcome: Outcome) -> None:
    session, seen = outcomes({"a.two": outcome})
    assert seen == ["completed", outcome.value, "completed", "completed"]
    assert len(session.processes) == 2


def test_the_second_process_that_ends_takes_the_rest_along_which_is_told_as_not_run() -> None:
    session, seen = outcomes(dict.fromkeys(("a.one", "a.two", "a.three"), Outcome.TIMED_OUT))
    assert seen == ["timed_out", "timed_out", "not_run", "not_run"]
    assert session.calls == ["a.one", "a.two", "end"]


def test_what_a_machine_did_not_come_to_is_the_machines_fault() -> None:
    session, seen = outcomes({"a.two": Outcome.SANDBOX_FAILED})
    assert seen == ["completed", "sandbox_failed", "sandbox_failed", "sandbox_failed"]
    assert session.calls == ["a.one", "a.two", "end"]


def test_one_questions_deaths_are_not_anothers() -> None:
    session = Recorded(dict.fromkeys(("a.seen", "a.hidden"), Outcome.TIMED_OUT))
    run(session, planned("a"), planned("b"))
    assert session.calls == ["a.seen", "b.seen", "a.hidden", "b.hidden", "end"]
