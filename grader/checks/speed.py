"""Kinds ``vectorised`` and ``speedup``: how fast a function is, judged by the host's clock alone.

``vectorised`` reads the processor time of the student process while it works on inputs that it has
not seen, beside a vectorised and a loop reference in processes of their own; see
``grader.speed_statistics.vectorisation``. ``speedup`` is for a real device only: a virtual one has
no speed. What was measured there, and beside what, is in ``grader.speed_statistics.device``. A
measurement that noise could have made costs nothing, and where nothing was measured the points wait
for a machine that can.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import median
from typing import ClassVar, Literal

from pydantic import Field, model_validator
from typing_extensions import Self

from grader.checks.base import CaseInputs, Check, Identifier, Probe, SpeedTest
from grader.checks.judge import judge_case, required
from grader.checks.values import Close
from grader.observation import FunctionTiming, Observation, Outcome
from grader.speed_statistics.credit import Credit, Decision, single
from grader.speed_statistics.device import MARGIN, DeviceTiming, Reading, read, weigh
from grader.speed_statistics.vectorisation import MOST_SHARED, SpeedEstimate, pace_of, settled
from grader.speed_statistics.vectorisation import weigh as weigh_pace
from grader.verdict import (
    Basis,
    Code,
    Message,
    Owner,
    Param,
    Status,
    Verdict,
    deferred,
    earned,
    fault,
    finding,
    inconclusive,
    number,
    passed,
    reference_failed,
    review,
    sandbox_failed,
)

MOST_IDLE = 0.5
"""Of the processor time used in calls, what may be used between them: nobody has work there."""


_LISTS = 0.7
"""Greatest index at which text without a loop is believed. To list 512 rows measured 0.54 to 0.66,
to print two such lists and to do a hundred times the work 0.75 to 1.06."""


class SpeedCheck(Check):
    """Credit by a measure of speed, at a threshold or by a scale.

    Attributes:
        threshold: Greatest measure that earns the points.
        credit: Instead of a threshold: what which measure earns.
    """

    conditional: ClassVar[bool] = True
    default: ClassVar[float]
    """The threshold where neither is given."""

    threshold: float | None = None
    credit: Credit | None = None

    @model_validator(mode="after")
    def _one_scale(self) -> Self:
        if self.threshold is not None and self.credit is not None:
            raise ValueError("found both “threshold” and “credit”; keep the one that is meant")
        return self

    @property
    def scale(self) -> Credit:
        """Credit by measure, the default filled in."""
        return self.credit or single(self.threshold or self.default)


def speed_tests(checks: Iterable[Check], *, on_device: bool) -> Iterator[tuple[Check, SpeedTest]]:
    """Yield the checks for which a function is timed on the CPU, or on a device, and how."""
    for check in checks:
        test = check.speed()
        if test is not None and test.on_device is on_device:
            yield check, test


def only_on_device(checks: Sequence[Check]) -> frozenset[str]:
    """Return the ids of checks that nothing but a real GPU settles, and of all that require one."""
    found = {check.id for check, _ in speed_tests(checks, on_device=True)}
    resting = {check.id: set(required(check, checks)) for check in checks}
    while more := {name for name, needed in resting.items() if needed & found} - found:
        found |= more
    return frozenset(found)


def timing_problem(case: CaseInputs, timing: FunctionTiming) -> Verdict | None:
    """Return the verdict where the numbers decide nothing, or None where they do."""
    if timing.skipped == "timing_failed":
        return sandbox_failed(timing.detail)
    if timing.skipped:
        return deferred(Code.NOT_TIMED, Message(timing.skipped, {"detail": timing.detail}))
    if timing.failed is not None:
        # A reference that completed stands in: only how the submission's call ended is judged here.
        return judge_case(tolerance(0, 0), case, Observation(Outcome.COMPLETED), timing.failed)
    if timing.wrong is not None:
        return _wrong(case, *timing.wrong)
    if timing.idle > MOST_IDLE:
        return review(Message("timed_idle", {"percent": round(100 * timing.idle)}), Basis.FACT)
    return None


def same_result(
    case: CaseInputs, reference: Observation, submission: Observation, rule: Check
) -> bool:
    """Return whether a timed call returned what the reference did."""
    verdict = judge_case(rule, case, reference, submission)
    return verdict.status is Status.PASSED


def tolerance(rtol: float, atol: float) -> Close:
    """Return the rule of kind ``close`` for values that are compared and not graded."""
    return Close(id="timed", points=0, rtol=rtol, atol=atol)


def _wrong(case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
    verdict = judge_case(tolerance(0, 0), case, reference, submission)
    details = verdict.message.params if verdict.message else {}
    params: dict[str, Param] = {**details, "was": verdict.code.value.replace("_", " ")}
    return finding(verdict.code, "timed_wrong", params)


class Vectorised(SpeedCheck):
    """Credit by the vectorisation index: 0 at the speed of the reference, 1 at that of a loop.

    The case, and the loop to compare with, are named by the question's ``timed``.

    Attributes:
        threshold: Greatest index that earns the points; 0.5 where ``credit`` is absent too.
        credit: Instead of a threshold: what which index earns.
    """

    default = 0.5

    kind: Literal["vectorised"] = "vectorised"
    threshold: float | None = Field(default=None, gt=0, lt=1)

    def needs(self) -> frozenset[Probe]:
        """Return the probe of the text, which decides where time does not."""
        return frozenset({Probe.SOURCE})

    def speed(self) -> SpeedTest:
        """Ask for processor time, on inputs of the question's ``timed``."""
        return SpeedTest(self.scale)

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Place the submission's time between the vectorised and the loop reference."""
        timing = submission.facts.timing
        if timing is None:
            return deferred(Code.NOT_TIMED, Message("clock_off"))
        stopped = timing_problem(case, timing)
        if stopped is not None:
            return stopped
        if timing.screens:
            return self._screened(submission, timing)
        pace = pace_of(timing.runs)
        try:
            given = weigh_pace(pace, self.scale)
        except ValueError as error:
            return reference_failed(str(error))
        evidence = index_numbers(pace, timing)
        slow = given.decision is not Decision.PASSED or not given.share
        listed = slow and self._lists(submission, pace.measures)
        if listed and not pace.shared:
            return replace(passed(), evidence=evidence)
        if given.decision is not Decision.PASSED:
            return replace(inconclusive(Message("inconclusive", evidence)), evidence=evidence)
        # Only where it would earn points: a slow answer is slow, however its calls share work.
        if (given.share or listed) and pace.shared:
            together = review(Message("timed_together", evidence), Basis.FACT)
            return replace(together, evidence=evidence)
        return replace(earned(given.share, Code.TOO_SLOW, "too_slow", evidence), evidence=evidence)

    def _screened(self, submission: Observation, timing: FunctionTiming) -> Verdict:
        screens = timing.screens
        given = settled(screens, self.scale)
        if given is None:
            # It was settled for another limit than the rubric has by now.
            return deferred(Code.NOT_TIMED, Message("clock_off"))
        evidence = screened(timing)
        if not given.share and self._lists(submission, [screen.index for screen in screens]):
            if all(screen.alone <= _LISTS + MOST_SHARED for screen in screens):
                return replace(passed(), evidence=evidence)
            together = review(Message("timed_together", evidence), Basis.FACT)
            return replace(together, evidence=evidence)
        return replace(earned(given.share, Code.TOO_SLOW, "too_slow", evidence), evidence=evidence)

    def _lists(self, submission: Observation, measures: Sequence[float]) -> bool:
        """Tell whether a function without a loop is no slower than one that lists rows may be.

        Whoever looks at the first row, or prints the rows, takes a while for each row and has no
        loop. What grows in steps was found before: the check rests on one that looks for that.
        """
        source = submission.source
        hides = source is None or source.loops or source.opaque
        return self.credit is None and not hides and median(measures) <= _LISTS


