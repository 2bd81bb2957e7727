"""The third witness on loops: time, asked where the other two leave a doubt.

Time cannot be forged, but it knows only of loops that take many turns: it is heard on dims that are
large in the case that was timed, and on nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from grader.checks.behaviour import Behaviour
from grader.checks.findings import finding, plain
from grader.checks.timed import MOST_IDLE
from grader.checks.vectorised import numbers, screened
from grader.clock.credit import single
from grader.clock.screen import settled
from grader.clock.statistics import Decision
from grader.clock.vectorisation import Pace, pace_of, weigh
from grader.observation import Timing
from grader.static_analysis.facts import EntryFacts
from grader.verdict import Basis, Code, Message, Param, Verdict, Witness, passed, review

_THRESHOLD = 0.5
_MANY = 64
"""Turns below which a loop need not show in time."""

_WASTEFUL = math.log(4)
"""Beyond so many times the loop's, time is not that of such a loop, but of far more work."""

_SLOW_BY_ITSELF = frozenset({"gc"})
"""Collecting garbage takes as long as a loop, and hides none."""


def ask_time(
    verdict: Verdict, source: EntryFacts | None, seen: Behaviour, timing: Timing | None
) -> Verdict:
    """Return a verdict of the other witnesses, with time's word where that was asked for.

    A verdict that was left to a person is settled if time is clear. One that passed becomes a fact,
    or is left to a person where the text hides something that takes as long as a loop.

    Args:
        verdict: As the other witnesses leave it, with their words.
        source: What the text says.
        seen: What behaviour has shown.
        timing: What came of timing the function, if that was asked for.
    """
    if timing is None or timing.wrong or timing.failed or timing.idle > MOST_IDLE:
        return verdict
    if not timing.runs and not timing.screens:
        return verdict
    try:
        says, evidence = _heard(timing)
    except ValueError:
        return verdict
    witnesses = (*verdict.witnesses, Witness("time", says, Basis.FACT, evidence))
    settled = None
    if verdict.code is Code.NEEDS_REVIEW:
        settled = _settled(says, seen, timing.dims, evidence)
    elif verdict.code is Code.OK:
        settled = _confirmed(says, source, seen, timing.dims)
    return replace(settled or verdict, witnesses=witnesses)


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
    beyond = max((screen.index - 1) * screen.loop for screen in timing.screens)
    clear = given is not None and beyond <= _WASTEFUL
    return "loop" if clear else "unclear", screened(timing)


def _says(pace: Pace) -> str:
    decision = weigh(pace, single(_THRESHOLD))
    if decision.decision is not Decision.PASSED:
        return "unclear"
    if decision.share:
        return "unclear" if pace.shared else "no_loop"
    return "loop" if max(pace.excess(1.0)) <= _WASTEFUL else "unclear"


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
    # What left torch may be C's own loop over a list, which need not be slow.
    known = _large(grown, sizes) and not seen.unseen
    return passed() if says == "no_loop" and known else None


def _confirmed(
    says: str, source: EntryFacts | None, seen: Behaviour, sizes: Mapping[str, int]
) -> Verdict | None:
    if says == "no_loop" and _large(seen.planned, sizes) and not seen.unseen:
        return passed()
    return _slow(source) if says == "loop" and source is not None else None


def _slow(source: EntryFacts) -> Verdict | None:
    """Return the verdict on what takes as long as a loop and was not seen to be one."""
    for item in source.opaque:
        if not _SLOW_BY_ITSELF & set(item.name.split(".")):
            told: dict[str, Param] = {"name": plain(item.last), "line": item.place.line}
            return review(Message("loops_slow", told), Basis.FACT)
    for loop in source.loops:
        told = {"loop": plain(loop.kind), "line": loop.place.line}
        return review(Message("loops_slow_elsewhere", told), Basis.FACT)
    return None


def _large(dims: frozenset[str], sizes: Mapping[str, int]) -> bool:
    return bool(dims) and all(sizes.get(name, 0) >= _MANY for name in dims)
