"""The wire against anything: what is sent arrives, and nothing else gets through or breaks it."""

from __future__ import annotations

import json
import math
import socket
import threading
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.checks.base import CaseInputs
from grader.checks.judge import judge_case
from grader.checks.values import Exact
from grader.observation import Claims, Observation, Outcome
from grader.verdict import Status
from grader.wire.codec import Decoder, Encoder
from grader.wire.frames import (
    PREFIX,
    Caps,
    Closed,
    Connection,
    DeadlineExceeded,
    Frame,
    pack,
    parse_header,
    parse_prefix,
)
from grader.wire.messages import Call, Fault, Load, Loaded, Ready, Reply, from_frame, to_frame
from grader.wire.values import (
    ITEMSIZE,
    MAX_RANK,
    ActorHandle,
    Device,
    DType,
    FilePath,
    Layout,
    Opaque,
    ProtocolError,
    Tensor,
)

KINDS = (Load, Call, Ready, Loaded, Reply)
REFUSALS = (ProtocolError, Closed, DeadlineExceeded)
CAPS = Caps(header=2**16, payload=2**16)

DTYPES = st.sampled_from(sorted(ITEMSIZE))
DEVICES = st.from_regex(r"(cpu|meta|cuda:[0-9]{1,3})", fullmatch=True)
SHAPES = st.lists(st.integers(0, 3), max_size=4).map(tuple) | st.just((1,) * MAX_RANK)
# A high and a low surrogate side by side are one character to JSON; alone they must survive.
TEXTS = st.text(max_size=8) | st.sampled_from(["\ud800", "a\udfffb", "\0", "\x1b[31m", "𝒳", '"\\'])
LONGS = st.integers(-(2**63), 2**63 - 1)
INTEGERS = LONGS | st.integers(-(2**4000), 2**4000) | st.integers(2**53 - 2, 2**53 + 2)
FLOATS = st.floats() | st.sampled_from([math.inf, -math.inf, -0.0, 5e-324, 1.7976931348623157e308])


@st.composite
def tensors(draw):
    dtype, shape = draw(DTYPES), draw(SHAPES)
    size = ITEMSIZE[dtype] * math.prod(shape)
    data = draw(st.binary(min_size=size, max_size=size))
    place = st.integers(0, 2**40)
    layout = st.builds(Layout, place, place, st.tuples(*[place] * len(shape)))
    return Tensor(dtype, shape, data, draw(DEVICES), draw(st.booleans()), draw(st.none() | layout))


PLAIN = st.none() | st.booleans() | INTEGERS | FLOATS | TEXTS
NAMES = st.builds(DType, DTYPES) | st.builds(Device, DEVICES)
KEYS = st.recursive(PLAIN | NAMES, lambda inner: st.lists(inner, max_size=2).map(tuple))
LEAVES = (
    PLAIN | NAMES | tensors() | st.binary(max_size=9)
    | st.builds(ActorHandle, st.integers(-(2**60), 2**60))
    | st.builds(FilePath, TEXTS)
    | st.builds(Opaque, TEXTS, TEXTS)
)  # fmt: skip
TREES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=12,
)
FAULTS = st.none() | st.builds(
    Fault, TEXTS, TEXTS, TEXTS, st.integers(0, 10**6), st.integers(0, 10**6), TEXTS
)
FILES = st.dictionaries(TEXTS, st.binary(max_size=9), max_size=3)
TUPLES = st.lists(TREES, max_size=2).map(tuple)
WORDS = st.lists(TEXTS, max_size=3).map(tuple)
NAMED = st.dictionaries(TEXTS, TREES, max_size=2)
COUNTS = LONGS | FLOATS | TEXTS | st.lists(LONGS, max_size=3)
COUNTED = st.dictionaries(TEXTS, COUNTS | st.dictionaries(TEXTS, COUNTS, max_size=2), max_size=2)
PAIRS = st.dictionaries(TEXTS, TEXTS, max_size=3)
MESSAGES = {
    "Load": st.builds(Load, FILES, TEXTS, FILES),
    "Call": st.builds(Call, TEXTS, TUPLES, NAMED, st.booleans(), WORDS),
    "Ready": st.builds(Ready, PAIRS, PAIRS),
    "Loaded": st.builds(Loaded, WORDS, FAULTS, WORDS),
    "Reply": st.builds(Reply, TREES, FAULTS, st.none() | TUPLES, COUNTED),
}


def written(frame):
    return b"".join(bytes(buffer) for buffer in pack(frame))


