"""Is a function vectorised? Judged by where its time lies between that of two references. Pure.

The vectorisation index is log(t_student / t_vectorised) / log(t_loop / t_vectorised): 0 at the
speed of the vectorised reference, 1 at that of the loop, whatever machine it is measured on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from grader.clock.credit import Award, Credit, award
from grader.clock.samples import Run
from grader.clock.statistics import STANDARD, Decision, Rule, index, log_ratio, steady

STUDENT, VECTORISED, AGAIN, LOOP = "student", "vectorised", "vectorised again", "loop"
"""Parties. The vectorised reference has two blocks a round: they have to come out alike."""

LONE = {
    STUDENT: "student, one call",
    VECTORISED: "vectorised, one call",
    LOOP: "loop, one call",
}
"""Parties again, in blocks of one call. Whoever is asked for one product only can prepare no other:
in a block of many, the inputs of all its calls are there when the first one is made."""

MOST_PREPARED = 0.2
"""By so much the index of a call by itself may be above that of a call among many."""

STEADY = 1.10
"""Ratio of the two that is let pass. It moves the index by half its logarithm, which is less than
a fifth of what a failure must be beyond its limit."""


@dataclass(frozen=True, slots=True)
class Pace:
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
        """Whether calls of one block had work in common, so that their time tells nothing.

        In every set but as many as may miss the limit: whoever saves work up needs it in those that
        clear the limit, and one set in eight of honest code looks so by noise.
        """
        spare = max(0, len(self.prepared) - STANDARD.fewest) // 3
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


def pace_of(runs: Sequence[Run]) -> Pace:
    """Return what runs have shown."""
    kept = [run for run in runs if steady(run, AGAIN, VECTORISED, within=STEADY)]
    return Pace(
        tuple(log_ratio(run, STUDENT, VECTORISED) for run in kept),
        tuple(log_ratio(run, LOOP, VECTORISED) for run in kept),
        len(runs),
        tuple(_prepared(run) for run in kept),
    )


def _prepared(run: Run) -> float:
    """Return by how much the index is higher where calls are made by themselves; see ``Pace``."""
    student, vectorised, loop = (
        median(sample.per_call("cpu") for sample in run.samples[party])
        for party in (STUDENT, VECTORISED, LOOP)
    )
    lone = {
        party: median(sample.per_call("cpu") for sample in run.samples[name])
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


def weigh(pace: Pace, credit: Credit, rule: Rule = STANDARD) -> Award:
    """Return what a pace is worth; ``INCONCLUSIVE`` once all sets are made without a decision."""
    given = award(credit, pace.measures, pace.excess, rule)
    if given.decision is Decision.MORE and pace.sets >= rule.most:
        return replace(given, decision=Decision.INCONCLUSIVE)
    return given
