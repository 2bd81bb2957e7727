"""Kinds ``forbidden_ops``, ``allowed_ops``, ``max_calls``, ``peak_memory``: what a function uses.

Operations are named by what they do. They are seen at the dispatcher, whatever they were called by;
the source says where, and corroborates. What prints a tensor, or reverses an index, is no use of an
operation on what the function works on.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from grader.checks.base import CaseInputs, Check, NamePattern, Probe
from grader.checks.counts import (
    OF_SIZES,
    Counts,
    counts_of,
    refusal,
    returns_otherwise,
    spells,
    unseen,
)
from grader.observation import Observation
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
_ELSEWHERE = frozenset({"_thread", "concurrent", "multiprocessing", "subprocess"})
"""Modules that start processes, and threads which cannot be watched."""
_LITTLE = 8
"""So many times less work than the reference's is hardly all of it."""
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

    @abstractmethod
    def heard(self, counts: Counts, source: EntryFacts | None) -> Verdict:
        """Return the verdict on what was counted."""


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

    def _outside(self, counts: Counts, source: EntryFacts | None) -> Verdict:
        """Judge by the text what torch's modes do not see: numpy's ``mean``, say."""
        for mention in self._named(source, counts):
            hidden = unseen(mention)
            torchs = not counts.escapes or mention.name.startswith("torch.")
            if not hidden and torchs and mention.last not in OF_SIZES:
                continue  # of a tensor it would have been seen
            place: dict[str, Param] = {"name": plain(mention.name), **mention.place.params}
            own = {name.rsplit(".", 1)[-1] for name in source.functions} if source else set()
            if not hidden and mention.last in own:
                return _review("ops_outside", place)
            params = {"op": plain(mention.last), **place}
            return finding(Code.FORBIDDEN_CALL, "forbidden_call", params, Basis.CLAIM)
        return passed(Basis.CLAIM)

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
            function and an array's attribute, not ``x.size()``.
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

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Look at what was counted; where nothing forbidden was, whether the work was seen."""
        verdict = super().judge(case, reference, submission)
        expected = counts_of(reference.counted.get(""))
        counts = counts_of(submission.counted.get(""))
        if verdict.code is not Code.OK or expected is None or counts is None:
            return verdict
        hidden = _hidden(counts, expected) or _elsewhere(counts, submission.source)
        return replace(hidden or verdict, witnesses=verdict.witnesses)

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

    def _named(self, source: EntryFacts | None, counts: Counts) -> list[Mention]:
        found = (*(self._forbidden(source) if source else ()), *self._of_arrays(source, counts))
        return [mention for mention in found if counts.ran(mention.place)]

    def _forbidden(self, source: EntryFacts) -> Iterator[Mention]:
        """Yield calls of what is forbidden, by its name."""
        patterns = (*self.ops, *self.calls)
        for mention in source.mentions:
            named = _matches(mention.last, patterns) or mention.name in self.calls
            if mention.called and "." in mention.name and named:
                yield mention

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


def _hidden(counts: Counts, expected: Counts) -> Verdict | None:
    """Return the verdict on work that went by unseen: in a script, or not at all."""
    # Scripts call functions that no mode sees under their names.
    if counts.bare > expected.bare:
        return _review("ops_scripted", {})
    # Elements that left torch may be worked on in Python, which the text tells of.
    if not counts.escapes and _LITTLE * counts.work < expected.work:
        return _review("ops_unseen", {})
    return None


def _elsewhere(counts: Counts, source: EntryFacts | None) -> Verdict | None:
    """Return the verdict on text that may work where it is not counted."""
    # A thread that is started while calls are counted is watched; one that ran before is not.
    unseen = _ELSEWHERE | {"threading"} if counts.threads else _ELSEWHERE
    for mention in source.mentions if source else ():
        if mention.name.removeprefix("torch.").split(".", 1)[0] in unseen:
            return _review("ops_outside", {"name": plain(mention.name), **mention.place.params})
    return None


def _witnesses(seen: list[str], named: list[Mention]) -> tuple[Witness, ...]:
    found: list[Param] = [plain(name) for name in seen[:20]]
    places: list[Param] = [f"{plain(m.name)}, line {m.place.line}" for m in named[:20]]
    return (
        Witness("dispatcher", "used" if seen else "not_used", Basis.CLAIM, {"ops": found}),
        Witness("source", "named" if named else "not_named", Basis.FACT, {"names": places}),
    )


_COUNTED_AS = {"indexing": ("__getitem__",), "slice_assignment": ("__setitem__", "fill_")}
"""``x[…].fill_(number)`` writes what ``x[…] = number`` writes."""
_WRITTEN_AS = {"indexing": "x[…]", "slice_assignment": "x[…] = …"}
"""What students read: what they wrote, not the name of what is counted."""


class MaxCalls(Counted):
    """Something is done at most so many times: ``x[...]`` read, or assigned to.

    Counted where it happens, on tensors only (``x.shape[0]`` is no indexing of ``x``); the source
    has to hold as many, or a loop around them.

    Attributes:
        of: What is counted.
        most: How many times are allowed.
    """

    kind: Literal["max_calls"] = "max_calls"
    of: Literal["indexing", "slice_assignment"]
    most: int = Field(ge=0, le=1000)

    def heard(self, counts: Counts, source: EntryFacts | None) -> Verdict:
        """Compare what was counted with what is allowed."""
        found = sum(counts.calls.get(name, 0) for name in _COUNTED_AS[self.of])
        if found <= self.most:
            return passed(Basis.CLAIM)
        params: dict[str, Param] = {"what": _WRITTEN_AS[self.of], "found": found, "most": self.most}
        # Counted more often than written, and without a loop: torch may have done it by itself.
        if source is None or not (source.loops or self._written(source) > self.most):
            return review(Message("ops_unexplained", {"op": _WRITTEN_AS[self.of]}))
        return finding(Code.TOO_MANY_CALLS, "too_many_calls", params, Basis.CLAIM)

    def _written(self, source: EntryFacts) -> int:
        if self.of == "indexing":
            return source.indexings
        return source.slice_assignments + sum(item.last == "fill_" for item in source.mentions)


class PeakMemory(Check):
    """No tensor computed on the way is much larger than the largest of the reference.

    Looked at on the case's own inputs and where each size is four times that, so that no constant
    can hide a product of sizes.

    Attributes:
        times: How many times as large as the reference's it may be.
    """

    conditional: ClassVar[bool] = True
    numbers: ClassVar[bool] = False

    kind: Literal["peak_memory"] = "peak_memory"
    times: float = Field(default=2.0, ge=1, allow_inf_nan=False)

    def needs(self) -> frozenset[Probe]:
        """Return counting, at all sizes."""
        return frozenset({Probe.COUNTING, Probe.GROWTH})

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Compare the largest tensors of each counted call."""
        for name, item in reference.counted.items():
            allowed, counts = counts_of(item), counts_of(submission.counted.get(name))
            if allowed is None:
                continue
            if counts is None:
                return review(Message("ops_uncounted", {"case": case.id}))
            if self._exceeds(counts, allowed):
                params: dict[str, Param] = {
                    "largest": counts.greatest, "limit": int(self.times * allowed.greatest),
                    "dims": name or None,
                }  # fmt: skip
                return finding(Code.TOO_MUCH_MEMORY, "too_much_memory", params, Basis.CLAIM)
        return passed(Basis.CLAIM)

    def _exceeds(self, counts: Counts, allowed: Counts) -> bool:
        return counts.greatest > self.times * max(allowed.greatest, 1)
