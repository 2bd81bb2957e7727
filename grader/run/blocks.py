"""Blocks of calls on the wire: tensors that hold those of many calls, one after the other."""

from __future__ import annotations

from dataclasses import replace

from grader.observation import Observation
from grader.wire.values import ITEMSIZE, Tensor, Value


def size(value: Value) -> int:
    """Return the bytes of a tensor; 0 for other values."""
    return len(memoryview(value.data)) if isinstance(value, Tensor) else 0


def rows(value: Value, start: int, stop: int) -> Value:
    """Return the tensors of some calls out of those of all."""
    if not isinstance(value, Tensor):
        return value
    row = ITEMSIZE[value.dtype]
    for size in value.shape[1:]:
        row *= size
    data = memoryview(value.data)[start * row : stop * row]
    return replace(value, shape=(stop - start, *value.shape[1:]), data=data)


def alike(reference: Observation, student: Observation, calls: int) -> bool:
    """Whether both returned the same bytes, as right code on whole numbers does."""
    expected, found = reference.claims.value, student.claims.value
    if not isinstance(expected, Tensor) or not isinstance(found, Tensor):
        return False
    expected = rows(expected, 0, calls)
    return (
        isinstance(expected, Tensor)
        and (expected.dtype, expected.shape) == (found.dtype, found.shape)
        and memoryview(expected.data) == memoryview(found.data)
    )


def item(seen: Observation, number: int) -> Observation:
    """Return one call of a block as an observation of its own."""
    value = seen.claims.value
    if isinstance(value, Tensor) and value.shape and number < value.shape[0]:
        row = rows(value, number, number + 1)
        assert isinstance(row, Tensor)
        value = replace(row, shape=row.shape[1:], data=bytes(row.data))
    elif isinstance(value, list) and number < len(value):
        value = value[number]
    claims = replace(seen.claims, value=value)
    return replace(seen, claims=claims)
