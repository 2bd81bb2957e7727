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
from grader.checks.behaviour import Behaviour, behaviour_of
from grader.checks.counts import returns_otherwise
from grader.checks.proved import hides_steps, proofs_of, with_loops, without_loop
from grader.checks.speed import MOST_IDLE, index_numbers, screened
from grader.observation import FunctionTiming, Observation, Outcome
from grader.speed_statistics.credit import Decision, single
from grader.speed_statistics.vectorisation import SpeedEstimate, pace_of, settled, weigh
from grader.static_analysis.facts import Construct, EntryFacts, Role
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


class Loops(Check):
    """What loops a function may or must have.

    Attributes:
        mode: ``none``, ``required`` (at least one) or ``exactly`` (one for each dim of ``over``,
            inside one another).
        over: Dims that the loops go over; with ``required``, any where absent.
        alone: With ``exactly``: no other loop may be beside these, before or after.
    """

    conditional: ClassVar[bool] = True
    numbers: ClassVar[bool] = False

    kind: Literal["loops"] = "loops"
    mode: Literal["none", "required", "exactly"]
    over: tuple[Identifier, ...] = ()
    alone: bool = False

    @model_validator(mode="after")
    def _fits(self) -> Loops:
        if self.mode == "none" and self.over:
            raise ValueError("“over” has no meaning with mode none; remove it")
        if self.mode == "exactly" and not self.over:
            raise ValueError("mode exactly needs “over”: the dims that the loops go over")
        if self.mode != "exactly" and self.alone:
            raise ValueError("“alone” has a meaning with mode exactly only; remove it")
        return self

    def needs(self) -> frozenset[Probe]:
        """Return the probes of both witnesses: source, and counts as sizes grow."""
        return frozenset({Probe.SOURCE, Probe.COUNTING, Probe.GROWTH})

    def read(self, source: EntryFacts) -> Verdict | None:
        """Name the first loop, where there may be none."""
        loops = [item for item in source.loops if not item.over_dims]
        if self.mode != "none" or not loops:
            return None
        loop = loops[0]
        params: dict[str, Param] = {
            "loop": plain(loop.kind), **loop.place.params, "function": plain(loop.function),
        }  # fmt: skip
        return finding(Code.LOOP_FOUND, "loop_found", params)

    def hears_time(self) -> bool:
        """Tell whether no loop is allowed: only then is time a witness."""
        return self.mode == "none"

    def hears_log(self) -> bool:
        """Return True: a log shows in how many operations the work is done."""
        return True

    def shown(
        self, case: CaseInputs, reference: Observation, submission: Observation
    ) -> Mapping[str, Param] | None:
        """Look at how long a log is at each size, or at how its work is split."""
        source = submission.source
        if self.mode == "none":
            looped = source is not None and bool(source.loops)
            return without_loop(case, reference, submission, looped=looped)
        # Two loops one after the other are one, in a log. In the text they are two.
        if self.alone and (source is None or len(_of_data(source)) > len(self.over)):
            return None
        return self._turns(case, reference, submission)

    def _turns(
        self, case: CaseInputs, reference: Observation, submission: Observation
    ) -> Mapping[str, Param] | None:
        exactly = self.mode == "exactly"
        return with_loops(case, reference, submission, frozenset(self.over), exactly=exactly)

    def contradicted(
        self, case: CaseInputs, reference: Observation, submission: Observation
    ) -> bool:
        """Tell whether logs that are proved have other steps than were counted.

        That there are many is no lie. A loop that is asked for is in them, or was not needed.
        """
        if self.mode == "none":
            return hides_steps(case, reference, submission)
        # In a self-check the reference's logs are absent: how much work there is, nobody knows.
        known = self._turns(case, reference, reference) is not None
        proved = proofs_of(reference, submission) is not None
        return known and proved and self._turns(case, reference, submission) is None

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
            if source is not None and self.shown(case, reference, submission) is not None:
                # What the text may hide was in the log. A loop for other sizes alone was not.
                source = replace(source, opaque=())
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
        another = _another(source, seen, frozenset(self.over)) if self.alone else None
        return another or _exactly(source, seen, frozenset(self.over))