def screened(timing: FunctionTiming) -> dict[str, Param]:
    """Return what short blocks in passing have shown, under the same names as ``numbers``."""
    screens = timing.screens
    ratios = [ratio for screen in screens for ratio in screen.ratios]
    return {
        "index": _middle([screen.index for screen in screens]),
        "indices": [number(round(screen.index, 4)) for screen in screens],
        "times": _middle([math.exp(value) for value in ratios]),
        "loop_times": _middle([math.exp(screen.loop) for screen in screens]),
        "rounds": len(ratios),
        "outputs": timing.outputs,
        "sizes": _sizes(timing),
        "alone": _middle([screen.alone for screen in screens]),
    }


def index_numbers(pace: SpeedEstimate, timing: FunctionTiming) -> dict[str, Param]:
    """Return what was measured, for messages and scripts."""
    measures = pace.measures
    walls = [
        sample.wall / sample.cpu for run in timing.runs for sample in run.samples.get("student", ())
        if sample.cpu
    ]  # fmt: skip
    return {
        "index": _middle(measures),
        "indices": [number(round(value, 4)) for value in measures],
        "times": _middle([math.exp(value) for value in pace.student]),
        "loop_times": _middle([math.exp(value) for value in pace.loop]),
        "sets": pace.sets,
        "steady": len(measures),
        "outputs": timing.outputs,
        "sizes": _sizes(timing),
        "wall_over_cpu": _middle(walls),
        "prepared": _middle(pace.prepared),
    }


def _sizes(timing: FunctionTiming) -> str:
    return ", ".join(f"{name} = {size}" for name, size in sorted(timing.dims.items()))


