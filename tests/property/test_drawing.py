"""What holds for every draw, whatever is asked for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.assignment.arguments import INTEGER_RANGE, PRECISION, exact_range
from grader.assignment.types import Case
from grader.run.plan import DrawKey, draw_case
from grader.wire.codec import Decoder, Encoder
from grader.wire.values import Tensor, nbytes

SHAPES = st.lists(st.one_of(st.integers(0, 5), st.sampled_from(["N", "N+1", "2*M"])), max_size=4)
FLOATS = st.sampled_from(sorted(PRECISION))
ANY = st.sampled_from(sorted({*PRECISION, *INTEGER_RANGE}))
KEYS = st.builds(
    DrawKey, st.integers(0, 2**63), st.sampled_from(["a", "b"]), st.just("q"), st.integers(0, 999)
)


@st.composite
def integers(draw: st.DrawFn) -> dict[str, Any]:
    dtype = draw(ANY)
    least, greatest = exact_range(dtype)
    ends = sorted([draw(st.integers(least, greatest)), draw(st.integers(least, greatest))])
    return {"integers": draw(SHAPES), "low": ends[0], "high": ends[1], "dtype": dtype}


TENSORS = st.one_of(
    st.fixed_dictionaries({"randn": SHAPES, "dtype": FLOATS}),
    st.fixed_dictionaries({"rand": SHAPES, "dtype": FLOATS}),
    st.fixed_dictionaries({"zeros": SHAPES, "dtype": ANY}),
    st.fixed_dictionaries({"permutation": st.integers(0, 100)}),
    integers(),
)
DIMS = {"N": [1, 4], "M": {"choice": [0, 2]}}


def case(form: dict[str, Any]) -> Case:
    return Case.model_validate({"id": "c", "args": {"x": form}, "dims": DIMS})


def values(tensor: Tensor) -> Any:
    if tensor.dtype == "bfloat16":
        return (np.frombuffer(tensor.data, "<u2").astype("<u4") << 16).view("<f4")
    return np.frombuffer(tensor.data, np.dtype(tensor.dtype).newbyteorder("<"))


@given(TENSORS, KEYS)
def test_shape_dtype_and_range_are_as_asked(form: dict[str, Any], key: DrawKey) -> None:
    drawn = draw_case(case(form), key)
    assert 1 <= drawn.dims["N"] <= 4
    assert drawn.dims["M"] in (0, 2)
    (tensor,) = drawn.args
    assert isinstance(tensor, Tensor)
    assert tensor.dtype == form.get("dtype", "int64")
    assert len(tensor.data) == nbytes(tensor.dtype, tensor.shape)
    asked = next(value for name, value in form.items() if name not in ("dtype", "low", "high"))
    names = {**drawn.dims}
    sizes = [eval(str(size), names) for size in (asked if isinstance(asked, list) else [asked])]
    assert list(tensor.shape) == sizes
    found = values(tensor)
    assert np.isfinite(found).all()
    if "integers" in form:
        assert all(form["low"] <= number <= form["high"] for number in found.tolist())
        assert all(number == int(number) for number in found.tolist())
    if "rand" in form:
        assert ((found >= 0) & (found < 1)).all()
    if "permutation" in form:
        assert sorted(found.tolist()) == list(range(form["permutation"]))


@given(TENSORS, KEYS)
def test_the_same_key_draws_the_same(form: dict[str, Any], key: DrawKey) -> None:
    assert draw_case(case(form), key) == draw_case(case(form), key)


@given(KEYS, st.integers(1, 50))
def test_repeats_differ(key: DrawKey, more: int) -> None:
    form = {"randn": [8]}
    later = DrawKey(key.seed, key.assignment_id, key.question_id, key.repeat + more)
    assert draw_case(case(form), key).digest != draw_case(case(form), later).digest


@settings(max_examples=50)
@given(TENSORS, KEYS)
def test_what_is_drawn_crosses_the_wire(form: dict[str, Any], key: DrawKey) -> None:
    (tensor,) = draw_case(case(form), key).args
    assert isinstance(tensor, Tensor)
    encoder = Encoder()
    node = encoder.encode(tensor)
    data = b"".join(bytes(blob) for blob in encoder.blobs)
    arrived = Decoder([len(data)], memoryview(data)).decode(node)
    assert isinstance(arrived, Tensor)
    assert (arrived.dtype, arrived.shape) == (tensor.dtype, tensor.shape)
    assert bytes(arrived.data) == tensor.data
    assert math.prod(arrived.shape) == values(tensor).size
