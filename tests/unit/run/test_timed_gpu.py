"""Speed on a device, against a fake one: who passes, who does not, and what costs nobody points."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import fake_device
import numpy as np
import pytest
from device_lab import Bench
from fake_device import NO_MEMORY, STICKY, Answer, FakeDevice, Student, honest, product, reduced

from grader.checks.judge import judge_case
from grader.checks.speed import Speedup
from grader.observation import Claims, HostFacts, Observation, Outcome
from grader.report.messages.catalogue import ENGLISH
from grader.run.materials import load_materials
from grader.speed_statistics.device import REFERENCE, TRANSFER, read
from grader.verdict import Code, Owner, Status, Verdict
from grader.vgpu.timeline.profiles import profile
from grader.wire.messages import Fault
from grader.wire.values import Tensor, Value

ROOT = Path(__file__).parents[3]
STRICT = replace(ENGLISH, strict=True)


def told(verdict: Verdict) -> str:
    """The verdict in words; raises where words are missing."""
    STRICT.for_student(verdict)
    return STRICT.for_staff(verdict)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


# What is right and as fast as the reference, and what is not


def test_an_honest_submission_passes_on_one_set(bench: Bench) -> None:
    timing = bench.time(honest())
    verdict = bench.judge(timing)
    assert (verdict.status, verdict.code) == (Status.PASSED, Code.OK)
    assert len(timing.runs) == 1
    assert timing.outputs == 15
    assert verdict.evidence["times"] == pytest.approx(1, abs=0.1)
    assert verdict.evidence["speedup"] == pytest.approx(40, rel=0.15)
    assert (verdict.evidence["cpu_threads"], verdict.evidence["tf32"]) == (1, False)


def test_a_case_that_is_not_timed_decides_nothing_and_defers_where_there_is_no_device(
    bench: Bench,
) -> None:
    check = next(c for c in bench.question.question.checks if isinstance(c, Speedup))
    small = replace(bench.question.cases[0].inputs, id="small")
    for timing, expected in ((bench.time(honest(0.4)), Status.PASSED), (None, Status.DEFERRED)):
        seen = Observation(Outcome.COMPLETED, HostFacts(timing=timing), Claims(1))
        assert judge_case(check, small, seen, seen).status is expected
    timed = bench.judge(bench.time(honest(0.4)))
    assert (timed.code, timed.case) == (Code.TOO_SLOW, "large")
    assert "Measured with x 16×32, w 32×24." in told(timed)


def test_cold_calls_are_kept_apart(bench: Bench) -> None:
    timing = bench.time(honest())
    assert timing.device is not None
    assert set(timing.device.cold) == {"wire", "transfer", "cpu", "reference", "student"}
    on_device = {name: timing.device.cold[name] for name in ("transfer", "reference", "student")}
    assert min(on_device.values()) > 1 > timing.device.cold["cpu"]
    warm = read(timing.runs[0], timing.device)
    assert max(warm.seconds.values()) < 0.5


@pytest.mark.parametrize("seconds", [0.010, 0.012])
def test_within_the_limit_nobody_fails(tmp_path: Path, seconds: float) -> None:
    for seed in range(25):
        device = FakeDevice(noise=0.05)
        verdict = Bench(tmp_path, device).verdict(honest(seconds), seed)
        assert verdict.status is Status.PASSED, (seed, verdict)


@pytest.mark.parametrize("seconds", [0.020, 0.030, 0.400])
def test_beyond_the_limit_nobody_passes_and_a_failure_was_seen_twice(
    tmp_path: Path, seconds: float
) -> None:
    for seed in range(10):
        bench = Bench(tmp_path, FakeDevice(noise=0.05))
        timing = bench.time(honest(seconds), seed)
        verdict = bench.judge(timing)
        assert (verdict.status, verdict.code) == (Status.FAILED, Code.TOO_SLOW)
        assert len(timing.runs) == 2
    assert "times as long as the reference" in told(verdict)


def test_between_limit_and_margin_the_points_stay_pending(bench: Bench) -> None:
    # Copies take 6 ms of the reference's 10. Computing takes 2.1 times as long, 1.8 at least.
    verdict = bench.verdict(honest(0.0145))
    assert (verdict.status, verdict.code) == (Status.DEFERRED, Code.INCONCLUSIVE)
    assert verdict.owner is Owner.INFRASTRUCTURE
    assert "pending" in told(verdict)


def test_partial_credit_by_thresholds(tmp_path: Path) -> None:
    steps = {"steps": [{"within": 1.5, "credit": 1.0}, {"within": 4.0, "credit": 0.5}]}
    bench = Bench(tmp_path, credit=steps)
    assert bench.verdict(honest()).credit == 1
    assert (bench.verdict(honest(0.018)).status, bench.verdict(honest(0.018)).credit) == (
        Status.PARTIAL,
        0.5,
    )
    assert bench.verdict(honest(0.080)).credit == 0


def test_the_wire_is_taken_off(bench: Bench) -> None:
    """A product on the CPU is four times as slow as one on the GPU, and 1.3 times with the wire."""
    timing = bench.time(honest(0.040))
    run = timing.runs[0]
    raw = [
        statistics.median(block.wall for block in run.samples[name])
        for name in ("student", "reference")
    ]
    assert raw[0] / raw[1] < 1.5
    assert bench.judge(timing).code is Code.TOO_SLOW


def test_a_gain_over_the_cpu_is_asked_for_only_where_the_assignment_says(tmp_path: Path) -> None:
    assert Bench(tmp_path, at_least=30.0).verdict(honest()).status is Status.PASSED
    slow = Bench(tmp_path, at_least=38.0, threshold=10.0).verdict(honest(0.030))
    assert (slow.status, slow.code) == (Status.FAILED, Code.TOO_SLOW)
    assert "as fast as on the CPU" in told(slow)
    never = Bench(tmp_path, at_least=80.0).verdict(honest())
    assert (never.status, never.code) == (Status.DEFERRED, Code.INCONCLUSIVE)
    assert "the reference itself" in told(never)


# Whether it is the kernel that decides, on cards from T4 to H200


CARDS = ("t4", "v100", "rtx3070-laptop", "a100", "h100")
"""An H200 has the float32 rate and the link of an H100, and more memory."""

SLOW_LINK = 3.4e9
"""Bytes a second into pages of the host that were never touched."""


def modelled(patch: pytest.MonkeyPatch, card: str, rate: float | None) -> float:
    """Have the fake device take what a card would for the sizes of pytorch101; return its kernel's.

    Args:
        patch: Takes the model away again.
        card: Name of a profile.
        rate: Of the copies, in bytes a second; as the profile says where None.
    """
    materials = load_materials(ROOT / "assignments/pytorch101/assignment.yml")
    question = next(each for each in materials.assignment.questions if each.id == "mm_on_gpu")
    check = next(each for each in question.checks if isinstance(each, Speedup))
    case = next(each for each in question.cases if each.id == check.case)
    (rows, inner), (_, columns) = (case.args[name].rand for name in ("x", "w"))
    model = profile(card)
    size = 4 * (rows * inner + inner * columns + rows * columns)
    kernel = 2 * rows * inner * columns / model.flops
    copies = size / (rate or model.pageable)
    patch.setitem(fake_device.SECONDS, TRANSFER, copies)
    patch.setitem(fake_device.SECONDS, REFERENCE, copies + kernel)
    patch.setattr(fake_device, "_WIRE_SECONDS", size * 0.090 / 84e6)
    return kernel


@pytest.mark.parametrize("rate", [None, SLOW_LINK])
@pytest.mark.parametrize("card", CARDS)
def test_a_kernel_that_is_ten_times_too_slow_keeps_no_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, card: str, rate: float | None
) -> None:
    kernel = modelled(monkeypatch, card, rate)
    reference = fake_device.SECONDS[REFERENCE]
    for seed in range(6):
        device = FakeDevice(random=np.random.default_rng(seed))
        verdict = Bench(tmp_path, device).verdict(honest(reference + 9 * kernel), seed)
        assert (verdict.status, verdict.code) == (Status.FAILED, Code.TOO_SLOW), (seed, verdict)
        assert "times as long as the reference" in told(verdict)


@pytest.mark.parametrize("rate", [None, SLOW_LINK])
@pytest.mark.parametrize("card", CARDS)
def test_a_kernel_as_fast_as_the_references_keeps_its_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, card: str, rate: float | None
) -> None:
    modelled(monkeypatch, card, rate)
    statuses = []
    for seed in range(20):
        device = FakeDevice(noise=0.05, random=np.random.default_rng(seed))
        verdict = Bench(tmp_path, device).verdict(honest(fake_device.SECONDS[REFERENCE]), seed)
        statuses.append(verdict.status)
    assert set(statuses) <= {Status.PASSED, Status.DEFERRED}
    # Where copies are as fast as a link can be, the wire's noise is a seventh of all that is left.
    assert statuses.count(Status.DEFERRED) <= (2 if card == "h100" and rate is None else 0)


def test_nothing_is_decided_without_a_real_device(bench: Bench) -> None:
    verdict = bench.judge(None)
    assert (verdict.status, verdict.code) == (Status.DEFERRED, Code.NO_DEVICE)
    assert "real GPU" in told(verdict)


# Noise, heat


def test_noise_costs_nobody_points(tmp_path: Path) -> None:
    statuses = set()
    for seed in range(40):
        bench = Bench(tmp_path, FakeDevice(noise=0.6))
        timing = bench.time(honest(), seed)
        assert len(timing.runs) <= 3
        statuses.add(bench.judge(timing).status)
    assert statuses <= {Status.PASSED, Status.DEFERRED}
    assert Status.DEFERRED in statuses


def test_an_unsteady_set_is_made_again_once(bench: Bench) -> None:
    def unsteady(device: FakeDevice, number: int, args: tuple[Value, ...]) -> Answer:
        # The first processes are disturbed, those after them are not.
        disturbed = device.events.count("start") == 1 and number % 2
        return Answer(0.035 if disturbed else 0.010, product(args))

    timing = bench.time(unsteady)
    assert timing.device is not None
    first, second = (read(run, timing.device) for run in timing.runs)
    assert (first.steady, second.steady) == (False, True)
    assert bench.judge(timing).status is Status.PASSED


def test_throttled_rounds_are_set_aside_and_made_again(tmp_path: Path) -> None:
    device = FakeDevice(throttled=lambda number: 5 <= number <= 7)
    bench = Bench(tmp_path, device)
    timing = bench.time(honest())
    assert timing.device is not None
    assert timing.device.set_aside == 4
    assert timing.device.reasons == ("temperature (hardware)",)
    assert {len(blocks) for blocks in timing.runs[0].samples.values()} == {15}
    assert bench.judge(timing).status is Status.PASSED


def test_a_device_that_stays_hot_leaves_the_points_pending(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeDevice(throttled=lambda number: number > 2))
    verdict = bench.verdict(honest())
    assert (verdict.status, verdict.code) == (Status.DEFERRED, Code.NOT_TIMED)
    assert "temperature" in told(verdict)


# Lies about time (THREATS E, on a device)


def test_work_that_goes_on_after_the_answer_slows_nobody_and_is_seen(bench: Bench) -> None:
    def side_stream(_d: FakeDevice, _n: int, args: tuple[Value, ...]) -> Answer:
        return Answer(0.002, product(args), after=1.0)

    # The fake device refuses a call that is made while it is busy.
    timing = bench.time(side_stream)
    verdict = bench.judge(timing)
    assert (verdict.status, verdict.code) == (Status.DEFERRED, Code.NEEDS_REVIEW)
    assert timing.device is not None
    assert timing.device.busy > 5


def test_an_answer_given_before_the_work_is_done_is_a_wrong_answer(bench: Bench) -> None:
    def too_early(_d: FakeDevice, _n: int, args: tuple[Value, ...]) -> Answer:
        right = product(args)
        half = right.data[: len(right.data) // 2]
        return Answer(0.001, Tensor("float32", right.shape, bytes(half) + bytes(len(half))), 0.1)

    verdict = bench.verdict(too_early)
    assert (verdict.status, verdict.code) == (Status.FAILED, Code.WRONG_VALUE)
    assert "not when it was timed" in told(verdict)


def test_a_replayed_graph_answers_the_last_question(bench: Bench) -> None:
    first: list[Tensor] = []

    def replayed(_d: FakeDevice, number: int, args: tuple[Value, ...]) -> Answer:
        if number <= 3:
            first[:] = [product(args)]
        return Answer(0.002, first[0])

    assert bench.verdict(replayed).code is Code.WRONG_VALUE


def test_right_in_tests_and_fast_when_timed(bench: Bench) -> None:
    """TF32 turned on from the fifth call on: too coarse for the check that judges the values."""

    def flipped(_d: FakeDevice, number: int, args: tuple[Value, ...]) -> Answer:
        return Answer(0.004, reduced(args) if number > 4 else product(args))

    verdict = bench.verdict(flipped)
    assert (verdict.status, verdict.code) == (Status.FAILED, Code.WRONG_VALUE)


def test_single_times_near_zero_win_nothing(bench: Bench) -> None:
    def lucky(_d: FakeDevice, number: int, args: tuple[Value, ...]) -> Answer:
        return Answer(0.0001 if number % 3 == 0 else 0.040, product(args))

    timing = bench.time(lucky)
    assert bench.judge(timing).status is not Status.PASSED
    times = [block.wall - 0.090 for block in timing.runs[0].samples["student"]]
    geometric = math.exp(statistics.fmean(math.log(max(time, 1e-4)) for time in times))
    assert geometric < 0.015  # a mean of ratios would have let it pass


@pytest.mark.parametrize("link", [None, 1e6])
def test_faster_than_the_inputs_can_be_carried_is_not_believed(
    tmp_path: Path, link: float | None
) -> None:
    bench = Bench(tmp_path, FakeDevice(link=link))
    verdict = bench.verdict(honest(0.0015))
    assert (verdict.status, verdict.code) == (Status.DEFERRED, Code.NEEDS_REVIEW)
    assert "unmeasured" in told(verdict)


def test_slow_first_calls_win_nothing(bench: Bench) -> None:
    """A slow warm-up is no baseline: the baseline is the reference's."""

    def warming(_d: FakeDevice, number: int, args: tuple[Value, ...]) -> Answer:
        return Answer(3.0 if number <= 3 else 0.030, product(args))

    assert bench.verdict(warming).code is Code.TOO_SLOW


