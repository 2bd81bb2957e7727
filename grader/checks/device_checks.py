"""What all checks of devices share, and kind ``repeats``.

``repeats``: the operations that the submission used, run again on other inputs, give the right
outputs.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from grader.checks.base import CaseInputs, Check, Probe
from grader.checks.compare_trees import describe
from grader.checks.traces import DeviceTrace, mapping, read_trace
from grader.checks.values import Close
from grader.observation import Observation
from grader.verdict import (
    Basis,
    Code,
    Message,
    Param,
    Status,
    Verdict,
    finding,
    passed,
    plain,
    reference_failed,
    review,
)
from grader.wire.values import Value

DeviceName = Annotated[str, Field(pattern=r"^(cpu|cuda)(:[0-9]{1,4})?$")]
"""``cpu``, ``cuda`` for any GPU, ``cuda:1``."""

UNREPEATED: dict[Value, Value] = {"unrepeated": True}
"""In the place of a report by ``repeat`` where there is none."""


class DeviceCheck(Check):
    """Judges what devices did. A claim; what it earns rests on right values as well.

    What it reads is a report that the scenario made: what was returned, or an item of it.
    """

    conditional: ClassVar[bool] = True
    report: ClassVar[str]
    """What the scenario's report is called in messages."""

    if TYPE_CHECKING:  # Each kind has its own field. One here would move it in committed files.
        replayed: bool

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Read both reports, then weigh them."""
        expected, actual = self.devices_in(reference), self.devices_in(submission)
        if expected is None:
            return no_report_expected(reference, self.report)
        if actual is None:
            return self.unreported(submission)
        verdict = self.weigh(expected, actual)
        return replace(verdict, basis=Basis.FACT) if self.replayed else verdict

    @abstractmethod
    def devices_in(self, seen: Observation) -> Any | None:
        """Return what devices did in a call, or None if there is nothing of that form."""

    @abstractmethod
    def weigh(self, expected: Any, actual: Any) -> Verdict:
        """Compare what the submission's devices did with what the reference's did."""

    def unreported(self, submission: Observation) -> Verdict:
        """Return the verdict on a submission whose report is missing or has another form."""
        value = submission.claims.value
        if self.replayed and value == UNREPEATED:
            return review(Message("repeats_unseen"))
        params: dict[str, Param] = {
            "actual": describe(value), "expected": self.report, "where": "result",
        }  # fmt: skip
        return finding(Code.WRONG_TYPE, "wrong_type", params, Basis.CLAIM)


class TraceCheck(DeviceCheck):
    """Judges a device trace: the probe of the whole call or, with ``item``, a part of it."""

    report: ClassVar[str] = "device report"
    replayed: bool = Field(
        default=False,
        description="The report comes from ``repeat``: the stage ran the log again. A fact then.",
    )

    def needs(self) -> frozenset[Probe]:
        """Return the probe, for a whole call."""
        return frozenset() if self.item else frozenset({Probe.DEVICES})

    def devices_in(self, seen: Observation) -> DeviceTrace | None:
        """Return the trace."""
        probed = seen.claims.probes.get(Probe.DEVICES)
        return read_trace(probed if self.item is None else seen.claims.value)

    def unreported(self, submission: Observation) -> Verdict:
        """Return the verdict on a missing trace: our own actor never leaves out a probe."""
        if self.item is not None:
            return super().unreported(submission)
        lie = {"detail": "what the devices did was not reported"}
        return finding(Code.PROTOCOL_VIOLATION, "protocol_violation", lie, Basis.CLAIM)


def no_report_expected(reference: Observation, report: str) -> Verdict:
    """Return the verdict where the reference itself has no report to compare with."""
    value = describe(reference.claims.value)
    return reference_failed(f"it returned a {value} where a {report} was due")


class RepeatsLog(Close):
    """The log of the submission's operations is itself a right program.

    The item is what ``repeat`` of ``grader.scenario_process`` returned. Where its outputs are right
    on inputs that were drawn after the log was written, what it says of devices is a fact. Where
    the process could see what it computed, the log may fit its own inputs alone: right outputs on
    those pass as a claim. What comes from outside torch must not decide; all else is for a person
    to look at.

    Attributes:
        rtol: Tolerance relative to the expected value.
        atol: Tolerance in the value's own unit.
    """

    conditional: ClassVar[bool] = True
    results_alone: ClassVar[bool] = False
    entry_by_entry: ClassVar[bool] = False

    kind: Literal["repeats"] = "repeats"  # type: ignore[assignment]

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Compare the outputs of the two logs."""
        try:
            expected, actual = mapping(reference.claims.value), mapping(submission.claims.value)
        except TypeError:
            return no_report_expected(reference, "report of a repeated log")
        # On real GPUs nothing is run again, not even the reference's log.
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
        # Elements from outside torch may be the answer itself, computed elsewhere; they earn
        # nothing.
        if actual.get("outside"):
            return finding(Code.NOT_REPEATED, "repeats_outside", new.evidence)
        if actual.get("own") is True:
            return replace(passed(Basis.CLAIM), message=Message("repeats_own"))
        return review(Message("repeats_differs"))


def _outputs(seen: Observation, value: Mapping[Value, Value]) -> Observation:
    return replace(seen, claims=replace(seen.claims, value=value.get("outputs")))