def read(data, caps=CAPS):
    """Read a frame as a connection does, from bytes that end."""
    if len(data) < PREFIX.size:
        raise Closed
    header_size, payload_size = parse_prefix(data[: PREFIX.size], caps)
    body = memoryview(bytearray(data[PREFIX.size :]))
    if len(body) < header_size + payload_size:
        raise Closed
    return parse_header(body[:header_size], body[header_size : header_size + payload_size])


def identical(one, other):
    """Equal in type and bit for bit, which ``==`` is not for NaN, −0.0, True and 1."""
    return canonical(one) == canonical(other)


def canonical(value):
    if isinstance(value, float):
        return "float", value.hex()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "bytes", bytes(value)
    if isinstance(value, (tuple, list)):
        return type(value).__name__, [canonical(item) for item in value]
    if isinstance(value, dict):
        return "dict", [(canonical(key), canonical(item)) for key, item in value.items()]
    if isinstance(value, Tensor):
        return replace(value, data=bytes(value.data))
    return type(value).__name__, value


@given(TREES)
def test_every_value_arrives_as_it_left(value):
    assert identical(read(written(Frame("Any", {"value": value}))).fields["value"], value)


@pytest.mark.parametrize("dtype", sorted(ITEMSIZE))
@settings(max_examples=25)  # for each of 18 dtypes
@given(shape=SHAPES, data=st.data())
def test_tensors_of_every_dtype_arrive(dtype, shape, data):
    size = ITEMSIZE[dtype] * math.prod(shape)
    tensor = Tensor(dtype, shape, data.draw(st.binary(min_size=size, max_size=size)))
    arrived = read(written(Frame("Any", {"value": tensor}))).fields["value"]
    assert identical(arrived, tensor)


@given(TREES)
def test_writing_is_deterministic_and_a_second_crossing_changes_nothing(value):
    first = written(Frame("Any", {"value": value}))
    assert first == written(Frame("Any", {"value": value}))
    assert written(read(first)) == first


@given(TREES)
def test_what_crossed_is_judged_like_what_did_not(value):
    """The judge sees only what came through the wire; it must not matter to an honest value."""
    arrived = read(written(Frame("Any", {"value": value}))).fields["value"]
    seen = [Observation(Outcome.COMPLETED, claims=Claims(item)) for item in (value, arrived)]
    verdict = judge_case(Exact(id="e", points=1), CaseInputs("c", (), ()), *seen)
    assert verdict.status in (Status.PASSED, Status.ERROR)
    assert (verdict.status is Status.ERROR) == holds_opaque(value)


def holds_opaque(value):
    if isinstance(value, dict):
        return any(map(holds_opaque, value.values()))
    if isinstance(value, (tuple, list)):
        return any(map(holds_opaque, value))
    return isinstance(value, Opaque)


@pytest.mark.parametrize("kind", sorted(MESSAGES))
@given(data=st.data())
def test_every_message_arrives_as_it_left(kind, data):
    message = data.draw(MESSAGES[kind])
    arrived = from_frame(read(written(to_frame(message))), *KINDS)
    assert type(arrived) is type(message)
    assert identical(to_frame(arrived).fields, to_frame(message).fields)


@pytest.mark.parametrize("kind", sorted(MESSAGES))
@given(data=st.data())
def test_flipped_bytes_are_refused_or_still_a_message(kind, data):
    original = bytearray(written(to_frame(data.draw(MESSAGES[kind]))))
    for _ in range(data.draw(st.integers(1, 4))):
        original[data.draw(st.integers(0, len(original) - 1))] = data.draw(st.integers(0, 255))
    accept_or_refuse(bytes(original))


@pytest.mark.parametrize("kind", sorted(MESSAGES))
@given(data=st.data())
def test_spliced_and_cut_frames_are_refused_or_still_a_message(kind, data):
    one = written(to_frame(data.draw(MESSAGES[kind])))
    other = written(to_frame(data.draw(MESSAGES["Reply"])))
    head, tail = data.draw(st.integers(0, len(one))), data.draw(st.integers(0, len(other)))
    accept_or_refuse(one[:head] + other[tail:])
    accept_or_refuse(one[:head])


