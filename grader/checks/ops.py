"""Kinds ``forbidden_ops``, ``allowed_ops``, ``max_calls``: what a function uses.

Operations are named by what they do. They are seen at the dispatcher, whatever they were called by;
the source says where, and corroborates. What prints a tensor, or reverses an index, is no use of an
operation on what the function works on.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from grader.checks.base import CaseInputs, Check, NamePattern, Probe
from grader.checks.counts import (
    OF_SIZES,
    Counts,
    counts_of,
    held_for,
    refusal,
    returns_otherwise,
    spells,
    told_by_log,
    unseen,
)
from grader.checks.proved import is_looked_at
from grader.observation import Observation, Proof
from grader.static_analysis.facts import ASSIGNS_NUMBER, EntryFacts, Mention
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

_MEMORY = frozenset({
    "numpy", "__array__", "__dlpack__", "data_ptr", "const_data_ptr", "storage", "untyped_storage",
    "_typed_storage",
})  # fmt: skip
"""Ways to a tensor's memory: what is written there is no operation of torch's."""
_IDLE = frozenset({"detach", "alias", "lift_fresh", "empty", "new_empty", "_local_scalar_dense"})


class Counted(Check):
    """What kinds on use share: they look at what was counted, with the source beside it."""

    conditional: ClassVar[bool] = True
    numbers: ClassVar[bool] = False

    def needs(self) -> frozenset[Probe]:
        """Return the probes of both witnesses: source and counts."""
        return frozenset({Probe.SOURCE, Probe.COUNTING})

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Look at what was counted, if anything could be."""
        # Not every case is counted: where the reference was not, the submission was not either.
        if counts_of(reference.counted.get("")) is None:
            return passed(Basis.CLAIM)
        counts = counts_of(submission.counted.get(""))
        if counts is None:
            return _review("ops_uncounted", {"case": case.id})
        verdict = self.heard(counts, submission.source)
        if verdict.code is Code.OK and returns_otherwise(reference, submission):
            return replace(_review("counted_otherwise", {}), witnesses=verdict.witnesses)
        return verdict

    def shown(
        self, case: CaseInputs, reference: Observation, submission: Observation
    ) -> Mapping[str, Param] | None:
        """Look at the operations of the log, if it was run again."""
        if not is_looked_at(reference):
            return {}
        proof = _log_of(submission)
        if not self.hears_log() or proof is None or not self.shown_by(proof):
            return None
        return {"ops": list(proof.ops)}

    def waits_unproved(self) -> bool:
        """Tell whether a log holds all names: where it does not, it shows little by itself."""
        return self.hears_log()

    def shown_in_part(self, reference: Observation) -> bool:
        """Tell whether a log names nothing that it should not; it does not hold all names."""
        proof = _log_of(reference)
        return proof is not None and self.shown_by(proof)

    def contradicted(
        self, case: CaseInputs, reference: Observation, submission: Observation
    ) -> bool:
        """Tell whether a log that is proved shows that the rule is not kept."""
        proof = _log_of(submission)
        return proof is not None and self.broken_by(proof)

    def shown_by(self, proof: Proof) -> bool:
        """Tell whether a log shows that the rule is kept."""
        return False

    def broken_by(self, proof: Proof) -> bool:
        """Tell whether a log shows that the rule is broken."""
        return not self.shown_by(proof)

    @abstractmethod
    def heard(self, counts: Counts, source: EntryFacts | None) -> Verdict:
        """Return the verdict on what was counted."""


def _log_of(observation: Observation) -> Proof | None:
    """Return what the log of the counted call shows, if it is proved."""
    seen = observation.counted.get("")
    return seen.proved if seen is not None else None


class _Ops(Counted):
    """Operations that may not be used, whichever these are."""

    def heard(self, counts: Counts, source: EntryFacts | None) -> Verdict:
        """Weigh what the dispatcher saw, then what the source says."""
        seen = sorted({*self._seen(counts)})
        verdict = self._weigh(seen, counts, source)
        return replace(verdict, witnesses=_witnesses(seen, self._named(source, counts)))

    def _weigh(self, seen: list[str], counts: Counts, source: EntryFacts | None) -> Verdict:
        for name in seen:
            mention = _spelt(name, counts, source)
            # Two witnesses: the dispatcher saw it, and the text has it at a line. Without the
            # second, torch may have done it inside an allowed function; that is for a person.
            if mention is not None:
                params: dict[str, Param] = {
                    "op": plain(name), "name": plain(mention.name), **mention.place.params,
                }  # fmt: skip
                return finding(Code.FORBIDDEN_CALL, "forbidden_call", params, Basis.CLAIM)
        # Seen under the name of a part of it: what an author forbids by name may be of many parts.
        for mention in self._named(source, counts) if seen else ():
            if mention.name.startswith("torch."):
                params = {"op": plain(mention.last), "name": plain(mention.name)}
                params |= mention.place.params
                return finding(Code.FORBIDDEN_CALL, "forbidden_call", params, Basis.CLAIM)
        if seen:
            return _review("ops_unexplained", {"op": plain(seen[0])})
        return self._outside(counts, source)

    @abstractmethod
    def _outside(self, counts: Counts, source: EntryFacts | None) -> Verdict:
        """Return the verdict on what torch's modes do not see."""

    @abstractmethod
    def _seen(self, counts: Counts) -> Iterator[str]:
        """Yield the operations and functions that were seen and may not be."""

    def _named(self, source: EntryFacts | None, counts: Counts) -> list[Mention]:
        """Return uses of forbidden names in lines that ran, whatever they do."""
        return []


