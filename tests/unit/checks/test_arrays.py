import numpy as np
import pytest
from observed import raw, tensor

from grader.checks.arrays import to_numpy
from grader.checks.compare import same_bytes
from grader.wire.values import ITEMSIZE, Tensor

torch = pytest.importorskip("torch")

WIDER = {
    "bfloat16": "float32",
    "float8_e4m3fn": "float32",
    "float8_e5m2": "float32",
    "complex32": "complex64",
}


def every_pattern(dtype):
    """All bit patterns of a narrow dtype, many of a wide one, as a torch tensor."""
    size = ITEMSIZE[dtype]
    if size == 1:
        data = np.arange(256, dtype=np.uint8)
    elif size == 2:
        data = np.arange(2**16, dtype=np.uint16).view(np.uint8)
    else:
        data = np.random.default_rng(0).integers(0, 256, 16 * 500, dtype=np.uint8)
    return torch.from_numpy(data.copy()).view(getattr(torch, dtype))


@pytest.mark.parametrize("dtype", sorted(set(ITEMSIZE) - {"bool"}))
def test_every_bit_pattern_is_what_torch_says(dtype):
    theirs = every_pattern(dtype)
    data = theirs.view(torch.uint8).numpy().tobytes()
    ours = to_numpy(Tensor(dtype, (len(theirs),), data))
    wide = theirs.to(getattr(torch, WIDER[dtype])) if dtype in WIDER else theirs
    expected = wide.numpy()
    assert ours.dtype == expected.dtype
    inexact = ours.dtype.kind in "fc"
    assert np.array_equal(ours, expected, equal_nan=inexact)
    if ours.dtype.kind == "f":
        number = ~np.isnan(expected)
        assert np.array_equal(np.signbit(ours)[number], np.signbit(expected)[number])


def test_a_bool_is_any_byte_but_zero():
    array = to_numpy(raw("bool", b"\0", b"\1", b"\2", b"\xff"))
    assert array.dtype == np.bool_
    assert array.tolist() == [False, True, True, True]


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (2, 0, 4), (1,) * 8])
@pytest.mark.parametrize("dtype", sorted(ITEMSIZE))
def test_shapes_survive(dtype, shape):
    size = ITEMSIZE[dtype] * int(np.prod(shape))
    assert to_numpy(Tensor(dtype, shape, bytes(size))).shape == shape


def test_common_dtypes_share_their_bytes():
    source = tensor([1.0, 2.0])
    assert np.shares_memory(to_numpy(source), np.frombuffer(source.data, np.uint8))


@pytest.mark.parametrize("size", [0, 1, 7, 4096, 4097, 100_001])
def test_bytes_are_compared_to_the_last_one(size):
    one = bytes(size)
    assert same_bytes(one, memoryview(bytearray(one)))
    assert not same_bytes(one, one + b"\0")
    if size:
        assert not same_bytes(one, one[:-1] + b"\1")
        assert not same_bytes(b"\1" + one[1:], one)
