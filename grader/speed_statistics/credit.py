"""From blocks of calls to a decision, and to the credit that it earns. Pure.

Ratios are compared by their logarithms, so that twice as slow and twice as fast weigh alike, and
summed up by the median, which a few disturbed rounds do not move. A round's blocks lie next to each
other in time: what slows one down slows the others too, and leaves their ratio.

A *measure* is a number of which less is better: the vectorisation index of kind ``vectorised``, the
ratio to the reference's time of kind ``speedup``. It earns credit by thresholds, or along a line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from itertools import pairwise
from statistics import median
from typing import Annotated, Any, Union

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from grader.speed_statistics.sampling import Run


class Decision(Enum):
    """What a number of measurements allow to say."""

    PASSED = "passed"
    FAILED = "failed"
    MORE = "more"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Rule:
    """How many measurements it takes to decide; each comes from a set of fresh processes.

    Attributes:
        fewest: Least number of measurements.
        most: Greatest number; what is open by then is inconclusive.
        margin: A failure must exceed the limit by this factor, so that noise costs nobody points.
    """

    fewest: int = 3
    most: int = 9
    margin: float = 1.25


STANDARD_RULE = Rule()


def log_ratio(run: Run, over: str, under: str) -> float:
    """Return the median over all rounds of log(time of ``over`` / time of ``under``).

    Raises:
        ValueError: A time is not positive, which no clock gives for a block of calls.
    """
    pairs = zip(run.samples[over], run.samples[under], strict=True)
    # Round by round: both blocks of a pair met the same neighbours. The ratio of two medians would
    # not cancel them.
    return median(math.log(a.per_call / b.per_call) for a, b in pairs)


def steady(run: Run, first: str, second: str, within: float = 1.05) -> bool:
    """Return whether two parties that are the same code came out the same (the A/A control)."""
    return abs(log_ratio(run, first, second)) <= math.log(within)


def index(student_over_vectorised: float, loop_over_vectorised: float) -> float:
    """Return the vectorisation index: 0 is the vectorised reference's speed, 1 the loop's.

    Args:
        student_over_vectorised: Log of the ratio of times.
        loop_over_vectorised: Log of the ratio of times.

    Raises:
        ValueError: The loop was not slower: there is no scale to measure on.
    """
    # A negative scale would turn the index round: slow code would measure as fast.
    if loop_over_vectorised <= 0:
        raise ValueError("the loop is no slower than the vectorised reference on this case")
    return student_over_vectorised / loop_over_vectorised


def decide(excess: Sequence[float], rule: Rule = STANDARD_RULE) -> Decision:
    """Decide whether something is fast enough.

    The first ``fewest`` measurements have to agree; of each three further ones, one may not.

    Args:
        excess: Of each measurement, log(time / time allowed): at most 0 clears.
        rule: When that is enough.
    """
    # Below zero until there are enough measurements.
    allowed = (len(excess) - rule.fewest) // 3
    if allowed >= 0:
        slow = sum(value > 0 for value in excess)
        # A failure needs the margin and a pass does not: between the two, measurements go on.
        near = sum(value < math.log(rule.margin) for value in excess)
        if slow <= allowed:
            return Decision.PASSED
        if near <= allowed:
            return Decision.FAILED
    return Decision.MORE if len(excess) < rule.most else Decision.INCONCLUSIVE


Measure = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Excess = Callable[[float], Sequence[float]]
"""Given the greatest measure allowed: log(time / time allowed) of each measurement."""

_NARROW = 0.1
"""Credit may depend on noise by this much: what lies between the quartiles of the measurements."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Step(_Frozen):
    """A threshold.

    Attributes:
        within: Greatest measure that earns it.
        credit: Share of the points.
    """

    within: Measure
    credit: Share


class Point(_Frozen):
    """A point of a line.

    Attributes:
        at: The measure.
        credit: Share of the points that exactly this measure earns.
    """

    at: Measure
    credit: Share


