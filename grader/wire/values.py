"""The value tree: what may cross between host and guest.

Python's own ``None bool int float str bytes tuple list dict`` stand for themselves; the classes
below stand for what torch has and Python has not. Neither torch nor numpy is imported here, so
that the host needs neither to read a message. How values are written is in ``grader.wire.codec``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Union

ITEMSIZE = {
    "bool": 1, "uint8": 1, "int8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4,
    "int64": 8, "uint64": 8, "float8_e4m3fn": 1, "float8_e5m2": 1, "float16": 2, "bfloat16": 2,
    "float32": 4, "float64": 8, "complex32": 4, "complex64": 8, "complex128": 16,
}  # fmt: skip
"""Bytes per element, by torch's name for the dtype."""

MAX_RANK = 8
_MAX_BYTES = 2**62


class ProtocolError(Exception):
    """The other side sent something that is not in the protocol; says what."""


@dataclass(frozen=True, slots=True)
class DType:
    """A torch dtype by name, without the ``torch.`` prefix."""

    name: str


@dataclass(frozen=True, slots=True)
class Device:
    """A torch device, such as ``cpu`` or ``cuda:1``."""

    name: str


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a tensor's elements lie. A claim of the guest's.

    Attributes:
        storage: Number of the storage within its message; equal numbers share memory.
        offset: Of the first element, in elements.
        strides: In elements.
        object: Number of the Python object within its message: a view of a whole tensor has the
            tensor's memory, and is another object.
    """

    storage: int
    offset: int
    strides: tuple[int, ...]
    object: int = 0


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor as bytes.

    Attributes:
        dtype: Torch's name, a key of ``ITEMSIZE``.
        shape: Sizes.
        data: Elements in C order, little endian.
        device: Where the guest says that it was.
        requires_grad: As the guest says.
        layout: Strides and storage, if the guest was asked for them.
    """

    dtype: str
    shape: tuple[int, ...]
    data: Buffer
    device: str = "cpu"
    requires_grad: bool = False
    layout: Layout | None = None


@dataclass(frozen=True, slots=True)
class Handle:
    """An object that stays in the actor; ``id`` names it in later requests.

    Below zero it is a function of the stage's, which the actor may call.
    """

    id: int


@dataclass(frozen=True, slots=True)
class FilePath:
    """A path in a folder that stage and actor share, relative to the scratch of each."""

    name: str


@dataclass(frozen=True, slots=True)
class Opaque:
    """Something that cannot cross; its type's name and why."""

    type: str
    reason: str


Value = Union[
    None, bool, int, float, str, bytes, "tuple[Value, ...]", "list[Value]", "dict[Value, Value]",
    DType, Device, Tensor, Handle, FilePath, Opaque,
]  # fmt: skip
Buffer = Union[bytes, bytearray, memoryview]


def nbytes(dtype: str, shape: Sequence[int]) -> int:
    """Return the bytes that a contiguous tensor takes.

    Raises:
        ProtocolError: The dtype is unknown, the rank above 8, a size negative, or the shape one
            that no memory holds (sizes beside a zero count too: numpy refuses them).
    """
    if dtype not in ITEMSIZE:
        raise ProtocolError(f"unknown dtype {dtype[:40]!r}")
    if len(shape) > MAX_RANK:
        raise ProtocolError(f"a tensor of rank {len(shape)}; the most is {MAX_RANK}")
    if any(size < 0 for size in shape):
        raise ProtocolError(f"a negative size in shape {list(shape)}")
    if math.prod(max(size, 1) for size in shape) * ITEMSIZE[dtype] > _MAX_BYTES:
        raise ProtocolError(f"a tensor of shape {list(shape)} is beyond any memory")
    return math.prod(shape) * ITEMSIZE[dtype]
