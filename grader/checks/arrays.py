"""Tensors from the wire as numpy arrays, exactly, without torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.wire.values import Buffer, Tensor

Array = NDArray[Any]

_NATIVE = {
    "bool": "|u1", "uint8": "|u1", "int8": "|i1", "int16": "<i2", "uint16": "<u2", "int32": "<i4",
    "uint32": "<u4", "int64": "<i8", "uint64": "<u8", "float8_e4m3fn": "|u1",
    "float8_e5m2": "|u1", "float16": "<f2", "bfloat16": "<u2", "float32": "<f4", "float64": "<f8",
    "complex32": "<f2", "complex64": "<c8", "complex128": "<c16",
}  # fmt: skip
_COPIED = 2**12  # bytes; up to here a copy costs less than two arrays


def to_numpy(tensor: Tensor) -> Array:
    """Return the elements, in the tensor's shape.

    bfloat16 and both float8 become float32, complex32 becomes complex64; every value of theirs is
    one of the wider type too. A bool is any byte other than zero.

    Returns:
        An array that shares the tensor's bytes where numpy has the dtype.
    """
    raw = np.frombuffer(tensor.data, np.dtype(_NATIVE[tensor.dtype]))
    widen = _WIDEN.get(tensor.dtype)
    return (raw if widen is None else widen(raw)).reshape(tensor.shape)


def same_bytes(one: Buffer, other: Buffer) -> bool:
    """Whether two runs of bytes are equal."""
    if len(one) != len(other):
        return False
    if len(one) <= _COPIED:
        return bytes(one) == bytes(other)
    return np.array_equal(np.frombuffer(one, np.uint8), np.frombuffer(other, np.uint8))


def _from_bfloat16(raw: Array) -> Array:
    # bfloat16 is the upper half of a float32.
    return (raw.astype(np.uint32) << 16).view(np.float32)


def _from_float8_e5m2(raw: Array) -> Array:
    # float8_e5m2 is the upper half of a float16.
    return (raw.astype(np.uint16) << 8).view(np.float16).astype(np.float32)


def _e4m3fn_table() -> Array:
    """All 256 values: sign, 4 bits of exponent (bias 7), 3 of fraction; no infinity, two NaNs."""
    code = np.arange(256)
    exponent, fraction = (code >> 3) & 15, code & 7
    magnitude = np.where(
        exponent == 0, fraction * 2.0**-9, (8 + fraction) * 2.0 ** (exponent - 10.0)
    )
    magnitude[(code & 127) == 127] = np.nan
    return np.where(code < 128, magnitude, -magnitude).astype(np.float32)


_E4M3FN = _e4m3fn_table()
_WIDEN: dict[str, Callable[[Array], Array]] = {
    "bool": lambda raw: raw != 0,
    "bfloat16": _from_bfloat16,
    "float8_e4m3fn": lambda raw: _E4M3FN[raw],
    "float8_e5m2": _from_float8_e5m2,
    "complex32": lambda raw: raw.astype(np.float32).view(np.complex64),
}
