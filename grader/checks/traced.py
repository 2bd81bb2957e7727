"""What all checks on a device trace share: where the trace is, and who else is heard on it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Annotated, ClassVar

from pydantic import Field

from grader.checks.base import CaseInputs, Check, Probe
from grader.checks.findings import finding, plain
from grader.checks.traces import DeviceTrace, trace_of
from grader.checks.trees import describe
from grader.observation import Observation
from grader.verdict import Basis, Code, Message, Owner, Param, Verdict, fault, review
from grader.wire.values import Value

DeviceName = Annotated[str, Field(pattern=r"^(cpu|cuda)(:[0-9]{1,4})?$")]
"""``cpu``, ``cuda`` for any GPU, ``cuda:1``."""

UNREPEATED = {"unrepeated": True}
"""In the place of a report by ``repeat`` where there is none."""


class Traced(Check):
    """Judges what devices did. A claim; what it earns rests on right values as well.

    Without ``item`` the probe of the whole call is judged, with it a report that the scenario
    made of a part of it.
    """

    conditional: ClassVar[bool] = True
    replayed: bool = Field(
        default=False,
        description="The report comes from ``repeat``: the stage ran the log again. A fact then.",
    )

    def needs(self) -> frozenset[Probe]:
        """Return the probe, for a whole call."""
        return frozenset() if self.item else frozenset({Probe.DEVICES})

    def judge(
        self,
        case: CaseInputs,  # noqa: ARG002  part of every judge
        reference: Observation,
        submission: Observation,
    ) -> Verdict:
        """Weigh the traces."""
        expected = trace_of(reference, self.item is not None)
        if expected is None:
            return no_trace_expected(reference)
        actual = trace_of(submission, self.item is not None)
        if actual is None:
            return unrepeated(submission, self.replayed) or no_trace(
                submission, self.item is not None
            )
        return as_fact(self.weigh(expected, actual), self.replayed)

    @abstractmethod
    def weigh(self, expected: DeviceTrace, actual: DeviceTrace) -> Verdict:
        """Compare the trace of the submission with that of the reference."""


def as_fact(verdict: Verdict, replayed: bool) -> Verdict:
    """Return a verdict on what the stage itself has run."""
    return replace(verdict, basis=Basis.FACT) if replayed else verdict


def unrepeated(submission: Observation, replayed: bool) -> Verdict | None:
    """Return the verdict where a log could not be run again, or None: a person has to look."""
    if replayed and submission.claims.value == UNREPEATED:
        return review(Message("repeats_unseen"))
    return None


def no_trace_expected(reference: Observation) -> Verdict:
    """Return the verdict where the reference itself has no trace to compare with."""
    detail = f"it returned a {describe(reference.claims.value)} where a device report was due"
    told = Message("reference_failed", {"detail": plain(detail)})
    return fault(Code.REFERENCE_FAILED, Owner.INSTRUCTOR, told)


def no_trace(submission: Observation, as_item: bool) -> Verdict:
    """Return the verdict on a submission whose trace is missing or has another form."""
    if as_item:
        return not_of_the_form(submission.claims.value, "device report")
    lie = {"detail": "what the devices did was not reported"}
    return finding(Code.PROTOCOL_VIOLATION, "protocol_violation", lie, Basis.CLAIM)


def not_of_the_form(value: Value, expected: str) -> Verdict:
    """Return the verdict on a value that should be what the guest's own reporting makes."""
    params: dict[str, Param] = {
        "actual": describe(value), "expected": expected, "where": "result",
    }  # fmt: skip
    return finding(Code.WRONG_TYPE, "wrong_type", params, Basis.CLAIM)
