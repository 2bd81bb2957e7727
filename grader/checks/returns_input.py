"""``returns_input``: the returned tensor is an argument itself, as of a function in place."""

from __future__ import annotations

from typing import Literal

from grader.checks.findings import finding
from grader.checks.layouts import same_place
from grader.checks.view_of import Memory
from grader.observation import Observation
from grader.verdict import Basis, Code, Verdict, passed
from grader.wire.values import Tensor


class ReturnsInput(Memory):
    """The returned tensor is an argument: same object, same memory, same shape, same order.

    Together with a check of the values this shows that a function works in place. A claim: the
    guest tells where its tensors lie.

    Attributes:
        argument: The argument, by name or position.
    """

    kind: Literal["returns_input"] = "returns_input"

    def beside(
        self,
        base: Tensor,
        reference: Observation,  # noqa: ARG002  values are for other kinds
        submission: Observation,
    ) -> Verdict:
        """Compare the returned tensor with the argument after the call."""
        value = submission.claims.value
        if isinstance(value, Tensor) and same_place(value, base):
            return passed(Basis.CLAIM)
        told = {"name": self.argument, "where": "result"}
        return finding(Code.NOT_IN_PLACE, "not_in_place", told, Basis.CLAIM)
