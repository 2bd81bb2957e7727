"""How a value tree is written and read: JSON nodes for structure, raw bytes beside for tensors.

Node forms: ``null``, ``true``, ``false``, a string and a small integer are themselves; all else is
a list that begins with a tag: ``["f", hex]``, ``["i", hex]``, ``["t", …]``, ``["l", …]``,
``["d", [key, value], …]``, ``["b", blob]``, ``["dtype", name]``, ``["device", name]``,
``["tensor", {…}]``, ``["handle", id]``, ``["path", name]``, ``["opaque", type, why]``.
A blob is the number of a run of bytes in the frame's payload.

Defends against: trees too deep or too wide, integers that take quadratic time to parse or print,
tensors whose bytes do not match their shape, keys that are none, dicts made to collide, a blob
used twice or never.
Does not defend against: a value that is simply untrue. That is the judge's business.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Union, cast

from grader.wire.values import (
    ActorHandle,
    Buffer,
    Device,
    DType,
    FilePath,
    Layout,
    Opaque,
    ProtocolError,
    Tensor,
    Value,
    nbytes,
)

MAX_DEPTH = 64
MAX_NODES = 200_000
MAX_INT_DIGITS = 1024
"""Hexadecimal ones, sign and ``0x`` included: some 4,000 bits. Python prints no more than 4300
decimal digits, so an integer that crosses can be printed by whoever finds it in a message."""

LONG = 2**63
"""Integers from here on do not fit into 64 bits."""

_MAX_COLLISIONS = 32
_MAX_POSITION = 2**62
_DEVICE = re.compile(r"[a-z]{1,16}(:[0-9]{1,4})?")
_KEYS = (type(None), bool, int, float, str, DType, Device)

Node = Union[None, bool, int, str, "list[Node]", "dict[str, Node]"]


class Decoder:
    """Turns nodes back into values, trusting nothing.

    Args:
        lengths: Bytes of each blob, as the frame announced them.
        buffer: Memory of ``sum(lengths)`` bytes that will hold them. It may still be empty of
            content: every size is checked before a byte of payload is read.
        most: Values that there may be in all.

    Attributes:
        long: An integer beyond 64 bits was read.
    """

    def __init__(self, lengths: Sequence[int], buffer: memoryview, most: int = MAX_NODES) -> None:
        self._views: list[memoryview | None] = []
        start = 0
        for length in lengths:
            self._views.append(buffer[start : start + length])
            start += length
        self._nodes = 0
        self._most = most
        self.long = False

    def decode(self, node: Node, depth: int = 0) -> Value:
        """Return the value of ``node``.

        Raises:
            ProtocolError: The node is not of any known form, or breaks a bound.
        """
        self.count(1)
        if depth > MAX_DEPTH:
            raise ProtocolError(f"values nested deeper than {MAX_DEPTH}")
        # A plain string is only ever a value. Tags stand first in a list, so no string can pose as
        # one.
        if node is None or isinstance(node, (bool, str, int)):
            return node
        if not isinstance(node, list) or not node or not isinstance(node[0], str):
            raise ProtocolError("a value without a tag")
        reader = _READERS.get(node[0])
        if reader is None:
            raise ProtocolError(f"unknown tag {node[0][:40]!r}")
        return reader(self, node[1:], depth + 1)

    def count(self, values: int) -> None:
        """Count values that were read.

        Raises:
            ProtocolError: There are too many in one message.
        """
        self._nodes += values
        if self._nodes > self._most:
            raise ProtocolError(f"more than {self._most} values in one message")

    def finish(self) -> None:
        """Check that every blob was used.

        Raises:
            ProtocolError: One was not.
        """
        if any(view is not None for view in self._views):
            raise ProtocolError("bytes that no value refers to")

    def take(self, index: Node, expected: int | None = None) -> memoryview:
        """Hand out one blob, once."""
        number = _integer(index, "a blob's number")
        if not 0 <= number < len(self._views):
            raise ProtocolError(f"blob {number} does not exist")
        view = self._views[number]
        if view is None:
            raise ProtocolError(f"blob {number} is used twice")
        if expected is not None and len(view) != expected:
            raise ProtocolError(f"a tensor of {expected} bytes with {len(view)} bytes of data")
        # Each blob once: two tensors over one blob would share memory on the host, and a payload of
        # a megabyte could stand for gigabytes of values.
        self._views[number] = None
        return view


def _integer(node: Node, what: str) -> int:
    # Not isinstance: True is an int, and would pass for a size of 1.
    if type(node) is not int:
        raise ProtocolError(f"{what} is not an integer")
    return node


def _integers(node: Node, what: str) -> tuple[int, ...]:
    if not isinstance(node, list):
        raise ProtocolError(f"{what} is not a list")
    return tuple(_integer(item, what) for item in node)


def _string(node: Node, what: str, limit: int = 4096) -> str:
    if not isinstance(node, str) or len(node) > limit:
        raise ProtocolError(f"{what} is not a string of at most {limit} characters")
    return node


def _arity(parts: list[Node], count: int, tag: str) -> None:
    if len(parts) != count:
        raise ProtocolError(f"a {tag} node with {len(parts)} parts, not {count}")


def _device_name(node: Node) -> str:
    name = _string(node, "a device", 32)
    if not _DEVICE.fullmatch(name):
        raise ProtocolError(f"{name!r} is not a device")
    return name


def _read_float(_: Decoder, parts: list[Node], __: int) -> float:
    _arity(parts, 1, "float")
    text = _string(parts[0], "a float", 64)
    try:
        # Reads “nan” and “inf” too: they are results like any others.
        return float.fromhex(text)
    except (ValueError, OverflowError):
        raise ProtocolError(f"{text!r} is not a float") from None


def _read_int(decoder: Decoder, parts: list[Node], _: int) -> int:
    _arity(parts, 1, "int")
    text = _string(parts[0], "an integer", MAX_INT_DIGITS)
    try:
        value = int(text, 16)
    except ValueError:
        raise ProtocolError(f"{text[:40]!r} is not an integer") from None
    decoder.long |= not -LONG <= value < LONG
    return value


def _read_dict(decoder: Decoder, parts: list[Node], depth: int) -> dict[Value, Value]:
    result: dict[Value, Value] = {}
    hashes: dict[int, int] = {}
    for pair in parts:
        if not isinstance(pair, list) or len(pair) != 2:
            raise ProtocolError("a dict item is not a pair")
        key = decoder.decode(pair[0], depth)
        if not _is_key(key):
            raise ProtocolError(f"a dict key of type {type(key).__name__}")
        # Integers with one hash are easily made, and each costs a look at all before it: a few
        # megabytes of them would keep the host busy for minutes, past any deadline.
        hashes[hash(key)] = met = hashes.get(hash(key), 0) + 1
        # A few come in honest dicts: −1 and −2 have one hash.
        if met > _MAX_COLLISIONS:
            raise ProtocolError(f"more than {_MAX_COLLISIONS} dict keys with one hash")
        if key in result:
            raise ProtocolError("a dict key that comes twice")
        result[key] = decoder.decode(pair[1], depth)
    return result


def _is_key(value: Value) -> bool:
    if isinstance(value, tuple):
        return all(_is_key(item) for item in value)
    return isinstance(value, _KEYS)


def _read_dtype(_: Decoder, parts: list[Node], __: int) -> DType:
    _arity(parts, 1, "dtype")
    name = _string(parts[0], "a dtype", 32)
    # For its check alone: whoever reads the value looks the name up, and trusts that it is listed.
    nbytes(name, ())
    return DType(name)


def _read_device(_: Decoder, parts: list[Node], __: int) -> Device:
    _arity(parts, 1, "device")
    return Device(_device_name(parts[0]))


def _read_layout(node: Node, rank: int) -> Layout:
    # Three parts: observations that were kept before objects were numbered.
    if not isinstance(node, list) or len(node) not in {3, 4}:
        raise ProtocolError("a tensor's layout is not four parts")
    storage, offset = _integer(node[0], "a storage"), _integer(node[1], "an offset")
    strides = _integers(node[2], "strides")
    number = _integer(node[3], "an object") if len(node) == 4 else 0
    if len(strides) != rank:
        raise ProtocolError(f"{len(strides)} strides for a tensor of rank {rank}")
    if not all(0 <= part < _MAX_POSITION for part in (storage, offset, number, *strides)):
        raise ProtocolError("a layout that no memory has")
    return Layout(storage, offset, strides, number)


def _read_tensor(decoder: Decoder, parts: list[Node], _: int) -> Tensor:
    _arity(parts, 1, "tensor")
    fields = parts[0]
    if not isinstance(fields, dict):
        raise ProtocolError("a tensor without fields")
    if set(fields) - {"layout"} != {"dtype", "shape", "blob", "device", "grad"}:
        raise ProtocolError("a tensor with other fields than dtype, shape, blob, device, grad")
    dtype = _string(fields["dtype"], "a dtype", 32)
    shape = _integers(fields["shape"], "a shape")
    # nbytes bounds rank and product; the blob must then have exactly that length. numpy may trust
    # the shape from here on.
    data = decoder.take(fields["blob"], nbytes(dtype, shape))
    grad = fields["grad"]
    if not isinstance(grad, bool):
        raise ProtocolError("a tensor whose grad is neither true nor false")
    layout = _read_layout(fields["layout"], len(shape)) if "layout" in fields else None
    return Tensor(dtype, shape, data, _device_name(fields["device"]), grad, layout)


def _read_handle(_: Decoder, parts: list[Node], __: int) -> ActorHandle:
    _arity(parts, 1, "handle")
    return ActorHandle(_integer(parts[0], "a handle"))


def _read_bytes(decoder: Decoder, parts: list[Node], _: int) -> bytes:
    _arity(parts, 1, "bytes")
    return decoder.take(parts[0])  # type: ignore[return-value]  # a view until the frame is read


def _read_path(_: Decoder, parts: list[Node], __: int) -> FilePath:
    _arity(parts, 1, "path")
    return FilePath(_string(parts[0], "a path", 256))


def _read_opaque(decoder: Decoder, parts: list[Node], depth: int) -> Opaque:
    number = parts[2:3]  # written only where there is one
    _arity(parts, 2 + len(number), "opaque")
    name, reason = _string(parts[0], "a type's name", 256), _string(parts[1], "a reason")
    value = decoder.decode(number[0], depth) if number else None
    if value is not None and not isinstance(value, (bool, int, float)):
        raise ProtocolError("the number of an opaque value is none")
    return Opaque(name, reason, value)


def _read_items(decoder: Decoder, parts: list[Node], depth: int) -> list[Value]:
    # type(), not isinstance(): a bool among them must be decoded as one.
    if depth <= MAX_DEPTH and set(map(type, parts)) == {int}:
        # Hundreds of class numbers, say: one by one they take longer than what is done with them.
        decoder.count(len(parts))
        return cast("list[Value]", parts)
    return [decoder.decode(part, depth) for part in parts]


_READERS: dict[str, Callable[[Decoder, list[Node], int], Value]] = {
    "f": _read_float,
    "i": _read_int,
    "t": lambda decoder, parts, depth: tuple(_read_items(decoder, parts, depth)),
    "l": _read_items,
    "d": _read_dict,
    "b": _read_bytes,
    "dtype": _read_dtype,
    "device": _read_device,
    "tensor": _read_tensor,
    "handle": _read_handle,
    "path": _read_path,
    "opaque": _read_opaque,
}


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
        # By exact type: a subclass of list or Tensor may have its own iteration, and would run it
        # here.
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
    # Python reads decimals in quadratic time, and refuses more than 4,300 digits; base 16 is
    # exempt.
    return ["i", hex(value)]


def _write_float(_: Encoder, value: float, __: int) -> Node:
    return ["f", value.hex()]


def _write_opaque(encoder: Encoder, value: Opaque, depth: int) -> Node:
    number = [] if value.number is None else [encoder.encode(value.number, depth)]
    return ["opaque", value.type, value.reason, *number]


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
    ActorHandle: lambda _, value, __: ["handle", value.id],
    FilePath: lambda _, value, __: ["path", value.name],
    Opaque: _write_opaque,
}
