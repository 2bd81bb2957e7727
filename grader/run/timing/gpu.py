"""Timing on a GPU: five parties on one leased device, by the host's clock.

Every round has inputs of its own, the same for all parties; each party's process sees them in that
call for the first time, and one request is outstanding at a time. Each of the submission's outputs
is judged beside the reference's: a replayed graph, a cached or half-finished answer is a wrong one.
After the submission has answered, the next call waits until the device is idle: work that goes on
slows nobody else down, and is counted.

Nothing but the submission's own doing costs points. ``grader.run.gpus`` says what is done where a
device fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from grader.checks.base import CaseInputs, SpeedTest
from grader.checks.judge import judge_case
from grader.checks.speed import speed_tests
from grader.observation import FunctionTiming, Observation, Outcome
from grader.run.gpu_state import Health
from grader.run.gpu_worker import PROGRAM, DeviceWorker, SickDeviceError, failure_text, suspicious
from grader.run.gpus import DeviceTakenError, NoDeviceError, Rack
from grader.run.materials import Materials
from grader.run.plan import DrawKey, PlannedCase, PlannedQuestion, draw_case
from grader.run.timing.stopwatch import (
    Inputs,
    Job,
    Round,
    SetOutcome,
    Stopwatch,
    Subject,
    TimingClock,
    size_of,
    time_until,
    with_set,
)
from grader.speed_statistics.credit import Decision
from grader.speed_statistics.device import (
    CPU,
    MOST_SETS,
    PARTIES,
    REFERENCE,
    STUDENT,
    TRANSFER,
    WIRE,
    DeviceTiming,
    read,
    weigh,
)
from grader.speed_statistics.sampling import Party, Plan, Run, Sample, exclusive
from grader.verdict import Status
from grader.wire.messages import Call, Load
from grader.wire.tree import tensors
from grader.wire.values import DType, Tensor, Value

PLAN = Plan(rounds=15, fewest=7, seconds=60.0)
"""Fewer rounds only where calls take seconds, as products of very large matrices do on a CPU."""

_WARM = 2
_QUIET_SECONDS = 5.0

_FIRST_DRAW = 20_000
"""Beyond all repeats of a case, and all draws that are timed on the CPU."""

_DRAWS = 1_000
"""Most draws in a set."""


class GpuClock(TimingClock):
    """Times single calls by the host's clock, on one device.

    Args:
        job: What is timed.
        programs: Party → what its process loads.
        worker: Holds the device.
        first_draw: Number of the first draw: no two sets have inputs in common.
    """

    def __init__(
        self, job: Job, programs: Mapping[str, Load], worker: DeviceWorker, first_draw: int
    ) -> None:
        super().__init__(job, first_draw)
        self._programs = programs
        self._worker = worker
        self._number = -1
        self._round = Round((), {})
        self._states: list[Health] = []
        self._sizes: list[Value] = []
        self._waited = self._answered = 0.0

    @property
    def idle(self) -> float:
        """Time for which the device still worked after answers, as a share of that until them."""
        return self._waited / self._answered if self._answered else 0.0

    def warm_up(self) -> Plan | None:
        """Make the first, cold calls and some more; learn the size of the reference's output."""
        failed = self._worker.start(self._programs)
        for party in (name for name in PARTIES if name in failed and name != STUDENT):
            raise SickDeviceError(f"{party}: could not be loaded: {failure_text(failed[party])}")
        if STUDENT in failed:
            self.outcome.failed = failed[STUDENT]
            return None
        for turn in range(1 + _WARM):
            self._begin(-1)
            # The reference first: the next two carry back as much as it has returned.
            for party in (REFERENCE, WIRE, TRANSFER, CPU, STUDENT):
                observation = self._call(party)
                if observation is None:
                    return None
                if turn == 0:
                    self.outcome.cold[party] = observation.facts.wall_seconds
        return self.job.plan

    def parties(self) -> dict[str, Party]:
        """Return what makes one call of each party."""
        self._states, self._number = [], -1
        return {party: self._party(party) for party in PARTIES}

    def lost(self, made: Run) -> list[int]:
        """Return the rounds before or after which the device's clocks were lowered."""
        # The state after the last round: a round is lost if clocks were lowered before or after it.
        self._states.append(self._worker.state())
        for state in self._states:
            if state.problem:
                raise SickDeviceError(state.problem)
        throttled = [
            number
            for number in range(made.rounds)
            if any(state.throttled for state in self._states[number : number + 2])
        ]
        self.outcome.set_aside += len(throttled)
        reasons = {state.throttled for state in self._states if state.throttled}
        self.outcome.reasons = tuple(sorted({*self.outcome.reasons, *reasons}))
        return throttled

    def _party(self, party: str) -> Party:
        def block(number: int) -> Sample | None:
            if self._number != number:
                self._states.append(self._worker.state())
                self._begin(number)
            observation = self._call(party)
            if observation is None or not self._right():
                return None
            return Sample(1, observation.facts.wall_seconds)

        return block

    def _begin(self, number: int) -> None:
        self._number, self._round = number, Round(*self.drawn(1))

    def _call(self, party: str) -> Observation | None:
        """Make a call; None if it is the submission's and did not return."""
        observation = self._worker.call(party, self._request(party), self.job.seconds)
        if party == STUDENT:
            self._answered += observation.facts.wall_seconds
            # Work that still runs after the answer was started to shorten the measured time; it is
            # added up, and a person looks.
            self._waited += self._worker.quiet(_QUIET_SECONDS)
            if observation.outcome is not Outcome.COMPLETED:
                self.outcome.failed = observation
                return None
        elif observation.outcome is not Outcome.COMPLETED:
            raise SickDeviceError(f"{party}: did not return: {failure_text(observation)}")
        if party == REFERENCE:
            self._sizes = [
                [list(tensor.shape), DType(tensor.dtype)]
                for tensor in tensors(observation.claims.value)
            ]
        self._round.seen[party] = 1, observation
        return observation

    def _request(self, party: str) -> Call:
        args, kwargs = self._round.args, self._round.kwargs
        if party in (WIRE, TRANSFER):
            # Lists, of sizes only: what is carried back is as large as the reference's output.
            return Call(party, (self._sizes, *args, *kwargs.values()))
        return Call(self.job.entries[party], args, dict(kwargs))

    def _right(self) -> bool:
        """Judge the submission's output of this round, once the reference's is there too."""
        current = self._round
        if STUDENT not in current.seen or REFERENCE not in current.seen:
            return True
        # Taken out, so that each output is judged once, whichever of the two came last.
        (_, reference), (_, student) = current.seen[REFERENCE], current.seen.pop(STUDENT)
        self.outcome.outputs += 1
        inputs = replace(self.job.inputs, args=current.args)
        verdict = judge_case(self.job.rule, inputs, reference, student)
        if verdict.status is Status.PASSED:
            return True
        self.outcome.wrong, self.outcome.wrong_code = (reference, student), verdict.code.value
        return False


