"""How a value tree is written: JSON nodes for structure, raw bytes beside them for tensors.

Node forms: ``null``, ``true``, ``false``, a string and a small integer are themselves; all else is
a list that begins with a tag: ``["f", hex]``, ``["i", hex]``, ``["t", …]``, ``["l", …]``,
``["d", [key, value], …]``, ``["b", blob]``, ``["dtype", name]``, ``["device", name]``,
``["tensor", {…}]``, ``["handle", id, type]``, ``["file", name, blob]``, ``["path", name]``,
``["opaque", type, why]``.
A blob is the number of a run of bytes in the frame's payload.

Writing is here, reading in ``grader.wire.decode``; ``Decoder`` and the bounds can be had from both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grader.wire.decode import MAX_DEPTH, MAX_INT_DIGITS, MAX_NODES, Decoder, Node
from grader.wire.values import (
    Buffer,
    Device,
    DType,
    FilePath,
    Handle,
    Opaque,
    ProtocolError,
    Tensor,
    Value,
)

__all__ = ["MAX_DEPTH", "MAX_INT_DIGITS", "MAX_NODES", "Decoder", "Encoder", "Node"]

_SMALL = 2**53


class Encoder:
    """Turns values into nodes and collects the bytes that travel beside them."""

    def __init__(self) -> None:
        self.blobs: list[Buffer] = []

    def encode(self, value: Value, depth: int = 0) -> Node:
        """Return the node for ``value``.

        Raises:
            ProtocolError: The value is of a type that does not cross, nested too deep (a list that
                holds itself is), or too long an integer.
        """
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value  # type: ignore[return-value]
        writer = _WRITERS.get(kind)
        if writer is None:
            raise ProtocolError(f"a {kind.__name__} cannot cross the wire")
        if depth > MAX_DEPTH:
            raise ProtocolError(f"values nested deeper than {MAX_DEPTH}")
        return writer(self, value, depth + 1)

    def blob(self, data: Buffer) -> int:
        """Set ``data`` aside to travel as bytes; return its number."""
        self.blobs.append(data)
        return len(self.blobs) - 1


def _write_int(_: Encoder, value: int, __: int) -> Node:
    if -_SMALL < value < _SMALL:
        return value
    if value.bit_length() > 4 * (MAX_INT_DIGITS - 3):  # “-0x” are three of the digits
        raise ProtocolError(f"an integer of {value.bit_length()} bits cannot cross the wire")
    return ["i", hex(value)]


def _write_float(_: Encoder, value: float, __: int) -> Node:
    return ["f", value.hex()]


def _write_bytes(encoder: Encoder, value: Buffer, _: int) -> Node:
    return ["b", encoder.blob(value)]


def _write_sequence(tag: str) -> Callable[[Encoder, Sequence[Value], int], Node]:
    return lambda encoder, items, depth: [tag, *(encoder.encode(item, depth) for item in items)]


def _write_dict(encoder: Encoder, items: dict[Value, Value], depth: int) -> Node:
    pairs = items.items()
    return [
        "d",
        *([encoder.encode(key, depth), encoder.encode(item, depth)] for key, item in pairs),
    ]


def _write_tensor(encoder: Encoder, tensor: Tensor, _: int) -> Node:
    fields: dict[str, Node] = {
        "dtype": tensor.dtype,
        "shape": list(tensor.shape),
        "blob": encoder.blob(tensor.data),
        "device": tensor.device,
        "grad": tensor.requires_grad,
    }
    if tensor.layout is not None:
        where = tensor.layout
        fields["layout"] = [where.storage, where.offset, list(where.strides), where.object]
    return ["tensor", fields]


_WRITERS: dict[type, Callable[..., Node]] = {
    int: _write_int,
    float: _write_float,
    tuple: _write_sequence("t"),
    list: _write_sequence("l"),
    dict: _write_dict,
    bytes: _write_bytes,
    bytearray: _write_bytes,
    memoryview: _write_bytes,  # as which bytes come out of a frame
    DType: lambda _, value, __: ["dtype", value.name],
    Device: lambda _, value, __: ["device", value.name],
    Tensor: _write_tensor,
    Handle: lambda _, value, __: ["handle", value.id],
    FilePath: lambda _, value, __: ["path", value.name],
    Opaque: lambda _, value, __: ["opaque", value.type, value.reason],
}
