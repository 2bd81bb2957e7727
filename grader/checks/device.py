"""``device``: every returned tensor is where it should be, as the guest tells it."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from grader.checks.base import CaseInputs, Check
from grader.checks.causes import device_cause
from grader.checks.findings import finding
from grader.checks.trees import Leaf, judge_leaves
from grader.observation import Observation
from grader.verdict import Basis, Code, Param, Verdict
from grader.wire.values import Tensor


class OnDevice(Check):
    """Returned tensors are on a device. A claim: the host sees bytes, not where they were.

    Attributes:
        device: Such as ``cpu``, ``cuda`` (any GPU) or ``cuda:1``.
    """

    numbers: ClassVar[bool] = False
    kind: Literal["device"] = "device"
    device: Annotated[str, Field(pattern=r"^[a-z]{1,16}(:[0-9]{1,4})?$")]

    def judge(
        self,
        case: CaseInputs,  # noqa: ARG002  # part of every judge
        reference: Observation,
        submission: Observation,
    ) -> Verdict:
        """Look at the device of all returned tensors."""
        return judge_leaves(reference, submission, self._leaf, Basis.CLAIM)

    def _leaf(self, leaf: Leaf) -> Verdict | None:
        actual = leaf.actual
        if not isinstance(actual, Tensor) or self._holds(actual.device):
            return None
        told: dict[str, Param] = {
            "actual": actual.device,
            "expected": self.device,
            "where": leaf.where,
            **device_cause(actual.device, self.device),
        }
        return finding(Code.WRONG_DEVICE, "wrong_device", told, Basis.CLAIM)

    def _holds(self, device: str) -> bool:
        return device == self.device or device.split(":", maxsplit=1)[0] == self.device
