"""What the log of a counted call proves, where it was run again: rules read off it as facts.

A log that gives the reference's values on inputs that were drawn after it is a right program, so
what it does not hold, the answer did not need. That acquits and never convicts. Where the
reference's log shows that a rule is kept, and a submission's does not, what the other witnesses
would give waits for a person: these are the word of the process that is judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from grader.checks.base import GROWTH_FACTOR, CaseInputs, Check
from grader.checks.behaviour import (
    computing,
    done_in_turns,
    grows,
    turns,
    worked_out_at_once,
)
from grader.checks.counts import Counts, counts_of
from grader.observation import Observation, Proof
from grader.static_analysis.facts import EntryFacts, Mention
from grader.verdict import (
    Basis,
    Code,
    Message,
    Param,
    Status,
    Verdict,
    Witness,
    passed,
    plain,
    review,
)

_FEW = 20
_TIMES = 3
"""A log may compute so often, or so many times the reference's operations. Turns that are
written out, for the longest input that may come, do not fit in."""

REPLAY = "replay"
"""Name of the witness of a log that was run again."""

OTHER_VALUES = "on other inputs it gives other values than the reference"
"""Why a log shows nothing that could be run again."""

_READS = frozenset({"item", "tolist", "numpy", "float", "int", "bool"})
"""What a text calls to have numbers of a tensor; what it does with them is in no log."""


def with_logs(
    check: Check, case: CaseInputs, reference: Observation, submission: Observation
) -> Verdict:
    """Return the verdict of a check, once logs that were run again are heard, too."""
    verdict = check.judge(case, reference, submission)
    shown = check.shown(case, reference, submission)
    if shown is not None:
        witness = Witness(REPLAY, "kept", Basis.FACT, shown)
        kept = verdict if _stands(verdict) else passed()
        return replace(kept, witnesses=(*verdict.witnesses, witness))
    if not verdict.status.earned:
        return verdict
    if not _should_show(check, case, reference, submission):
        return verdict
    proved = not any(seen.proof and seen.proof.why for seen in submission.counted.values())
    believed = proved or not check.waits_unproved()
    if believed and not check.contradicted(case, reference, submission):
        return verdict
    return replace(_left_open(submission), witnesses=verdict.witnesses)


def _stands(verdict: Verdict) -> bool:
    """Tell whether a log that shows a rule to be kept leaves a verdict as it is.

    Where text, counts and time convict together: what is done outside torch is in no log. And where
    the clock, which is a fact too, leaves a doubt: a log shows the counted sizes, not the timed.
    """
    in_doubt = verdict.code is Code.NEEDS_REVIEW and verdict.basis is Basis.FACT
    return verdict.status is Status.FAILED or in_doubt


def shows(check: Check, case: CaseInputs, reference: Observation) -> bool:
    """Tell whether the reference's own logs show that it keeps a rule, or what a log can show."""
    if check.id in reference.shown:
        return True
    if not check.hears_log():
        return check.shown_in_part(reference)
    # Nobody reads the reference's text: it hides nothing.
    plainly = replace(reference, source=EntryFacts())
    return is_looked_at(reference) and check.shown(case, reference, plainly) is not None


def _should_show(
    check: Check, case: CaseInputs, reference: Observation, submission: Observation
) -> bool:
    """Tell whether the reference's logs show that a rule is kept, and all others were run, too."""
    if not shows(check, case, reference):
        return False
    # Of a log that the machine did not run, nothing is known.
    seen = (submission.counted.get(name) for name in reference.counted)
    return all(each is None or each.proof is not None for each in seen)


def _left_open(submission: Observation) -> Verdict:
    """Return the verdict on what no log shows, with a line that reads numbers."""
    counts, source = counts_of(submission.counted.get("")), submission.source
    ran: list[Mention] = [
        item
        for item in (source.mentions if source is not None else ())
        if item.called and item.last in _READS and (counts is None or counts.ran(item.place))
    ]
    read: dict[str, Param] = {"name": plain(ran[0].last), **ran[0].place.params} if ran else {}
    proofs = (seen.proof for seen in submission.counted.values())
    why: list[Param] = [plain(proof.why) for proof in proofs if proof is not None and proof.why]
    found = review(Message("unproved", read if OTHER_VALUES in why else {}))
    return replace(found, evidence={"logs": why})


_UNTOLD = 2
"""So many times the operations that were counted are more than printing and the like explain."""


def proofs_of(reference: Observation, submission: Observation) -> dict[str, Proof] | None:
    """Return the proofs of all counted calls of a case, by dim; None where one is missing."""
    proofs = {}
    for name, item in reference.counted.items():
        if counts_of(item) is None:
            continue
        seen = submission.counted.get(name)
        proof = seen.proved if seen is not None else None
        if proof is None:
            return None
        proofs[name] = proof
    return proofs if "" in proofs else None