def _middle(values: Sequence[float]) -> Param:
    return number(round(median(values), 4)) if values else None


MOST_BUSY = 0.5
"""Of the time that it took to answer, for which the device may go on working afterwards."""


class Speedup(SpeedCheck):
    """Credit by t_student / t_reference on the same device, the wire's time taken off both.

    Where computing alone, copies taken off both, is established to take a greater ratio, that one.

    Attributes:
        case: The case whose sizes are timed. Further cases of the check decide nothing. They only
            make the speed show as pending on a machine that leaves out this case.
        cpu: Function of the reference file that does the same on the CPU; how many times as long
            it takes is reported.
        values: Id of the check whose rule every timed output has to pass, and pass in full.
        threshold: Greatest ratio that earns the points; 1.5 where ``credit`` is absent too.
        credit: Instead of a threshold: what which ratio earns.
        at_least: The submission must also be this many times as fast as ``cpu``; not required
            where absent. Where the reference is not as fast either, the machine decides nothing.
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

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Look at what was measured on the device, if anything was."""
        timing = submission.facts.timing
        if timing is None or (timing.device is None and not timing.skipped):
            return deferred(Code.NO_DEVICE, Message("speed_no_device"))
        verdict = self._judged(case, timing)
        # Otherwise a failure would be reported for a case that was never timed.
        return verdict if case.id == self.case else replace(passed(), evidence=verdict.evidence)

    def _judged(self, case: CaseInputs, timing: FunctionTiming) -> Verdict:
        if timing.skipped == "speed_device_failed":
            message = Message(timing.skipped, {"detail": timing.detail})
            return fault(Code.DEVICE_FAILED, Owner.INFRASTRUCTURE, message)
        if timing.wrong is not None:
            return _wrong_on_device(timing)
        stopped = timing_problem(case, timing)
        if stopped is not None or timing.device is None:
            return stopped or deferred(Code.NO_DEVICE, Message("speed_no_device"))
        readings = [read(run, timing.device) for run in timing.runs]
        evidence = device_numbers(readings, timing, timing.device)
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
        # Of whole calls the first message tells the times; those would contradict the second.
        by_computing = all(each.computing > each.ratio for each in readings if each.steady)
        message = "speed_computes_slowly" if by_computing else "speed_too_slow"
        return earned(given.share, Code.TOO_SLOW, message, evidence)

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
        # The reference does not reach it on this machine either, so the machine decides nothing
        # about the submission.
        if possible < self.at_least:
            return inconclusive(Message("speed_not_worth_it", evidence))
        if gained * MARGIN > self.at_least:
            return inconclusive(Message("speed_inconclusive", evidence))
        return finding(Code.TOO_SLOW, "speed_too_little", evidence)


def device_numbers(
    readings: list[Reading], timing: FunctionTiming, device: DeviceTiming
) -> dict[str, Param]:
    """Return what was measured, for messages and scripts; times in milliseconds."""
    steady = [reading for reading in readings if reading.steady] or readings
    params: dict[str, Param] = {
        "device": device.name,
        "times": _finite_middle([reading.ratio for reading in steady]),
        "ratios": [number(round(reading.ratio, 4)) for reading in readings],
        "computing": _finite_middle([reading.computing for reading in steady]),
        "noise": [number(round(reading.noise, 4)) for reading in readings],
        "speedup": _finite_middle([gain for each in steady if (gain := each.speedup) is not None]),
        "wire_ms": _finite_middle([1e3 * reading.wire for reading in steady]),
        "floor_ms": _finite_middle([1e3 * reading.floor for reading in steady]),
        "sets": len(readings),
        "outputs": timing.outputs,
        "set_aside": device.set_aside,
        "busy_percent": round(100 * device.busy),
        "sizes": device.sizes,
    }
    for party in sorted({name for reading in steady for name in reading.seconds}):
        params[f"{party}_ms"] = _finite_middle([1e3 * reading.seconds[party] for reading in steady])
        spans = [reading.quartiles[party] for reading in steady if party in reading.quartiles]
        if spans:
            params[f"{party}_quartiles_ms"] = [round(1e3 * each, 4) for each in spans[-1]]
    params |= {f"cold_{party}_ms": round(1e3 * cold, 3) for party, cold in device.cold.items()}
    return params | dict(device.facts)


def _wrong_on_device(timing: FunctionTiming) -> Verdict:
    assert timing.device is not None
    was = Code(timing.device.wrong or Code.WRONG_VALUE.value)
    params: dict[str, Param] = {"was": was.value.replace("_", " "), "outputs": timing.outputs}
    return finding(was, "speed_wrong", params)


def _finite_middle(values: list[float]) -> Param:
    finite = [value for value in values if math.isfinite(value)]
    return round(median(finite), 4) if finite else None
