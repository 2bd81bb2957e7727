"""How much a submission may answer, and what becomes of one that answers more."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from grader.observation import HostFacts, Observation, Outcome, Stop
from grader.run.answer_budget import AnswerBudget, answered, budget_beside, kept_bytes
from grader.run.session import ProcessSession
from grader.sandbox.host.processes import ProcessSpec, Sandbox
from grader.wire.frames import Caps, FrameSize
from grader.wire.messages import Call, Load

MIB = 2**20
MODULE = b"""
import time
import torch

def zeros(mib): return torch.zeros(mib * 2**20, dtype=torch.uint8)
def empties(count): return [()] * count
def naps(seconds): time.sleep(seconds)
"""


def seen(header: int, payload: int, **counted: Observation) -> Observation:
    facts = HostFacts(reply=FrameSize(header, payload))
    return Observation(Outcome.COMPLETED, facts, counted=counted)


def test_the_references_answer_is_the_measure() -> None:
    most = AnswerBudget()
    assert most.caps(None) == most.caps(FrameSize(10, MIB)) == most.caps(FrameSize())
    assert most.caps(None).payload == 8 * MIB
    assert most.caps(FrameSize(MIB, 100 * MIB)).payload == 800 * MIB
    assert most.caps(FrameSize(MIB, 0)).header == 8 * MIB


def test_what_came_leaves_less() -> None:
    most = AnswerBudget(10 * MIB)
    most.take(FrameSize(1000, 9 * MIB))
    left = MIB - 16_000
    assert (most.caps(None).payload, most.caps(None).header) == (left, left // 16)
    assert most.caps(None, FrameSize(0, MIB)).payload == left
    assert AnswerBudget().caps(None, FrameSize(MIB, 3 * MIB)).payload == 5 * MIB
    assert AnswerBudget().caps(None, FrameSize(9 * MIB, 9 * MIB)) == Caps(0, 0)
    most.take(FrameSize(0, 99 * MIB))
    assert most.caps(FrameSize(MIB, MIB)).payload == 0


def test_a_class_has_bounds_and_a_self_check_none() -> None:
    assert budget_beside([Observation(Outcome.COMPLETED)]) is None
    reference = [seen(10, 40 * MIB, n=seen(0, MIB)), seen(0, MIB)]
    assert answered(reference) == 42 * MIB + 160
    given = budget_beside(reference)
    assert given is not None
    assert given.caps(FrameSize(0, 999 * MIB)).payload == 8 * answered(reference)
    small = budget_beside([seen(10, 10)])
    assert small is not None
    assert small.caps(FrameSize(0, 999 * MIB)).payload == 64 * MIB
    assert kept_bytes([]) == 4 * MIB
    assert kept_bytes(reference) == 2 * answered(reference)


@pytest.fixture
def process(sandbox: Sandbox) -> Iterator[ProcessSession]:
    session = ProcessSession(
        sandbox, Load({"work.py": MODULE}, "work.py"), None, AnswerBudget(20 * MIB)
    )
    yield session
    session.close()


def call(session: ProcessSession, entry: str, size: int, likely: int = 0) -> Observation:
    session.prepare(ProcessSpec(memory=1024 * 2**20))
    session.likely = FrameSize(0, likely)
    return session.call(Call(entry, (size,)), 30.0)


def test_an_answer_that_is_too_large_is_the_submissions_and_ends_its_process(
    process: ProcessSession,
) -> None:
    found = call(process, "zeros", 450)
    assert found.outcome is Outcome.PROTOCOL_VIOLATION
    assert found.detail == f"data of {450 * MIB} bytes; the most is {8 * MIB}"
    assert not process.alive
    # As large as it may be by the reference, and what is left in all.
    assert call(process, "zeros", 12, likely=12 * MIB).outcome is Outcome.COMPLETED
    assert call(process, "zeros", 7).outcome is Outcome.COMPLETED
    assert call(process, "zeros", 2, likely=12 * MIB).outcome is Outcome.PROTOCOL_VIOLATION


def test_only_the_references_answers_are_measured(
    process: ProcessSession, sandbox: Sandbox
) -> None:
    assert call(process, "zeros", 1).facts.reply is None
    reference = ProcessSession(sandbox, Load({"work.py": MODULE}, "work.py"))
    try:
        found = call(reference, "zeros", 30)
    finally:
        reference.close()
    assert found.facts.reply is not None
    assert found.facts.reply.payload == 30 * MIB
    assert 0 < found.facts.reply.header < 1000


@pytest.mark.skipif(sys.platform != "linux", reason="Linux shows what a process has used")
def test_calls_that_sleep_just_under_the_limit_have_a_bound_in_all(process: ProcessSession) -> None:
    process.prepare(ProcessSpec(memory=1024 * 2**20))
    outcomes = []
    while len(outcomes) < 10 and process.alive:
        seen = process.call(Call("naps", (0.8,)), 1.0)
        outcomes.append(seen.outcome)
    assert len(outcomes) in (3, 4)
    assert outcomes == [Outcome.COMPLETED] * (len(outcomes) - 1) + [Outcome.TIMED_OUT]
    assert seen.facts.stopped is Stop.ASLEEP_IN_ALL
    # What hardly sleeps is right even then, and a longer limit gives more.
    process.prepare(ProcessSpec(memory=1024 * 2**20))
    assert process.call(Call("zeros", (1,)), 1.0).outcome is Outcome.COMPLETED
    assert process.call(Call("naps", (0.4,)), 20.0).outcome is Outcome.COMPLETED


def test_calls_that_were_stopped_take_no_sleep_from_others() -> None:
    left = AnswerBudget()
    assert left.sleep(5.0) == 5.0
    left.slept(5.0, 5.0)
    left.slept(15.0, 20.0)
    assert left.sleep(8.0) == pytest.approx(2.0)
    left.slept(60.0, 60.0)
    assert left.sleep(20.0) == pytest.approx(1.0)
