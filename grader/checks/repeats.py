"""``repeats``: what the submission computed, run again on other inputs, gives the right outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Literal

from grader.checks.base import CaseInputs
from grader.checks.close import Close
from grader.checks.findings import finding, plain
from grader.checks.traced import no_trace_expected
from grader.checks.traces import mapping
from grader.observation import Observation
from grader.verdict import Basis, Code, Message, Status, Verdict, passed, review
from grader.wire.values import Value


class Repeats(Close):
    """The log of the submission's operations is itself a right program.

    The item is what ``repeat`` of ``grader.stage`` returned. Where its outputs are right on inputs
    that were drawn after the log was written, what it says of devices is a fact. Where the process
    could see what it computed, the log may fit its own inputs alone: right outputs on those pass as
    a claim. What comes from outside torch must not decide; all else is for a person to look at.

    Attributes:
        rtol: Tolerance relative to the expected value.
        atol: Tolerance in the value's own unit.
    """

    conditional: ClassVar[bool] = True

    kind: Literal["repeats"] = "repeats"  # type: ignore[assignment]

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Compare the outputs of the two logs."""
        try:
            expected, actual = mapping(reference.claims.value), mapping(submission.claims.value)
        except TypeError:
            return no_trace_expected(reference)
        if expected.get("state") == "real":
            return passed(Basis.CLAIM)
        state, why = actual.get("state"), {"why": plain(str(actual.get("why") or "there is none"))}
        if state not in ("ran", "unrepeatable", "unlisted"):
            return finding(Code.PROTOCOL_VIOLATION, "repeats_malformed", why)
        if state == "unlisted":
            return review(Message("repeats_unlisted", why))
        new = super().judge(case, _outputs(reference, expected), _outputs(submission, actual))
        if new.status is Status.PASSED:
            return new
        if actual.get("outside"):
            return finding(Code.NOT_REPEATED, "repeats_outside", new.evidence)
        if actual.get("own") is True:
            return replace(passed(Basis.CLAIM), message=Message("repeats_own"))
        return review(Message("repeats_differs"))


def _outputs(seen: Observation, told: Mapping[Value, Value]) -> Observation:
    return replace(seen, claims=replace(seen.claims, value=told.get("outputs")))