class GpuTimer:
    """Times functions of submissions against the reference on a device.

    Args:
        materials: Hold the reference.
        rack: The devices.
        seed: Of all drawn inputs.
    """

    def __init__(self, materials: Materials, rack: Rack, seed: int) -> None:
        self._materials = materials
        self._rack = rack
        self._seed = seed

    def time(self, subject: Subject) -> FunctionTiming:
        """Time a function; where no device would do it, the timing says why."""

        def measure(worker: DeviceWorker) -> FunctionTiming:
            return _Measurement(self._materials, self._seed, subject, worker).run()

        try:
            return self._rack.run(measure)
        except DeviceTakenError as error:
            return FunctionTiming(skipped="speed_device_taken", detail=str(error))
        except NoDeviceError as error:
            return FunctionTiming(skipped="speed_device_failed", detail=str(error))


class _Measurement:
    """All sets of one function on one device."""

    def __init__(
        self, materials: Materials, seed: int, subject: Subject, worker: DeviceWorker
    ) -> None:
        self._materials = materials
        self._seed = seed
        self._subject = subject
        self._worker = worker
        tests = speed_tests(subject.planned.question.checks, on_device=True)
        self._test = next(test for _, test in tests)
        self._case = case_on_device(subject.planned, self._test)

    def run(self) -> FunctionTiming:
        """Make sets until they decide.

        Raises:
            SickDeviceError: The device failed; nothing of this counts.
        """
        health = self._worker.health()
        device = DeviceTiming(
            str(health.facts.get("name", self._worker.name)),
            sizes=_in_words(self._case.inputs),
            moved=sum(map(size_of, self._case.inputs.args)),
            link=health.link,
            facts=health.facts,
        )
        timing = FunctionTiming(dims=self._case.inputs.dims, device=device)
        return time_until(self._decided, self._further, timing)

    def _further(self, timing: FunctionTiming) -> FunctionTiming:
        """Make a set; once more where a call of the submission may have ended for the device.

        That is looked at first, and then processes that never met the error are asked the same.
        """
        number = len(timing.runs)
        done = self._measured(number)
        if done.failed is not None and suspicious(done.failed):
            self._insist()
            # Inputs of its own: the first set's may have been what the device failed on.
            done = self._measured(MOST_SETS + number)
            if done.failed is not None:
                self._insist()
        return _with_device(timing, done)

    def _measured(self, number: int) -> SetOutcome:
        subject = self._subject
        ours = self._materials.program(self._materials.reference, subject.module)
        theirs = self._materials.program(subject.files, subject.module)
        programs = {WIRE: PROGRAM, TRANSFER: PROGRAM, CPU: ours, REFERENCE: ours, STUDENT: theirs}
        clock = GpuClock(self._job(), programs, self._worker, _FIRST_DRAW + number * _DRAWS)
        # Held for one set alone: other graders may time between the sets.
        with exclusive():
            return Stopwatch(clock, np.random.default_rng([self._seed, number])).measure()

    def _insist(self) -> None:
        health = self._worker.health()
        if health.problem:
            raise SickDeviceError(health.problem)

    def _decided(self, timing: FunctionTiming) -> bool:
        assert timing.device is not None
        readings = [read(run, timing.device) for run in timing.runs]
        return weigh(readings, self._test.scale).decision is not Decision.MORE

    def _job(self) -> Job:
        subject, test = self._subject, self._test
        checks = subject.planned.question.checks
        rule = next(check for check in checks if check.id == test.values)
        entries = {CPU: test.cpu, REFERENCE: subject.reference_entry, STUDENT: subject.entry}
        return Job(entries, self._case.inputs, self._draw, rule, subject.limits.seconds, PLAN)

    def _draw(self, number: int, _: int) -> Inputs:
        # The sizes are those of the case as it was drawn; the numbers are new.
        case = self._case.case.model_copy(update={"dims": dict(self._case.inputs.dims)})
        question = self._subject.planned.question
        key = DrawKey(self._seed, self._materials.assignment.id, question.id, number)
        return draw_case(case, key).args, self._case.kwargs