def _another(source: EntryFacts, seen: Behaviour, over: frozenset[str]) -> Verdict | None:
    """Return the verdict on a loop beside those that were asked for, none of them inside it."""
    ran, grown = _ran(_of_data(source), seen), seen.loops | seen.by_builtins
    if source.depth != len(over) or len(ran) <= len(over) or not over <= grown:
        return None
    loop = ran[len(over)]
    params: dict[str, Param] = {
        "loop": plain(loop.kind), **loop.place.params, "found": len(ran), "wanted": len(over),
    }  # fmt: skip
    return finding(Code.LOOP_FOUND, "loop_another", params, Basis.CLAIM)


def _of_data(source: EntryFacts) -> Sequence[Construct]:
    """Return the loops that may go through data, not through dimensions or arguments alone."""
    return [item for item in source.loops if not item.over_dims]


def _none(source: EntryFacts, seen: Behaviour) -> Verdict:
    ran = _ran(source.loops, seen)
    sure = [loop for loop in ran if seen.loops or not loop.over_dims]
    if sure:
        return _found(sure[0], seen, source)
    if ran:
        return _review("over_dims", {"loop": plain(ran[0].kind), **ran[0].place.params})
    if seen.loops and source.loops:
        return _review("elsewhere", {"dims": _names(seen.loops), **_line(source)})
    if seen.loops:
        return _review("grows", {"dims": _names(seen.loops), **_hint(source)})
    # What “sum” and its like do is no loop by the rules; growth without any in the text is odd.
    if seen.by_builtins and not any(c.role is Role.ITERATES for c in source.constructs):
        return _review("grows", {"dims": _names(seen.by_builtins), **_hint(source)})
    return passed(Basis.CLAIM)


def _required(source: EntryFacts, seen: Behaviour, over: frozenset[str]) -> Verdict:
    grown = seen.loops | seen.by_builtins
    wanted = over or seen.planned
    has_source, has_growth = bool(_ran(source.loops, seen)), _covers(grown, over)
    if has_source and has_growth:
        idle = over & _idle(seen, over) if over else grown <= _idle(seen, grown)
        return _review("idle", _line(source)) if idle else passed(Basis.CLAIM)
    # Only where the text hides nothing: what it hides may be the loop.
    if not has_source and not has_growth and not source.opaque:
        return finding(Code.LOOP_MISSING, "loop_missing", {"dims": _names(wanted)}, Basis.CLAIM)
    if has_source:
        return _review("flat", {"dims": _names(wanted - grown), **_line(source)})
    return _review("grows", {"dims": _names(grown & wanted), **_hint(source)})


def _idle(seen: Behaviour, over: frozenset[str]) -> frozenset[str]:
    """Return the dims whose loop has turns in which the work is not done."""
    # Work that is done element by element, in Python, shows in lines that grow with all sizes.
    return seen.idle if seen.stepped - over else seen.idle | seen.elsewhere


def _covers(grown: frozenset[str], over: frozenset[str]) -> bool:
    return over <= grown if over else bool(grown)


def _exactly(source: EntryFacts, seen: Behaviour, over: frozenset[str]) -> Verdict:
    grown, depth = seen.loops | seen.by_builtins, source.depth
    if depth == len(over) and grown == over:
        idle = over & _idle(seen, over)
        return _review("idle", _line(source)) if idle else passed(Basis.CLAIM)
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


def _found(loop: Construct, seen: Behaviour, source: EntryFacts) -> Verdict:
    params: dict[str, Param] = {
        "loop": plain(loop.kind), **loop.place.params, "column": loop.place.column,
        "function": plain(loop.function), "dims": _names(seen.loops),
    }  # fmt: skip
    # Of several loops, the one that ran could depend on a hidden input; of one there is no choice.
    if len({item.place for item in source.loops}) == 1:
        params["only_loop"] = True
    return finding(Code.LOOP_FOUND, "loop_found", params, Basis.CLAIM)


def _review(why: str, params: dict[str, Param]) -> Verdict:
    return review(Message(f"loops_{why}", params))


