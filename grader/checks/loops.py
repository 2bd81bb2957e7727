"""Kind ``loops``: a function has none, has some, or has exactly those that were asked for.

There are two witnesses. The source names every loop that can be reached, with its line. Behaviour
shows with which sizes the number of steps grows. Where the two agree, they decide. Where they do
not, or the source hides something, time decides if the question says how to time it; else a person
does, and no points are lost.

Time cannot be forged, but it shows only loops that take many turns. So it counts only for dims that
are large in the timed case.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import model_validator

from grader.checks.base import CaseInputs, Check, Identifier, Probe
from grader.checks.counts import Behaviour, behaviour_of, returns_otherwise
from grader.checks.speed import MOST_IDLE, index_numbers, screened
from grader.clock.credit import Decision, single
from grader.clock.vectorisation import Pace, pace_of, settled, weigh
from grader.observation import FunctionTiming, Observation
from grader.static_analysis.facts import Construct, EntryFacts, Mention, Role
from grader.verdict import (
    Basis,
    Code,
    Message,
    Param,
    Verdict,
    Witness,
    finding,
    passed,
    plain,
    review,
)

_HIDES_FROM_PROBES = frozenset({
    "settrace", "setprofile", "gettrace", "monitoring", "_getframe", "_DisableTorchDispatch",
    "DisableTorchFunction", "DisableTorchFunctionSubclass", "_python_dispatch",
    "_get_current_dispatch_mode", "_get_current_function_mode", "_get_dispatch_mode",
    "_pop_torch_dispatch_stack", "_pop_torch_function_stack", "_pop_mode", "gc", "inspect",
    "_ExcludeDispatchKeyGuard", "disable_torch_dispatch", "_disable_torch_dispatch",
    "_AutoDispatchBelowAutograd",
})  # fmt: skip


class Loops(Check):
    """What loops a function may or must have.

    Attributes:
        mode: ``none``, ``required`` (at least one) or ``exactly`` (one for each dim of ``over``,
            inside one another).
        over: Dims that the loops go over; with ``required``, any where absent.
    """

    conditional: ClassVar[bool] = True
    numbers: ClassVar[bool] = False

    kind: Literal["loops"] = "loops"
    mode: Literal["none", "required", "exactly"]
    over: tuple[Identifier, ...] = ()

    @model_validator(mode="after")
    def _fits(self) -> Loops:
        if self.mode == "none" and self.over:
            raise ValueError("“over” has no meaning with mode none; remove it")
        if self.mode == "exactly" and not self.over:
            raise ValueError("mode exactly needs “over”: the dims that the loops go over")
        return self

    def needs(self) -> frozenset[Probe]:
        """Return the probes of both witnesses: source, and counts as sizes grow."""
        return frozenset({Probe.SOURCE, Probe.COUNTING, Probe.GROWTH})

    def read(self, source: EntryFacts) -> Verdict | None:
        """Name the first loop, where there may be none."""
        if self.mode != "none" or not source.loops:
            return None
        loop = source.loops[0]
        params: dict[str, Param] = {
            "loop": plain(loop.kind), **loop.place.params, "function": plain(loop.function),
        }  # fmt: skip
        return finding(Code.LOOP_FOUND, "loop_found", params)

    def hears_time(self) -> bool:
        """Tell whether no loop is allowed: only then is time a witness."""
        return self.mode == "none"

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Weigh what source, behaviour and time say about loops."""
        seen = behaviour_of(case, reference, submission)
        if seen is None:
            return passed(Basis.CLAIM)
        source = submission.source
        witnesses = (_source_witness(source, seen), _behaviour_witness(seen))
        verdict = self._weigh(source, seen, case)
        if verdict.code is Code.OK and returns_otherwise(reference, submission):
            verdict = review(Message("counted_otherwise"))
        verdict = replace(verdict, witnesses=witnesses)
        if self.mode == "none":
            return ask_time(verdict, source, seen, submission.facts.timing)
        return verdict

    def _weigh(self, source: EntryFacts | None, seen: Behaviour, case: CaseInputs) -> Verdict:
        if seen.failed:
            larger = [name for name in seen.failed if name]
            return _review("uncounted", {"dims": larger[0] if larger else case.id})
        if source is None:
            return _review("unread", {})
        if self.mode == "none":
            return _none(source, seen)
        if not seen.planned:
            return passed(Basis.CLAIM)  # growth is looked at in another case
        if self.mode == "required":
            return _required(source, seen, frozenset(self.over))
        return _exactly(source, seen, frozenset(self.over))


