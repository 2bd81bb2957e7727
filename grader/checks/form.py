"""Kinds ``shape``, ``dtype``, ``device`` and ``type``: what the result is, whatever it holds."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from grader.checks.base import CaseInputs, Check
from grader.checks.compare_trees import Leaf, describe, exact_kind, judge_leaves, wrong_shape
from grader.checks.diagnoses import device_cause, dtype_cause, type_cause
from grader.errors import nearest
from grader.observation import Observation
from grader.verdict import Basis, Code, Param, Verdict, finding, passed
from grader.wire.values import ITEMSIZE, Tensor


class SameShape(Check):
    """Shapes agree exactly: (N,) is not (1, N), and nothing is broadcast."""

    numbers: ClassVar[bool] = False
    kind: Literal["shape"] = "shape"

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Compare the shapes of all returned tensors."""
        return judge_leaves(reference, submission, lambda leaf: wrong_shape(leaf, case))


def _known(name: str) -> str:
    if name not in ITEMSIZE:
        raise ValueError(f"“{name}” is not a dtype of torch{nearest(name, ITEMSIZE)}")
    return name


AnyDType = Annotated[str, AfterValidator(_known)]


class SameDType(Check):
    """Dtypes agree with the reference's.

    Attributes:
        allowed: Dtypes that are right instead, whatever the reference returns.
    """

    numbers: ClassVar[bool] = False
    kind: Literal["dtype"] = "dtype"
    allowed: Annotated[tuple[AnyDType, ...], Field(min_length=1)] | None = None

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Compare the dtypes of all returned tensors."""
        return judge_leaves(reference, submission, self._leaf)

    def _leaf(self, leaf: Leaf) -> Verdict | None:
        actual, expected = leaf.actual, leaf.expected
        if not isinstance(actual, Tensor) or not isinstance(expected, Tensor):
            return None
        wanted = self.allowed or (expected.dtype,)
        if actual.dtype in wanted:
            return None
        params: dict[str, Param] = {
            "actual": actual.dtype,
            "expected": " or ".join(wanted),
            "where": leaf.where,
            **dtype_cause(actual.dtype, wanted[0]),
        }
        return finding(Code.WRONG_DTYPE, "wrong_dtype", params)


class OnDevice(Check):
    """Returned tensors are on a device. A claim: the host sees bytes, not where they were.

    Attributes:
        device: Such as ``cpu``, ``cuda`` (any GPU) or ``cuda:1``.
    """

    numbers: ClassVar[bool] = False
    kind: Literal["device"] = "device"
    device: Annotated[str, Field(pattern=r"^[a-z]{1,16}(:[0-9]{1,4})?$")]

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Look at the device of all returned tensors."""
        return judge_leaves(reference, submission, self._leaf, Basis.CLAIM)

    def _leaf(self, leaf: Leaf) -> Verdict | None:
        actual = leaf.actual
        if not isinstance(actual, Tensor) or self._holds(actual.device):
            return None
        params: dict[str, Param] = {
            "actual": actual.device,
            "expected": self.device,
            "where": leaf.where,
            **device_cause(actual.device, self.device),
        }
        return finding(Code.WRONG_DEVICE, "wrong_device", params, Basis.CLAIM)

    def _holds(self, device: str) -> bool:
        # “cuda” is any GPU, but “cuda:1” only that one.
        return device == self.device or device.split(":", maxsplit=1)[0] == self.device


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

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
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
