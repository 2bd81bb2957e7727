"""From blocks of calls to a decision. Pure.

Ratios are compared by their logarithms, so that twice as slow and twice as fast weigh alike, and
summed up by the median, which a few disturbed rounds do not move. A round's blocks lie next to each
other in time: what slows one down slows the others too, and leaves their ratio.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import median, quantiles

from grader.clock.samples import Clock, Run

_FEW = 4


class Decision(Enum):
    """What a number of measurements allow to say."""

    PASSED = "passed"
    FAILED = "failed"
    MORE = "more"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Rule:
    """When measurements, one a set of fresh processes, decide.

    Attributes:
        fewest: So many at least.
        most: With so many, what is not decided is inconclusive.
        margin: A failure must miss what is allowed by this factor: noise may cost nobody points.
    """

    fewest: int = 3
    most: int = 9
    margin: float = 1.25


STANDARD = Rule()


def log_ratio(run: Run, over: str, under: str, clock: Clock = "cpu") -> float:
    """Return the median over all rounds of log(time of ``over`` / time of ``under``).

    Raises:
        ValueError: A time is not positive, which no clock gives for a block of calls.
    """
    pairs = zip(run.samples[over], run.samples[under], strict=True)
    return median(math.log(a.per_call(clock) / b.per_call(clock)) for a, b in pairs)


def spread(run: Run, party: str, clock: Clock = "cpu") -> float:
    """Return the range of the middle half of a party's times, as a share of their median."""
    times = [sample.per_call(clock) for sample in run.samples[party]]
    if len(times) < _FEW:
        return math.inf
    low, middle, high = quantiles(times, n=4, method="inclusive")
    return (high - low) / middle


def steady(run: Run, first: str, second: str, clock: Clock = "cpu", within: float = 1.05) -> bool:
    """Return whether two parties that are the same code came out the same (the A/A control)."""
    return abs(log_ratio(run, first, second, clock)) <= math.log(within)


def index(student_over_vectorised: float, loop_over_vectorised: float) -> float:
    """Return the vectorisation index: 0 is the vectorised reference's speed, 1 the loop's.

    Args:
        student_over_vectorised: Log of the ratio of times.
        loop_over_vectorised: Log of the ratio of times.

    Raises:
        ValueError: The loop was not slower: there is no scale to measure on.
    """
    if loop_over_vectorised <= 0:
        raise ValueError("the loop is no slower than the vectorised reference on this case")
    return student_over_vectorised / loop_over_vectorised


def decide(excess: Sequence[float], rule: Rule = STANDARD) -> Decision:
    """Decide whether something is fast enough.

    The first ``fewest`` measurements have to agree; of each three further ones, one may not.

    Args:
        excess: Of each measurement, log(time / time allowed): at most 0 clears.
        rule: When that is enough.
    """
    allowed = (len(excess) - rule.fewest) // 3
    if allowed >= 0:
        slow = sum(value > 0 for value in excess)
        near = sum(value < math.log(rule.margin) for value in excess)
        if slow <= allowed:
            return Decision.PASSED
        if near <= allowed:
            return Decision.FAILED
    return Decision.MORE if len(excess) < rule.most else Decision.INCONCLUSIVE