# Errors


def test_an_error_that_stays_with_its_process_is_met_in_fresh_ones_again(bench: Bench) -> None:
    def once(device: FakeDevice, number: int, args: tuple[Value, ...]) -> Answer:
        if device.events.count("start") == 1 and number == 6:
            return Answer(fault=STICKY)
        return Answer(0.010, product(args))

    assert bench.verdict(once).status is Status.PASSED
    assert bench.out() == []


@pytest.mark.parametrize(
    ("fault", "code"), [(STICKY, Code.RAISED), (Fault("ValueError", "no"), Code.RAISED)]
)
def test_an_error_that_comes_again_on_a_sound_device_is_the_hand_ins(
    bench: Bench, fault: Fault, code: Code
) -> None:
    verdict = bench.verdict(lambda *_: Answer(fault=fault))
    assert (verdict.status, verdict.code, verdict.owner) == (Status.FAILED, code, Owner.STUDENT)
    assert bench.out() == []


def test_memory_that_is_shared_with_us_costs_nobody_points(bench: Bench) -> None:
    verdict = bench.verdict(lambda *_: Answer(fault=NO_MEMORY))
    assert (verdict.status, verdict.code) == (Status.DEFERRED, Code.NOT_TIMED)
    assert "memory" in told(verdict)


def poisons(*names: str) -> Student:
    """Breaks the devices of these names at its fourth call; on any other it is honest."""

    def student(device: FakeDevice, number: int, args: tuple[Value, ...]) -> Answer:
        if device.name in names and number == 4:
            device.problem = "a product could not be computed: CUDA error"
            return Answer(fault=STICKY)
        return Answer(0.010, product(args))

    return student


