"""What a set of processes on a device says, without any device."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from grader.speed_statistics.credit import Decision, Linear, Point, Step, Steps, single
from grader.speed_statistics.device import DeviceTiming, Reading, read, weigh
from grader.speed_statistics.sampling import Run, Sample, joined, usable

WIRE = 0.1
DEVICE = DeviceTiming("Fake")


def run(
    student: Sequence[float], reference: float = 0.01, wire: float = WIRE, **more: float
) -> Run:
    """A run of constant times beyond the wire's, but for the student's."""
    constant = {"transfer": 0.004, "cpu": 0.2, "reference": reference, **more}
    times = {"wire": [wire] * len(student), "student": [wire + each for each in student]}
    times |= {name: [wire + each] * len(student) for name, each in constant.items()}
    return Run({name: tuple(Sample(1, each) for each in each_) for name, each_ in times.items()})


def reading(ratio: float, noise: float = 0.01) -> Reading:
    return Reading(ratio, noise, {"student": ratio, "reference": 1.0}, 0.0)


def test_the_wire_is_taken_off_and_times_are_compared_by_the_median() -> None:
    found = read(run([0.02] * 9 + [0.0001] * 2), DEVICE)
    assert found.ratio == pytest.approx(2)
    assert found.speedup == pytest.approx(20)
    assert found.steady
    assert found.seconds["transfer"] == pytest.approx(0.004)


def test_the_floor_is_the_links_or_half_of_a_measured_copy() -> None:
    assert read(run([0.02] * 8), DEVICE).floor == pytest.approx(0.002)
    linked = DeviceTiming("Fake", moved=10**6, link=1e8)
    assert read(run([0.02] * 8), linked).floor == pytest.approx(0.01)
    assert read(run([0.009] * 8), linked).impossible
    assert not read(run([0.02] * 8), linked).impossible


@pytest.mark.parametrize(
    ("student", "reference"),
    [([-0.001] * 8, 0.01), ([0.02] * 8, -0.001), ([-0.001] * 3 + [0.002] * 4 + [-0.002], 0.01)],
)
def test_what_is_lost_in_the_wire_decides_nothing(student: list[float], reference: float) -> None:
    found = read(run(student, reference), DEVICE)
    assert not found.steady or found.impossible


def test_a_run_without_the_cpu_has_no_speedup() -> None:
    whole = run([0.02] * 8)
    partial = Run({name: blocks for name, blocks in whole.samples.items() if name != "cpu"})
    assert read(partial, DEVICE).speedup is None


def test_noise_is_the_error_of_the_median() -> None:
    calm = read(run([0.0199, 0.0201] * 8), DEVICE)
    wild = read(run([0.010, 0.040] * 8), DEVICE)
    assert calm.noise < 0.01
    assert wild.noise > 0.07
    # A wire that varies leaves equal times equal, and makes different ones uncertain.
    shaky = [WIRE * (1 + 0.1 * (number % 2)) for number in range(16)]
    blocks = {**run([0.03] * 16).samples, "wire": tuple(Sample(1, each) for each in shaky)}
    assert read(Run(blocks), DEVICE).noise > read(run([0.03] * 16), DEVICE).noise


@pytest.mark.parametrize(
    ("readings", "decision", "share"),
    [
        ([], Decision.MORE, 0),
        ([reading(1.0)], Decision.PASSED, 1),
        ([reading(3.0)], Decision.MORE, 0),
        ([reading(3.0), reading(3.0)], Decision.PASSED, 0),
        ([reading(3.0), reading(1.0)], Decision.INCONCLUSIVE, 0),
        ([reading(1.6), reading(1.6)], Decision.INCONCLUSIVE, 0),
        ([reading(1.0, 0.2)], Decision.MORE, 0),
        ([reading(1.0, 0.2), reading(1.0)], Decision.PASSED, 1),
        ([reading(1.0, 0.2), reading(1.0, 0.2)], Decision.INCONCLUSIVE, 0),
        ([reading(3.0), reading(1.0, 0.2)], Decision.MORE, 0),
        ([reading(3.0), reading(1.0, 0.2), reading(3.0)], Decision.PASSED, 0),
        ([reading(math.inf, math.inf)] * 2, Decision.INCONCLUSIVE, 0),
    ],
)
def test_full_credit_on_one_set_and_less_only_on_two(
    readings: list[Reading], decision: Decision, share: float
) -> None:
    given = weigh(readings, single(1.5))
    assert given.decision is decision
    if decision is Decision.PASSED:
        assert given.share == share


def test_shares_in_between_take_two_sets() -> None:
    steps = Steps(steps=(Step(within=1.5, credit=1), Step(within=3, credit=0.5)))
    line = Linear(linear=(Point(at=1.5, credit=1), Point(at=3.5, credit=0)))
    for credit in (steps, line):
        assert weigh([reading(1.0)], credit).share == 1
        assert weigh([reading(2.5)], credit).decision is Decision.MORE
        assert weigh([reading(2.5)] * 2, credit).share == 0.5


def test_rounds_are_left_out_and_put_together() -> None:
    kept = usable(run([1.0, 2.0, 3.0]), [1])
    assert [block.wall - WIRE for block in kept.samples["student"]] == pytest.approx([1, 3])
    assert len(joined(kept, kept).samples["cpu"]) == 4
    assert joined(Run(), kept) == kept
