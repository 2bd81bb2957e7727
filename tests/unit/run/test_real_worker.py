"""The real worker in real processes, on a device that is this machine's own processor.

All is as on a GPU but the kernel: the parties' processes, the host's clock, the wire taken off, the
probe before and after, the scrubbing. What the machine's load does to times is not asserted.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from device_lab import QUESTION, assignment, materials, planned

from grader.assignment.types import Assignment, Limits
from grader.checks.judge import judge_case
from grader.checks.speed import Speedup
from grader.observation import Claims, FunctionTiming, HostFacts, Observation, Outcome
from grader.run import gpu_worker
from grader.run.gpu_state import Health, Leases
from grader.run.gpu_worker import PROGRAM, GpuProcess
from grader.run.gpus import Rack
from grader.run.timing import gpu
from grader.run.timing.gpu import GpuTimer, Subject
from grader.sandbox.host.processes import Gpu, Sandbox
from grader.speed_statistics.device import PARTIES, read
from grader.verdict import Code, Status, Verdict
from grader.wire.messages import Load

RIGHT = b"""
def mm_on_gpu(x, w):
    return x.mm(w)


mm_on_cpu = mm_on_gpu
"""
SLOW = RIGHT.replace(b"    return x", b"    [x.mm(w) for _ in range(40)]\n    return x", 1)
LATE = b"""
made = []


def mm_on_gpu(x, w):
    made.append(x.mm(w))
    return made[min(len(made) - 1, 4)]
"""
DIES = b"""
import os
calls = []


def mm_on_gpu(x, w):
    calls.append(1)
    if len(calls) > 5:
        os._exit(7)
    return x.mm(w)
"""
ON_THE_CPU = {
    b'device="cuda"': b'device="cpu"',
    b".cuda()": b".clone()",
    b"torch.cuda.mem_get_info()[0]": b"2**24",
    b"torch.cuda.OutOfMemoryError": b"MemoryError",
    b"torch.cuda.synchronize()": b"part",
    b"if part < 2**21:": b"if part < 2**21 or len(kept) == 3:",
}


@pytest.fixture
def large() -> Assignment:
    args = {"x": {"rand": [256, 512]}, "w": {"rand": [512, 512]}}
    case = {"id": "large", "args": args}
    changed = {**QUESTION, "cases": [case]}
    return assignment().model_copy(
        update={"questions": (type(assignment().questions[0]).model_validate(changed),)}
    )


@pytest.fixture
def rack(sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rack:
    source = bytes(PROGRAM.files["device.py"])
    for there, here in ON_THE_CPU.items():
        assert there in source
        source = source.replace(there, here)
    program = Load({"device.py": source}, "device.py")
    for module in (gpu_worker, gpu):
        monkeypatch.setattr(module, "PROGRAM", program)

    def opened(name: str) -> GpuProcess:
        return GpuProcess(sandbox, Gpu(name, 0), Limits(memory_mb=512), lambda _: Health())

    return Rack(["GPU-0"], opened, Leases(tmp_path / "leases"), patience=10)


def timed(rack: Rack, toy: Assignment, source: bytes) -> tuple[FunctionTiming, Verdict]:
    ours = replace(materials(toy), reference={"toy.py": RIGHT})
    question = planned(toy)
    subject = Subject(question, "mm_on_gpu", "mm_on_gpu", {"toy.py": source}, Limits(seconds=20))
    timing = GpuTimer(ours, rack, 1).time(subject)
    check = next(each for each in toy.questions[0].checks if isinstance(each, Speedup))
    seen = Observation(Outcome.COMPLETED, HostFacts(timing=timing), Claims(1))
    return timing, judge_case(check, question.cases[0].inputs, seen, seen)


@pytest.mark.heavy
@pytest.mark.alone
def test_the_same_code_is_never_too_slow(rack: Rack, large: Assignment) -> None:
    timing, verdict = timed(rack, large, RIGHT)
    assert verdict.status in (Status.PASSED, Status.DEFERRED), verdict
    assert timing.device is not None
    assert set(timing.runs[0].samples) == set(timing.device.cold) == set(PARTIES)
    assert timing.outputs >= 15
    found = read(timing.runs[0], timing.device)
    assert found.wire > 0
    assert rack._leases.why_out("GPU-0") == ""


@pytest.mark.heavy
@pytest.mark.alone
def test_forty_times_the_work_never_passes(rack: Rack, large: Assignment) -> None:
    _, verdict = timed(rack, large, SLOW)
    assert verdict.status is not Status.PASSED
    assert verdict.code in (Code.TOO_SLOW, Code.INCONCLUSIVE), verdict


def test_an_answer_to_an_earlier_question_is_wrong(rack: Rack, large: Assignment) -> None:
    _, verdict = timed(rack, large, LATE)
    assert (verdict.status, verdict.code) == (Status.FAILED, Code.WRONG_VALUE)


def test_a_process_that_dies_twice_is_the_hand_ins(rack: Rack, large: Assignment) -> None:
    _, verdict = timed(rack, large, DIES)
    assert (verdict.status, verdict.code) == (Status.FAILED, Code.CRASHED)
    assert rack._leases.why_out("GPU-0") == ""