def _none(source: EntryFacts, seen: Behaviour) -> Verdict:
    ran = _ran(source.loops, seen)
    if ran:
        return _found(ran[0], seen)
    if seen.loops and source.loops:
        return _review("elsewhere", {"dims": _names(seen.loops), **_line(source)})
    if seen.loops:
        return _review("grows", {"dims": _names(seen.loops), **_hint(source)})
    # What “sum” and its like do is no loop by the rules; growth without any in the text is odd.
    if seen.by_builtins and not any(c.role is Role.ITERATES for c in source.constructs):
        return _review("grows", {"dims": _names(seen.by_builtins), **_hint(source)})
    hiding = [item for item in source.opaque if set(item.name.split(".")) & _HIDES_FROM_PROBES]
    # Code that switches the probes off decides what behaviour shows. Its silence then proves
    # nothing.
    if hiding and source.loops:
        return _review("hides", _at(hiding[0]))
    if seen.unseen and (source.opaque or seen.threads):
        return _review("unseen", {"dims": _names(seen.unseen), **_hint(source)})
    return passed(Basis.CLAIM)


def _required(source: EntryFacts, seen: Behaviour, over: frozenset[str]) -> Verdict:
    grown = seen.loops | seen.by_builtins
    wanted = over or seen.planned
    has_source, has_growth = bool(_ran(source.loops, seen)), _covers(grown, over)
    if has_source and has_growth:
        idle = (over or grown) <= seen.idle
        return _review("idle", _line(source)) if idle else passed(Basis.CLAIM)
    # Only where the text hides nothing: what it hides may be the loop.
    if not has_source and not has_growth and not source.opaque:
        return finding(Code.LOOP_MISSING, "loop_missing", {"dims": _names(wanted)}, Basis.CLAIM)
    if has_source:
        return _review("flat", {"dims": _names(wanted - grown), **_line(source)})
    return _review("grows", {"dims": _names(grown & wanted), **_hint(source)})


def _covers(grown: frozenset[str], over: frozenset[str]) -> bool:
    return over <= grown if over else bool(grown)


def _exactly(source: EntryFacts, seen: Behaviour, over: frozenset[str]) -> Verdict:
    grown, depth = seen.loops | seen.by_builtins, source.depth
    if depth == len(over) and grown == over:
        return _review("idle", _line(source)) if over <= seen.idle else passed(Basis.CLAIM)
    params: dict[str, Param] = {"dims": _names(over), "found": depth, "wanted": len(over)}
    if depth > len(over) and grown - over:
        deepest = max(source.loops, key=lambda item: item.depth)
        details = {**params, **deepest.place.params, "loop": plain(deepest.kind)}
        return finding(Code.LOOP_FOUND, "loop_too_many", details, Basis.CLAIM)
    # Here, too, what the text hides may be the missing loop.
    if depth < len(over) and over - grown and not source.opaque:
        return finding(Code.LOOP_MISSING, "loop_too_few", params, Basis.CLAIM)
    ran = _ran(source.loops, seen)
    # Text and run agree: as many loops as asked for, and none of them over what it should be.
    if ran and grown and depth == len(over) and not grown & over and not source.opaque:
        details = {
            "line": ran[0].place.line, "loop": plain(ran[0].kind),
            "dims": _names(over), "grown": _names(grown),
        }  # fmt: skip
        return finding(Code.LOOP_MISSING, "loop_over_other", details, Basis.CLAIM)
    return _review("differs", {**params, "grown": _names(grown) or "nothing", **_line(source)})


def _found(loop: Construct, seen: Behaviour) -> Verdict:
    params: dict[str, Param] = {
        "loop": plain(loop.kind), **loop.place.params, "column": loop.place.column,
        "function": plain(loop.function), "dims": _names(seen.loops),
    }  # fmt: skip
    return finding(Code.LOOP_FOUND, "loop_found", params, Basis.CLAIM)


def _review(why: str, params: dict[str, Param]) -> Verdict:
    return review(Message(f"loops_{why}", params))


