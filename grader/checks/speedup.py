"""``speedup``: as fast on a real GPU as the reference there. Judged by the host's clock alone.

Only ever on a real device: a virtual one has no speed. What was measured, and beside what, is in
``grader.clock.device``; where nothing was, the points wait for a machine that has a GPU.
"""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import median
from typing import Literal

from pydantic import Field

from grader.checks.base import CaseInputs, Identifier, SpeedTest
from grader.checks.timed import SpeedCheck, earned, untimely
from grader.clock.credit import Decision
from grader.clock.device import MARGIN, DeviceTiming, Reading, read, weigh
from grader.observation import Observation, Timing
from grader.verdict import (
    Basis,
    Code,
    Message,
    Owner,
    Param,
    Verdict,
    deferred,
    fault,
    finding,
    inconclusive,
    number,
    passed,
    review,
)

MOST_BUSY = 0.5
"""Of the time that it took to answer, for which the device may go on working afterwards."""


class Speedup(SpeedCheck):
    """Credit by t_student / t_reference on the same device, the wire's time taken off both.

    Attributes:
        case: Whose sizes it is timed at. The check may judge others beside it, which decide nothing
            and let a machine that leaves this one out say that the speed is pending.
        cpu: Function of the reference file that does the same on the CPU; how many times as long
            it takes is reported.
        values: Id of the check whose rule every timed output has to pass, and pass in full.
        threshold: Greatest ratio that earns the points; 1.5 where ``credit`` is absent too.
        credit: Instead of a threshold: what which ratio earns.
        at_least: The submission must also be so many times as fast as ``cpu``, where the reference
            is: a machine on which that one is not decides nothing. Not looked at where absent.
    """

    default = 1.5

    kind: Literal["speedup"] = "speedup"
    case: Identifier
    cpu: Identifier
    values: Identifier
    threshold: float | None = Field(default=None, ge=1, allow_inf_nan=False)
    at_least: float | None = Field(default=None, gt=0, allow_inf_nan=False)

    def speed(self) -> SpeedTest:
        """Ask for the time of a whole call on a real GPU."""
        return SpeedTest(self.scale, True, self.case, self.cpu, self.values)

    def judge(
        self,
        case: CaseInputs,
        reference: Observation,  # noqa: ARG002  part of every judge
        submission: Observation,
    ) -> Verdict:
        """Look at what was measured on the device, if anything was."""
        timing = submission.facts.timing
        if timing is None or (timing.device is None and not timing.skipped):
            return deferred(Code.NO_DEVICE, Message("speed_no_device"))
        verdict = self._judged(case, timing)
        # Otherwise a failure would be told of a case that was never timed.
        return verdict if case.id == self.case else replace(passed(), evidence=verdict.evidence)

    def _judged(self, case: CaseInputs, timing: Timing) -> Verdict:
        if timing.skipped == "speed_device_failed":
            told = Message(timing.skipped, {"detail": timing.detail})
            return fault(Code.DEVICE_FAILED, Owner.INFRASTRUCTURE, told)
        if timing.wrong is not None:
            return _wrong(timing)
        stopped = untimely(case, timing)
        if stopped is not None or timing.device is None:
            return stopped or deferred(Code.NO_DEVICE, Message("speed_no_device"))
        readings = [read(run, timing.device) for run in timing.runs]
        evidence = numbers(readings, timing, timing.device)
        return replace(self._weighed(readings, timing.device, evidence), evidence=evidence)

    def _weighed(
        self, readings: list[Reading], device: DeviceTiming, evidence: dict[str, Param]
    ) -> Verdict:
        doubt = self._doubt(readings, device)
        if doubt:
            return review(Message(doubt, evidence), Basis.FACT)
        given = weigh(readings, self.scale)
        if given.decision is not Decision.PASSED:
            return inconclusive(Message("speed_inconclusive", evidence))
        slow = self._too_little_gained(readings, evidence)
        if given.share and slow is not None:
            return slow
        return earned(given.share, "speed_too_slow", evidence)

    def _doubt(self, readings: list[Reading], device: DeviceTiming) -> str:
        """Return why a person has to look, as the id of a message, or an empty string."""
        steady = [reading for reading in readings if reading.steady] or readings
        if any(reading.impossible for reading in steady):
            return "speed_impossible"
        if device.busy > MOST_BUSY:
            return "speed_busy"
        return ""

    def _too_little_gained(
        self, readings: list[Reading], evidence: dict[str, Param]
    ) -> Verdict | None:
        """Compare with the CPU, where the assignment asks for that."""
        gains = [
            (each.speedup, each.speedup / each.ratio)
            for each in readings
            if each.steady and each.speedup is not None
        ]
        if self.at_least is None or not gains:
            return None
        possible, gained = (median(column) for column in zip(*gains, strict=True))
        evidence |= {"gained": round(gained, 4), "at_least": self.at_least}
        if gained >= self.at_least:
            return None
        if possible < self.at_least:
            return inconclusive(Message("speed_not_worth_it", evidence))
        if gained * MARGIN > self.at_least:
            return inconclusive(Message("speed_inconclusive", evidence))
        return finding(Code.TOO_SLOW, "speed_too_little", evidence)


def numbers(readings: list[Reading], timing: Timing, device: DeviceTiming) -> dict[str, Param]:
    """Return what was measured, for messages and scripts; times in milliseconds."""
    steady = [reading for reading in readings if reading.steady] or readings
    told: dict[str, Param] = {
        "device": device.name,
        "times": _middle([reading.ratio for reading in steady]),
        "ratios": [number(round(reading.ratio, 4)) for reading in readings],
        "noise": [number(round(reading.noise, 4)) for reading in readings],
        "speedup": _middle([gain for each in steady if (gain := each.speedup) is not None]),
        "wire_ms": _middle([1e3 * reading.wire for reading in steady]),
        "floor_ms": _middle([1e3 * reading.floor for reading in steady]),
        "sets": len(readings),
        "outputs": timing.outputs,
        "set_aside": device.set_aside,
        "busy_percent": round(100 * device.busy),
        "sizes": device.sizes,
    }
    for party in sorted({name for reading in steady for name in reading.seconds}):
        told[f"{party}_ms"] = _middle([1e3 * reading.seconds[party] for reading in steady])
        spans = [reading.quartiles[party] for reading in steady if party in reading.quartiles]
        if spans:
            told[f"{party}_quartiles_ms"] = [round(1e3 * each, 4) for each in spans[-1]]
    told |= {f"cold_{party}_ms": round(1e3 * cold, 3) for party, cold in device.cold.items()}
    return told | dict(device.facts)


def _wrong(timing: Timing) -> Verdict:
    assert timing.device is not None
    was = Code(timing.device.wrong or Code.WRONG_VALUE.value)
    told: dict[str, Param] = {"was": was.value.replace("_", " "), "outputs": timing.outputs}
    return finding(was, "speed_wrong", told)


def _middle(values: list[float]) -> Param:
    finite = [value for value in values if math.isfinite(value)]
    return round(median(finite), 4) if finite else None
