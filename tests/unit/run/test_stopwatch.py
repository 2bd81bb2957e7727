"""One set of processes, all of them invented: what is compared, what ends it, what is counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from observed import ended, tensor

from grader.checks.arrays import to_numpy
from grader.checks.base import CaseInputs
from grader.checks.speed import tolerance
from grader.errors import InfrastructureError
from grader.observation import Claims, HostFacts, Observation, Outcome
from grader.run.session import ProcessSession
from grader.run.timing.processor import ProcessorClock
from grader.run.timing.stopwatch import Job, NotTimedError, SetOutcome, Stopwatch
from grader.speed_statistics.sampling import Plan
from grader.speed_statistics.vectorisation import AGAIN, LONE, LOOP, STUDENT, VECTORISED, pace_of
from grader.wire.messages import Call
from grader.wire.values import Tensor, Value

PLAN = Plan(rounds=5, seconds=1e9)
Work = Callable[[np.ndarray, int], Value]


class Invented:
    """A process whose work takes as long as it is told to."""

    pid = None

    def __init__(self, per_call: float, work: Work | None = None, idle: float = 0.0) -> None:
        self.per_call, self.idle = per_call, idle
        self.work = work or (lambda rows, _: tensor(rows * 2))
        self.used, self.blocks = 0.0, 0
        self.calls: list[int] = []
        self.inputs: list[bytes] = []

    def cpu_used(self) -> float:
        return self.used

    def call(self, call: Call, _: float) -> Observation:
        (x,) = call.args
        assert isinstance(x, Tensor)
        assert x.shape[0] == call.block
        self.blocks += 1
        self.calls.append(call.block)
        self.inputs.append(bytes(x.data))
        value = self.work(to_numpy(x), self.blocks)
        spent = self.per_call * call.block
        self.used += spent
        if isinstance(value, Observation):
            return value
        facts = HostFacts(2 * spent, cpu_seconds=spent)
        return Observation(Outcome.COMPLETED, facts, Claims(value))

    def idles(self) -> None:
        self.used += self.idle


def draw(number: int, calls: int) -> tuple[tuple[Value, ...], dict[str, Value]]:
    return (tensor(np.random.default_rng(number).integers(-8, 8, (calls, 3))),), {}


def job(**changes: Any) -> Job:
    inputs = CaseInputs("case", ("x",), (tensor([0, 0, 0]),))
    entries = dict.fromkeys((STUDENT, VECTORISED, AGAIN, LOOP), "f")
    return replace(Job(entries, inputs, draw, tolerance(0, 0), 5.0, PLAN), **changes)


def watch(student: Invented, loop: float = 6.4e-3, **changes: Any) -> tuple[SetOutcome, Any]:
    vectorised, slow = Invented(1e-4), Invented(loop)
    sessions = {STUDENT: student, VECTORISED: vectorised, AGAIN: vectorised, LOOP: slow}
    known = cast("dict[str, ProcessSession]", sessions)
    return Stopwatch(
        ProcessorClock(job(**changes), known, 0), np.random.default_rng(0)
    ).measure(), sessions


def test_a_right_hand_in_is_timed_beside_both_references() -> None:
    done, _ = watch(Invented(8e-4))
    assert done.run is not None
    assert pace_of([done.run]).measures == pytest.approx([0.5])
    assert {party: len(blocks) for party, blocks in done.run.samples.items()} == dict.fromkeys(
        (STUDENT, VECTORISED, AGAIN, LOOP, *LONE.values()), 5
    )
    # Blocks of about ten milliseconds, whatever a call takes; and of one call.
    assert {blocks[-1].calls for blocks in done.run.samples.values()} == {13, 100, 2, 1}
    assert done.outputs == 5 * 13 + 5
    assert (done.wrong, done.failed, done.idle) == (None, None, 0.0)


def test_no_two_rounds_have_the_same_inputs() -> None:
    student = Invented(8e-4)
    watch(student)
    assert len(set(student.inputs)) == len(student.inputs)


def test_a_call_by_itself_has_inputs_that_no_block_holds() -> None:
    student = Invented(8e-4)
    watch(student)
    lone = [data for data, calls in zip(student.inputs, student.calls, strict=True) if calls == 1]
    assert len(lone) >= 5
    others = b"".join(data for data in student.inputs if data not in lone)
    assert not any(data in others for data in lone)


def test_calls_that_share_work_show_when_one_is_made_by_itself() -> None:
    class Shares(Invented):
        def call(self, call: Call, seconds: float) -> Observation:
            # All of a block's work is done in its first call, at the price of one.
            self.per_call = 3.2e-3 / call.block
            return super().call(call, seconds)

    done, _ = watch(Shares(0.0))
    assert done.run is not None
    pace = pace_of([done.run])
    assert pace.measures[0] < 0.5
    assert pace.shared
    assert not pace_of([watch(Invented(8e-4))[0].run]).shared


def test_a_faster_hand_in_makes_no_more_calls_than_can_be_compared() -> None:
    student = Invented(1e-6)
    done, _ = watch(student)
    assert max(student.calls[3:]) == 100
    assert done.outputs == 505


@pytest.mark.parametrize("at", [4, 6, 8])
@pytest.mark.parametrize("row", [0, 7, -1])
def test_one_wrong_result_in_any_block_is_found(at: int, row: int) -> None:
    def lies(rows: np.ndarray, block: int) -> Value:
        result = rows * 2
        if block == at:
            result[row % len(rows)] += 1
        return tensor(result)

    done, _ = watch(Invented(8e-4, lies))
    assert done.run is None
    assert done.wrong is not None
    reference, student = (to_numpy(item.claims.value) for item in done.wrong)
    assert (student == reference + 1).all()


@pytest.mark.parametrize(
    "work",
    [
        lambda rows, _: tensor(rows[:1] * 2),
        lambda rows, _: None,
        lambda rows, _: [tensor(row) for row in rows],
        lambda rows, _: 7,
    ],
)
def test_results_that_are_none_are_wrong(work: Work) -> None:
    done, _ = watch(Invented(8e-4, work))
    assert done.run is None
    assert done.wrong is not None


@pytest.mark.parametrize(
    "work",
    [
        lambda rows, _: [tensor(row * 2) for row in rows],
        lambda rows, _: tensor(rows * 2, "float64"),
        lambda rows, _: tensor(rows * 2 * (1 + 1e-6)),
    ],
)
def test_results_that_are_right_in_another_form_or_within_the_tolerance_are(work: Work) -> None:
    done, _ = watch(Invented(8e-4, work), rule=tolerance(1e-5, 0))
    assert done.run is not None


def test_a_call_that_does_not_return_ends_the_set() -> None:
    dies = ended(Outcome.CRASHED, "gone")
    for block in (1, 2, 5):
        done, _ = watch(
            Invented(8e-4, lambda rows, n, b=block: dies if n == b else tensor(rows * 2))
        )
        assert done.failed is dies
        assert done.run is None


def test_a_reference_that_fails_is_not_the_hand_ins_fault() -> None:
    vectorised = Invented(1e-4, lambda *_: ended(Outcome.CRASHED, "gone"))
    sessions = {STUDENT: Invented(1e-4), VECTORISED: vectorised, AGAIN: vectorised}
    known = cast("dict[str, ProcessSession]", {**sessions, LOOP: Invented(1e-2)})
    with pytest.raises(InfrastructureError, match="could not be timed"):
        Stopwatch(ProcessorClock(job(), known, 0), np.random.default_rng(0)).measure()


@pytest.mark.parametrize("block", [1, 5, 9])
def test_a_block_whose_clock_was_not_read_times_nothing(block: int) -> None:
    class Unread(Invented):
        def call(self, call: Call, seconds: float) -> Observation:
            seen = super().call(call, seconds)
            if self.blocks != block:
                return seen
            return replace(seen, facts=replace(seen.facts, cpu_seconds=None))

    with pytest.raises(NotTimedError, match="no_reading"):
        watch(Unread(8e-4))


def test_a_time_out_on_a_busy_machine_times_nothing() -> None:
    late = ended(Outcome.TIMED_OUT)
    busy = replace(late, facts=replace(late.facts, busy=True))
    with pytest.raises(NotTimedError, match="too_busy"):
        watch(Invented(8e-4, lambda rows, n: busy if n == 2 else tensor(rows * 2)))


def test_work_between_blocks_is_counted() -> None:
    class Busy(Invented):
        def call(self, call: Call, seconds: float) -> Observation:
            seen = super().call(call, seconds)
            self.later = True
            return seen

        def cpu_used(self) -> float:
            # Read before a block and after it: what comes on top in between is idle time.
            self.reads = getattr(self, "reads", 0) + 1
            if self.reads % 2:
                self.used += 0.005
            return self.used

    done, _ = watch(Busy(8e-4))
    # After each block of 13 calls, and after each of one.
    assert done.idle == pytest.approx(0.010 / (14 * 8e-4), rel=0.35)


def test_a_hopeless_hand_in_is_timed_for_one_round() -> None:
    done, sessions = watch(Invented(0.5))
    assert done.run is not None
    assert len(done.run.samples[STUDENT]) == 1
    assert sessions[STUDENT].blocks == 4
