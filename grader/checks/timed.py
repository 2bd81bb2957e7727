"""What kinds on speed share: the scale, and what a timing says before its numbers are looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from pydantic import model_validator
from typing_extensions import Self

from grader.checks.base import CaseInputs, Check, SpeedTest
from grader.checks.judge import judge_case
from grader.checks.values import Close
from grader.clock.credit import Credit, single
from grader.observation import Observation, Outcome, Timing
from grader.verdict import (
    Basis,
    Code,
    Message,
    Param,
    Status,
    Verdict,
    deferred,
    finding,
    passed,
    review,
    sandbox_failed,
)

MOST_IDLE = 0.5
"""Of the processor time used in calls, what may be used between them: nobody has work there."""


class SpeedCheck(Check):
    """Credit by a measure of speed, at a threshold or by a scale.

    Attributes:
        threshold: Greatest measure that earns the points.
        credit: Instead of a threshold: what which measure earns.
    """

    conditional = True
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
        """What which measure earns, the default filled in."""
        return self.credit or single(self.threshold or self.default)


def speed_tests(checks: Iterable[Check], *, on_device: bool) -> Iterator[tuple[Check, SpeedTest]]:
    """Yield the checks for which a function is timed on the CPU, or on a device, and how."""
    for check in checks:
        test = check.speed()
        if test is not None and test.on_device is on_device:
            yield check, test


def earned(share: float, message: str, evidence: Mapping[str, Param]) -> Verdict:
    """Return the verdict on a measure that is worth a share of the points, for less than all."""
    if share == 1:
        return passed()
    late = finding(Code.TOO_SLOW, message, evidence)
    return replace(late, status=Status.PARTIAL, credit=share) if share else late


def untimely(case: CaseInputs, timing: Timing) -> Verdict | None:
    """Return the verdict where the numbers decide nothing, or None where they do.

    Args:
        case: The case that is judged.
        timing: What came of timing its function.
    """
    if timing.skipped == "timing_failed":
        return sandbox_failed(timing.detail)
    if timing.skipped:
        return deferred(Code.NOT_TIMED, Message(timing.skipped, {"detail": timing.detail}))
    if timing.failed is not None:
        return judge_case(tolerance(0, 0), case, Observation(Outcome.COMPLETED), timing.failed)
    if timing.wrong is not None:
        return _wrong(case, *timing.wrong)
    if timing.idle > MOST_IDLE:
        return review(Message("timed_idle", {"percent": round(100 * timing.idle)}), Basis.FACT)
    return None


def same_result(
    case: CaseInputs, reference: Observation, submission: Observation, rule: Check
) -> bool:
    """Return whether a timed call returned what the reference did.

    Args:
        case: Of the call.
        reference: The reference's call on the same inputs.
        submission: The submission's.
        rule: For the values.
    """
    verdict = judge_case(rule, case, reference, submission)
    return verdict.status is Status.PASSED


def tolerance(rtol: float, atol: float) -> Close:
    """Return the rule of kind ``close`` for values that are compared and not graded."""
    return Close(id="timed", points=0, rtol=rtol, atol=atol)


def _wrong(case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
    verdict = judge_case(tolerance(0, 0), case, reference, submission)
    told = verdict.message.params if verdict.message else {}
    params: dict[str, Param] = {**told, "was": verdict.code.value.replace("_", " ")}
    return finding(verdict.code, "timed_wrong", params)
