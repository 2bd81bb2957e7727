"""Records are read by their annotations, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

import pytest

from grader.wire.codec import MAX_DEPTH
from grader.wire.frames import Frame, pack, unpack
from grader.wire.messages import Call, from_bytes, to_bytes
from grader.wire.values import (
    TEXT_CAP,
    Buffer,
    Natural,
    Number,
    ProtocolError,
    Text,
    Value,
    from_record,
    to_record,
)


class Colour(str, Enum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    name: Text = ""


@dataclass(frozen=True, slots=True)
class Everything:
    flag: bool = False
    count: Natural = 0
    number: Number = 1
    signed: int = 0
    colour: Colour = Colour.RED
    colours: frozenset[Colour] = frozenset()
    points: tuple[Point, ...] = ()
    row: tuple[int, Text, dict[Text, Value]] = (0, "", {})
    maybe: Point | None = None
    data: Buffer | None = None
    values: tuple[Value, ...] | None = None
    named: Mapping[str, Point] = field(default_factory=dict)


FULL = Everything(
    True, 2**31 - 1, 7, -(2**70), Colour.BLUE, frozenset(Colour), (Point(0.5, "a"), Point(-0.0)),
    (1, "b", {"k": [1, None]}), Point(1.0), b"xyz", (1, "two", (3,)), {"p": Point(2.0)},
)  # fmt: skip


@pytest.mark.parametrize("record", [Everything(), FULL])
def test_a_record_is_read_as_it_was_written(record: Everything) -> None:
    assert from_bytes(to_bytes(record), Everything) == record
    assert to_record(Everything, from_record(record)) == record


def test_equal_records_are_equal_bytes() -> None:
    one, other = (Everything(colours=frozenset(order)) for order in (Colour, reversed(Colour)))
    assert to_bytes(one) == to_bytes(other)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("flag", 1), ("count", True), ("count", -1), ("count", 2**31), ("count", 1.0),
        ("number", 0), ("signed", "1"), ("colour", "green"), ("colour", ["red"]),
        ("colours", ["red"]), ("colours", ("red", "green")), ("points", [{"x": 1.0, "name": ""}]),
        ("points", ({"x": 1.0},)), ("points", ({"x": 1, "name": ""},)),
        ("points", ({"x": 1.0, "name": "", "z": 1},)), ("points", ((1.0, ""),)),
        ("row", (0, "")), ("row", (0, "", {1: 1})), ("row", [0, "", {}]), ("maybe", ()),
        ("maybe", {"x": 1.0, "name": "x" * (TEXT_CAP + 1)}), ("data", "text"), ("data", 0),
        ("values", [1]), ("named", {1: {"x": 1.0, "name": ""}}), ("named", {"p": None}),
        ("named", ()),
    ],
)  # fmt: skip
def test_what_an_annotation_does_not_allow_is_refused(name: str, value: object) -> None:
    content = {**from_record(FULL), name: value}
    with pytest.raises(ProtocolError, match=f"field '{name}' of a Everything record"):
        to_record(Everything, content)


@pytest.mark.parametrize("content", [None, [], (), {}, {"flag": True}, "x"])
def test_what_is_no_record_is_refused(content: object) -> None:
    with pytest.raises(ProtocolError, match="other fields than"):
        to_record(Everything, content)


def test_what_is_not_one_frame_is_refused() -> None:
    data = to_bytes(Call("f", (b"abc",)))
    for spoiled in (b"", data * 2, data[:-1], data[:20], data[:3], b"x" * 99):
        with pytest.raises(ProtocolError):
            from_bytes(spoiled, Call)
    with pytest.raises(ProtocolError, match="where Everything was due"):
        from_bytes(data, Everything)


def test_frames_in_bytes_keep_the_bounds_of_the_wire() -> None:
    data = b"".join(pack(Frame("many", {"values": [[0]] * 100})))
    assert [frame.type for frame in unpack(data * 3)] == ["many"] * 3
    with pytest.raises(ProtocolError, match="more than 50 values"):
        list(unpack(data, 50))
    deep = b'{"type":"","fields":{"a":' + b'["l",' * MAX_DEPTH + b'["l",["l"]]' + b"]" * MAX_DEPTH
    deep += b'},"blobs":[]}'
    with pytest.raises(ProtocolError, match="nested deeper"):
        list(unpack(b"TGW1" + len(deep).to_bytes(4, "little") + bytes(8) + deep))