def _ran(loops: Sequence[Construct], seen: Behaviour) -> list[Construct]:
    """The loops of the source that were seen to run.

    A loop in one branch of its line is one of them where steps grow, or where the larger input
    takes fewer: the line alone tells nothing.
    """
    return [
        loop
        for loop in loops
        if (seen.loops or seen.dwindled or not loop.branch)
        and any(
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
    if not source.opaque:
        return {}
    return {"name": plain(source.opaque[0].last), **source.opaque[0].place.params}


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
    unclear = seen.failed or not seen.planned
    says = "loop" if grown else "unclear" if unclear else "no_loop"
    evidence: dict[str, Param] = {
        "grows_with": _names(grown), "escapes": list(seen.escapes), **seen.evidence,
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

    What was left to a person is a loop if time is clear; that time saw none does not speak for
    steps that grew. What passed becomes a fact. It is left to a person where the text hides
    something that takes as long as a loop, or could not be timed.

    Args:
        verdict: As the other witnesses leave it, with their words.
        source: What the text says.
        seen: What behaviour has shown.
        timing: What came of timing the function, if that was asked for.
    """
    # Time of wrong answers, or of work done ahead, is no witness.
    if timing is not None and (timing.wrong or timing.failed or timing.idle > MOST_IDLE):
        return _untimed(verdict, source, timing) or verdict
    if timing is None:
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
        settled = _settled(says, seen, evidence)
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


def _says(pace: SpeedEstimate) -> str:
    decision = weigh(pace, single(_THRESHOLD))
    if decision.decision is not Decision.PASSED:
        return "unclear"
    if decision.share:
        # Calls that share work may be fast with a loop in them; slowness alone would still be
        # clear.
        return "unclear" if pace.shared else "no_loop"
    return "loop" if max(pace.excess(1.0)) <= _WASTEFUL else "unclear"


def _settled(says: str, seen: Behaviour, evidence: dict[str, Param]) -> Verdict | None:
    # Only against it: steps that grow at the counted sizes stay a fact about these, however fast
    # the timed size is. Code may loop at the one and not at the other.
    if says != "loop" or seen.failed:
        return None
    # A second word beside time's: behaviour's, or that of the text, which hides something.
    grown = seen.loops | seen.by_builtins
    params = {**evidence, "dims": ", ".join(sorted(grown)) or None}
    return finding(Code.LOOP_FOUND, "loop_by_time", params)


def _confirmed(
    says: str, source: EntryFacts | None, seen: Behaviour, sizes: Mapping[str, int]
) -> Verdict | None:
    if says == "no_loop" and _large(seen.planned, sizes):
        return passed()
    return _doubted(source, *_SLOW) if says == "loop" and source is not None else None


def _untimed(verdict: Verdict, source: EntryFacts | None, timing: FunctionTiming) -> Verdict | None:
    """Return the verdict on what passed, leaves a doubt, and did not let itself be timed."""
    ours = timing.failed is not None and timing.failed.outcome is Outcome.SANDBOX_FAILED
    if verdict.code is not Code.OK or source is None or ours:
        return None
    doubted = _doubted(source, *_UNTIMED)
    return replace(doubted, witnesses=verdict.witnesses) if doubted else None


_SLOW = ("loops_slow", "loops_slow_elsewhere")
_UNTIMED = ("loops_untimed", "loops_untimed_elsewhere")


def _doubted(source: EntryFacts, hides: str, has: str) -> Verdict | None:
    """Return the verdict on text that hides, or has, what was not seen to be a loop.

    Args:
        source: What the text shows.
        hides: Id of the message on what the text may hide.
        has: Id of the message on a loop in the text.
    """
    for item in source.opaque:
        if not _SLOW_BY_ITSELF & set(item.name.split(".")):
            params: dict[str, Param] = {"name": plain(item.last), **item.place.params}
            return review(Message(hides, params), Basis.FACT)
    for loop in source.loops:
        params = {"loop": plain(loop.kind), **loop.place.params}
        return review(Message(has, params), Basis.FACT)
    return None


def _large(dims: frozenset[str], sizes: Mapping[str, int]) -> bool:
    return bool(dims) and all(sizes.get(name, 0) >= _MANY for name in dims)
