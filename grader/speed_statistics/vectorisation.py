"""Is a function vectorised? Judged by where its time lies between that of two references. Pure.

The vectorisation index is log(t_student / t_vectorised) / log(t_loop / t_vectorised): 0 at the
speed of the vectorised reference, 1 at that of the loop, whatever machine it is measured on.

The *screen* settles what is clearly fast or clearly slow by short blocks in passing. Each of its
rounds gives one vote. A vote needs a margin about the limit, a verdict a lead of votes. What is
near the limit, or unsteady, is left to sets of fresh processes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from statistics import median

from grader.speed_statistics.credit import (
    STANDARD_RULE,
    Award,
    Credit,
    Decision,
    Linear,
    Rule,
    award,
    index,
    log_ratio,
    steady,
)
from grader.speed_statistics.sampling import Run, Sample

STUDENT, VECTORISED, AGAIN, LOOP = "student", "vectorised", "vectorised again", "loop"
"""Parties. The vectorised reference has two blocks a round: they have to come out alike."""

LONE = {STUDENT: "student, one call", VECTORISED: "vectorised, one call", LOOP: "loop, one call"}
"""Parties again, in blocks of one call. Whoever is asked for one product only can prepare no other:
in a block of many, the inputs of all its calls are there when the first one is made."""

MOST_PREPARED = 0.2
"""By so much the index of a call by itself may be above that of a call among many."""

STEADY = 1.10
"""Ratio of the two that is let pass. It moves the index by half its logarithm, which is less than
a fifth of what a failure must be beyond its limit."""


@dataclass(frozen=True, slots=True)
class SpeedEstimate:
    """What sets of fresh processes have shown.

    Attributes:
        student: Log of t_student / t_vectorised, one a steady set.
        loop: Log of t_loop / t_vectorised, one a steady set.
        sets: All sets, those among them that did not come out steady.
        prepared: By how much the index is higher where calls are made by themselves, one a steady
            set.
    """

    student: tuple[float, ...] = ()
    loop: tuple[float, ...] = ()
    sets: int = 0
    prepared: tuple[float, ...] = ()

    @property
    def shared(self) -> bool:
        """Tell whether calls of a block share work, so that its time does not measure them.

        A submission could do all the work in the first call of a block and look fast. Then single
        calls are slower than calls in a block. Noise makes one set in eight of honest code look
        like that. So nearly every set must show it, as a cheat needs it in each set that passes.
        """
        spare = max(0, len(self.prepared) - STANDARD_RULE.fewest) // 3
        return bool(self.prepared) and sorted(self.prepared)[spare] > MOST_PREPARED

    @property
    def measures(self) -> tuple[float, ...]:
        """The index of each steady set.

        Raises:
            ValueError: The loop was no slower than the vectorised reference.
        """
        return tuple(map(index, self.student, self.loop))

    def excess(self, limit: float) -> tuple[float, ...]:
        """Return log(time / time allowed) of each steady set, for a greatest index allowed."""
        pairs = zip(self.student, self.loop, strict=True)
        return tuple(student - limit * loop for student, loop in pairs)


def pace_of(runs: Sequence[Run]) -> SpeedEstimate:
    """Return what runs have shown."""
    # The reference is timed twice a round, under two names. Where it differs from itself, so much
    # noise was about that the set says nothing.
    kept = [run for run in runs if steady(run, AGAIN, VECTORISED, within=STEADY)]
    return SpeedEstimate(
        tuple(log_ratio(run, STUDENT, VECTORISED) for run in kept),
        tuple(log_ratio(run, LOOP, VECTORISED) for run in kept),
        len(runs),
        tuple(_prepared(run) for run in kept),
    )


def _prepared(run: Run) -> float:
    """Return by how much the index is higher where calls are made by themselves.

    See ``SpeedEstimate``.
    """
    student, vectorised, loop = (
        median(sample.per_call for sample in run.samples[party])
        for party in (STUDENT, VECTORISED, LOOP)
    )
    lone = {
        party: median(sample.per_call for sample in run.samples[name])
        for party, name in LONE.items()
    }
    # A request costs as much as many calls: what it costs is seen at the vectorised reference.
    request = lone[VECTORISED] - vectorised
    by_itself, loop_by_itself = lone[STUDENT] - request, lone[LOOP] - request
    if by_itself <= vectorised or min(loop, loop_by_itself) <= vectorised:
        # Nothing was saved up, or there is no scale; of that, ``index`` tells.
        return 0.0
    scaled = math.log(by_itself / vectorised) / math.log(loop_by_itself / vectorised)
    return scaled - math.log(student / vectorised) / math.log(loop / vectorised)


def weigh(pace: SpeedEstimate, credit: Credit, rule: Rule = STANDARD_RULE) -> Award:
    """Return what a pace is worth; ``INCONCLUSIVE`` once all sets are made without a decision."""
    given = award(credit, pace.measures, pace.excess, rule)
    if given.decision is Decision.MORE and pace.sets >= rule.most:
        return replace(given, decision=Decision.INCONCLUSIVE)
    return given


FAST_MARGIN = math.log(1.25)
"""A vote for *fast* is below the limit by so much."""

SLOW_MARGIN = math.log(1.5)
"""A vote for *slow* is above the limit by so much: noise may cost nobody points."""

LEAD = 4
MOST_ROUNDS = 8
MOST_ABSTENTIONS = 2

WARM_UP = 2
"""First rounds of a fresh process, up to 1.8 times too slow: they do not vote."""


MOST_SHARED = 0.2
"""By so much the index of calls by themselves may be above the limit, as in ``vectorisation``: one
call is mostly the request, and what that takes varies."""

_SHORTEST = 1e-7
"""Seconds: no block takes less."""


class Vote(Enum):
    """What votes add up to."""

    FAST = "fast"
    SLOW = "slow"
    MORE = "more"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Screen:
    """Rounds of one process of the submission's.

    Attributes:
        run: Blocks of the submission and the vectorised reference in turns; calls by themselves.
        loop: Log of t_loop / t_vectorised, measured beside them or shortly before.
    """

    run: Run
    loop: float

    @property
    def ratios(self) -> tuple[float, ...]:
        """Log of t_submission / t_vectorised, one a round, each without what a request takes."""
        pairs = zip(self._net(STUDENT), self._net(VECTORISED), strict=True)
        return tuple(math.log(ours / theirs) for ours, theirs in pairs)

    @property
    def index(self) -> float:
        """The vectorisation index: 0 at the reference's speed, 1 at the loop's."""
        return median(self.ratios) / self.loop

    @property
    def alone(self) -> float:
        """The index of calls that are made by themselves: they can share no work."""
        ours, theirs = (
            min(sample.cost for sample in self.run.samples[LONE[party]])
            for party in (STUDENT, VECTORISED)
        )
        call = median(self._net(VECTORISED))
        # Neighbours only ever lengthen a request, and one call by itself is mostly that.
        return math.log(max(ours - theirs + call, _SHORTEST) / call) / self.loop

    def _net(self, party: str) -> list[float]:
        """Return seconds a call of each block."""
        samples, request = self.run.samples, request_of(self.run)
        return [per_call(sample, request) for sample in samples[party]]


def request_of(run: Run) -> float:
    """Return the seconds that a request takes beside its calls, seen at the reference's blocks."""
    many, one = run.samples[VECTORISED], run.samples[LONE[VECTORISED]]
    if many[0].calls == 1:
        return 0.0  # the call takes longer than a block, and far longer than a request
    pairs = zip(many, one, strict=True)
    # What a request takes is in both blocks, and drops out of their difference.
    call = median((a.cost - b.cost) / (a.calls - 1) for a, b in pairs)
    return max(0.0, median(sample.cost for sample in one) - max(call, 0.0))


