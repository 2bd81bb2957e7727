"""Rounds of a screen in invented processes: how many calls, what is compared, what is left to
care."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from observed import ended, tensor
from test_stopwatch import Invented, job

from grader.errors import InfrastructureError
from grader.observation import FunctionTiming, Outcome
from grader.run.session import ProcessSession
from grader.run.timing import quick_screen
from grader.run.timing.processor import ProcessorClock
from grader.run.timing.quick_screen import ReferenceCost, make_rounds
from grader.run.timing.stopwatch import NotTimedError
from grader.speed_statistics.credit import single
from grader.speed_statistics.vectorisation import LOOP, STUDENT, VECTORISED, Screen, Vote, votes

if TYPE_CHECKING:
    from grader.run.materials import Materials
    from grader.run.timing.stopwatch import Subject
    from grader.sandbox.host.processes import Sandbox

HALF = single(0.5)


class Resident(Invented):
    """The reference's process, with its loop."""

    def __init__(self) -> None:
        super().__init__(5e-5)

    def call(self, call: Any, seconds: float) -> Any:
        self.per_call = 5e-5 * (64 if call.entry == "loop" else 1)
        return super().call(call, seconds)


def screened(
    student: Invented, known: ReferenceCost | None = None, reference: Invented | None = None
) -> tuple[Screen | None, ProcessorClock]:
    resident = reference or Resident()
    sessions = {STUDENT: student, VECTORISED: resident, LOOP: resident}
    entries = {STUDENT: "f", VECTORISED: "f", LOOP: "loop"}
    blocks = ProcessorClock(job(entries=entries), cast("dict[str, ProcessSession]", sessions), 0)
    known = known or ReferenceCost()
    known.measure(blocks)
    return make_rounds(blocks, known, HALF, np.random.default_rng(0)), blocks


@pytest.mark.parametrize(
    ("times", "said", "rounds"), [(1, Vote.FAST, 4), (8, Vote.UNCLEAR, 3), (64, Vote.SLOW, 4)]
)
def test_rounds_end_as_soon_as_they_say_something(times: float, said: Vote, rounds: int) -> None:
    screen, blocks = screened(Invented(5e-5 * times))
    assert screen is not None
    assert votes(screen, HALF) is said
    assert len(screen.ratios) == rounds
    assert screen.loop == pytest.approx(np.log(64))
    # ProcessorClock of two milliseconds, of its own calls; and every call is compared.
    assert blocks.calls == {VECTORISED: 40, STUDENT: max(1, round(40 / times + 0.3))}
    assert blocks.outcome.outputs > rounds


def test_no_two_blocks_have_inputs_in_common() -> None:
    student = Invented(5e-5)
    screened(student)
    large = [data for data in student.inputs if len(data) > 100]
    assert len(set(large)) == len(large) > 4


def test_what_is_wrong_or_fails_is_left_to_care() -> None:
    wrong = Invented(5e-5, lambda rows, number: tensor(rows * (2 if number < 9 else 3)))
    assert screened(wrong)[0] is None
    assert screened(Invented(5e-5, lambda *_: ended(Outcome.TIMED_OUT)))[0] is None


def test_work_between_calls_is_seen() -> None:
    class Busy(Invented):
        def call(self, call: Any, seconds: float) -> Any:
            self.used += 1e-2
            return super().call(call, seconds)

        def cpu_used(self) -> float:
            self.used += 1e-3
            return self.used

    _, blocks = screened(Busy(5e-5))
    assert blocks.idle > 0.5


def test_the_loop_is_measured_now_and_again() -> None:
    known, reference = ReferenceCost(), Resident()
    counts = []
    for _ in range(17):
        screened(Invented(5e-5), known, reference)
        counts.append(len(known._loops))
    assert counts == [5] * 8 + [6] * 8 + [7]


def test_a_failing_reference_is_no_submissions_fault() -> None:
    broken = Invented(5e-5, lambda *_: ended(Outcome.CRASHED))
    with pytest.raises(InfrastructureError):
        screened(Invented(5e-5), reference=broken)


def test_a_clock_that_cannot_be_read_times_nothing() -> None:
    with pytest.raises(NotTimedError):
        screened(Invented(0.0))


def test_after_a_doubt_the_reference_is_measured_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    results = {"scale_of": HALF, "timed_dims": {}, "speed_tests": (), "votes": Vote.UNCLEAR}
    for name, result in {**results, "readable": True}.items():
        monkeypatch.setattr(quick_screen, name, lambda *_, result=result, **__: result)
    screener = quick_screen.Screener(cast("Materials", None), cast("Sandbox", None), 5)
    timing = FunctionTiming(screens=(cast("Screen", None),))
    monkeypatch.setattr(screener, "_further", lambda *_: timing)
    screener._known = {"f": ReferenceCost(), "other": ReferenceCost()}
    planned = SimpleNamespace(question=SimpleNamespace(id="f", checks=()))
    assert screener.screen(cast("Subject", SimpleNamespace(planned=planned))) is None
    assert list(screener._known) == ["other"]