def test_a_poisoned_device_is_taken_out_and_the_hand_in_goes_to_another(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeDevice("GPU-0"), FakeDevice("GPU-1"))
    assert bench.verdict(poisons("GPU-0")).status is Status.PASSED
    assert bench.out() == ["GPU-0"]
    assert "a product could not be computed" in bench.leases.why_out("GPU-0")
    assert bench.devices["GPU-0"].users == bench.devices["GPU-1"].users == 0
    # The next hand-in does not meet it any more.
    assert bench.verdict(honest()).status is Status.PASSED
    assert bench.devices["GPU-0"].events.count("open") == 2


def test_with_no_device_left_the_points_are_pending_and_the_run_incomplete(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeDevice("GPU-0"))
    verdict = bench.verdict(poisons("GPU-0"))
    assert (verdict.status, verdict.code) == (Status.ERROR, Code.DEVICE_FAILED)
    assert verdict.owner is Owner.INFRASTRUCTURE
    told(verdict)
    # Mended, and put back by removing the file that the message names.
    bench.devices["GPU-0"].problem = ""
    again = bench.verdict(honest())
    assert again.status is Status.ERROR
    assert str(bench.leases.note("GPU-0")) in told(again)
    bench.leases.note("GPU-0").unlink()
    assert bench.verdict(honest()).status is Status.PASSED