def _ran(loops: Sequence[Construct], seen: Behaviour) -> list[Construct]:
    """The loops of the source whose lines were seen to run."""
    return [
        loop
        for loop in loops
        if any(
            file == loop.place.file and loop.repeated[0] <= line <= loop.repeated[1]
            for file, line in seen.lines
        )
    ]


def _names(dims: frozenset[str]) -> str:
    return ", ".join(sorted(dims))


def _line(source: EntryFacts) -> dict[str, Param]:
    if not source.loops:
        return {}
    return {"loop": plain(source.loops[0].kind), **source.loops[0].place.params}


def _hint(source: EntryFacts) -> dict[str, Param]:
    return _at(source.opaque[0]) if source.opaque else {}


def _at(mention: Mention) -> dict[str, Param]:
    return {"name": plain(mention.last), **mention.place.params}


def _source_witness(source: EntryFacts | None, seen: Behaviour) -> Witness:
    if source is None:
        return Witness("source", "unclear", Basis.FACT)
    loops: list[Param] = [f"{plain(item.kind)}, {item.place}" for item in source.loops[:20]]
    hidden: list[Param] = [f"{item.last}, {item.place}" for item in source.opaque[:20]]
    says = "loop" if _ran(source.loops, seen) else "unclear" if loops or hidden else "no_loop"
    evidence: dict[str, Param] = {"loops": loops, "opaque": hidden, "depth": source.depth}
    return Witness("source", says, Basis.FACT, evidence)


def _behaviour_witness(seen: Behaviour) -> Witness:
    grown = seen.loops | seen.by_builtins
    unclear = seen.failed or seen.unseen or not seen.planned
    says = "loop" if grown else "unclear" if unclear else "no_loop"
    evidence: dict[str, Param] = {
        "grows_with": _names(grown), "unseen_with": _names(seen.unseen),
        "escapes": list(seen.escapes), "threads": seen.threads, **seen.evidence,
    }  # fmt: skip
    return Witness("behaviour", says, Basis.CLAIM, evidence)


_THRESHOLD = 0.5
_MANY = 64
"""Turns below which a loop need not show in time."""

_WASTEFUL = math.log(4)
"""Beyond so many times the loop's, time is not that of such a loop, but of far more work."""

_SLOW_BY_ITSELF = frozenset({"gc"})
"""Collecting garbage takes as long as a loop, and hides none."""


def ask_time(
    verdict: Verdict, source: EntryFacts | None, seen: Behaviour, timing: FunctionTiming | None
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
    # Time of wrong answers, or of work done ahead, is no witness.
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


def _heard(timing: FunctionTiming) -> tuple[str, dict[str, Param]]:
    """Return what time says, and the numbers.

    Raises:
        ValueError: The loop was no slower than the reference.
    """
    if not timing.screens:
        pace = pace_of(timing.runs)
        return _says(pace), index_numbers(pace, timing)
    given = settled(timing.screens, single(_THRESHOLD))
    if given is not None and given.share:
        return "no_loop", screened(timing)
    beyond = max((screen.index - 1) * screen.loop for screen in timing.screens)
    # Far slower than the loop is no loop but waste, a giant intermediate say; only a loop is
    # forbidden.
    clear = given is not None and beyond <= _WASTEFUL
    return "loop" if clear else "unclear", screened(timing)


def _says(pace: Pace) -> str:
    decision = weigh(pace, single(_THRESHOLD))
    if decision.decision is not Decision.PASSED:
        return "unclear"
    if decision.share:
        # Calls that share work may be fast with a loop in them; slowness alone would still be
        # clear.
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
        params = {**evidence, "dims": ", ".join(sorted(grown)) or None}
        return finding(Code.LOOP_FOUND, "loop_by_time", params)
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
            params: dict[str, Param] = {"name": plain(item.last), **item.place.params}
            return review(Message("loops_slow", params), Basis.FACT)
    for loop in source.loops:
        params = {"loop": plain(loop.kind), **loop.place.params}
        return review(Message("loops_slow_elsewhere", params), Basis.FACT)
    return None


def _large(dims: frozenset[str], sizes: Mapping[str, int]) -> bool:
    return bool(dims) and all(sizes.get(name, 0) >= _MANY for name in dims)
