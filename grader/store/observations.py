"""Observations as bytes and back, so that a submission can be judged again without running it.

They are written with the wire's codec, never pickled. A tensor that equals the reference's is left
out and taken from there on reading: a right answer takes a few bytes, however large it is.

Each value is wrapped in a tuple whose first item says what follows, so that no value of a
submission can pass for a wrapper:

* ``("=",)``: the same as the reference's
* ``("@", class, fields)``: a dataclass; fields that are empty, and empty by default, are left out
* ``("#", number)``: a dataclass that occurred before, counted in the order of completion
* ``("e", class, value)``: a member of an enumeration
* ``("m", …)``, ``("t", …)``, ``("l", …)``: mapping, tuple, list
* ``("v", …)``: a value that the wire knows itself
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Any

from grader.errors import UsageError
from grader.wire.frames import Frame, pack, unpack
from grader.wire.values import Buffer, Device, DType, Opaque, ProtocolError, Tensor

_PLAIN = (type(None), bool, int, float, str)
_WIRE = (bytes, bytearray, memoryview, DType, Device, Tensor, Opaque)
_SAME = ("=",)
_MOST_NODES = 10**7
"""Each value of a submission is wrapped in a few nodes, and a question has many answers."""
_EMPTY: dict[type, dict[str, type | None]] = {}


class Keeper:
    """Writes and reads trees of dataclasses.

    Args:
        classes: Every dataclass and enumeration that may occur.
        former: Name that a class had in earlier versions → the class.
    """

    def __init__(self, classes: Sequence[type], former: Mapping[str, type] | None = None) -> None:
        # The classes of today last: where one has the former name of another, it is the one meant.
        self._classes = {**(former or {}), **{each.__name__: each for each in classes}}

    def pack(self, parts: Mapping[str, Any], base: Mapping[str, Any], most: int) -> bytes:
        """Return the parts as bytes.

        One that is too large or too deep for a frame is left out; so are the largest ones where
        all together are too large.

        Args:
            parts: Name → tree.
            base: Name → the reference's tree.
            most: Bytes in all, before they are compressed.
        """
        frames: dict[str, list[Buffer]] = {}
        for name, tree in parts.items():
            with contextlib.suppress(ProtocolError, RecursionError):
                frames[name] = pack(Frame(name, {"tree": self._write(tree, base.get(name), {})}))
        sizes = {name: sum(map(len, frame)) for name, frame in frames.items()}
        left, fitting = most, set()
        # The smallest first: one huge part would otherwise keep out all the others.
        for name in sorted(sizes, key=lambda name: sizes[name]):
            left -= sizes[name]
            if left >= 0:
                fitting.add(name)
        kept = (part for name in parts if name in fitting for part in frames[name])
        return zlib.compress(b"".join(kept), 1)

    def unpack(self, data: bytes, base: Mapping[str, Any]) -> dict[str, Any]:
        """Return what was packed, against the same base.

        Raises:
            UsageError: It was written by another version, or is damaged.
        """
        try:
            parts = {}
            for frame in unpack(zlib.decompress(data), _MOST_NODES):
                parts[frame.type] = self._read(frame.fields["tree"], base.get(frame.type), [])
        except (zlib.error, ProtocolError, LookupError, ValueError, TypeError) as error:
            raise UsageError(
                f"what was kept of a submission cannot be read ({error}); grade it again"
            ) from error
        return parts

    def _write(self, tree: Any, base: Any, seen: dict[int, int]) -> Any:
        # Many enumerations are texts too, and would come back as plain ones.
        if isinstance(tree, _PLAIN) and not isinstance(tree, Enum):
            return tree
        if isinstance(tree, Enum):
            return ("e", type(tree).__name__, tree.value)
        if isinstance(tree, _WIRE):
            # Only here, not for whole trees: to Python, 1 equals True.
            return _SAME if type(tree) is type(base) and tree == base else ("v", tree)
        if is_dataclass(tree):
            if id(tree) in seen:
                return ("#", seen[id(tree)])
            # Numbered after what is in it, the order in which the reader completes them.
            content = self._fields(tree, base, seen)
            seen[id(tree)] = len(seen)
            return ("@", type(tree).__name__, content)
        if isinstance(tree, Mapping):
            known = base if isinstance(base, Mapping) else {}
            items = ((key, item, known.get(key)) for key, item in tree.items())
            pairs = ((self._write(k, None, seen), self._write(i, b, seen)) for k, i, b in items)
            return ("m", *pairs)
        bases = base if isinstance(base, (tuple, list)) else ()
        tag = "t" if isinstance(tree, tuple) else "l"
        return (tag, *(self._write(item, _at(bases, n), seen) for n, item in enumerate(tree)))

    def _fields(self, tree: Any, base: Any, seen: dict[int, int]) -> dict[str, Any]:
        like = base if type(base) is type(tree) else None
        return {
            name: self._write(value, getattr(like, name, None), seen)
            for name, nothing in _nothing(type(tree)).items()
            # By type too: 0 must not be left out where the default is False, as it would come back
            # so.
            if (value := getattr(tree, name)) or type(value) is not nothing
        }

    def _read(self, tree: Any, base: Any, seen: list[Any]) -> Any:
        if not isinstance(tree, tuple):
            return tree
        tag, *content = tree
        if tag == "=":
            return _there(base)
        if tag == "#":
            return seen[content[0]]
        if tag == "e":
            return self._classes[content[0]](content[1])
        if tag == "v":
            return content[0]
        if tag == "@":
            return self._dataclass(content[0], content[1], base, seen)
        if tag == "m":
            known = base if isinstance(base, Mapping) else {}
            keyed = ((self._read(key, None, seen), item) for key, item in content)
            return {key: self._read(item, known.get(key), seen) for key, item in keyed}
        bases = base if isinstance(base, (tuple, list)) else ()
        items = (self._read(item, _at(bases, n), seen) for n, item in enumerate(content))
        return tuple(items) if tag == "t" else list(items)

    def _dataclass(self, name: str, content: Mapping[str, Any], base: Any, seen: list[Any]) -> Any:
        like = base if type(base) is self._classes[name] else None
        read = {k: self._read(item, getattr(like, k, None), seen) for k, item in content.items()}
        kind = self._classes[name]
        # Earlier versions had fields that are gone. They are read all the same: ``#`` counts them.
        made = kind(**{key: item for key, item in read.items() if key in _nothing(kind)})
        seen.append(made)
        return made


def _there(base: Any) -> Any:
    # Never a plain None: read as an answer, it would cost points.
    if base is None:
        raise LookupError("what it equalled is not there")
    return base


def _nothing(kind: type) -> dict[str, type | None]:
    """Return field → type of its empty default (``""``, ``{}``, …); None where it has none."""
    if kind in _EMPTY:
        return _EMPTY[kind]
    empty: dict[str, type | None] = {}
    for item in fields(kind):
        factory = item.default_factory
        default = factory() if factory is not MISSING else item.default
        plain = default is None or isinstance(default, (bool, int, float, str, tuple, dict))
        empty[item.name] = type(default) if plain and not default else None
    _EMPTY[kind] = empty
    return empty


def _at(items: Sequence[Any], index: int) -> Any:
    return items[index] if index < len(items) else None
