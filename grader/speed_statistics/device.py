"""Speed on a device: what is measured beside the student's time, and what may be said of it. Pure.

What the host sees of a call contains the way of the inputs into the student process and of the
outputs out of it. For a product of matrices that takes longer than the product. So a party ``wire``
carries the same bytes and computes nothing; its median time is taken off every other party's.

What is left is copying and computing. On a current card the copies take ten times as long as a
product, so that the ratio of whole times says little of the kernel. So the party ``transfer`` is
taken off both sides too. What is left then may be less than the noise of what was taken off: it
tells how many times as long the submission computes *at least*, and never that it is fast.

Defends against: inputs so large that carrying or copying them hides the work; single samples near
zero, which would rule a mean; clocks that a hot device has lowered.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles

from grader.speed_statistics.credit import Award, Credit, Decision, Rule, award
from grader.speed_statistics.sampling import Run
from grader.verdict import Param

WIRE, TRANSFER, CPU, REFERENCE, STUDENT = "wire", "transfer", "cpu", "reference", "student"
"""Parties: bytes carried and nothing done; carried on to the device and back; the reference's
function for the CPU; the reference on the device; the submission on the device."""

PARTIES = (WIRE, TRANSFER, CPU, REFERENCE, STUDENT)

NOISE = 0.07
"""Greatest standard error of a ratio, as a share, with which it decides anything."""

MOST_SETS = 3
MOST_NOISY = 2
MARGIN = 1.25
"""A failure must miss what is allowed by this factor: noise may cost nobody points."""

_OF_MEASURED_COPY = 0.5
"""A copy from pinned memory takes about half as long as ours, which is from pageable memory."""

_SURE = 3.0
"""Standard errors by which a lower bound lies below what was measured."""

_NORMAL_IQR = 1.349
_MEDIAN_ERROR = 1.2533
"""Of a normal distribution: quartiles lie 1.349 σ apart; a median's error is 1.2533 σ/√n."""


@dataclass(frozen=True, slots=True)
class DeviceTiming:
    """What is known of a timing on a device, beside its samples.

    Attributes:
        name: Of the device.
        sizes: Of the inputs, in words.
        cold: Party → seconds of its first call, in a fresh process without a context.
        moved: Bytes that have to go to the device at least: those of the inputs.
        link: Greatest rate of the link to the device in bytes a second, by its data, if known.
        set_aside: Rounds that were thrown away because the device's clocks were lowered.
        reasons: Why they were lowered.
        busy: Seconds for which the device still worked after the submission had answered, as a
            share of the time that it took to answer; the greatest of all sets.
        wrong: Code of the first timed output that was not right.
        facts: Threads of the CPU, state of TF32, driver, temperature: for the record.
    """

    name: str
    sizes: str = ""
    cold: Mapping[str, float] = field(default_factory=dict)
    moved: int = 0
    link: float | None = None
    set_aside: int = 0
    reasons: tuple[str, ...] = ()
    busy: float = 0.0
    wrong: str = ""
    facts: Mapping[str, Param] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reading:
    """What one set of processes says; seconds are without the wire's.

    Attributes:
        ratio: t_student / t_reference.
        noise: Standard error of that, as a share; infinite where it cannot be told.
        seconds: Party → median seconds.
        quartiles: Party → seconds between which the middle half of its calls lay.
        wire: Median seconds of the wire.
        computing: How many times as long as the reference the submission computes at least, copies
            taken off both; 1 where it may be as fast.
        floor: Seconds below which nothing can have been computed there.
    """

    ratio: float
    noise: float
    seconds: Mapping[str, float]
    floor: float
    quartiles: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    wire: float = 0.0
    computing: float = 1.0

    @property
    def measure(self) -> float:
        """What is graded: of the two ratios the one that is worse for the submission."""
        return max(self.ratio, self.computing)

    @property
    def steady(self) -> bool:
        """Tell whether it decides anything."""
        return self.noise <= NOISE

    @property
    def impossible(self) -> bool:
        """Tell whether the submission was faster than its inputs can be carried there."""
        return self.seconds[STUDENT] < self.floor

    @property
    def speedup(self) -> float | None:
        """How many times as long the CPU takes as the reference on the device; None if unknown."""
        cpu, device = self.seconds.get(CPU), self.seconds[REFERENCE]
        return cpu / device if cpu is not None and device > 0 else None


