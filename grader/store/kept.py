"""Observations as bytes and back: what is kept of a hand-in so that it can be judged again.

Written in the wire's own nodes, never pickled. A tensor that equals the reference's is left out and
put back from there, so a right answer takes a few bytes however large it is.

Forms, all tuples, so that no value of a hand-in can be taken for one: ``("=",)`` the reference's,
``("@", class, fields)`` a dataclass, ``("e", class, value)`` an enumeration's member, ``("m", …)``
a mapping, ``("t", …)`` and ``("l", …)`` tuple and list, ``("v", …)`` what the wire knows itself.
"""

from __future__ import annotations

import contextlib
import io
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from grader.errors import UsageError
from grader.wire.codec import Decoder
from grader.wire.frames import MAGIC, PREFIX, Frame, pack
from grader.wire.values import Artifact, Device, DType, Handle, Opaque, ProtocolError, Tensor

_PLAIN = (type(None), bool, int, float, str)
_WIRE = (bytes, bytearray, memoryview, DType, Device, Tensor, Handle, Artifact, Opaque)
_SAME = ("=",)


class Keeper:
    """Writes and reads trees of dataclasses.

    Args:
        classes: Every dataclass and enumeration that may occur.
    """

    def __init__(self, classes: Sequence[type]) -> None:
        self._classes = {each.__name__: each for each in classes}

    def pack(self, parts: Mapping[str, Any], base: Mapping[str, Any]) -> bytes:
        """Return the parts as bytes; one that is too large or too deep for a frame is left out.

        Args:
            parts: Name → tree.
            base: Name → the reference's tree.
        """
        frames = []
        for name, tree in parts.items():
            with contextlib.suppress(ProtocolError, RecursionError):
                frames += pack(Frame(name, {"tree": self._write(tree, base.get(name))}))
        return zlib.compress(b"".join(frames), 1)

    def unpack(self, data: bytes, base: Mapping[str, Any]) -> dict[str, Any]:
        """Return what was packed, against the same base.

        Raises:
            UsageError: It was written by another version, or is damaged.
        """
        try:
            stream = io.BytesIO(zlib.decompress(data))
            parts = {}
            while prefix := stream.read(PREFIX.size):
                name, tree = _frame(prefix, stream)
                parts[name] = self._read(tree, base.get(name))
        except (zlib.error, ProtocolError, ValueError, KeyError, TypeError) as error:
            raise UsageError(
                f"what was kept of a hand-in cannot be read ({error}); grade it again"
            ) from error
        return parts

    def _write(self, tree: Any, base: Any) -> Any:
        if isinstance(tree, _PLAIN) and not isinstance(tree, Enum):
            return tree
        if isinstance(tree, Enum):
            return ("e", type(tree).__name__, tree.value)
        if isinstance(tree, _WIRE):
            # Only here, not for whole trees: to Python, 1 equals True.
            return _SAME if type(tree) is type(base) and tree == base else ("v", tree)
        if is_dataclass(tree):
            return ("@", type(tree).__name__, self._fields(tree, base))
        if isinstance(tree, Mapping):
            known = base if isinstance(base, Mapping) else {}
            items = ((key, item, known.get(key)) for key, item in tree.items())
            return (
                "m",
                *((self._write(key, None), self._write(item, b)) for key, item, b in items),
            )
        bases = base if isinstance(base, (tuple, list)) else ()
        tag = "t" if isinstance(tree, tuple) else "l"
        return (tag, *(self._write(item, _at(bases, n)) for n, item in enumerate(tree)))

    def _fields(self, tree: Any, base: Any) -> dict[str, Any]:
        like = base if type(base) is type(tree) else None
        return {
            item.name: self._write(getattr(tree, item.name), getattr(like, item.name, None))
            for item in fields(tree)
        }

    def _read(self, tree: Any, base: Any) -> Any:
        if not isinstance(tree, tuple):
            return tree
        tag, *content = tree
        if tag == "=":
            return base
        if tag == "e":
            return self._classes[content[0]](content[1])
        if tag == "v":
            return content[0]
        if tag == "@":
            return self._dataclass(content[0], content[1], base)
        if tag == "m":
            known = base if isinstance(base, Mapping) else {}
            keyed = ((self._read(key, None), item) for key, item in content)
            return {key: self._read(item, known.get(key)) for key, item in keyed}
        bases = base if isinstance(base, (tuple, list)) else ()
        items = (self._read(item, _at(bases, n)) for n, item in enumerate(content))
        return tuple(items) if tag == "t" else list(items)

    def _dataclass(self, name: str, content: Mapping[str, Any], base: Any) -> Any:
        like = base if type(base) is self._classes[name] else None
        return self._classes[name](
            **{key: self._read(item, getattr(like, key, None)) for key, item in content.items()}
        )


def _at(items: Sequence[Any], index: int) -> Any:
    return items[index] if index < len(items) else None


def _frame(prefix: bytes, stream: io.BytesIO) -> tuple[str, Any]:
    magic, header_length, payload_length = PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise ValueError("not one of ours")
    header = json.loads(stream.read(header_length))
    decoder = Decoder(header["blobs"], memoryview(stream.read(payload_length)))
    return header["type"], decoder.decode(header["fields"]["tree"])
