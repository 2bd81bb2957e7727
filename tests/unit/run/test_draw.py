"""Drawn inputs: every form, every dtype, and the same bytes everywhere and for ever."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from grader.assignment.types import Case
from grader.errors import AssignmentError
from grader.run import plan
from grader.run.plan import DrawKey, Drawn, digest_of, draw_case
from grader.wire.values import Tensor

KEY = DrawKey(seed=7, assignment_id="demo", question_id="add")


def drawn(args: dict[str, Any], key: DrawKey = KEY, **fields: Any) -> Drawn:
    return draw_case(Case.model_validate({"id": "c", "args": args, **fields}), key)


def tensor(form: dict[str, Any], **fields: Any) -> Tensor:
    (value,) = drawn({"x": form}, **fields).args
    assert isinstance(value, Tensor)
    return value


def numbers(value: Tensor) -> list[Any]:
    if value.dtype == "bfloat16":
        halves = struct.unpack(f"<{len(value.data) // 2}H", value.data)
        return [struct.unpack("<f", struct.pack("<I", half << 16))[0] for half in halves]
    return np.frombuffer(value.data, np.dtype(value.dtype).newbyteorder("<")).tolist()


GOLDEN = {
    "randn": ({"randn": [3, "N"]}, "float32", "c821fa9ab0fb3d46"),
    "scaled": (
        {"randn": [4], "scale": 2.0, "shift": 5.0, "dtype": "float64"},
        "float64",
        "d0b3d3d31f803fe3",
    ),
    "half": ({"randn": [5], "dtype": "bfloat16"}, "bfloat16", "8369dc5e4037d607"),
    "rand": ({"rand": [2, 2]}, "float32", "4d38ba653abf0172"),
    "integers": (
        {"integers": [6], "low": -8, "high": 8, "dtype": "float32"},
        "float32",
        "fc8e53a4dd43d06f",
    ),
    "permutation": ({"permutation": 9}, "int64", "3241fcd9e1d72a3f"),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_these_bytes_never_change(name: str) -> None:
    form, dtype, digest = GOLDEN[name]
    found = drawn({"x": form}, dims={"N": [2, 5]})
    assert found.args[0].dtype == dtype  # type: ignore[union-attr]
    assert found.digest[:16] == digest


@pytest.mark.parametrize(
    ("form", "dtype", "shape", "expected"),
    [
        ({"tensor": [[1, 2], [3, 4]]}, "int64", (2, 2), [1, 2, 3, 4]),
        ({"tensor": [1, 2.5]}, "float32", (2,), [1.0, 2.5]),
        ({"tensor": [True, False]}, "bool", (2,), [True, False]),
        ({"tensor": 3, "dtype": "int8"}, "int8", (), [3]),
        ({"tensor": [0, 1], "dtype": "bool"}, "bool", (2,), [False, True]),
        ({"tensor": []}, "float32", (0,), []),
        ({"tensor": [[], []]}, "float32", (2, 0), []),
        ({"tensor": [1, 2**64 - 1], "dtype": "uint64"}, "uint64", (2,), [1, 2**64 - 1]),
        ({"tensor": [float("inf")]}, "float32", (1,), [float("inf")]),
        ({"zeros": ["N"]}, "float32", (3,), [0.0, 0.0, 0.0]),
        ({"ones": [2, 1], "dtype": "int16"}, "int16", (2, 1), [1, 1]),
        ({"ones": [], "dtype": "bfloat16"}, "bfloat16", (), [1.0]),
        ({"arange": "N+1"}, "int64", (4,), [0, 1, 2, 3]),
        ({"arange": 6, "shape": [2, "N"], "dtype": "float64"}, "float64", (2, 3),
         [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
        ({"arange": 0}, "int64", (0,), []),
    ],
)  # fmt: skip
def test_fixed_tensors(
    form: dict[str, Any], dtype: str, shape: tuple[int, ...], expected: list[Any]
) -> None:
    found = tensor(form, dims={"N": 3})
    assert (found.dtype, found.shape) == (dtype, shape)
    assert numbers(found) == expected
    assert [type(number) for number in numbers(found)] == [type(number) for number in expected]


@pytest.mark.parametrize(
    ("written", "bits"),
    [
        (1.0, 0x3F80), (-2.5, 0xC020), (0.1, 0x3DCD), (float("nan"), 0x7FC0),
        (float("inf"), 0x7F80), (float("-inf"), 0xFF80), (-0.0, 0x8000), (1e-40, 0x0001),
        (1.00390625, 0x3F80),  # half way to the next: to the even one, below
        (1.01171875, 0x3F82),  # half way: to the even one, above
        (1.0039065, 0x3F81),  # a little more than half way
    ],
)  # fmt: skip
def test_bfloat16_rounds_to_nearest_even(written: float, bits: int) -> None:
    assert struct.unpack("<H", tensor({"tensor": [written], "dtype": "bfloat16"}).data) == (bits,)


def test_every_value_of_bfloat16_survives() -> None:
    every = np.arange(1 << 16, dtype="<u4") << 16
    floats = every.view("<f4")
    kept = plan._to_bfloat16(floats)
    assert (kept[~np.isnan(floats)] == (every >> 16)[~np.isnan(floats)]).all()
    assert (kept[np.isnan(floats)] == 0x7FC0).all()


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"tensor": [1e39], "dtype": "float32"}, "too large for float32"),
        ({"tensor": [70000.0], "dtype": "float16"}, "too large for float16"),
        ({"tensor": [3.4e38], "dtype": "bfloat16"}, "too large for bfloat16"),
        ({"randn": ["N-5"]}, "the size “N-5” is -2 where N=3"),
        ({"zeros": ["K"]}, "“K” has no size under dims"),
        ({"arange": 5, "shape": ["N"]}, r"5 elements do not fill the shape \[3\] where N=3"),
        ({"permutation": "N*100", "dtype": "int8"}, "0…299 do not fit into int8 where N=3"),
        ({"zeros": [2**30 + 1], "dtype": "uint8"}, "the inputs take 1073741825 bytes; the most is"),
        ({"value": "N//(N-3)"}, "divides by zero where N=3"),
    ],
)
def test_what_cannot_be_drawn_says_why(form: dict[str, Any], said: str) -> None:
    place = r"assignments/demo/assignment\.yml: question “add”, case “c”: .*"
    with pytest.raises(AssignmentError, match=place + said):
        drawn({"x": form}, dims={"N": 3})


def test_a_call_that_is_counted_has_the_sizes_of_the_case_and_numbers_of_its_own() -> None:
    fields = {"id": "c", "dims": {"N": [1, 99]}}
    case = Case.model_validate({**fields, "args": {"x": {"randn": ["N"]}}})
    plain, counted, larger = (draw_case(case, KEY, scale) for scale in (None, {}, {"N": 4}))
    assert plain.dims == counted.dims
    assert larger.dims == {"N": 4 * plain.dims["N"]}
    assert plain.args != counted.args
    made = Case.model_validate({**fields, "generate": "made"})
    seeds = [draw_case(made, KEY, scale).seed for scale in (None, {}, {"N": 4})]
    assert seeds[0] != seeds[1] == seeds[2]


def test_the_bound_holds_for_all_inputs_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "MAX_BYTES", 16)
    assert drawn({"x": {"zeros": [2]}, "y": [{"zeros": [2]}]}).args
    with pytest.raises(AssignmentError, match="the inputs take 20 bytes"):
        drawn({"x": {"zeros": [2]}, "y": [{"zeros": [2]}]}, kwargs={"z": {"zeros": [1]}})


def test_plain_values_lists_and_tuples_keep_their_types() -> None:
    found = drawn(
        {"a": True, "b": 1, "c": 1.0, "d": None, "e": "text", "f": [1, {"value": "2*N"}],
         "g": {"tuple": [1, [{"ones": [1]}]]}},
        kwargs={"k": {"value": "N"}}, dims={"N": 3},
    )  # fmt: skip
    one = Tensor("float32", (1,), struct.pack("<f", 1.0))
    assert found.args == (True, 1, 1.0, None, "text", [1, 6], (1, [one]))
    assert [type(value) for value in found.args[:3]] == [bool, int, float]
    assert found.names == ("a", "b", "c", "d", "e", "f", "g")
    assert found.kwargs == {"k": 3}
    assert found.dims == {"N": 3}


def test_both_ends_of_a_range_are_drawn() -> None:
    sizes, values, chosen = set(), set(), set()
    for repeat in range(60):
        key = DrawKey(0, "demo", "add", repeat)
        found = drawn(
            {"x": {"integers": [3], "low": -1, "high": 1}},
            key, dims={"N": [4, 6], "C": {"choice": [2, 9]}},
        )  # fmt: skip
        sizes.add(found.dims["N"])
        chosen.add(found.dims["C"])
        values.update(numbers(found.args[0]))  # type: ignore[arg-type]
    assert (sizes, values, chosen) == ({4, 5, 6}, {-1, 0, 1}, {2, 9})


def test_the_ends_of_a_range_may_be_arithmetic_on_dims() -> None:
    for repeat in range(20):
        key = DrawKey(0, "demo", "add", repeat)
        form = {"integers": [50], "low": "0-C", "high": "C-1"}
        found = drawn({"x": form}, key, dims={"C": [2, 4]})
        most = found.dims["C"]
        assert set(numbers(found.args[0])) == set(range(-most, most))  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "uint64", "int64"])
def test_integers_reach_the_whole_range_of_their_dtype(dtype: str) -> None:
    low, high = plan.INTEGER_RANGE[dtype]
    found = numbers(tensor({"integers": [4000], "low": low, "high": high, "dtype": dtype}))
    assert all(low <= number <= high for number in found)
    assert max(found) > low + (high - low) * 0.9
    assert min(found) <= low + (high - low) * 0.1


def test_rand_never_reaches_one_even_in_half_precision() -> None:
    for dtype in plan.PRECISION:
        found = numbers(tensor({"rand": [20_000], "dtype": dtype}))
        assert 0 <= min(found) < 0.01
        assert 0.99 < max(found) < 1
        assert 0.48 < sum(found) / len(found) < 0.52


def test_a_different_key_or_case_is_a_different_draw() -> None:
    form = {"x": {"randn": [4]}}
    keys = [
        KEY, DrawKey(8, "demo", "add"), DrawKey(7, "demo2", "add"), DrawKey(7, "demo", "add2"),
        DrawKey(7, "demo", "add", 1),
    ]  # fmt: skip
    digests = {drawn(form, key).digest for key in keys} | {drawn(form, id="d").digest}
    assert len(digests) == 6


def test_other_cases_and_later_arguments_change_nothing() -> None:
    x = {"randn": [4]}
    assert drawn({"x": x}).args[0] == drawn({"x": x, "y": x}).args[0]
    assert drawn({"x": x, "y": x}).args[0] != drawn({"x": x, "y": x}).args[1]


def test_the_order_of_dims_in_the_file_does_not_matter() -> None:
    one = drawn({}, dims={"A": [1, 1000], "B": [1, 1000]})
    two = drawn({}, dims={"B": [1, 1000], "A": [1, 1000]})
    assert (one.dims, one.digest) == (two.dims, two.digest)


def test_a_generator_gets_dims_and_a_seed() -> None:
    found = drawn({}, generate="make", dims={"N": [2, 900]})
    assert (found.args, found.names, found.kwargs) == ((), (), {})
    assert found.seed is not None
    assert 0 <= found.seed < 1 << 32
    again = drawn({}, DrawKey(7, "demo", "add", 1), generate="make", dims={"N": [2, 900]})
    assert (found.seed, found.digest) != (again.seed, again.digest)
    assert drawn({}).seed is None


def test_digests_tell_types_apart() -> None:
    values = [1, 1.0, True, "1", (1,), [1], None, Tensor("int8", (1,), b"\1")]
    assert len({digest_of(value) for value in values}) == len(values)
    assert digest_of(Tensor("int8", (2,), b"\1\2")) != digest_of(Tensor("int8", (2,), b"\1\3"))