class Steps(_Frozen):
    """Credit by thresholds.

    Attributes:
        steps: Best first; beyond the last there is no credit.
    """

    steps: tuple[Step, ...] = Field(min_length=1, max_length=20)

    @model_validator(mode="after")
    def _falls(self) -> Steps:
        _check_falls([(step.within, step.credit) for step in self.steps], "within")
        return self


class Linear(_Frozen):
    """Credit along straight lines.

    Attributes:
        linear: The points between which they run; constant beyond the first and the last.
    """

    linear: tuple[Point, ...] = Field(min_length=2, max_length=20)

    @model_validator(mode="after")
    def _falls(self) -> Linear:
        _check_falls([(point.at, point.credit) for point in self.linear], "at")
        return self

    def share(self, measure: float) -> float:
        """Return the credit that a measure earns."""
        if measure <= self.linear[0].at:
            return self.linear[0].credit
        for left, right in pairwise(self.linear):
            if measure <= right.at:
                part = (measure - left.at) / (right.at - left.at)
                return left.credit + part * (right.credit - left.credit)
        return self.linear[-1].credit


def _form(value: Any) -> str | None:
    known = {"steps": "<Steps>", "linear": "<Linear>"}
    if isinstance(value, dict):
        # By likeness: a misspelt key gets the message of the form that was meant.
        close = (get_close_matches(str(key), known, 1, 0.5) for key in value)
        return next((known[match[0]] for match in close if match), None)
    return f"<{type(value).__name__}>" if isinstance(value, (Steps, Linear)) else None


Credit = Annotated[
    Union[Annotated[Steps, Tag("<Steps>")], Annotated[Linear, Tag("<Linear>")]],
    Discriminator(
        _form,
        custom_error_type="expected",
        custom_error_message=(
            "{steps: [{within: …, credit: …}]} or {linear: [{at: …, credit: …}, …]}"
        ),
    ),
]


@dataclass(frozen=True, slots=True)
class Award:
    """What measurements are worth.

    Attributes:
        decision: ``PASSED`` where a share is known, be it none; else why it is not.
        share: Of the points, 0 … 1.
    """

    decision: Decision
    share: float = 0.0


def single(threshold: float) -> Steps:
    """Return the credit of one threshold: all or nothing."""
    return Steps(steps=(Step(within=threshold, credit=1.0),))


def award(
    credit: Credit, measures: Sequence[float], excess: Excess, rule: Rule = STANDARD_RULE
) -> Award:
    """Return what measurements, one a set of fresh processes, are worth.

    Args:
        credit: What earns how much.
        measures: One a measurement.
        excess: How far each is beyond a limit.
        rule: When they are enough.
    """
    if isinstance(credit, Linear):
        return _along(credit, measures, rule)
    for step in credit.steps:
        decision = decide(excess(step.within), rule)
        if decision is Decision.PASSED:
            return Award(decision, step.credit)
        # Still open: a lesser step must not be paid while a better one may be earned.
        if decision is not Decision.FAILED:
            return Award(decision)
    return Award(Decision.PASSED, 0.0)


def _along(credit: Linear, measures: Sequence[float], rule: Rule) -> Award:
    """Give the median's credit once it depends little on which measurements are looked at."""
    if len(measures) < rule.fewest:
        return Award(Decision.MORE)
    shares = sorted(credit.share(measure) for measure in measures)
    # As in ``decide``: one of each three further measurements may lie apart.
    apart = (len(shares) - rule.fewest) // 3
    inner = shares[math.ceil(apart / 2) : len(shares) - apart // 2]
    if inner[-1] - inner[0] <= _NARROW:
        return Award(Decision.PASSED, credit.share(median(measures)))
    return Award(Decision.MORE if len(measures) < rule.most else Decision.INCONCLUSIVE)


def _check_falls(pairs: Sequence[tuple[float, float]], key: str) -> None:
    for (first, more), (second, less) in pairwise(pairs):
        if second <= first or less >= more:
            raise ValueError(
                f"“{key}” must rise and “credit” fall from one entry to the next; found "
                f"{key} {first:g}, credit {more:g} before {key} {second:g}, credit {less:g}"
            )
