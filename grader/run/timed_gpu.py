"""Timing a hand-in's function on a GPU, until what it is worth is decided.

One device, leased; sets of fresh processes; nothing but the hand-in's own doing costs points. What
is done where a device fails is in ``grader.run.gpus``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from grader.assignment.types import Limits
from grader.checks.base import CaseInputs, SpeedTest
from grader.checks.judge import judge_case
from grader.checks.speed import speed_tests
from grader.clock.credit import Decision
from grader.clock.device import (
    CPU,
    MOST_SETS,
    REFERENCE,
    STUDENT,
    TRANSFER,
    WIRE,
    DeviceTiming,
    read,
    weigh,
)
from grader.clock.sampling import exclusive
from grader.observation import Observation, Outcome, Timing
from grader.run.device_stopwatch import DeviceJob, DeviceStopwatch, SetOutcome
from grader.run.draw import DrawKey, draw_case
from grader.run.gpu_worker import PROGRAM, DeviceWorker, SickDeviceError, suspicious
from grader.run.gpus import DeviceTakenError, NoDeviceError, Rack
from grader.run.materials import Materials
from grader.run.plan import PlannedCase, PlannedQuestion
from grader.verdict import Verdict
from grader.wire.values import Tensor, Value

_FIRST_DRAW = 20_000
"""Beyond all repeats of a case, and all draws that are timed on the CPU."""

_DRAWS = 1_000
"""Most draws in a set."""


@dataclass(frozen=True, slots=True)
class DeviceSubject:
    """What is timed: a question's function in a hand-in.

    Attributes:
        planned: The question.
        entry: Name of the function in the hand-in.
        reference_entry: Its name in the reference.
        files: The hand-in.
        limits: Of the question.
    """

    planned: PlannedQuestion
    entry: str
    reference_entry: str
    files: Mapping[str, bytes]
    limits: Limits


class DeviceTimer:
    """Times functions of hand-ins against the reference on a device.

    Args:
        materials: Hold the reference.
        rack: The devices.
        seed: Of all drawn inputs.
    """

    def __init__(self, materials: Materials, rack: Rack, seed: int) -> None:
        self._materials = materials
        self._rack = rack
        self._seed = seed

    def time(self, subject: DeviceSubject) -> Timing:
        """Time a function; where no device would do it, the timing says why."""

        def measure(worker: DeviceWorker) -> Timing:
            return _Measurement(self._materials, self._seed, subject, worker).run()

        try:
            return self._rack.run(measure)
        except DeviceTakenError as error:
            return Timing(skipped="speed_device_taken", detail=str(error))
        except NoDeviceError as error:
            return Timing(skipped="speed_device_failed", detail=str(error))


class _Measurement:
    """All sets of one function on one device."""

    def __init__(
        self, materials: Materials, seed: int, subject: DeviceSubject, worker: DeviceWorker
    ) -> None:
        self._materials = materials
        self._seed = seed
        self._subject = subject
        self._worker = worker
        self._test = speed_test(subject.planned)
        self._case = timed_case(subject.planned, self._test)

    def run(self) -> Timing:
        """Make sets until they decide.

        Raises:
            SickDeviceError: The device failed; nothing of this counts.
        """
        health = self._worker.health()
        device = DeviceTiming(
            str(health.facts.get("name", self._worker.name)),
            sizes=_sizes(self._case.inputs),
            moved=sum(map(_size, self._case.inputs.args)),
            link=health.link,
            facts=health.facts,
        )
        timing = Timing(dims=self._case.inputs.dims, device=device)
        for number in range(MOST_SETS):
            done = self._set(number)
            timing = _with(timing, done)
            if done.wrong or done.failed or timing.skipped or not self._undecided(timing):
                break
        return timing

    def _set(self, number: int) -> SetOutcome:
        """Make a set; once more where a call of the submission may have ended for the device.

        That is looked at first, and then processes that never met the error are asked the same.
        """
        done = self._measured(number)
        if done.failed is None or not suspicious(done.failed):
            return done
        self._insist()
        again = self._measured(MOST_SETS + number)
        if again.failed is not None:
            self._insist()
        return again

    def _measured(self, number: int) -> SetOutcome:
        random = np.random.default_rng([self._seed, number])
        first = _FIRST_DRAW + number * _DRAWS
        with exclusive():
            return DeviceStopwatch(self._job(), self._worker, random, first).measure()

    def _insist(self) -> None:
        health = self._worker.health()
        if health.problem:
            raise SickDeviceError(health.problem)

    def _undecided(self, timing: Timing) -> bool:
        assert timing.device is not None
        readings = [read(run, timing.device) for run in timing.runs]
        return weigh(readings, self._test.scale).decision is Decision.MORE

    def _job(self) -> DeviceJob:
        subject = self._subject
        ours = self._materials.program(self._materials.reference)
        theirs = self._materials.program(subject.files)
        return DeviceJob(
            programs={WIRE: PROGRAM, TRANSFER: PROGRAM, CPU: ours, REFERENCE: ours,
                      STUDENT: theirs},
            entries={CPU: self._test.cpu, REFERENCE: subject.reference_entry,
                     STUDENT: subject.entry},
            draw=self._draw,
            kwargs=self._case.kwargs,
            judge=self._judge,
            seconds=subject.limits.seconds,
        )  # fmt: skip

    def _draw(self, number: int) -> CaseInputs:
        # The sizes are those of the case as it was drawn; the numbers are new.
        case = self._case.case.model_copy(update={"dims": dict(self._case.inputs.dims)})
        question = self._subject.planned.question
        key = DrawKey(self._seed, self._materials.assignment.id, question.id, number)
        return replace(self._case.inputs, args=draw_case(case, key).args)

    def _judge(
        self, inputs: CaseInputs, reference: Observation, submission: Observation
    ) -> Verdict:
        question = self._subject.planned.question
        rule = next(check for check in question.checks if check.id == self._test.values)
        return judge_case(rule, inputs, reference, submission, question.id)


def speed_test(planned: PlannedQuestion) -> SpeedTest:
    """Return how a question is timed on a device."""
    return next(test for _, test in speed_tests(planned.question.checks, on_device=True))


def timed_case(planned: PlannedQuestion, test: SpeedTest) -> PlannedCase:
    """Return the case whose sizes a question is timed at."""
    return next(case for case in planned.cases if case.case.id == test.case)


def _with(timing: Timing, done: SetOutcome) -> Timing:
    """Return a timing with one more set."""
    device = timing.device
    assert device is not None
    decided = done.failed is not None or done.wrong is not None
    skipped = "" if decided or done.run is not None else "speed_device_throttled"
    if done.failed is not None and done.failed.outcome is Outcome.OUT_OF_MEMORY:
        # The card is shared with four parties of ours here, which the submission cannot help.
        skipped = "speed_no_room"
    return replace(
        timing,
        runs=timing.runs if done.run is None else (*timing.runs, done.run),
        outputs=timing.outputs + done.outputs,
        wrong=done.wrong,
        failed=done.failed,
        skipped=skipped,
        detail=", ".join(done.reasons),
        device=replace(
            device,
            cold=device.cold or done.cold,
            set_aside=device.set_aside + done.set_aside,
            reasons=tuple(sorted({*device.reasons, *done.reasons})),
            busy=max(device.busy, done.busy),
            wrong=done.verdict.code.value if done.verdict else "",
        ),
    )


def _sizes(inputs: CaseInputs) -> str:
    told = [
        f"{name} {'×'.join(map(str, value.shape))}"
        for name, value in zip(inputs.names, inputs.args, strict=False)
        if isinstance(value, Tensor) and value.shape
    ]
    return ", ".join(told)


def _size(value: Value) -> int:
    if isinstance(value, Tensor):
        return memoryview(value.data).nbytes
    return sum(map(_size, value)) if isinstance(value, (list, tuple)) else 0