def without_loop(
    case: CaseInputs, reference: Observation, submission: Observation, *, looped: bool = False
) -> Mapping[str, Param] | None:
    """Return the numbers that show a program without a loop; None where nothing shows that.

    No dim makes the log longer: neither its entries, nor the tensors that these name (a list of
    tensors is one entry). What comes from outside torch may grow: it was there before the inputs.

    Args:
        case: Of the calls.
        reference: Says how much work there is.
        submission: Its logs are looked at.
        looped: The text has a loop. It may be there for small inputs alone, so that no dim may make
            the log shorter, too.
    """
    if not is_looked_at(reference):
        return {}
    proofs, counts = proofs_of(reference, submission), counts_of(reference.counted.get(""))
    # Without a size there is nothing that a loop could go over.
    if proofs is None or counts is None or not case.dims:
        return None
    base = proofs[""]
    if any(_is_longer(proof, base) for proof in proofs.values()):
        return None
    if looped and any(_is_longer(base, proof) for proof in proofs.values()):
        return None
    if _is_written_out(proofs, counts, case.dims):
        return None
    return {name or "counts": [proof.entries, proof.references] for name, proof in proofs.items()}


def _is_longer(proof: Proof, base: Proof) -> bool:
    return proof.entries > base.entries or proof.references > base.references


def hides_steps(case: CaseInputs, reference: Observation, submission: Observation) -> bool:
    """Tell whether logs have more steps than were counted, or turns that are written out.

    An honest log that grows is no lie: ``pad_sequence`` is one call, and many operations.
    """
    proofs, right = proofs_of(reference, submission), counts_of(reference.counted.get(""))
    if proofs is None or right is None:
        return False
    for name, proof in proofs.items():
        counts = counts_of(submission.counted[name])
        if counts is not None and proof.entries > _UNTOLD * sum(counts.ops.values()) + _FEW:
            return True
    base = proofs[""]
    if any(_grew_unsaid(submission, name, proof, base) for name, proof in proofs.items()):
        return True
    steady = {name: proof for name, proof in proofs.items() if proof.entries <= base.entries}
    # A list of tensors is worked on in one step.
    if any(proof.references > base.references for proof in steady.values()):
        return True
    return len(steady) == len(proofs) and _is_written_out(steady, right, case.dims)


def _grew_unsaid(submission: Observation, name: str, proof: Proof, base: Proof) -> bool:
    """Tell whether a log grows with a size, where the counts say that nothing does."""
    small, large = counts_of(submission.counted[""]), counts_of(submission.counted[name])
    if small is None or large is None or proof.entries <= base.entries:
        return False
    return sum(large.ops.values()) <= sum(small.ops.values())


def _is_written_out(proofs: Mapping[str, Proof], right: Counts, dims: Mapping[str, int]) -> bool:
    """Tell whether a log is so long that turns may be written out in it.

    Args:
        proofs: By dim.
        right: Of the reference.
        dims: The sizes.
    """
    most = max(_FEW, _TIMES * sum(right.ops.values()))
    for name, proof in proofs.items():
        often = computing(proof.works)
        if often.total() > most:
            return True
        # As many turns as the larger input has, whatever the length of the smaller one.
        if name and max(often.values(), default=0) >= GROWTH_FACTOR * dims.get(name, 1):
            return True
    return False


_NESTED = 0.75 * GROWTH_FACTOR
"""So many times the turns, where one of two nested loops is longer. Of two loops one after the
other, only one's turns are more."""


def with_loops(
    case: CaseInputs,
    reference: Observation,
    submission: Observation,
    over: frozenset[str],
    *,
    exactly: bool,
) -> Mapping[str, Param] | None:
    """Return the numbers that show work done turn by turn; None where nothing shows that.

    By work, not by entries: what is done at once and then carried to its places row by row makes
    a log longer, too.

    Args:
        case: Of the calls.
        reference: Says how much work there is.
        submission: Its logs are looked at.
        over: Dims that the loops go over; any where there is none.
        exactly: Whether they go over no other, inside one another.
    """
    # Growth is looked at in one case alone.
    dims = [name for name in reference.counted if name]
    if not dims:
        return {}
    proofs = proofs_of(reference, submission)
    if proofs is None or not proofs.keys() >= {"", *dims} or _is_found_at_once(proofs, reference):
        return None
    found, base = {}, proofs[""]
    for name in dims:
        counts, size = counts_of(reference.counted[name]), case.dims.get(name, 1)
        small, large = base.works, proofs[name].works
        least = counts.descended if counts is not None else {}
        pair = turns(small, large)
        split = done_in_turns((small, small), (large, large), least, size)
        if least and split and grows(*pair, size * (GROWTH_FACTOR - 1)):
            found[name] = pair
        # Another loop, or a list that becomes longer.
        elif exactly and _is_longer(proofs[name], base):
            return None
    if not found.keys() >= over or (exactly and found.keys() != over):
        return None
    nested = all(large >= _NESTED * small for small, large in found.values())
    if exactly and len(over) > 1 and not nested:
        return None
    return {name: list[Param](pair) for name, pair in found.items()} or None


def _is_found_at_once(proofs: Mapping[str, Proof], reference: Observation) -> bool:
    """Tell whether loops in a log may be for show: the result is found beside them."""
    counts = counts_of(reference.counted[""])
    larger = [proof.works for name, proof in proofs.items() if name]
    return counts is not None and worked_out_at_once(proofs[""].works, larger, counts.descended)


def is_looked_at(reference: Observation) -> bool:
    """Tell whether anything is counted in a case; where nothing is, no rule is judged there."""
    return bool(reference.counted)