def per_call(sample: Sample, request: float) -> float:
    """Return the seconds of one call of a block, without those of the request."""
    return max(sample.cost - request, _SHORTEST) / sample.calls


def votes(screen: Screen, scale: Credit) -> Vote:
    """Return what a screen says so far.

    Args:
        screen: Its rounds.
        scale: What which index earns: *fast* earns the most of it, *slow* the least.
    """
    best, worst = _ends(scale)
    if screen.loop <= SLOW_MARGIN:
        return Vote.UNCLEAR  # no scale to measure on
    cast = [_vote(ratio, best * screen.loop, worst * screen.loop) for ratio in screen.ratios]
    fast, slow = cast.count(Vote.FAST), cast.count(Vote.SLOW)
    if cast.count(Vote.UNCLEAR) > MOST_ABSTENTIONS:
        return Vote.UNCLEAR
    if slow - fast >= LEAD:
        return Vote.SLOW
    if fast - slow >= LEAD:
        # Calls that share work are fast together, and slow by themselves.
        return Vote.FAST if screen.alone <= best + MOST_SHARED else Vote.UNCLEAR
    return Vote.MORE if len(cast) < MOST_ROUNDS else Vote.UNCLEAR


def settled(screens: Sequence[Screen], scale: Credit) -> Award | None:
    """Return what screens are worth, or None where they settle nothing.

    *Slow* takes a second screen, in a process of its own, that says the same.
    """
    said = [votes(screen, scale) for screen in screens]
    if said[:1] == [Vote.FAST]:
        return Award(Decision.PASSED, _shares(scale)[0])
    if said[:2] == [Vote.SLOW, Vote.SLOW]:
        return Award(Decision.PASSED, _shares(scale)[1])
    return None


def _vote(ratio: float, best: float, worst: float) -> Vote:
    if ratio <= best - FAST_MARGIN:
        return Vote.FAST
    return Vote.SLOW if ratio >= worst + SLOW_MARGIN else Vote.UNCLEAR


def _ends(scale: Credit) -> tuple[float, float]:
    """Return the greatest index that earns the most, and the least that earns the least."""
    if isinstance(scale, Linear):
        return scale.linear[0].at, scale.linear[-1].at
    return scale.steps[0].within, scale.steps[-1].within


def _shares(scale: Credit) -> tuple[float, float]:
    if isinstance(scale, Linear):
        return scale.linear[0].credit, scale.linear[-1].credit
    return scale.steps[0].credit, 0.0
