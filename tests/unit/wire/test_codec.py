import math
import struct

import pytest

from grader.wire.codec import MAX_DEPTH, MAX_INT_DIGITS, MAX_NODES, Decoder, Encoder
from grader.wire.values import (
    ITEMSIZE,
    ActorHandle,
    Device,
    DType,
    FilePath,
    Layout,
    Opaque,
    ProtocolError,
    Tensor,
)


def cross(value):
    """Encode and decode a value as the other side would get it."""
    encoder = Encoder()
    node = encoder.encode(value)
    blobs = [bytes(blob) for blob in encoder.blobs]
    decoder = Decoder([len(blob) for blob in blobs], memoryview(bytearray(b"".join(blobs))))
    result = decoder.decode(node)
    decoder.finish()
    return result


def decode(node, *blobs):
    decoder = Decoder([len(blob) for blob in blobs], memoryview(bytearray(b"".join(blobs))))
    value = decoder.decode(node)
    decoder.finish()
    return value


@pytest.mark.parametrize(
    "value",
    [
        None, True, False, 0, 1, -1, 2**53 - 1, 2**53, -(2**53), 2**64, -(2**4000), "", "é", "\0",
        "\ud800", "𝒳", 0.0, -0.0, 0.1, 5e-324, math.inf, -math.inf, b"", b"raw", (), [], {}, (1,),
        [1], ((), [[]], {}), {1: "a", "1": 1, None: None, (1, "a"): [True], 2.5: 0},
        {DType("int8"): Device("cpu")}, DType("bfloat16"), Device("cuda:1"), ActorHandle(3),
        FilePath("shared-1/x.pt"), Opaque("Sparse", "sparse layout"),
        Opaque("numpy.int64", "x", 3), Opaque("numpy.float32", "x", 0.5), Opaque("n", "x", True),
        Tensor("float32", (2, 1), b"12345678", "cuda:0", True),
        Tensor("int8", (2,), b"12", layout=Layout(1, 4, (0,), 3)),
        [Tensor("int8", (1,), b"a"), Tensor("int8", (1,), b"b"), b"c"],
    ],
    ids=repr,
)  # fmt: skip
def test_values_arrive_as_they_left(value):
    arrived = cross(value)
    assert arrived == value
    assert type(arrived) is type(value) or isinstance(value, bytes)


def test_the_sign_of_zero_and_nan_arrive():
    assert math.copysign(1, cross(-0.0)) == -1
    assert math.isnan(cross(math.nan))
    assert math.isnan(next(iter(cross({math.nan: 1}))))


@pytest.mark.parametrize("dtype", sorted(ITEMSIZE))
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3), (1,) * 8])
def test_tensors_of_every_dtype_arrive(dtype, shape):
    size = ITEMSIZE[dtype] * math.prod(shape)
    tensor = Tensor(dtype, shape, bytes(range(size)))
    assert cross(tensor) == tensor


def test_bytes_of_any_buffer_cross_again():
    assert cross(cross(b"raw")) == b"raw"
    assert cross(bytearray(b"raw")) == b"raw"


def test_keys_keep_their_types():
    assert [type(key) for key in cross({1: 0, "1": 0, 2.0: 0, False: 0})] == [int, str, float, bool]


@pytest.mark.parametrize("value", [object(), {1, 2}, 1j, range(3), [object()], {1: object()}])
def test_what_cannot_cross_is_refused_by_the_sender(value):
    with pytest.raises(ProtocolError, match="cannot cross"):
        Encoder().encode(value)


def test_subclasses_do_not_pass_for_their_bases():
    class Lying(float):
        pass

    with pytest.raises(ProtocolError, match="a Lying cannot cross"):
        Encoder().encode(Lying(1.0))


def test_a_list_that_holds_itself_is_refused_by_the_sender():
    endless = []
    endless.append(endless)
    with pytest.raises(ProtocolError, match="nested deeper"):
        Encoder().encode(endless)


def test_the_longest_integer_can_be_printed_and_a_longer_one_is_refused():
    longest = 16 ** (MAX_INT_DIGITS - 3) - 1
    assert cross(longest) == longest
    assert cross(-longest) == -longest
    assert str(cross(longest))
    with pytest.raises(ProtocolError, match="bits cannot cross"):
        Encoder().encode(longest + 1)


def nested(depth):
    value = 0
    for _ in range(depth):
        value = ["l", value]
    return value


def test_depth_is_bounded():
    assert decode(nested(MAX_DEPTH))
    with pytest.raises(ProtocolError, match="nested deeper"):
        decode(nested(MAX_DEPTH + 1))


def test_count_is_bounded():
    assert len(decode(["l", *[0] * (MAX_NODES - 1)])) == MAX_NODES - 1
    with pytest.raises(ProtocolError, match="more than 200000 values"):
        decode(["l", *[0] * MAX_NODES])


