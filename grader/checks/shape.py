"""``shape``: every returned tensor has the shape of the reference's."""

from __future__ import annotations

from typing import ClassVar, Literal

from grader.checks.base import CaseInputs, Check
from grader.checks.compare import wrong_shape
from grader.checks.trees import Leaf, judge_leaves
from grader.observation import Observation
from grader.verdict import Verdict
from grader.wire.values import Tensor


class SameShape(Check):
    """Shapes agree exactly: (N,) is not (1, N), and nothing is broadcast."""

    numbers: ClassVar[bool] = False
    kind: Literal["shape"] = "shape"

    def judge(
        self,
        case: CaseInputs,
        reference: Observation,
        submission: Observation,
    ) -> Verdict:
        """Compare the shapes of all returned tensors."""
        return judge_leaves(reference, submission, lambda leaf: same_shape(leaf, case))


def same_shape(leaf: Leaf, case: CaseInputs) -> Verdict | None:
    """Return the finding where two tensors differ in shape, None for anything else."""
    actual, expected = leaf.actual, leaf.expected
    if not isinstance(actual, Tensor) or not isinstance(expected, Tensor):
        return None
    if actual.shape == expected.shape:
        return None
    return wrong_shape(leaf.where, actual, expected, case)
