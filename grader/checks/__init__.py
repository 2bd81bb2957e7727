"""Check kinds, one a file, each with a pure judge."""

from __future__ import annotations

from typing import Annotated, Union

from pydantic import Field

from grader.checks.base import CaseInputs, Check, Probe
from grader.checks.close import Close
from grader.checks.device import OnDevice
from grader.checks.dtype import SameDType
from grader.checks.exact import Exact
from grader.checks.shape import SameShape
from grader.checks.unmodified import Unmodified

AnyCheck = Annotated[
    Union[Close, Exact, SameShape, SameDType, OnDevice, Unmodified], Field(discriminator="kind")
]
"""Every check kind; ``kind`` in the assignment file chooses."""

__all__ = ["AnyCheck", "CaseInputs", "Check", "Probe"]
