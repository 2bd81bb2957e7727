"""Check kinds, one a file, each with a pure judge."""

from __future__ import annotations

from typing import Annotated, Union

from pydantic import Field

from grader.checks.any_order import AnyOrder
from grader.checks.base import CaseInputs, Check, CompanionNeeds, Probe
from grader.checks.close import Close
from grader.checks.device import OnDevice
from grader.checks.device_memory import DeviceMemory
from grader.checks.distances import Distances
from grader.checks.dtype import SameDType
from grader.checks.envelope import Envelope
from grader.checks.exact import Exact
from grader.checks.loops import Loops
from grader.checks.ops import AllowedOps, ForbiddenOps
from grader.checks.overlap import Overlap
from grader.checks.placement import Placement
from grader.checks.product import Product
from grader.checks.python_type import PythonType
from grader.checks.ran_on import RanOn
from grader.checks.repeats import Repeats
from grader.checks.returns_input import ReturnsInput
from grader.checks.shape import SameShape
from grader.checks.speedup import Speedup
from grader.checks.transfers import Transfers
from grader.checks.unmodified import Unmodified
from grader.checks.use import MaxCalls, PeakMemory
from grader.checks.vectorised import Vectorised
from grader.checks.view_of import NotViewOf, ViewOf

AnyCheck = Annotated[
    Union[
        Close,
        Exact,
        Product,
        Distances,
        Envelope,
        AnyOrder,
        SameShape,
        SameDType,
        OnDevice,
        PythonType,
        Unmodified,
        ReturnsInput,
        ViewOf,
        NotViewOf,
        Loops,
        ForbiddenOps,
        AllowedOps,
        MaxCalls,
        PeakMemory,
        Placement,
        Transfers,
        RanOn,
        DeviceMemory,
        Vectorised,
        Speedup,
        Overlap,
        Repeats,
    ],
    Field(discriminator="kind"),
]
"""Every check kind; ``kind`` in the assignment file chooses."""

__all__ = ["AnyCheck", "CaseInputs", "Check", "CompanionNeeds", "Probe"]
