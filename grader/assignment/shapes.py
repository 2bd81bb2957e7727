"""Sizes of an argument's tensors, once the case's dims have values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Union

from grader.assignment.arguments import Argument, Computed, TupleOf
from grader.assignment.dims import evaluate, names_in
from grader.assignment.document import Path
from grader.assignment.tensors import FixedTensor, RandomTensor, exact_range, shape_of_lists
from grader.wire.values import nbytes

MAX_BYTES = 1 << 30
"""Most bytes that the inputs of one call may take together."""
Part = Union[RandomTensor, FixedTensor, Computed]
"""What in an argument depends on dims."""
Symbolic = tuple[Path, Part]


def symbolic_parts(argument: Argument, path: Path = ()) -> Iterator[Symbolic]:
    """Yield every tensor and computed number inside an argument, with its path from there."""
    if isinstance(argument, (RandomTensor, FixedTensor, Computed)):
        yield path, argument
    elif isinstance(argument, TupleOf):
        yield from symbolic_parts(argument.tuple, (*path, "tuple"))
    elif isinstance(argument, list):
        for index, item in enumerate(argument):
            yield from symbolic_parts(item, (*path, index))


def shape_of(tensor: RandomTensor | FixedTensor, dims: Mapping[str, int]) -> tuple[int, ...]:
    """Return the shape of a tensor.

    Args:
        tensor: As the assignment describes it.
        dims: The size of each name.

    Raises:
        ValueError: A size is negative or cannot be computed, or ``shape`` does not fit ``arange``.
    """
    given = getattr(tensor, tensor.form)
    if tensor.form == "tensor":
        return shape_of_lists(given)
    if tensor.form in ("arange", "permutation"):
        return _reshaped(tensor, _size(given, dims), dims)
    return tuple(_size(size, dims) for size in given)


def bytes_of(part: Part, dims: Mapping[str, int]) -> int:
    """Return the bytes that a tensor takes, 0 for a number; raises as ``shape_of`` does."""
    if isinstance(part, Computed):
        evaluate(part.value, dims)
        return 0
    return nbytes(part.drawn_dtype, shape_of(part, dims))


def names_of(part: Part) -> frozenset[str]:
    """Return the dims that a tensor or number refers to."""
    if isinstance(part, Computed):
        return names_in(part.value)
    given = () if part.form == "tensor" else getattr(part, part.form)
    shape = part.shape if isinstance(part, FixedTensor) and part.shape else ()
    sizes = (*(given if isinstance(given, tuple) else (given,)), *shape)
    return frozenset(name for size in sizes for name in names_in(size))


def _reshaped(
    tensor: RandomTensor | FixedTensor, count: int, dims: Mapping[str, int]
) -> tuple[int, ...]:
    if count - 1 > exact_range(tensor.drawn_dtype)[1]:
        raise ValueError(f"0…{count - 1} do not fit into {tensor.drawn_dtype}{_with(dims)}")
    wanted = tensor.shape if isinstance(tensor, FixedTensor) else None
    if wanted is None:
        return (count,)
    shape = tuple(_size(size, dims) for size in wanted)
    if math.prod(shape) != count:
        raise ValueError(f"{count} elements do not fill the shape {list(shape)}{_with(dims)}")
    return shape


def _size(size: int | str, dims: Mapping[str, int]) -> int:
    value = evaluate(size, dims)
    if value < 0:
        raise ValueError(f"the size “{size}” is {value}{_with(dims)}")
    return value


def _with(dims: Mapping[str, int]) -> str:
    sizes = ", ".join(f"{name}={size}" for name, size in sorted(dims.items()))
    return f" where {sizes}" if sizes else ""
