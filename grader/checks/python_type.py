"""``type``: the result is of the right Python type, an ``int`` where an ``int`` is asked for."""

from __future__ import annotations

from typing import ClassVar, Literal

from grader.checks.base import CaseInputs, Check
from grader.checks.causes import type_cause
from grader.checks.findings import finding
from grader.checks.trees import Leaf, describe, exact_kind, judge_leaves
from grader.observation import Observation
from grader.verdict import Code, Param, Verdict, passed
from grader.wire.values import Tensor

TypeName = Literal["bool", "int", "float", "str", "tuple", "list", "dict", "Tensor", "None"]

_TYPES: dict[str, type] = {
    "bool": bool, "int": int, "float": float, "str": str, "tuple": tuple, "list": list,
    "dict": dict, "Tensor": Tensor, "None": type(None),
}  # fmt: skip


class PythonType(Check):
    """Types agree exactly: a float is no int, True is no 1, a tensor of rank 0 is no number.

    Attributes:
        type: Type of the result itself; where absent, everything in it is of the types that the
            reference returns, a list serving for a tuple.
    """

    conditional: ClassVar[bool] = True
    numbers: ClassVar[bool] = False

    kind: Literal["type"] = "type"
    type: TypeName | None = None

    def judge(
        self,
        case: CaseInputs,  # noqa: ARG002  # part of every judge
        reference: Observation,
        submission: Observation,
    ) -> Verdict:
        """Compare types."""
        if self.type is None:
            return judge_leaves(reference, submission, _same_kind)
        value = submission.claims.value
        # By type(), not isinstance(): True is an int to isinstance.
        if value.__class__ is _TYPES[self.type]:
            return passed()
        return _wrong_type(Leaf("result", value, reference.claims.value), self.type)


def _same_kind(leaf: Leaf) -> Verdict | None:
    if exact_kind(leaf.actual) == exact_kind(leaf.expected):
        return None
    return _wrong_type(leaf, describe(leaf.expected))


def _wrong_type(leaf: Leaf, expected: str) -> Verdict:
    params: dict[str, Param] = {
        "actual": describe(leaf.actual),
        "expected": expected,
        "where": leaf.where,
        **type_cause(leaf.actual, leaf.expected),
    }
    return finding(Code.WRONG_TYPE, "wrong_type", params)
