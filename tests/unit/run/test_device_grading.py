"""A whole grading with a device on a bench: timed last, requeued, merged into a report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from device_lab import Bench, assignment, materials
from fake_device import STICKY, Answer, FakeDevice, Student, honest, product

from grader.assignment.types import Assignment
from grader.batch.merge import merge_folders
from grader.errors import AssignmentError
from grader.grading import Grader, Options
from grader.report.gradescope import write_results
from grader.report.layers import fold
from grader.report.merge import MergeError, completions
from grader.report.model import Report, ReportStatus, read_report, write_report
from grader.run.gpus import no_rack
from grader.run.materials import Materials
from grader.run.timing.clocks import wants_device
from grader.sandbox.host.processes import ProcessSpec, Sandbox
from grader.verdict import Code, Message, Status, deferred, passed
from grader.wire.values import Value

RIGHT = b"""
def mm_on_gpu(x, w):
    return x.mm(w)


def mm_on_cpu(x, w):
    return x.mm(w)
"""
WRONG = RIGHT.replace(b"x.mm(w)", b"x.mm(w) + 1", 1)

Grade = Callable[..., Report]


def files(toy: Assignment, reference: bytes = RIGHT) -> Materials:
    return replace(materials(toy), reference={"toy.py": reference})


@pytest.fixture
def grade(sandbox: Sandbox, tmp_path: Path) -> Grade:
    """Grade a submission: without a device, or on a bench with what its function does there."""

    def graded(student: Student | None, source: bytes = RIGHT, *devices: FakeDevice) -> Report:
        bench = Bench(tmp_path / "leases", *devices)
        racks = no_rack if student is None else (lambda *_: bench.rack(student))
        hand_in = tmp_path / "toy.py"
        hand_in.write_bytes(source)
        grader = Grader(files(bench.toy), sandbox, Options(5, clock=True), racks)
        grader.prepare()
        return grader.grade(hand_in, "kim")

    return graded


def speed(report: Report) -> tuple[Status, Code]:
    check = next(each for each in report.questions[0].checks if each.id == "speed")
    return check.status, check.code


def test_without_a_device_the_speed_is_pending_and_a_gpu_workers_report_completes_it(
    grade: Grade, tmp_path: Path
) -> None:
    before, after = grade(None), grade(honest())
    assert (before.score, before.pending, before.status) == (1, 1, ReportStatus.PENDING)
    assert speed(before) == (Status.DEFERRED, Code.NO_DEVICE)
    assert (after.score, after.pending, after.status) == (2, 0, ReportStatus.GRADED)
    for name, report in (("cpu", before), ("gpu", after)):
        write_report(report, tmp_path / name)
        write_results(report, tmp_path / name)
    merge_folders([tmp_path / "cpu", tmp_path / "gpu"])
    merged = read_report(tmp_path / "cpu" / "report.json")
    assert (merged.score, merged.pending) == (2, 0)
    assert merged.merged[0].checks == ("mm_on_gpu.speed",)


def test_another_hand_in_is_not_merged(grade: Grade, tmp_path: Path) -> None:
    write_report(grade(None), tmp_path / "cpu")
    write_report(grade(honest(), RIGHT + b"# changed\n"), tmp_path / "gpu")
    with pytest.raises(MergeError, match="another submission"):
        merge_folders([tmp_path / "cpu", tmp_path / "gpu"])


def test_what_is_wrong_is_not_timed(grade: Grade) -> None:
    device = FakeDevice()
    report = grade(honest(), WRONG, device)
    assert device.events == []
    assert speed(report) == (Status.SKIPPED, Code.REQUIREMENT_NOT_MET)
    assert report.pending == 0


def test_a_hand_in_that_was_requeued_has_all_its_points(grade: Grade) -> None:
    def poisons_the_first(device: FakeDevice, number: int, args: tuple[Value, ...]) -> Answer:
        if device.name == "GPU-0" and number == 5:
            device.problem = "a product could not be computed: CUDA error"
            return Answer(fault=STICKY)
        return Answer(0.010, product(args))

    report = grade(poisons_the_first, RIGHT, FakeDevice("GPU-0"), FakeDevice("GPU-1"))
    assert (report.score, report.status) == (2, ReportStatus.GRADED)


def test_without_a_healthy_device_the_report_is_incomplete_and_nothing_is_lost(
    grade: Grade,
) -> None:
    report = grade(honest(), RIGHT, FakeDevice(problem="fallen off the bus"))
    assert (report.score, report.pending, report.status) == (1, 1, ReportStatus.INCOMPLETE)
    assert speed(report) == (Status.ERROR, Code.DEVICE_FAILED)
    others = [grade(None), grade(honest(), RIGHT, FakeDevice("GPU-1"))]
    mended = fold(report, completions(report, others))
    assert (mended.score, mended.status) == (2, ReportStatus.GRADED)


def test_a_report_tells_a_batch_whether_to_come_back_with_the_clock(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    bench = Bench(tmp_path)
    hand_in = tmp_path / "toy.py"
    hand_in.write_bytes(RIGHT)
    for racks, expected in ((no_rack, False), (lambda *_: bench.rack(honest()), True)):
        grader = Grader(files(bench.toy), sandbox, Options(5, clock=True), racks)
        grader.prepare()
        assert grader.awaits_clock(grader.grade(hand_in, "kim", clock=False)) is expected


def test_a_case_that_was_not_planned_is_not_timed(tmp_path: Path) -> None:
    question = Bench(tmp_path).question
    waiting = {
        "precise": passed(), "speed": deferred(Code.NO_DEVICE, Message("speed_no_device"))
    }  # fmt: skip
    assert wants_device(question, waiting)
    assert not wants_device(replace(question, cases=()), waiting)


def test_a_reference_without_the_function_for_the_cpu_is_a_broken_assignment(
    sandbox: Sandbox,
) -> None:
    lacking = files(assignment(cpu="mm_on_cup"))
    with pytest.raises(AssignmentError, match="did you mean “mm_on_cpu”"):
        Grader(lacking, sandbox, Options(5)).prepare()


BREAKS = b"""
def mm_on_gpu(x, w):
    raise RuntimeError("CUDA error: an illegal memory access was encountered")


mm_on_cpu = mm_on_gpu
"""


@pytest.mark.parametrize(
    ("problem", "code"), [("", Code.RAISED), ("a product could not be computed", None)]
)
def test_an_error_met_on_a_sick_device_costs_nobody_points(
    sandbox: Sandbox, tmp_path: Path, problem: str, code: Code | None
) -> None:
    """The question needs a device and says so; the processes here have none, and are not asked."""
    bench = Bench(tmp_path, FakeDevice(problem=problem))
    hand_in = tmp_path / "toy.py"
    hand_in.write_bytes(BREAKS)
    toy = files(bench.toy)
    grader = Grader(toy, sandbox, Options(5), lambda *_: bench.rack(honest()))
    grader.prepare()
    grader._baseline.plan = (replace(grader.plan[0], process=ProcessSpec(cuda=1)),)
    monkeyed = grader.grade(hand_in, "kim")
    codes = {check.code for check in monkeyed.questions[0].checks}
    if code is None:
        assert codes == {Code.DEVICE_FAILED}
        assert monkeyed.status is ReportStatus.INCOMPLETE
        assert bench.out() == ["GPU-0"]
    else:
        assert code in codes
        assert monkeyed.pending == 0
