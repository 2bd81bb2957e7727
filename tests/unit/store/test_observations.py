"""Observations survive being written down, and right ones take no space."""

from __future__ import annotations

import base64
import math
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.errors import UsageError
from grader.observation import Claims, HostFacts, Observation, Outcome
from grader.store.observations import Keeper
from grader.wire.messages import Fault, Loaded
from grader.wire.values import Device, DType, Layout, Opaque, Tensor

MOST = 2**30
KEEPER = Keeper([Observation, HostFacts, Claims, Outcome, Fault, Loaded])

SCALARS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=5)
TENSORS = st.binary(min_size=8, max_size=8).map(lambda data: Tensor("float32", (2,), data))
VALUES = st.recursive(
    SCALARS
    | st.floats(allow_nan=False)
    | TENSORS
    | st.sampled_from([DType("int8"), Device("cuda:1"), Opaque("Net", "an object")]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


def observed(value: Any, seconds: float = 0.5) -> Observation:
    return Observation(Outcome.COMPLETED, HostFacts(seconds), Claims(value))


@given(VALUES, VALUES)
def test_there_and_back(value: Any, other: Any) -> None:
    base = {"f": {"case": observed(other)}}
    tree = {"f": {"case": observed(value), "more": observed(other)}, "g": observed(value)}
    assert KEEPER.unpack(KEEPER.pack(tree, base, MOST), base) == tree


def test_everything_around_a_value() -> None:
    fault = Fault("ValueError", "no", "toy.py", 3)
    tree = {
        "f": Observation(
            Outcome.RAISED,
            HostFacts(1.5, exit_code=3, signal=9),
            Claims(
                fault=fault, args_after=(1, Tensor("int8", (1,), b"a", layout=Layout(0, 0, (1,))))
            ),
            detail="said",
            counted={"N": observed(2)},
        ),
        "g": Loaded(("f",), missing=("einops",)),
        "h": None,
    }
    assert KEEPER.unpack(KEEPER.pack(tree, {}, MOST), {}) == tree


def test_what_only_equals_to_python_is_not_the_same() -> None:
    base = {"f": observed((1, 0.0, {"a": 1}))}
    for value in ((True, 0.0, {"a": 1}), (1, -0.0, {"a": 1}), (1, 0.0, {"a": 1.0})):
        tree = {"f": observed(value)}
        assert repr(KEEPER.unpack(KEEPER.pack(tree, base, MOST), base)) == repr(tree)


def test_what_is_shared_is_written_once() -> None:
    died = Observation(Outcome.CRASHED, detail="x" * 100 + "unlike" * 50)
    tree = {"f": {str(n): died for n in range(100)}, "g": died}
    packed = KEEPER.pack(tree, {}, MOST)
    assert KEEPER.unpack(packed, {}) == tree
    assert len(packed) < 1500


@pytest.mark.parametrize("value", [None, 0, 0.0, False, "", (), [], {}, b""])
def test_empty_values_stay_what_they_are(value: Any) -> None:
    tree = {"f": Observation(Outcome.COMPLETED, claims=Claims(value, args_after=()))}
    read = KEEPER.unpack(KEEPER.pack(tree, {}, MOST), {})["f"].claims
    assert repr(read.value) == repr(value) or bytes(read.value) == value
    assert read.args_after == ()


def test_nan_stays_nan() -> None:
    tree = {"f": observed(math.nan)}
    read = KEEPER.unpack(KEEPER.pack(tree, tree, MOST), tree)["f"]
    assert math.isnan(read.claims.value)


def test_what_equals_the_reference_takes_no_space() -> None:
    data = struct.pack("<20000d", *(math.sin(n) for n in range(20000)))
    right = observed({"out": Tensor("float64", (20000,), data)})
    late = observed({"out": Tensor("float64", (20000,), bytearray(data))}, seconds=9.0)
    packed = KEEPER.pack({"f": late}, {"f": right}, MOST)
    assert len(packed) < 1000
    assert KEEPER.unpack(packed, {"f": right}) == {"f": late}


def test_too_deep_a_value_is_left_out() -> None:
    value: list[Any] = []
    for _ in range(63):
        value = [value]
    packed = KEEPER.pack({"deep": observed(value), "flat": observed(1)}, {}, MOST)
    assert set(KEEPER.unpack(packed, {})) == {"flat"}


@pytest.mark.parametrize("spoil", [lambda data: data[:-9], lambda _: b"", lambda _: b"x" * 50])
def test_a_damaged_one_says_so(spoil: Any) -> None:
    with pytest.raises(UsageError, match="grade it again"):
        KEEPER.unpack(spoil(KEEPER.pack({"f": observed(1)}, {}, MOST)), {})


def test_an_unknown_class_says_so() -> None:
    packed = KEEPER.pack({"f": observed(1)}, {}, MOST)
    with pytest.raises(UsageError, match="grade it again"):
        Keeper([HostFacts, Claims, Outcome]).unpack(packed, {})


def test_the_largest_parts_are_left_out_where_all_are_too_large() -> None:
    tree = {name: observed(bytes(size)) for name, size in (("a", 9000), ("b", 10), ("c", 500))}
    packed = KEEPER.pack(tree, {}, 2000)
    assert list(KEEPER.unpack(packed, {})) == ["b", "c"]
    assert KEEPER.unpack(KEEPER.pack(tree, {}, 10), {}) == {}


def test_as_many_values_as_cross_can_be_read_again() -> None:
    value: list[Any] = [[[0]] * 1000] * 60
    tree = {"f": observed(value)}
    assert KEEPER.unpack(KEEPER.pack(tree, {}, MOST), {})["f"].claims.value == value


WRITTEN_BEFORE = (
    "eAFVUstuwjAQpPT5HXutixLoAeVUqSqteuFStYcoQovtUEtOHMUOJUL8e9c2QbCHaD37nNl8vf+kn+PR6GEUbQ+uby"
    "RkUAKDUkktLGQEtpLAHByhFbDocLRy8F8osFxb2W7RKVN7WPiP6Rw31SmNHFgOELSorBRQFJRYInf2vNuHsW4xgKHX"
    "H2q9spKbmpbyJdQs2aWTeXJmzWMSG8qdcituBI2cFWRUwDWq6mLI6wkJE7Dd2BWWTrbDJkQ4kt0GR9bWUGwPYpBJG3"
    "SzKW1if9ELl08LBmtt1pAlDITcKu7l5E1HOZsWBWQlaisZaOxJHapIWMLytGBJcQhrqsDr+YxUdCHodCR9EW2eUiId"
    "Zez0aWd/lAUegUAwbM3gG3Un39qWuPiiSlqLG3+b2sQhSvuXM/2k6QOiVT0IGQcJ6VBpSrKo/AnJDpE4/TD5vDiMrs"
    "bXN7d39/+Hcay1"
)
"""What a version before records had one codec wrote, in base64."""


def test_what_was_kept_before_can_be_read() -> None:
    last = Tensor("float32", (2,), bytes(range(8)), layout=Layout(0, 0, (1,)))
    claims = Claims(fault=Fault("ValueError", "no", "toy.py", 3), args_after=(last, 2**70, 0.5))
    facts = HostFacts(1.5, exit_code=3)
    tree = {"f": {"case": Observation(Outcome.RAISED, facts, claims, detail="said")}}
    assert KEEPER.unpack(base64.b64decode(WRITTEN_BEFORE), {}) == tree
