"""Short ways to write observations and tensors in tests of checks and of the wire."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.checks.base import CaseInputs
from grader.observation import Claims, Observation, Outcome
from grader.wire.values import Tensor, Value

CASE = CaseInputs("case", ("x", "y"), ())


def tensor(content: Any, dtype: str = "float32", **fields: Any) -> Tensor:
    """A tensor of a dtype that numpy has."""
    array = np.array(content, np.dtype(dtype).newbyteorder("<"))
    return Tensor(dtype, array.shape, array.tobytes(), **fields)


def raw(dtype: str, *parts: bytes) -> Tensor:
    """A one-dimensional tensor from the bytes of its elements."""
    return Tensor(dtype, (len(parts),), b"".join(parts))


def seen(value: Value, **claims: Any) -> Observation:
    """A call that returned a value."""
    return Observation(Outcome.COMPLETED, claims=Claims(value, **claims))


def ended(outcome: Outcome, detail: str = "", **claims: Any) -> Observation:
    """A call that did not return."""
    return Observation(outcome, claims=Claims(**claims), detail=detail)
