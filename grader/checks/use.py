"""``max_calls`` and ``peak_memory``: how often something is done, and how large results become."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from grader.checks.base import CaseInputs, Check, Probe
from grader.checks.counts import Counts, counts_of
from grader.checks.findings import finding
from grader.checks.ops import Counted
from grader.observation import Observation
from grader.static_analysis.facts import EntryFacts
from grader.verdict import Basis, Code, Message, Param, Verdict, passed, review

_COUNTED_AS = {"indexing": "__getitem__", "slice_assignment": "__setitem__"}


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
        found = counts.calls.get(_COUNTED_AS[self.of], 0)
        if found <= self.most:
            return passed(Basis.CLAIM)
        told: dict[str, Param] = {"what": self.of, "found": found, "most": self.most}
        if source is None or not (source.loops or self._written(source) > self.most):
            return review(Message("ops_unexplained", {"op": self.of}))
        return finding(Code.TOO_MANY_CALLS, "too_many_calls", told, Basis.CLAIM)

    def _written(self, source: EntryFacts) -> int:
        return source.indexings if self.of == "indexing" else source.slice_assignments


class PeakMemory(Check):
    """No tensor computed on the way is much larger than the largest of the reference.

    Looked at on the case's own inputs and where each size is four times that, so that no constant
    can hide a product of sizes.

    Attributes:
        times: How many times as large as the reference's it may be.
    """

    conditional = True
    numbers = False

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
                told: dict[str, Param] = {
                    "largest": counts.greatest, "limit": int(self.times * allowed.greatest),
                    "dims": name or None,
                }  # fmt: skip
                return finding(Code.TOO_MUCH_MEMORY, "too_much_memory", told, Basis.CLAIM)
        return passed(Basis.CLAIM)

    def _exceeds(self, counts: Counts, allowed: Counts) -> bool:
        return counts.greatest > self.times * max(allowed.greatest, 1)
