"""The host's own inputs as numbers: what a check computes its own answer from."""

from __future__ import annotations

from typing import Annotated, Union

import numpy as np
from pydantic import PlainValidator, WithJsonSchema

from grader.checks.arrays import Array, to_numpy
from grader.checks.base import CaseInputs
from grader.wire.values import Tensor

_MOST_ARGUMENTS = 100


def _reference(found: object) -> int | str:
    # One validator instead of pydantic's union, which tells of each of its branches what it lacks.
    if type(found) is int and 0 <= found < _MOST_ARGUMENTS:
        return found
    if isinstance(found, str) and found:
        return found
    raise ValueError(f"found {found!r}; expected the name of an argument, or its position from 0")


ArgumentRef = Annotated[
    Union[int, str],
    PlainValidator(_reference),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "minLength": 1},
                {"type": "integer", "minimum": 0, "maximum": _MOST_ARGUMENTS - 1},
            ]
        }
    ),
]
"""A positional argument by name, or by 0-based position (as a case with a generator needs)."""

ROUNDING = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
"""Greatest relative error of one rounding to a dtype; whole numbers are not rounded."""


class UnfitCaseError(ValueError):
    """A case does not have what a check is meant to work on; the instructor's to mend."""


def unnamed(position: int) -> str:
    """Return what an argument is called that nobody gave a name."""
    return f"argument {position + 1}"


def argument(case: CaseInputs, which: ArgumentRef) -> Tensor:
    """Return a tensor among the positional arguments.

    Raises:
        UnfitCaseError: There is no such argument, or it is no tensor.
    """
    position = which
    if isinstance(position, str):
        if position not in case.names:
            known = ", ".join(case.names)
            raise UnfitCaseError(f"case “{case.id}” has no argument “{which}”; it has {known}")
        position = case.names.index(position)
    if position >= len(case.args):
        raise UnfitCaseError(f"case “{case.id}” has only {len(case.args)} arguments")
    value = case.args[position]
    if not isinstance(value, Tensor):
        raise UnfitCaseError(f"argument “{which}” of case “{case.id}” is no tensor")
    return value


def wide(tensor: Tensor) -> Array:
    """Return the elements in float64, or complex128 where they are complex."""
    array = to_numpy(tensor)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def rounding_of(*tensors: Tensor) -> float:
    """Return the unit roundoff of the coarsest dtype; 0 for whole numbers."""
    return max(ROUNDING.get(tensor.dtype, 0.0) for tensor in tensors)
