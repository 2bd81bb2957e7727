"""``vectorised``: a function is as fast as one that leaves the loop to torch. Judged by time alone.

The host reads the processor time of the guest while it works on inputs that it has not seen, beside
a vectorised and a loop reference in guests of their own; see ``grader.clock.vectorisation``. A
measurement that noise could have made costs nothing: the points stay pending.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import Literal

from pydantic import Field

from grader.checks.base import CaseInputs, SpeedTest
from grader.checks.timed import SpeedCheck, earned, untimely
from grader.clock.credit import Decision
from grader.clock.vectorisation import Pace, pace_of, settled, weigh
from grader.observation import Observation, Timing
from grader.verdict import (
    Basis,
    Code,
    Message,
    Param,
    Verdict,
    deferred,
    inconclusive,
    number,
    reference_failed,
    review,
)


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

    def speed(self) -> SpeedTest:
        """Ask for processor time, on inputs of the question's ``timed``."""
        return SpeedTest(self.scale)

    def judge(
        self,
        case: CaseInputs,
        reference: Observation,  # noqa: ARG002  its times stand beside the submission's
        submission: Observation,
    ) -> Verdict:
        """Look where the time lies."""
        timing = submission.facts.timing
        if timing is None:
            return deferred(Code.NOT_TIMED, Message("clock_off"))
        stopped = untimely(case, timing)
        if stopped is not None:
            return stopped
        if timing.screens:
            return self._screened(timing)
        pace = pace_of(timing.runs)
        try:
            given = weigh(pace, self.scale)
        except ValueError as error:
            return reference_failed(str(error))
        evidence = numbers(pace, timing)
        if given.decision is not Decision.PASSED:
            return replace(inconclusive(Message("inconclusive", evidence)), evidence=evidence)
        if given.share and pace.shared:
            together = review(Message("timed_together", evidence), Basis.FACT)
            return replace(together, evidence=evidence)
        return replace(earned(given.share, "too_slow", evidence), evidence=evidence)

    def _screened(self, timing: Timing) -> Verdict:
        given = settled(timing.screens, self.scale)
        if given is None:
            # It was settled for another limit than the rubric has by now.
            return deferred(Code.NOT_TIMED, Message("clock_off"))
        evidence = screened(timing)
        return replace(earned(given.share, "too_slow", evidence), evidence=evidence)


def screened(timing: Timing) -> dict[str, Param]:
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


def numbers(pace: Pace, timing: Timing) -> dict[str, Param]:
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


def _sizes(timing: Timing) -> str:
    return ", ".join(f"{name} = {size}" for name, size in sorted(timing.dims.items()))


def _middle(values: Sequence[float]) -> Param:
    return number(round(median(values), 4)) if values else None
