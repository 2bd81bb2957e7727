"""``returns_input``: the returned tensor is an argument, as where a function works in place."""

from __future__ import annotations

from typing import ClassVar, Literal

from grader.checks.base import CaseInputs, Check, Probe
from grader.checks.findings import finding
from grader.checks.inputs import ArgumentRef, UnfitCaseError
from grader.checks.layouts import argument_after, same_place, unfit, unreported
from grader.observation import Observation
from grader.verdict import Basis, Code, Verdict, passed
from grader.wire.values import Tensor


class ReturnsInput(Check):
    """The returned tensor is an argument: same memory, same shape, same order.

    Together with a check of the values this shows that a function works in place. A claim: the
    guest tells where its tensors lie.

    Attributes:
        argument: The argument, by name or position.
    """

    conditional: ClassVar[bool] = True
    numbers: ClassVar[bool] = False

    kind: Literal["returns_input"] = "returns_input"
    argument: ArgumentRef

    def arguments(self) -> tuple[ArgumentRef, ...]:
        """Return the argument."""
        return (self.argument,)

    def needs(self) -> frozenset[Probe]:
        """Return the probes for arguments after the call and for memory."""
        return frozenset({Probe.ARGS_AFTER, Probe.LAYOUT})

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Compare the returned tensor with the argument after the call."""
        try:
            after = argument_after(case, self.argument, submission)
        except UnfitCaseError as error:
            return unfit(error)
        if after is None:
            return unreported(reference)
        value = submission.claims.value
        if isinstance(value, Tensor) and same_place(value, after):
            return passed(Basis.CLAIM)
        told = {"name": self.argument, "where": "result"}
        return finding(Code.NOT_IN_PLACE, "not_in_place", told, Basis.CLAIM)