class ForbiddenOps(_Ops):
    """Operations that may not be used.

    Attributes:
        ops: ATen names, such as ``mean``, ``std*``, ``flip``.
        calls: Names of torch functions, for what never reaches the dispatcher (``numel``) or is
            asked for under one name and done under others (``matmul``). ``numpy.size`` is NumPy's
            function and an array's attribute, not ``x.size()``. ``torch.nn.*`` is whatever the text
            calls from there.
    """

    kind: Literal["forbidden_ops"] = "forbidden_ops"
    ops: tuple[NamePattern, ...] = ()
    calls: tuple[NamePattern, ...] = ()

    @model_validator(mode="after")
    def _something(self) -> ForbiddenOps:
        if not self.ops and not self.calls:
            raise ValueError("found neither “ops” nor “calls”; name what is forbidden")
        return self

    @field_validator("ops")
    @classmethod
    def _known(cls, ops: tuple[str, ...]) -> tuple[str, ...]:
        return _reaching(ops)

    def hears_log(self) -> bool:
        """Tell whether a log shows of each name that it was not called."""
        return all(map(told_by_log, self.calls))

    def waits_unproved(self) -> bool:
        """Tell whether a log holds all names themselves: else counts and text tell more of them."""
        return not any(map(refusal, self.calls))

    def shown_by(self, proof: Proof) -> bool:
        """Look for what is forbidden, also within what a log names."""
        return not self._held(proof)

    def contradicted(
        self, case: CaseInputs, reference: Observation, submission: Observation
    ) -> bool:
        """Tell whether a proved log has a forbidden name of which the counts say nothing."""
        proof, counts = _log_of(submission), counts_of(submission.counted.get(""))
        unsaid = proof is not None and counts is not None and self._held(proof) - {*counts.ops}
        return bool(unsaid) or super().contradicted(case, reference, submission)

    def _held(self, proof: Proof) -> set[str]:
        """Return what a log holds of the forbidden names, and of what these leave in it."""
        held = frozenset[str]().union(*map(held_for, self.calls))
        names = (*self.ops, *self.calls, *held)
        return {name for name in proof.ops if _matches(name, names)}

    def broken_by(self, proof: Proof) -> bool:
        """Look for operations that are forbidden whatever they were called by."""
        return any(_matches(name, self.ops) for name in proof.ops)

    def read(self, source: EntryFacts) -> Verdict | None:
        """Name the first call of something that is forbidden by that very name."""
        own = {name.rsplit(".", 1)[-1] for name in source.functions}
        for mention in self._forbidden(source):
            # A function of the file's own may bear the name of one that is forbidden.
            if mention.last not in own:
                params: dict[str, Param] = {
                    "op": plain(mention.last), "name": plain(mention.name),
                    **mention.place.params,
                }  # fmt: skip
                return finding(Code.FORBIDDEN_CALL, "forbidden_call", params)
        return None

    def _seen(self, counts: Counts) -> Iterator[str]:
        yield from (name for name in counts.ops if _matches(name, self.ops))
        yield from (name for name in counts.calls if _matches(name, self.calls))

    def _outside(self, counts: Counts, source: EntryFacts | None) -> Verdict:
        """Judge by the text what torch's modes do not see: numpy's ``mean``, say."""
        for mention in self._named(source, counts):
            hidden = unseen(mention) or self._in_module(mention)
            torchs = not counts.escapes or mention.name.startswith("torch.")
            if not hidden and torchs and mention.last not in OF_SIZES:
                continue  # of a tensor it would have been seen
            if not hidden and mention.last in counts.calls:
                continue  # it was seen, and was no use of the operation: an index was reversed
            place: dict[str, Param] = {"name": plain(mention.name), **mention.place.params}
            own = {name.rsplit(".", 1)[-1] for name in source.functions} if source else set()
            if not hidden and mention.last in own:
                return _review("ops_outside", place)
            params = {"op": plain(mention.last), **place}
            return finding(Code.FORBIDDEN_CALL, "forbidden_call", params, Basis.CLAIM)
        return passed(Basis.CLAIM)

    def _named(self, source: EntryFacts | None, counts: Counts) -> list[Mention]:
        found = (*(self._forbidden(source) if source else ()), *self._of_arrays(source, counts))
        return [mention for mention in found if counts.ran(mention.place)]

    def _forbidden(self, source: EntryFacts) -> Iterator[Mention]:
        """Yield calls of what is forbidden, by its name."""
        patterns = (*self.ops, *self.calls)
        for mention in source.mentions:
            named = _matches(mention.last, patterns) or self._in_module(mention)
            if mention.called and "." in mention.name and named:
                yield mention

    def _in_module(self, mention: Mention) -> bool:
        """Tell whether a whole name is forbidden, or the module that it is of."""
        return any("." in item and fnmatchcase(mention.name, item) for item in self.calls)

    def _of_arrays(self, source: EntryFacts | None, counts: Counts) -> Iterator[Mention]:
        """Yield attributes of arrays, where one was made: a tensor's are called."""
        arrays = not {"numpy", "__array__"}.isdisjoint(counts.escapes)
        for mention in source.mentions if source and arrays else ():
            if not mention.called and f"numpy{mention.name}" in self.calls:
                yield mention