def read(run: Run, device: DeviceTiming) -> Reading:
    """Return what one set of processes says."""
    walls = {name: [block.wall for block in blocks] for name, blocks in run.samples.items()}
    wire = median(walls[WIRE])
    seconds = {name: median(times) - wire for name, times in walls.items() if name != WIRE}
    floor = _floor(device, seconds[TRANSFER])
    ratio, noise = _ratio(walls, wire, seconds)
    between = {name: _quartiles(times, wire) for name, times in walls.items() if name != WIRE}
    return Reading(ratio, noise, seconds, floor, between, wire, _computing(walls))


def _ratio(
    walls: Mapping[str, Sequence[float]], wire: float, seconds: Mapping[str, float]
) -> tuple[float, float]:
    """Return t_student / t_reference, and its standard error as a share."""
    student, reference = ([time - wire for time in walls[party]] for party in (STUDENT, REFERENCE))
    if seconds[REFERENCE] <= 0 or seconds[STUDENT] <= 0:
        # Lost in the wire's own noise: nothing can be divided.
        return math.inf, math.inf
    logs = [
        math.log(mine / theirs)
        for mine, theirs in zip(student, reference, strict=True)
        if mine > 0 and theirs > 0
    ]
    # The rounds that are left would be those that noise has lengthened.
    if len(logs) < max(4, len(student) // 2):
        return math.inf, math.inf
    ratio = math.exp(median(logs))
    # One error of the wire's median is in all rounds alike: it does not show in their spread.
    common = abs(1 / seconds[REFERENCE] - 1 / seconds[STUDENT]) * _error(walls[WIRE])
    return ratio, math.hypot(_error(logs), common)


def _computing(walls: Mapping[str, Sequence[float]]) -> float:
    """Return a lower bound of (t_student − t_transfer) / (t_reference − t_transfer)."""
    student, reference, copies = (walls[party] for party in (STUDENT, REFERENCE, TRANSFER))
    more = [mine - theirs for mine, theirs in zip(student, reference, strict=True)]
    least = median(more) - _SURE * _error(more)
    computed = max(0.0, median(reference) - median(copies))
    most = computed + _SURE * math.hypot(_error(reference), _error(copies))
    return 1 + least / most if least > 0 and most > 0 else 1.0


def weigh(readings: Sequence[Reading], credit: Credit) -> Award:
    """Return what readings, one a set of fresh processes, are worth.

    Full credit is given on one steady reading. What would take points away has to be seen in a
    second set of fresh processes; an unsteady set is made again once.

    Args:
        readings: In the order in which they were made.
        credit: What which ratio earns.
    """
    ratios = [reading.measure for reading in readings if reading.steady]
    count = len(ratios)
    spent = len(readings) >= MOST_SETS or len(readings) - count >= MOST_NOISY
    undecided = Award(Decision.INCONCLUSIVE if spent else Decision.MORE)
    if not count:
        return undecided
    rule = Rule(fewest=count, most=count, margin=MARGIN)
    given = award(credit, ratios, lambda limit: [math.log(each / limit) for each in ratios], rule)
    # What the best measure that there could be earns: no further set can add to it.
    full = given.share >= award(credit, [0.0], lambda _: [-math.inf], Rule(1, 1, 1.0)).share
    if given.decision is Decision.PASSED and (count > 1 or full):
        return given
    return undecided if count < MOST_NOISY else Award(Decision.INCONCLUSIVE)


def _floor(device: DeviceTiming, copied: float) -> float:
    if device.link:
        return device.moved / device.link
    # With the wire's time taken off, a short copy may come out below 0.
    return max(0.0, copied) * _OF_MEASURED_COPY


def _quartiles(walls: Sequence[float], wire: float) -> tuple[float, float]:
    low, _, high = quantiles(walls, n=4, method="inclusive")
    return low - wire, high - wire


def _error(values: Sequence[float]) -> float:
    """Return the standard error of the median, from the quartiles."""
    low, _, high = quantiles(values, n=4, method="inclusive")
    return _MEDIAN_ERROR * (high - low) / _NORMAL_IQR / math.sqrt(len(values))
