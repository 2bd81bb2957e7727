"""The third witness on loops: time, asked where source and behaviour disagree.

Time cannot be forged, but it knows only of loops that take many turns: it is heard on dims that are
large in the case that was timed, and on nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from grader.checks.behaviour import Behaviour
from grader.checks.findings import finding
from grader.checks.timed import MOST_IDLE
from grader.checks.vectorised import numbers, screened
from grader.clock.credit import single
from grader.clock.screen import settled
from grader.clock.statistics import Decision
from grader.clock.vectorisation import Pace, pace_of, weigh
from grader.observation import Timing
from grader.verdict import Basis, Code, Param, Verdict, Witness, passed

_THRESHOLD = 0.5
_MANY = 64
"""Turns below which a loop need not show in time."""

_WASTEFUL = 1.3
"""Index beyond which the time is not that of such a loop, but of far more work."""


def ask_time(review: Verdict, seen: Behaviour, timing: Timing | None) -> Verdict:
    """Return a verdict that was left to a person, settled if time is clear, with its witness.

    Args:
        review: The verdict as the other witnesses leave it, with their words.
        seen: What behaviour has shown.
        timing: What came of timing the function, if that was asked for.
    """
    if timing is None or timing.wrong or timing.failed or timing.idle > MOST_IDLE:
        return review
    if not timing.runs and not timing.screens:
        return review
    try:
        says, evidence = _heard(timing)
    except ValueError:
        return review
    witnesses = (*review.witnesses, Witness("time", says, Basis.FACT, evidence))
    settled = _settled(says, seen, timing.dims, evidence)
    return replace(settled or review, witnesses=witnesses)


def _heard(timing: Timing) -> tuple[str, dict[str, Param]]:
    """Return what time says, and the numbers.

    Raises:
        ValueError: The loop was no slower than the reference.
    """
    if not timing.screens:
        pace = pace_of(timing.runs)
        return _says(pace), numbers(pace, timing)
    given = settled(timing.screens, single(_THRESHOLD))
    if given is not None and given.share:
        return "no_loop", screened(timing)
    wasteful = max(screen.index for screen in timing.screens) > _WASTEFUL
    return "unclear" if given is None or wasteful else "loop", screened(timing)


def _says(pace: Pace) -> str:
    decision = weigh(pace, single(_THRESHOLD))
    if decision.decision is not Decision.PASSED:
        return "unclear"
    if decision.share:
        return "unclear" if pace.shared else "no_loop"
    return "loop" if max(pace.measures) <= _WASTEFUL else "unclear"


def _settled(
    says: str, seen: Behaviour, sizes: Mapping[str, int], evidence: dict[str, Param]
) -> Verdict | None:
    grown = seen.loops | seen.by_builtins | seen.unseen
    if seen.failed:
        return None
    if says == "loop":
        # A second word beside time's: behaviour's, or that of the text, which hides something.
        told = {**evidence, "dims": ", ".join(sorted(grown)) or None}
        return finding(Code.LOOP_FOUND, "loop_by_time", told)
    known = all(sizes.get(name, 0) >= _MANY for name in grown)
    return passed() if says == "no_loop" and known else None