class AllowedOps(_Ops):
    """The only operations that may be used; what computes nothing may always be.

    Attributes:
        ops: ATen names, such as ``view``, ``permute``, ``clone``.
    """

    kind: Literal["allowed_ops"] = "allowed_ops"
    ops: tuple[NamePattern, ...] = Field(min_length=1)

    @field_validator("ops")
    @classmethod
    def _known(cls, ops: tuple[str, ...]) -> tuple[str, ...]:
        # Composite names are allowed here: in inference mode they reach the dispatcher.
        return _reaching(ops, composite=True)

    def _seen(self, counts: Counts) -> Iterator[str]:
        yield from (
            name for name in counts.ops if name not in _IDLE and not _matches(name, self.ops)
        )

    def hears_log(self) -> bool:
        """Return True: all that computes anything is in a log."""
        return True

    def shown_by(self, proof: Proof) -> bool:
        """Look at each operation; a tensor that none made was laid over memory by no name."""
        allowed = (_matches(name, self.ops) for name in proof.ops if name not in _IDLE)
        return not proof.unnamed and all(allowed)

    def _outside(self, counts: Counts, source: EntryFacts | None) -> Verdict:
        """Judge work on a tensor's memory, which the dispatcher does not see."""
        ways = _MEMORY & frozenset(counts.escapes)
        if not ways:
            return passed(Basis.CLAIM)
        for mention in source.mentions if source else ():
            if counts.ran(mention.place) and (mention.last in ways or unseen(mention)):
                params: dict[str, Param] = {
                    "op": min(ways), "name": plain(mention.name), **mention.place.params,
                }  # fmt: skip
                # Beside operations that are allowed it may have been looked at and no more.
                if set(counts.ops) - _IDLE:
                    return _review("ops_outside", params)
                return finding(Code.FORBIDDEN_CALL, "forbidden_call", params, Basis.CLAIM)
        return _review("ops_unexplained", {"op": min(ways)})


def _reaching(patterns: tuple[str, ...], *, composite: bool = False) -> tuple[str, ...]:
    """Return the patterns.

    Raises:
        ValueError: One of them matches no operation that reaches the dispatcher.
    """
    for pattern in patterns:
        if problem := refusal(pattern, composite=composite):
            raise ValueError(problem)
    return patterns


def _matches(name: str, patterns: Sequence[str]) -> bool:
    # In place is the same operation: ``add_`` is ``add``.
    # What reduces by a mean is called so: ``scatter_reduce.mean`` is ``scatter_reduce`` too.
    first = name.split(".", 1)[0]
    names = {name, first, first.rstrip("_") or first}
    return any(fnmatchcase(each, item) for item in patterns for each in names)


def _spelt(name: str, counts: Counts, source: EntryFacts | None) -> Mention | None:
    """Return the use in the source through which an operation was reached, if it is there."""
    # Without the empty name, which stands for what no function asked for.
    through = frozenset({name, name.split(".", 1)[0], *counts.under.get(name, ())} - {""})
    found = [item for item in (source.mentions if source else ()) if spells(item, through)]
    # Where a tensor was assigned, a line that assigns a number is not the one that is meant.
    found.sort(key=lambda item: (not counts.ran(item.place), item.name == ASSIGNS_NUMBER))
    return found[0] if found else None


