"""Kind ``peak_memory``: how large the tensors are that a function computes on the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from grader.checks.base import CaseInputs, Check, Probe
from grader.checks.counts import Counts, counts_of
from grader.checks.proved import is_looked_at, proofs_of
from grader.observation import Observation
from grader.verdict import Basis, Code, Message, Param, Verdict, finding, passed, review


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

    def hears_log(self) -> bool:
        """Return True: memory that no log takes was not needed."""
        return True

    def shown(
        self, case: CaseInputs, reference: Observation, submission: Observation
    ) -> Mapping[str, Param] | None:
        """Look at the largest tensor of each log."""
        if not is_looked_at(reference):
            return {}
        for name, proof in (proofs := proofs_of(reference, submission) or {}).items():
            allowed = counts_of(reference.counted[name])
            if allowed is None or proof.greatest > self.times * max(allowed.greatest, 1):
                return None
        return {name or "largest": proof.greatest for name, proof in proofs.items()} or None

    def _exceeds(self, counts: Counts, allowed: Counts) -> bool:
        return counts.greatest > self.times * max(allowed.greatest, 1)
