"""A question that is timed on a device, and a bench of fake devices to time it on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fake_device import FakeDevice, FakeWorker, Student

from grader.assignment.types import Assignment
from grader.checks.judge import judge_case
from grader.checks.speed import Speedup
from grader.observation import Claims, FunctionTiming, HostFacts, Observation, Outcome
from grader.run.gpu_state import Leases
from grader.run.gpus import Rack
from grader.run.materials import Materials
from grader.run.plan import PlannedQuestion, make_plan
from grader.run.timing import stopwatch
from grader.run.timing.gpu import GpuTimer, Subject
from grader.speed_statistics.sampling import interleave
from grader.verdict import Verdict

QUESTION: dict[str, Any] = {
    "id": "mm_on_gpu",
    "title": "A product",
    "points": 2,
    "cases": [{"id": "large", "args": {"x": {"rand": [16, 32]}, "w": {"rand": [32, 24]}}}],
    "checks": [
        {"id": "precise", "kind": "product", "factors": ["x", "w"], "points": 1},
        {
            "id": "speed", "kind": "speedup", "points": 1, "cpu": "mm_on_cpu", "values": "precise",
            "case": "large",
        },
    ],
}  # fmt: skip


def assignment(**speed: Any) -> Assignment:
    """The assignment, with other keys for its check of speed."""
    precise, check = QUESTION["checks"]
    return Assignment.model_validate(
        {
            "schema": "torchgrade/assignment/v1",
            "id": "toy",
            "version": "1",
            "title": "Toy",
            "hand_in": ["toy.py"],
            "questions": [{**QUESTION, "checks": [precise, {**check, **speed}]}],
        }
    )


def materials(toy: Assignment) -> Materials:
    here = Path()
    return Materials(toy, {"toy.py": b""}, {}, "", "d" * 64, here, here, here, here)


def planned(toy: Assignment) -> PlannedQuestion:
    (question,) = make_plan(toy, toy.questions, 5, lambda *_: ())
    return question


def holds(folder: Path, ready: Any, done: Any) -> None:
    """Hold a device until told otherwise. Here, where a new process need not import torch."""
    with Leases(folder).hold("GPU-0", 0.0) as held:
        assert held
        ready.set()
        done.wait(30)


class Bench:
    """Devices, and a rack of them.

    Args:
        folder: Of the leases.
        devices: On the bench.
        speed: Other keys for the check of speed.
    """

    def __init__(self, folder: Path, *devices: FakeDevice, **speed: Any) -> None:
        self.devices = {device.name: device for device in devices or (FakeDevice(),)}
        self.leases = Leases(folder)
        self.toy = assignment(**speed)
        self.question = planned(self.toy)

    def rack(self, student: Student, patience: float = 5.0) -> Rack:
        def opened(name: str) -> FakeWorker:
            return FakeWorker(self.devices[name], student)

        return Rack(list(self.devices), opened, self.leases, patience)

    def time(self, student: Student, seed: int = 1) -> FunctionTiming:
        timer = GpuTimer(materials(self.toy), self.rack(student), seed)
        limits = self.toy.limits_of(self.question.question)
        with pytest.MonkeyPatch.context() as patch:
            # What a set may take is counted in the devices' own seconds.
            patch.setattr(stopwatch, "interleave", partial(interleave, now=self._now))
            return timer.time(Subject(self.question, "mm_on_gpu", "mm_on_gpu", {}, limits))

    def _now(self) -> float:
        return sum(device.now for device in self.devices.values())

    def judge(self, timing: FunctionTiming | None) -> Verdict:
        check = next(c for c in self.question.question.checks if isinstance(c, Speedup))
        seen = Observation(Outcome.COMPLETED, HostFacts(timing=timing), Claims(1))
        return judge_case(check, self.question.cases[0].inputs, seen, seen)

    def verdict(self, student: Student, seed: int = 1) -> Verdict:
        return self.judge(self.time(student, seed))

    def out(self) -> Sequence[str]:
        """Names of the devices that were taken out."""
        return [name for name in self.devices if self.leases.why_out(name)]