def _review(message: str, params: dict[str, Param]) -> Verdict:
    return review(Message(message, params))


def _witnesses(seen: list[str], named: list[Mention]) -> tuple[Witness, ...]:
    found: list[Param] = [plain(name) for name in seen[:20]]
    places: list[Param] = [f"{plain(m.name)}, line {m.place.line}" for m in named[:20]]
    return (
        Witness("dispatcher", "used" if seen else "not_used", Basis.CLAIM, {"ops": found}),
        Witness("source", "named" if named else "not_named", Basis.FACT, {"names": places}),
    )


_COUNTED_AS = {"slice_assignment": ("__setitem__", "fill_")}
"""``x[…].fill_(number)`` writes what ``x[…] = number`` writes."""
_BY_ARRAYS = ("index", "index_select", "gather", "take")
"""Operations that read entries by a list or tensor of places, with brackets or without."""
WRITTEN_AS = {"indexing": "x[…]", "array_indexing": "x[[…]]", "slice_assignment": "x[…] = …"}
"""What students read: what they wrote, not the name of what is counted."""


class MaxCalls(Counted):
    """Something is done at most so many times, and at least: ``x[...]`` read, or assigned to.

    Counted where it happens, on tensors only (``x.shape[0]`` is no indexing of ``x``); the source
    has to hold as many, or a loop around them.

    Attributes:
        of: What is counted. ``array_indexing`` is ``x[...]`` with a list or tensor in it.
        most: How many times are allowed.
        least: How many times are asked for.
    """

    kind: Literal["max_calls"] = "max_calls"
    of: Literal["indexing", "array_indexing", "slice_assignment"]
    most: int = Field(ge=0, le=1000)
    least: int = Field(default=0, ge=0, le=1000)

    def hears_log(self) -> bool:
        """Return True: a log holds what is read and written by places."""
        return True

    def broken_by(self, proof: Proof) -> bool:
        """Tell whether too little is needed: an index of something else is no lie."""
        return self._in(proof)[1] < self.least

    def shown_by(self, proof: Proof) -> bool:
        """Compare what is in the log at all, and what of it the outputs descend from."""
        found, needed = self._in(proof)
        # A tensor that none made was laid over memory by no name.
        return not proof.unnamed and found <= self.most and needed >= self.least

    def _in(self, proof: Proof) -> tuple[int, int]:
        return {
            "indexing": (proof.indexings, proof.needed_indexings),
            "array_indexing": (proof.indexings, proof.needed_array_indexings),
            "slice_assignment": (proof.assignments, proof.needed_assignments),
        }[self.of]

    def heard(self, counts: Counts, source: EntryFacts | None) -> Verdict:
        """Compare what was counted with what is allowed, and with what is asked for."""
        names = _COUNTED_AS.get(self.of, ("__getitem__",))
        found = sum(counts.calls.get(name, 0) for name in names)
        # Any brackets count as too many, whatever stands in them.
        counted = WRITTEN_AS["indexing" if self.of == "array_indexing" else self.of]
        params: dict[str, Param] = {"what": counted, "found": found, "most": self.most}
        if found > self.most:
            # Counted more often than written, and without a loop: torch may have done it by itself.
            if source is None or not (source.loops or self._written(source) > self.most):
                return review(Message("ops_unexplained", {"op": counted}))
            return finding(Code.TOO_MANY_CALLS, "too_many_calls", params, Basis.CLAIM)
        done = self._done(counts, found)
        if done >= self.least:
            return passed(Basis.CLAIM)
        # A script indexes where no mode sees it.
        if source is None or counts.bare:
            return _review("ops_scripted", {})
        params = {"what": WRITTEN_AS[self.of], "found": done, "least": self.least}
        return finding(Code.TOO_FEW_CALLS, "too_few_calls", params, Basis.CLAIM)

    def _done(self, counts: Counts, found: int) -> int:
        """Return how often what is asked for was done."""
        if self.of == "array_indexing":
            return sum(counts.ops.get(name, 0) for name in _BY_ARRAYS)
        # A number that fills what no index gave is no assignment to ``x[…]``.
        calls = counts.calls
        filled = self.of == "slice_assignment" and calls.get("fill_", 0)
        return 0 if filled > calls.get("__getitem__", 0) else found

    def _written(self, source: EntryFacts) -> int:
        if self.of != "slice_assignment":
            return source.indexings
        return source.slice_assignments + sum(item.last == "fill_" for item in source.mentions)
