"""Laws of judging that hold for any value."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from observed import CASE, seen, tensor

from grader.checks.arguments import Unmodified
from grader.checks.diagnoses import ArrayPair, by_shape, by_value
from grader.checks.form import OnDevice, PythonType, SameDType, SameShape
from grader.checks.judge import combine, judge_case, settle
from grader.checks.values import Close, Exact
from grader.verdict import Basis, Code, Message, Owner, Status, Verdict
from grader.wire.values import ITEMSIZE, Device, DType, Tensor

CLOSE = Close(id="close", points=1, rtol=1e-3, atol=1e-3)
EXACT = Exact(id="exact", points=1)
SHAPE = SameShape(id="shape", points=1)
DTYPE = SameDType(id="dtype", points=1)
CPU = OnDevice(id="device", points=1, device="cpu")
UNMODIFIED = Unmodified(id="unmodified", points=1)
TYPE = PythonType(id="type", points=1)
ALL = (CLOSE, EXACT, SHAPE, DTYPE, CPU, TYPE, UNMODIFIED)

SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
FULL_SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5)


DTYPES = st.sampled_from(sorted(ITEMSIZE))


@st.composite
def tensors(draw, shapes=SHAPES):
    """Any bytes at all as a tensor: every NaN payload and every strange bool among them."""
    dtype, shape = draw(DTYPES), draw(shapes)
    size = ITEMSIZE[dtype] * math.prod(shape)
    return Tensor(dtype, shape, draw(st.binary(min_size=size, max_size=size)))


KEYS = st.one_of(st.integers(), st.text(max_size=3), st.booleans(), st.floats(), st.none())
LEAVES = st.one_of(
    tensors(), st.integers(), st.floats(), st.booleans(), st.text(max_size=3), st.none(),
    st.binary(max_size=3), st.just(DType("int8")), st.just(Device("cpu")),
    st.integers(min_value=10**300, max_value=10**1000),
)  # fmt: skip
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(KEYS, inner, max_size=3),
    ),
    max_leaves=6,
)


def judge(check, actual, expected, after=()):
    """Judge a value; the case has no arguments unless given."""
    case = replace(CASE, args=after)
    claims = {"args_after": after}
    return judge_case(check, case, seen(expected, **claims), seen(actual, **claims))


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.kind)
@given(TREES)
def test_every_value_is_right_where_it_is_the_reference(check, value):
    verdict = judge(check, value, value, after=(value,))
    assert verdict.status is Status.PASSED
    assert verdict.credit == 1.0


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.kind)
@given(TREES, TREES)
def test_judging_never_fails_is_deterministic_and_tells_plain_json(check, actual, expected):
    verdict = judge(check, actual, expected, after=(actual,))
    assert verdict.status in (Status.PASSED, Status.FAILED)
    assert verdict == judge(check, actual, expected, after=(actual,))
    if verdict.message is not None:
        json.dumps([verdict.message.params, verdict.evidence], allow_nan=False)


@pytest.mark.parametrize("check", [EXACT, SHAPE], ids=lambda check: check.kind)
@given(TREES.filter(lambda value: value is not None), TREES.filter(lambda value: value is not None))
def test_sameness_is_symmetric(check, one, other):
    assert judge(check, one, other).status is judge(check, other, one).status


@given(tensors(), tensors())
def test_exactly_equal_is_close_with_any_tolerance(one, other):
    if judge(EXACT, one, other).status is Status.PASSED:
        strict = Close(id="close", points=1, rtol=0, atol=0)
        assert judge(strict, one, other).status is Status.PASSED


FLOATS = st.floats(-1e6, 1e6, width=32)
ARRAYS = hnp.arrays(np.float32, FULL_SHAPES, elements=FLOATS)


@pytest.mark.parametrize("check", [CLOSE, EXACT], ids=lambda check: check.kind)
@given(ARRAYS, st.data(), st.sampled_from([math.nan, math.inf, -math.inf]))
def test_nan_planted_anywhere_fails(check, expected, data, planted):
    actual = expected.copy()
    actual.flat[data.draw(st.integers(0, actual.size - 1))] = planted
    assert judge(check, tensor(actual), tensor(expected)).code is Code.NOT_FINITE
    assert judge(check, tensor(expected), tensor(actual)).status is Status.FAILED


@pytest.mark.parametrize("check", [CLOSE, EXACT, SHAPE], ids=lambda check: check.kind)
@given(ARRAYS, SHAPES)
def test_another_shape_fails(check, expected, shape):
    actual = np.resize(expected, shape)
    wanted = Status.PASSED if shape == expected.shape else Status.FAILED
    verdict = judge(check, tensor(actual), tensor(expected))
    assert verdict.status is wanted
    if wanted is Status.FAILED:
        assert verdict.code is Code.WRONG_SHAPE


@pytest.mark.parametrize("check", [CLOSE, EXACT, SHAPE], ids=lambda check: check.kind)
@given(FLOATS, hnp.array_shapes(min_dims=1, max_dims=3, min_side=2, max_side=4), st.data())
def test_what_only_broadcasts_to_the_answer_fails(check, value, shape, data):
    expected = np.full(shape, value, np.float32)
    axis = data.draw(st.integers(0, len(shape) - 1))
    for actual in (
        expected.take(range(1), axis),
        expected.take(range(0), axis),
        expected.take(0, axis),
        expected[None],
        expected.flat[0],
    ):
        assert judge(check, tensor(actual), tensor(expected)).code is Code.WRONG_SHAPE


@given(ARRAYS, st.floats(0, 0.1), st.floats(1e-5, 1), st.data())
def test_the_tolerance_is_where_it_says(expected, rtol, atol, data):
    check = Close(id="close", points=1, rtol=rtol, atol=atol)
    wide = expected.astype(np.float64)
    side = data.draw(hnp.arrays(np.float64, wide.shape, elements=st.sampled_from([-1.0, 1.0])))
    bound = side * (atol + rtol * np.abs(wide))
    within = tensor(wide + 0.999 * bound, "float64")
    assert judge(check, within, tensor(expected)).status is Status.PASSED
    at = data.draw(st.integers(0, wide.size - 1))
    outside = wide.copy()
    outside.flat[at] += 1.001 * bound.flat[at]
    verdict = judge(check, tensor(outside, "float64"), tensor(expected))
    assert verdict.code is Code.WRONG_VALUE
    assert verdict.message.params["mismatched"] == 1
    assert verdict.message.params["abs_index"] == list(np.unravel_index(at, wide.shape))


@given(tensors(shapes=FULL_SHAPES), st.data())
def test_one_flipped_bit_of_an_input_is_found(sent, data):
    changed = bytearray(sent.data)
    changed[data.draw(st.integers(0, len(changed) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    after = replace(sent, data=bytes(changed))
    case = replace(CASE, args=(sent,))
    verdict = UNMODIFIED.judge(case, seen(1), seen(1, args_after=(after,)))
    assert verdict.code is Code.INPUT_MODIFIED
    assert verdict.message.params["mismatched"] == 1


VERDICTS = st.builds(
    lambda status, credit, basis, case, hidden: Verdict(
        status, Code.OK, Owner.STUDENT, {Status.PASSED: 1.0, Status.PARTIAL: credit}.get(status, 0),
        Message("any"), {}, basis, case, hidden,
    ),
    st.sampled_from(Status), st.floats(0.1, 0.9), st.sampled_from(Basis),
    st.text(max_size=2), st.booleans(),
)  # fmt: skip
WORST_FIRST = (
    Status.FAILED, Status.ERROR, Status.DEFERRED, Status.SKIPPED, Status.PARTIAL, Status.PASSED,
)  # fmt: skip


@given(st.lists(VERDICTS, min_size=1, max_size=6))
def test_the_whole_is_its_worst_part(verdicts):
    whole = combine(verdicts)
    assert whole.status is min((v.status for v in verdicts), key=WORST_FIRST.index)
    assert whole.credit <= min(v.credit for v in verdicts)
    assert combine([whole]) == whole
    assert combine(verdicts + verdicts) == whole


@given(st.lists(VERDICTS, min_size=1, max_size=6), st.randoms())
def test_the_order_of_cases_changes_no_score(verdicts, random):
    shuffled = random.sample(verdicts, len(verdicts))
    one, other = combine(verdicts), combine(shuffled)
    assert (one.status, one.credit) == (other.status, other.credit)


@given(VERDICTS, VERDICTS, VERDICTS)
def test_requirements_only_ever_lower_what_is_earned(values, shape, untouched):
    checks = (UNMODIFIED, CLOSE, SHAPE)
    verdicts = {"close": values, "shape": shape, "unmodified": untouched}
    settled = settle(checks, verdicts)
    assert set(settled) == set(verdicts)
    assert settled["close"] is values
    assert settled["shape"] is shape
    assert settled["unmodified"].credit in (0.0, untouched.credit)
    if settled["unmodified"].credit > 0:
        assert all(v.status in (Status.PASSED, Status.PARTIAL) for v in (values, shape))
    if Status.FAILED in (values.status, shape.status):
        assert settled["unmodified"].status is Status.SKIPPED
    assert settle(checks, settled) == settled


NUMBERS = st.sampled_from(["bool", "int64", "uint8", "float16", "float32", "float64", "complex64"])


@st.composite
def arrays(draw):
    """Any numbers of any shape, none of it empty."""
    shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=1, max_side=3)
    return draw(hnp.arrays(np.dtype(draw(NUMBERS)), shapes))


@given(arrays(), arrays(), st.lists(SHAPES, max_size=2))
def test_looking_for_a_cause_never_trips(actual, expected, shapes):
    pair = ArrayPair(actual, expected, tuple(shapes))
    with np.errstate(all="ignore"):
        found = by_value(pair) if actual.shape == expected.shape else by_shape(pair)
    json.dumps(found, allow_nan=False)


@given(arrays(), st.data())
def test_a_cause_is_found_or_not_where_the_shapes_agree(expected, data):
    actual = data.draw(hnp.arrays(np.dtype(data.draw(NUMBERS)), expected.shape))
    with np.errstate(all="ignore"):
        json.dumps(by_value(ArrayPair(actual, expected, (expected.shape,))), allow_nan=False)
