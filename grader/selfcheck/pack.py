"""Values in two files: their structure in JSON, their tensors in a safetensors file.

Nodes are those of the wire (``grader.wire.codec``). Tensors keep dtype and shape in the
safetensors file where NumPy has the dtype, so that anybody can look at them; other bytes are kept
as they are. Tensors of zeros only, and copies, take no room.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import safetensors.numpy

from grader.selfcheck.in_the_way import InTheWay
from grader.wire.codec import Decoder, Encoder, Node
from grader.wire.values import Buffer, Tensor, Value

Blob = tuple[int, "str | None"]
"""Length in bytes, and the tensor that holds them; None for zeros only."""

_NUMPY = frozenset({
    "bool", "uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16",
    "float32", "float64",
})  # fmt: skip


class Packing(Encoder):
    """Collects the tensors of the values that it encodes."""

    def __init__(self) -> None:
        super().__init__()
        self.table: list[Blob] = []
        self._names: dict[bytes, str] = {}
        self._arrays: dict[str, np.ndarray[Any, Any]] = {}
        self._prefix = ""
        self._tensor: Tensor | None = None

    def within(self, prefix: str) -> None:
        """Name the tensors of what follows ``prefix/0``, ``prefix/1`` ….

        Args:
            prefix: Such as ``question/case``.
        """
        self._prefix = prefix

    def encode(self, value: Value, depth: int = 0) -> Node:
        """See ``Encoder.encode``."""
        self._tensor = value if isinstance(value, Tensor) else None
        return super().encode(value, depth)

    def blob(self, data: Buffer) -> int:
        """See ``Encoder.blob``."""
        content = bytes(data)
        self.table.append((len(content), self._kept(content) if any(content) else None))
        return len(self.table) - 1

    def tensors(self) -> bytes:
        """Return the safetensors file."""
        return safetensors.numpy.save(self._arrays)

    def _kept(self, content: bytes) -> str:
        key = hashlib.sha256(content).digest()
        if key not in self._names:
            number = sum(name.startswith(f"{self._prefix}/") for name in self._arrays)
            self._names[key] = f"{self._prefix}/{number}"
            self._arrays[self._names[key]] = _array(content, self._tensor)
        return self._names[key]


def _array(content: bytes, tensor: Tensor | None) -> np.ndarray[Any, Any]:
    if tensor is None or tensor.dtype not in _NUMPY:
        return np.frombuffer(content, np.uint8)
    return np.frombuffer(content, np.dtype(tensor.dtype).newbyteorder("<")).reshape(tensor.shape)


def unpacking(table: Sequence[Blob], tensors: bytes, file: str) -> Decoder:
    """Return what turns the nodes back into values.

    Args:
        table: Of the packing.
        tensors: The safetensors file.
        file: Its name, for the message.

    Raises:
        InTheWay: The file is damaged, or lacks a tensor.
    """
    try:
        arrays = safetensors.numpy.load(tensors)
        parts = [
            bytes(length) if name is None else arrays[name].tobytes() for length, name in table
        ]
    except (safetensors.SafetensorError, KeyError) as error:
        raise InTheWay("file_damaged", file=file, reason=str(error)) from None
    return Decoder([length for length, _ in table], memoryview(b"".join(parts)))


def lines(document: dict[str, Any], depth: int = 2) -> str:
    """Return JSON with a line for each entry down to ``depth``, and no more.

    Small enough to keep, and a change shows in the line that it is in.
    """
    if depth == 0 or not isinstance(document, dict) or not document:
        return json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    parts = (f"{json.dumps(key)}: {lines(value, depth - 1)}" for key, value in document.items())
    return "{\n" + ",\n".join(parts) + "\n}"
