"""``any_order``: the right entries, in whatever order, with what belongs to each beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Literal

from grader.checks.arrays import to_numpy
from grader.checks.base import CaseInputs, Check
from grader.checks.findings import finding
from grader.checks.inputs import UnfitCaseError
from grader.checks.layouts import unfit
from grader.checks.shape import same_shape
from grader.checks.trees import judge_leaves
from grader.observation import Observation
from grader.verdict import Code, Param, Verdict
from grader.wire.values import Tensor, Value

Entry = tuple[Hashable, ...]


class AnyOrder(Check):
    """The entries equal the reference's, but may come in another order.

    An entry is what stands at one index of the first axis: of a tensor its row, of a tuple of
    tensors (unique values and where each was found, say) the rows of all of them together.
    Numbers are compared exactly; dtypes are for kind ``dtype`` to judge.
    """

    kind: Literal["any_order"] = "any_order"

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Compare the entries as multisets."""
        shapes = judge_leaves(reference, submission, lambda leaf: same_shape(leaf, case))
        if shapes.credit < 1:
            return shapes
        try:
            expected = _columns(reference.claims.value)
        except UnfitCaseError as error:
            return unfit(error)
        return self._compare(_columns(submission.claims.value), expected) or shapes

    def _compare(self, actual: list[list[Entry]], expected: list[list[Entry]]) -> Verdict | None:
        found, wanted = (Counter(zip(*columns, strict=True)) for columns in (actual, expected))
        missing = sum((wanted - found).values())
        if not missing:
            return None
        params: dict[str, Param] = {"missing": missing, "total": sum(wanted.values())}
        if len(expected) > 1 and Counter(actual[0]) == Counter(expected[0]):
            params["cause"] = "wrong_partner"
        return finding(Code.WRONG_VALUE, "entries_missing", params)


def _columns(value: Value) -> list[list[Entry]]:
    """Return the rows of each tensor.

    Raises:
        UnfitCaseError: It is no tensor and no tuple of tensors of one length.
    """
    tensors = list(value) if isinstance(value, (tuple, list)) else [value]
    columns = []
    for tensor in tensors:
        if not isinstance(tensor, Tensor) or not tensor.shape:
            raise UnfitCaseError("kind any_order is for a tensor, or a tuple of tensors, of rows")
        rows = to_numpy(tensor).reshape(tensor.shape[0], -1)
        columns.append([tuple(row) for row in rows.tolist()])
    if not columns or len({len(column) for column in columns}) > 1:
        raise UnfitCaseError("kind any_order is for tensors of one length")
    return columns
