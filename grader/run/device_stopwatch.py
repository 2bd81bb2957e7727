"""One set of fresh processes on a device: five parties, timed in turns.

Every round has inputs of its own, drawn for it alone and the same for all parties; each party's
process sees them in that call for the first time, and one request is outstanding at a time. The
clock runs until the last byte of the output has arrived, and each of the submission's outputs is
judged beside the reference's: a replayed graph, a cached or half-finished answer is a wrong one.
After the submission has answered, the next call waits until the device is idle: work that goes on
slows nobody else down, and is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from grader.checks.base import CaseInputs
from grader.clock.device import (
    CPU,
    PARTIES,
    REFERENCE,
    STUDENT,
    TRANSFER,
    WIRE,
    joined,
    usable,
)
from grader.clock.sampling import Plan, Run, Sample, interleave
from grader.observation import Observation, Outcome
from grader.run.gpu_state import Health
from grader.run.gpu_worker import DeviceWorker, SickDeviceError, told_by
from grader.run.materials import Program
from grader.verdict import Status, Verdict
from grader.wire.messages import Call
from grader.wire.values import DType, Tensor, Value

PLAN = Plan(rounds=15, fewest=7, seconds=60.0)
"""Fewer rounds only where calls take seconds, as products of very large matrices do on a CPU."""

_WARM = 2
_TOP_UPS = 2
"""Times that rounds are made anew in the place of those that were set aside."""

_QUIET_SECONDS = 5.0

Draw = Callable[[int], CaseInputs]
Judge = Callable[[CaseInputs, Observation, Observation], Verdict]


@dataclass(frozen=True, slots=True)
class DeviceJob:
    """What is timed.

    Attributes:
        programs: Party → what its process loads.
        entries: Function of the reference, of the reference for the CPU, and of the submission.
        draw: The inputs of a round, by its number.
        kwargs: Keyword arguments, the same in every round.
        judge: Judges an output of the submission beside the reference's.
        seconds: Deadline of a call.
        plan: How many rounds.
    """

    programs: Mapping[str, Program]
    entries: Mapping[str, str]
    draw: Draw
    kwargs: Mapping[str, Value]
    judge: Judge
    seconds: float
    plan: Plan = PLAN


@dataclass(slots=True)
class SetOutcome:
    """What came of a set; see ``grader.observation.Timing`` and ``grader.clock.device``."""

    run: Run | None = None
    outputs: int = 0
    wrong: tuple[Observation, Observation] | None = None
    verdict: Verdict | None = None
    failed: Observation | None = None
    busy: float = 0.0
    set_aside: int = 0
    reasons: tuple[str, ...] = ()
    cold: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class _Round:
    inputs: CaseInputs
    seen: dict[str, Observation] = field(default_factory=dict)


class DeviceStopwatch:
    """Times one set.

    Args:
        job: What is timed.
        worker: Holds the device.
        random: Draws the order of the parties.
        first_draw: Number of the first draw: no two sets have inputs in common.
    """

    def __init__(
        self, job: DeviceJob, worker: DeviceWorker, random: np.random.Generator, first_draw: int
    ) -> None:
        self._job = job
        self._worker = worker
        self._random = random
        self._draws = first_draw
        self._round: tuple[int, _Round] = (-1, _Round(CaseInputs("", (), ())))
        self._states: list[Health] = []
        self._outputs: list[Value] = []
        self._waited = self._answered = 0.0
        self.outcome = SetOutcome()

    def measure(self) -> SetOutcome:
        """Time the set.

        Raises:
            SickDeviceError: The device, or a party of ours on it, failed.
        """
        failed = self._worker.start(self._job.programs)
        for party in (name for name in PARTIES if name in failed and name != STUDENT):
            raise SickDeviceError(f"{party}: could not be loaded: {told_by(failed[party])}")
        if STUDENT in failed:
            self.outcome.failed = failed[STUDENT]
            return self.outcome
        if self._warm_up() and self._rounds():
            answered = self._answered
            self.outcome.busy = self._waited / answered if answered else 0.0
        return self.outcome

    def _warm_up(self) -> bool:
        """Make first calls, the cold ones, and some more; the reference's output tells sizes."""
        for turn in range(1 + _WARM):
            self._begin(-1)
            for party in (REFERENCE, WIRE, TRANSFER, CPU, STUDENT):
                seen = self._call(party)
                if seen is None:
                    return False
                if turn == 0:
                    self.outcome.cold[party] = seen.facts.wall_seconds
        return True

    def _rounds(self) -> bool:
        """Make rounds until enough of them are usable, or there is no hope; False if one failed."""
        parties = {party: self._party(party) for party in PARTIES}
        kept = Run()
        for _ in range(1 + _TOP_UPS):
            missing = self._job.plan.rounds - _length(kept)
            if missing < 1:
                break
            fewest = min(self._job.plan.fewest, missing)
            plan = Plan(missing, fewest, self._job.plan.seconds)
            self._states, self._round = [], (-1, self._round[1])
            made = interleave(parties, plan, self._random)
            if made is None:
                return False
            self._states.append(self._worker.state())
            gone = self._throttled(_length(made))
            kept = joined(kept, usable(made, gone))
            if not gone:
                break
        self.outcome.run = kept if _length(kept) >= self._job.plan.fewest else None
        return True

    def _throttled(self, rounds: int) -> list[int]:
        """Return the rounds before or after which the device's clocks were lowered."""
        for state in self._states:
            if state.problem:
                raise SickDeviceError(state.problem)
        gone = [
            number
            for number in range(rounds)
            if any(state.throttled for state in self._states[number : number + 2])
        ]
        self.outcome.set_aside += len(gone)
        told = {state.throttled for state in self._states if state.throttled}
        self.outcome.reasons = tuple(sorted({*self.outcome.reasons, *told}))
        return gone

    def _party(self, party: str) -> Callable[[int], Sample | None]:
        def block(number: int) -> Sample | None:
            if self._round[0] != number:
                self._states.append(self._worker.state())
                self._begin(number)
            seen = self._call(party)
            if seen is None or not self._right():
                return None
            return Sample(1, seen.facts.wall_seconds)

        return block

    def _begin(self, number: int) -> None:
        self._draws += 1
        self._round = number, _Round(self._job.draw(self._draws))

    def _call(self, party: str) -> Observation | None:
        """Make a call; None if it is the submission's and did not return."""
        current = self._round[1]
        seen = self._worker.call(party, self._request(party, current.inputs), self._job.seconds)
        if party == STUDENT:
            self._answered += seen.facts.wall_seconds
            self._waited += self._worker.quiet(_QUIET_SECONDS)
            if seen.outcome is not Outcome.COMPLETED:
                self.outcome.failed = seen
                return None
        elif seen.outcome is not Outcome.COMPLETED:
            raise SickDeviceError(f"{party}: did not return: {told_by(seen)}")
        if party == REFERENCE:
            self._outputs = list(_outputs(seen.claims.value))
        current.seen[party] = seen
        return seen

    def _request(self, party: str, inputs: CaseInputs) -> Call:
        if party in (WIRE, TRANSFER):
            # Lists, of sizes only: what is carried back is as large as the reference's output.
            return Call(party, (self._outputs, *inputs.args, *self._job.kwargs.values()))
        return Call(self._job.entries[party], inputs.args, dict(self._job.kwargs))

    def _right(self) -> bool:
        """Judge the submission's output of this round, once the reference's is there too."""
        current = self._round[1]
        if STUDENT not in current.seen or REFERENCE not in current.seen:
            return True
        reference, student = current.seen[REFERENCE], current.seen.pop(STUDENT)
        self.outcome.outputs += 1
        verdict = self._job.judge(current.inputs, reference, student)
        if verdict.status is Status.PASSED:
            return True
        self.outcome.wrong, self.outcome.verdict = (reference, student), verdict
        return False


def _length(run: Run) -> int:
    return min((len(blocks) for blocks in run.samples.values()), default=0)


def _outputs(value: Value) -> Sequence[Value]:
    """Return shape and dtype of every tensor of a result."""
    if isinstance(value, Tensor):
        return [[list(value.shape), DType(value.dtype)]]
    if isinstance(value, (list, tuple)):
        return [entry for item in value for entry in _outputs(item)]
    return []