def test_whoever_breaks_one_device_after_another_does_not_get_a_third(tmp_path: Path) -> None:
    names = ("GPU-0", "GPU-1", "GPU-2")
    bench = Bench(tmp_path, *map(FakeDevice, names))
    assert bench.verdict(poisons(*names)).status is Status.ERROR
    assert bench.out() == ["GPU-0", "GPU-1"]
    assert bench.verdict(honest()).status is Status.PASSED


@pytest.mark.parametrize("party", ["reference", "wire", "cpu"])
def test_a_party_of_ours_that_dies_is_nobodys_fault(tmp_path: Path, party: str) -> None:
    device = FakeDevice(dies={party: 5})
    bench = Bench(tmp_path, device)
    assert bench.verdict(honest()).status is Status.PASSED
    # Looked at in between, found well, and used again.
    assert bench.out() == []
    assert device.events.count("open") == 3


def test_a_device_that_is_not_well_before_a_run_is_not_used_for_it(tmp_path: Path) -> None:
    ill = FakeDevice("GPU-0", problem="3 uncorrectable memory errors")
    bench = Bench(tmp_path, ill, FakeDevice("GPU-1"))
    assert bench.verdict(honest()).status is Status.PASSED
    assert bench.out() == ["GPU-0"]
    assert ill.events.count("start") == 0


