"""``dtype``: every returned tensor has the dtype of the reference's, or an allowed one."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from grader.checks.base import CaseInputs, Check
from grader.checks.causes import dtype_cause
from grader.checks.findings import finding
from grader.checks.trees import Leaf, judge_leaves
from grader.errors import nearest
from grader.observation import Observation
from grader.verdict import Code, Param, Verdict
from grader.wire.values import ITEMSIZE, Tensor


def _known(name: str) -> str:
    if name not in ITEMSIZE:
        raise ValueError(f"“{name}” is not a dtype of torch{nearest(name, ITEMSIZE)}")
    return name


DTypeName = Annotated[str, AfterValidator(_known)]


class SameDType(Check):
    """Dtypes agree with the reference's.

    Attributes:
        allowed: Dtypes that are right instead, whatever the reference returns.
    """

    numbers: ClassVar[bool] = False
    kind: Literal["dtype"] = "dtype"
    allowed: Annotated[tuple[DTypeName, ...], Field(min_length=1)] | None = None

    def judge(
        self,
        case: CaseInputs,  # noqa: ARG002  # part of every judge
        reference: Observation,
        submission: Observation,
    ) -> Verdict:
        """Compare the dtypes of all returned tensors."""
        return judge_leaves(reference, submission, self._leaf)

    def _leaf(self, leaf: Leaf) -> Verdict | None:
        actual, expected = leaf.actual, leaf.expected
        if not isinstance(actual, Tensor) or not isinstance(expected, Tensor):
            return None
        wanted = self.allowed or (expected.dtype,)
        if actual.dtype in wanted:
            return None
        told: dict[str, Param] = {
            "actual": actual.dtype,
            "expected": " or ".join(wanted),
            "where": leaf.where,
            **dtype_cause(actual.dtype, wanted[0]),
        }
        return finding(Code.WRONG_DTYPE, "wrong_dtype", told)
