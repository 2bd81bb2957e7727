"""On a real GPU. **Nobody has run these yet**: no machine with one was to be had.

``make gpu`` runs them on a GPU machine, and writes the figures that docs/gpu-speed.md lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.checks.judge import judge_case
from grader.checks.speed import Speedup
from grader.observation import Claims, FunctionTiming, HostFacts, Observation, Outcome
from grader.run.gpu_state import visible_gpus
from grader.run.gpus import Rack, open_rack
from grader.run.materials import Materials, load_materials
from grader.run.plan import PlannedQuestion, make_plan
from grader.run.timing.gpu import GpuTimer, Subject, case_on_device
from grader.sandbox.host.open import open_sandbox
from grader.sandbox.host.processes import Sandbox
from grader.speed_statistics.device import read
from grader.verdict import Status

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not visible_gpus(), reason="the driver offers no GPU on this machine"),
]

ROOT = Path(__file__).parents[2]
ON_CPU = b"""
def mm_on_gpu(x, w):
    return x.mm(w)
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    # As a GPU worker does it: in the sandbox.
    with open_sandbox("auto", gpus=visible_gpus()) as opened:
        yield opened


@pytest.fixture(scope="module")
def materials() -> Materials:
    return load_materials(ROOT / "assignments" / "pytorch101" / "assignment.yml")


@pytest.fixture(scope="module")
def planned(materials: Materials) -> PlannedQuestion:
    question = next(each for each in materials.assignment.questions if each.id == "mm_on_gpu")
    (plan,) = make_plan(materials.assignment, [question], 1, lambda *_: ())
    return plan


def rack(sandbox: Sandbox, materials: Materials, planned: PlannedQuestion) -> Rack:
    found = open_rack(sandbox, materials.assignment.limits_of(planned.question))
    assert found is not None
    return found


def timed(
    sandbox: Sandbox, materials: Materials, planned: PlannedQuestion, source: bytes
) -> FunctionTiming:
    limits = materials.assignment.limits_of(planned.question)
    timer = GpuTimer(materials, rack(sandbox, materials, planned), 1)
    files = {materials.assignment.module: source}
    return timer.time(Subject(planned, "mm_on_gpu", "mm_on_gpu", files, limits))


def note(record_property: Callable[[str, object], None], name: str, timing: FunctionTiming) -> None:
    """Leave the figures of a timing for ``make gpu``."""
    device = timing.device
    assert device is not None
    for number, run in enumerate(timing.runs, 1):
        reading = read(run, device)
        told = [f"{reading.ratio:.3f} ± {reading.noise:.1%} of the reference's time"]
        told += [f"{party} {seconds * 1e3:.2f} ms" for party, seconds in reading.seconds.items()]
        record_property(f"{name}, {device.sizes}, set {number}", ", ".join(told))
        record_property(f"{name}, set {number}: wire", f"{reading.wire * 1e3:.2f} ms")
    cold = ", ".join(f"{party} {seconds:.2f} s" for party, seconds in device.cold.items())
    record_property(f"{name}: first calls", cold)
    record_property(f"{name}: rounds set aside", f"{device.set_aside} {device.reasons or ''}")


def judged(planned: PlannedQuestion, timing: FunctionTiming) -> Status:
    check = next(each for each in planned.question.checks if isinstance(each, Speedup))
    seen = Observation(Outcome.COMPLETED, HostFacts(timing=timing), Claims(1))
    return judge_case(check, case_on_device(planned, check).inputs, seen, seen).status


def test_every_device_is_well_before_and_after(
    sandbox: Sandbox, materials: Materials, planned: PlannedQuestion
) -> None:
    assert rack(sandbox, materials, planned).sick() == []


def test_the_reference_passes_beside_itself(
    sandbox: Sandbox,
    materials: Materials,
    planned: PlannedQuestion,
    record_property: Callable[[str, object], None],
) -> None:
    source = bytes(materials.reference[materials.assignment.module])
    timing = timed(sandbox, materials, planned, source)
    note(record_property, "the reference beside itself", timing)
    assert judged(planned, timing) is Status.PASSED


def test_a_product_on_the_cpu_is_too_slow(
    sandbox: Sandbox,
    materials: Materials,
    planned: PlannedQuestion,
    record_property: Callable[[str, object], None],
) -> None:
    timing = timed(sandbox, materials, planned, ON_CPU)
    note(record_property, "a product on the CPU", timing)
    assert judged(planned, timing) is Status.FAILED