def case_on_device(planned: PlannedQuestion, test: SpeedTest) -> PlannedCase:
    """Return the case whose sizes a question is timed at."""
    return next(case for case in planned.cases if case.case.id == test.case)


def _with_device(timing: FunctionTiming, done: SetOutcome) -> FunctionTiming:
    """Return a timing with one more set."""
    device = timing.device
    assert device is not None
    decided = done.failed is not None or done.wrong is not None
    skipped = "" if decided or done.run is not None else "speed_device_throttled"
    if done.failed is not None and done.failed.outcome is Outcome.OUT_OF_MEMORY:
        # The card is shared with four parties of ours here, which the submission cannot help.
        skipped = "speed_no_room"
    return replace(
        with_set(timing, done),
        # Of the device, not of the submission's processor time.
        idle=0.0,
        skipped=skipped,
        detail=", ".join(done.reasons),
        device=replace(
            device,
            cold=device.cold or done.cold,
            set_aside=device.set_aside + done.set_aside,
            reasons=tuple(sorted({*device.reasons, *done.reasons})),
            busy=max(device.busy, done.idle),
            wrong=done.wrong_code,
        ),
    )


def _in_words(inputs: CaseInputs) -> str:
    named = [
        f"{name} {'×'.join(map(str, value.shape))}"
        for name, value in zip(inputs.names, inputs.args, strict=False)
        if isinstance(value, Tensor) and value.shape
    ]
    return ", ".join(named)
