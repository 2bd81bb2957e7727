"""``unmodified``: the arguments are after the call what they were before it."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import numpy as np

from grader.checks.arrays import same_bytes
from grader.checks.base import CaseInputs, Check, Probe
from grader.checks.findings import finding
from grader.checks.inputs import unnamed
from grader.checks.trees import exact_kind, leaves
from grader.observation import Observation
from grader.verdict import Basis, Code, Message, Owner, Param, Verdict, fault, passed
from grader.wire.values import ITEMSIZE, Tensor, Value

_UNREPORTED = "the arguments after the call were not reported"


class Unmodified(Check):
    """Arguments are left as they were, bit for bit.

    Compared with what the host sent, never with what the guest says that it got. Still a claim:
    the guest tells what the arguments hold after the call.
    """

    conditional: ClassVar[bool] = True
    numbers: ClassVar[bool] = False

    kind: Literal["unmodified"] = "unmodified"

    def needs(self) -> frozenset[Probe]:
        """Return the probe for arguments after the call."""
        return frozenset({Probe.ARGS_AFTER})

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Compare the arguments after the call with those that were sent."""
        after = submission.claims.args_after
        if after is None and reference.claims.args_after is None:
            told = Message("sandbox_failed", {"detail": _UNREPORTED})
            return fault(Code.SANDBOX_FAILED, Owner.INFRASTRUCTURE, told)
        if after is None or len(after) != len(case.args):
            lie = {"detail": _UNREPORTED}
            return finding(Code.PROTOCOL_VIOLATION, "protocol_violation", lie, Basis.CLAIM)
        for position, (left, sent) in enumerate(zip(after, case.args, strict=True)):
            changed = _changed(left, sent)
            if changed is not None:
                params = {"name": _name(case, position), **changed}
                return finding(Code.INPUT_MODIFIED, "input_modified", params, Basis.CLAIM)
        return passed(Basis.CLAIM)


def _name(case: CaseInputs, position: int) -> str | int:
    """Return the name of an argument; its position where the reference's file made it."""
    known = position < len(case.names) and case.names[position] != unnamed(position)
    return case.names[position] if known else position


def _changed(after: Value, sent: Value) -> dict[str, Param] | None:
    """Return how many elements changed, of how many, at the first place that did."""
    for leaf in leaves(after, sent):
        left, right = leaf.actual, leaf.expected
        if isinstance(left, Tensor) and isinstance(right, Tensor):
            if not _same_tensor(left, right):
                return _count(left, right)
        elif not _same_value(left, right):
            return {"mismatched": 1, "total": 1}
    return None


def _same_tensor(left: Tensor, right: Tensor) -> bool:
    alike = left.dtype == right.dtype and left.shape == right.shape
    return alike and same_bytes(left.data, right.data)


def _count(left: Tensor, right: Tensor) -> dict[str, Param]:
    total = math.prod(right.shape)
    if left.dtype != right.dtype or left.shape != right.shape:
        return {"mismatched": total, "total": total}
    before, now = (
        np.frombuffer(tensor.data, np.uint8).reshape(total, ITEMSIZE[tensor.dtype])
        for tensor in (right, left)
    )
    return {"mismatched": int((before != now).any(axis=1).sum()), "total": total}


def _same_value(left: Value, right: Value) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return left.hex() == right.hex()
    if isinstance(left, (tuple, list, dict)):
        return False  # met as a leaf only where length, keys or kind changed
    return exact_kind(left) == exact_kind(right) and left == right
