import pytest

from grader.wire.values import ITEMSIZE, MAX_RANK, ProtocolError, nbytes

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("dtype", sorted(ITEMSIZE))
def test_sizes_are_torchs(dtype):
    assert getattr(torch, dtype).itemsize == ITEMSIZE[dtype]
    assert nbytes(dtype, (2, 3)) == 6 * ITEMSIZE[dtype]


@pytest.mark.parametrize(
    ("shape", "size"),
    [((), 8), ((0,), 0), ((5, 0), 0), ((1,) * MAX_RANK, 8), ((2**20, 3), 3 * 2**23)],
)
def test_bytes_of_a_shape(shape, size):
    assert nbytes("float64", shape) == size


@pytest.mark.parametrize(
    ("dtype", "shape", "words"),
    [
        ("float", (), "unknown dtype 'float'"),
        ("x" * 100, (), "unknown dtype"),
        ("int8", (1,) * (MAX_RANK + 1), "rank 9; the most is 8"),
        ("int8", (2, -1), r"negative size in shape \[2, -1\]"),
        ("int8", (2**62 + 1,), "beyond any memory"),
        ("complex128", (2**59,), "beyond any memory"),
        ("int8", (0, 2**63), "beyond any memory"),
    ],
)
def test_shapes_that_cannot_be(dtype, shape, words):
    with pytest.raises(ProtocolError, match=words):
        nbytes(dtype, shape)