def test_count_is_bounded_over_the_whole_message():
    decoder = Decoder([], memoryview(b""))
    half = ["l", *[0] * (MAX_NODES // 2)]
    decoder.decode(half)
    with pytest.raises(ProtocolError, match="more than 200000 values"):
        decoder.decode(half)


FIELDS = {"dtype": "int8", "shape": [2], "blob": 0, "device": "cpu", "grad": False}


def tensor_node(**changes):
    return ["tensor", {**FIELDS, **changes}]


@pytest.mark.parametrize(
    ("node", "words"),
    [
        ([], "without a tag"),
        ({}, "without a tag"),
        ([1], "without a tag"),
        ([None], "without a tag"),
        (["l", [[]]], "without a tag"),
        (["what"], "unknown tag 'what'"),
        (["x" * 1000], "unknown tag"),
        (["f"], "0 parts"),
        (["f", "0x1p0", "0x1p0"], "2 parts"),
        (["f", 1], "not a string"),
        (["f", "one"], "not a float"),
        (["f", "0x1p9999999999"], "not a float"),
        (["f", "1" * 65], "at most 64"),
        (["i"], "0 parts"),
        (["i", 7], "not a string"),
        (["i", "zz"], "not an integer"),
        (["i", "0x" + "f" * MAX_INT_DIGITS], "at most 1024"),
        (["d", []], "not a pair"),
        (["d", [1]], "not a pair"),
        (["d", [1, 2, 3]], "not a pair"),
        (["d", "ab"], "not a pair"),
        (["d", [1, 2], [1, 3]], "comes twice"),
        (["d", [1, 2], [True, 3]], "comes twice"),
        (["d", [["l"], 1]], "key of type list"),
        (["d", [["d"], 1]], "key of type dict"),
        (["d", [["t", ["l"]], 1]], "key of type tuple"),
        (["d", [["handle", 1], 1]], "key of type ActorHandle"),
        (["b"], "0 parts"),
        (["b", 0], "blob 0 does not exist"),
        (["b", -1], "blob -1 does not exist"),
        (["b", True], "not an integer"),
        (["b", "0"], "not an integer"),
        (["b", None], "not an integer"),
        (["dtype", "float7"], "unknown dtype"),
        (["dtype", 3], "not a string"),
        (["dtype"], "0 parts"),
        (["device", "CPU"], "not a device"),
        (["device", "cuda:"], "not a device"),
        (["device", "cpu\n"], "not a device"),
        (["device", "c" * 99], "at most 32"),
        (["device"], "0 parts"),
        (["handle"], "0 parts"),
        (["handle", "1"], "not an integer"),
        (["path"], "0 parts"),
        (["path", 1], "not a string"),
        (["path", "p" * 257], "at most 256"),
        (["opaque", "T"], "1 parts"),
        (["opaque", "T", 1], "not a string"),
        (["opaque", "T", "w" * 4097], "at most 4096"),
        (["tensor"], "0 parts"),
        (["tensor", []], "without fields"),
        (["tensor", {}], "other fields"),
        (tensor_node(more=1), "other fields"),
        (tensor_node(dtype="int7"), "unknown dtype"),
        (tensor_node(dtype=1), "not a string"),
        (tensor_node(shape=2), "not a list"),
        (tensor_node(shape=["2"]), "not an integer"),
        (tensor_node(shape=[True]), "not an integer"),
        (tensor_node(shape=[-2]), "negative size"),
        (tensor_node(shape=[-2, -1]), "negative size"),
        (tensor_node(shape=[1] * 9), "rank 9"),
        (tensor_node(shape=[2**40, 2**40]), "beyond any memory"),
        (tensor_node(shape=[0, 2**40, 2**40]), "beyond any memory"),
        (tensor_node(blob=1), "does not exist"),
    ],
)  # fmt: skip
def test_malformed_nodes_are_named(node, words):
    with pytest.raises(ProtocolError, match=words):
        decode(node)


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (tensor_node(shape=[3]), "a tensor of 3 bytes with 2 bytes"),
        (tensor_node(shape=[0]), "a tensor of 0 bytes with 2 bytes"),
        (tensor_node(dtype="int16"), "a tensor of 4 bytes with 2 bytes"),
        (tensor_node(grad=1), "neither true nor false"),
        (tensor_node(device="tpu-0"), "not a device"),
        (tensor_node(layout=None), "not four parts"),
        (tensor_node(layout=[0, 0]), "not four parts"),
        (tensor_node(layout=[0, 0, 1]), "not a list"),
        (tensor_node(layout=["0", 0, [1]]), "not an integer"),
        (tensor_node(layout=[0, 0.5, [1]]), "not an integer"),
        (tensor_node(layout=[0, 0, [1, 1]]), "2 strides for a tensor of rank 1"),
        (tensor_node(layout=[0, 0, [-1]]), "no memory has"),
        (tensor_node(layout=[0, 0, [1], -1]), "no memory has"),
        (tensor_node(layout=[0, 0, [1], 0, 0]), "not four parts"),
        (tensor_node(layout=[0, 2**62, [1]]), "no memory has"),
        (tensor_node(layout=[-1, 0, [1]]), "no memory has"),
        (["d", [["b", 0], 1]], "key of type memoryview"),
        (["d", [tensor_node(), 1]], "key of type Tensor"),
        (["d", [["t", ["b", 0]], 1]], "key of type tuple"),
        (["d", [["path", "a"], 1]], "key of type FilePath"),
        (["l", ["b", 0], ["b", 0]], "used twice"),
        (["l", ["b", 0], tensor_node()], "used twice"),
        (["l"], "no value refers to"),
    ],
)
def test_two_bytes_cannot_be_what_they_are_not(node, words):
    with pytest.raises(ProtocolError, match=words):
        decode(node, b"ab")


def test_dict_keys_cannot_be_made_to_collide():
    """Integers apart by the modulus of Python's hash all have the hash 0."""
    pairs = [[["i", hex(number * (2**61 - 1))], 0] for number in range(1, 40)]
    with pytest.raises(ProtocolError, match="with one hash"):
        decode(["d", *pairs])


def test_honest_keys_may_be_many():
    keys = {number: number for number in range(-2, 20_000)}
    assert cross(keys) == keys


def test_tensors_share_the_payload():
    payload = memoryview(bytearray(8))
    tensor = Decoder([4, 4], payload).decode(
        ["tensor", {**FIELDS, "dtype": "float32", "shape": [], "blob": 1}]
    )
    struct.pack_into("<f", payload, 4, 2.5)
    assert struct.unpack("<f", tensor.data) == (2.5,)