@given(st.binary(max_size=300))
def test_noise_is_refused(noise):
    accept_or_refuse(noise)
    accept_or_refuse(PREFIX.pack(b"TGW1", len(noise), 0) + noise)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.sampled_from(["f", "i", "t", "l", "d", "b", "tensor", "dtype", "0x1p0", "int8", "cpu"]),
    lambda inner: st.lists(inner, max_size=5)
    | st.dictionaries(
        st.sampled_from(["dtype", "shape", "blob", "device", "grad", "layout", "x"]), inner,
        max_size=6,
    ),
    max_leaves=20,
)  # fmt: skip


@given(JSON, st.lists(st.integers(0, 8), max_size=3))
def test_any_json_is_refused_or_a_value(node, blobs):
    document = {"type": "Reply", "fields": {"value": node}, "blobs": blobs}
    header = json.dumps(document).encode()
    accept_or_refuse(PREFIX.pack(b"TGW1", len(header), sum(blobs)) + header + bytes(sum(blobs)))


TAGGED = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.builds(
        lambda tag, parts: [tag, *parts],
        st.sampled_from(
            ["f", "i", "t", "l", "d", "b", "dtype", "device", "tensor", "handle", "path", "opaque"]
        ),
        st.lists(inner | st.lists(inner, max_size=2), max_size=3),
    ),
    max_leaves=10,
)


@given(TAGGED, st.lists(st.integers(0, 8), max_size=3))
def test_any_tagged_node_is_refused_or_a_value(node, lengths):
    decoder = Decoder(lengths, memoryview(bytes(sum(lengths))))
    try:
        value = decoder.decode(node)
    except ProtocolError:
        return
    Encoder().encode(value)


def accept_or_refuse(data):
    """Anything but a well-formed message must meet one of the three refusals, and no other."""
    try:
        message = from_frame(read(data), *KINDS)
    except REFUSALS:
        return
    assert isinstance(message, KINDS)
    written(to_frame(message))


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1))
def test_announced_lengths_are_within_the_caps_or_refused(header, payload):
    prefix = PREFIX.pack(b"TGW1", header, payload)
    if header <= CAPS.header and payload <= CAPS.payload:
        assert parse_prefix(prefix, CAPS) == (header, payload)
    else:
        with pytest.raises(ProtocolError, match="the most is"):
            parse_prefix(prefix, CAPS)


@given(tensors(), st.data())
def test_a_tensor_whose_bytes_do_not_match_its_shape_is_refused(tensor, data):
    wrong = data.draw(st.integers(0, 64).filter(lambda size: size != len(tensor.data)))
    lying = replace(tensor, data=bytes(wrong))
    with pytest.raises(ProtocolError, match="bytes with"):
        read(written(Frame("Any", {"value": lying})))


@given(DTYPES, st.lists(st.integers(-(2**63), 2**63), min_size=1, max_size=10))
def test_announced_shapes_never_set_memory_aside(dtype, shape):
    tensor = Tensor(dtype, tuple(shape), b"")
    if min(shape) >= 0 and 0 in shape and len(shape) <= MAX_RANK and max(shape) < 2**6:
        assert read(written(Frame("Any", {"value": tensor}))).fields["value"] == tensor
    elif 0 not in shape or min(shape) < 0 or len(shape) > MAX_RANK:
        with pytest.raises(ProtocolError):
            read(written(Frame("Any", {"value": tensor})))


@pytest.mark.parametrize("kind", sorted(MESSAGES))
@given(data=st.data())
def test_messages_cross_a_real_socket(kind, data):
    message = data.draw(MESSAGES[kind])
    ours, theirs = map(Connection, socket.socketpair())
    try:
        ours.send(to_frame(message), time.monotonic() + 60)
        arrived = from_frame(theirs.receive(time.monotonic() + 60), type(message))
        assert identical(to_frame(arrived).fields, to_frame(message).fields)
    finally:
        ours.close()
        theirs.close()


@given(st.lists(st.sampled_from(sorted(MESSAGES)).flatmap(MESSAGES.__getitem__), max_size=4),
       st.integers(1, 50))  # fmt: skip
def test_frames_survive_any_cutting_into_pieces(messages, size):
    ours, theirs = socket.socketpair()
    connection = Connection(theirs)
    data = b"".join(written(to_frame(message)) for message in messages)

    def dribble():
        for start in range(0, len(data), size):
            ours.sendall(data[start : start + size])
        ours.close()

    sender = threading.Thread(target=dribble)
    sender.start()
    try:
        for message in messages:
            frame = connection.receive(time.monotonic() + 60)
            assert identical(frame.fields, to_frame(message).fields)
        with pytest.raises(Closed):
            connection.receive(time.monotonic() + 60)
    finally:
        sender.join()
        connection.close()
