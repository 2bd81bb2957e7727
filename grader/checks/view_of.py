"""``view_of`` and ``not_view_of``: whether what is returned shares memory with an argument."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Literal

from grader.checks.base import CaseInputs, Check, Probe
from grader.checks.findings import finding
from grader.checks.inputs import ArgumentRef, UnfitCaseError
from grader.checks.layouts import argument_after, shares, unfit, unreported
from grader.checks.trees import Leaf, judge_leaves
from grader.observation import Observation
from grader.verdict import Basis, Code, Verdict
from grader.wire.values import Tensor


class Memory(Check):
    """Looks at where returned tensors lie, beside an argument.

    Attributes:
        argument: The argument, by name or position.
    """

    conditional: ClassVar[bool] = True
    numbers: ClassVar[bool] = False

    argument: ArgumentRef

    def arguments(self) -> tuple[ArgumentRef, ...]:
        """Return the argument."""
        return (self.argument,)

    def needs(self) -> frozenset[Probe]:
        """Return the probes for arguments after the call and for memory."""
        return frozenset({Probe.ARGS_AFTER, Probe.LAYOUT})

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Find the argument as it stood after the call, then look."""
        try:
            base = argument_after(case, self.argument, submission)
        except UnfitCaseError as error:
            return unfit(error)
        if base is None:
            return unreported(reference)
        return self.beside(base, reference, submission)

    @abstractmethod
    def beside(self, base: Tensor, reference: Observation, submission: Observation) -> Verdict:
        """Return the verdict on what was returned, given the argument after the call."""


class _Shared(Memory):
    """Looks at whether returned tensors share the memory of an argument."""

    def beside(self, base: Tensor, reference: Observation, submission: Observation) -> Verdict:
        """Look at every returned tensor."""
        return judge_leaves(reference, submission, lambda leaf: self._leaf(leaf, base), Basis.CLAIM)

    def _leaf(self, leaf: Leaf, base: Tensor) -> Verdict | None:
        actual = leaf.actual
        if not isinstance(actual, Tensor) or self.right(actual, base):
            return None
        code, message = self.wrong()
        told = {"name": self.argument, "where": leaf.where}
        return finding(code, message, told, Basis.CLAIM)

    def right(self, actual: Tensor, base: Tensor) -> bool:
        """Whether a returned tensor lies where it should."""
        raise NotImplementedError

    def wrong(self) -> tuple[Code, str]:
        """Return code and message for one that does not."""
        raise NotImplementedError


class ViewOf(_Shared):
    """Every returned tensor is a view of an argument: it shares the argument's memory.

    Attributes:
        argument: The argument, by name or position.
    """

    kind: Literal["view_of"] = "view_of"

    def right(self, actual: Tensor, base: Tensor) -> bool:
        """Whether the two share memory."""
        return shares(actual, base)

    def wrong(self) -> tuple[Code, str]:
        """It is a copy."""
        return Code.NOT_A_VIEW, "not_a_view"


class NotViewOf(_Shared):
    """No returned tensor shares memory with an argument.

    Attributes:
        argument: The argument, by name or position.
    """

    kind: Literal["not_view_of"] = "not_view_of"

    def right(self, actual: Tensor, base: Tensor) -> bool:
        """Whether the two lie apart; by their storages alone, for a doubt does not clear them."""
        if actual.layout is None or base.layout is None:
            return False
        return actual.layout.storage != base.layout.storage

    def wrong(self) -> tuple[Code, str]:
        """It is a view."""
        return Code.SHARES_MEMORY, "shares_memory"