def test_a_result_from_a_device_that_is_ill_afterwards_does_not_count(tmp_path: Path) -> None:
    def last_call(device: FakeDevice, number: int, args: tuple[Value, ...]) -> Answer:
        if device.name == "GPU-0" and number == 18:
            device.problem = "it computes 511.0 for 512.0"
        return Answer(0.100 if device.name == "GPU-0" else 0.010, product(args))

    bench = Bench(tmp_path, FakeDevice("GPU-0"), FakeDevice("GPU-1"))
    assert bench.verdict(last_call).status is Status.PASSED
    assert bench.out() == ["GPU-0"]


# Leftovers


def test_what_a_hand_in_leaves_in_memory_is_gone_before_the_next(bench: Bench) -> None:
    def leaves(device: FakeDevice, _n: int, args: tuple[Value, ...]) -> Answer:
        device.memory = "answers"
        return Answer(0.010, product(args))

    def looks(device: FakeDevice, _n: int, args: tuple[Value, ...]) -> Answer:
        assert device.memory == ""
        return Answer(0.010, product(args))

    bench.verdict(leaves)
    assert bench.verdict(looks).status is Status.PASSED


def test_a_device_that_cannot_be_cleaned_serves_nobody_else(tmp_path: Path) -> None:
    bench = Bench(tmp_path, FakeDevice(unclean=True))
    assert bench.verdict(honest()).status is Status.PASSED
    assert bench.out() == ["GPU-0"]


def test_numbers_of_a_report_are_ones_that_json_has(bench: Bench) -> None:
    def check(value: Any) -> None:
        for item in value if isinstance(value, list) else [value]:
            assert item is None or not isinstance(item, float) or math.isfinite(item)

    for student in (honest(), honest(0.0), honest(0.1)):
        for value in bench.verdict(student).evidence.values():
            check(value)
