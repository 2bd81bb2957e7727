"""What hand-ins return, as it leaves the process: nothing of theirs is asked what it is."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest
import torch

from grader.checks.arrays import to_numpy
from grader.student_process import tensors
from grader.student_process.tensors import Storages, to_torch, to_wire
from grader.wire.values import ITEMSIZE, Device, DType, Layout, Opaque, Tensor


@pytest.mark.parametrize("name", [name for name in ITEMSIZE if hasattr(torch, name)])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3)])
def test_every_dtype_and_shape_goes_there_and_back(name: str, shape: tuple[int, ...]) -> None:
    size = int(np.prod(shape)) * ITEMSIZE[name]
    data = bytes([1] * size) if name == "bool" else bytes(range(1, 1 + size))
    value = Tensor(name, shape, bytearray(data))
    tensor = to_torch(value, {})
    assert tensor.dtype is getattr(torch, name)
    assert tuple(tensor.shape) == shape
    back = to_wire(tensor)
    assert (back.dtype, back.shape, bytes(back.data)) == (name, shape, data)


def test_inputs_own_their_memory() -> None:
    data = bytearray(np.arange(4, dtype="<f4").tobytes())
    value = Tensor("float32", (4,), data)
    to_torch(value, {}).zero_()
    assert to_numpy(value).tolist() == [0, 1, 2, 3]


def test_odd_bools_become_true() -> None:
    tensor = to_torch(Tensor("bool", (3,), bytearray([0, 2, 255])), {})
    assert tensor.view(torch.uint8).tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(12).reshape(3, 4).T,
        torch.arange(12)[::3],
        torch.ones(1).expand(5),
        torch.tensor([1 + 2j, 3 - 1j]).conj(),
        torch.tensor([1.0, -2.0]).neg(),
    ],
)
def test_strides_and_lazy_bits_are_written_out(tensor: torch.Tensor) -> None:
    expected = tensor.resolve_conj().contiguous().numpy()
    assert np.array_equal(to_numpy(to_wire(tensor)), expected)


class Liar(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return super().__torch_function__(func, types, args, kwargs or {})

    @property
    def shape(self) -> tuple[int, ...]:
        return (99,)


class Endless(list):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        while True:
            yield 1


class Boast(float):
    def __float__(self) -> float:
        return 100.0


Pair = namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Endless([1, 2]), [1, 2]),
        (Boast(2.5), 2.5),
        (Pair(1, "x"), (1, "x")),
        (torch.Size([2, 3]), (2, 3)),
        (OrderedDict(a=1), {"a": 1}),
        ({(1, "k"): [None, True]}, {(1, "k"): [None, True]}),
        (torch.float16, DType("float16")),
        (torch.device("cuda", 1), Device("cuda:1")),
    ],
)
def test_subclasses_become_what_they_are(value: object, expected: object) -> None:
    seen = to_wire(value)
    assert seen == expected
    assert type(seen) is type(expected)


@pytest.mark.parametrize(
    "value",
    [
        torch.eye(2).to_sparse(),
        torch.empty(2, device="meta"),
        torch.nested.nested_tensor([torch.ones(1), torch.ones(2)]),
        torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8),
        torch.ones(1).expand(2**32),
        np.ones(2),
        np.float64(1),
        {1, 2},
        object(),
        (value for value in "ab"),
        {frozenset(): 1},
        {(torch.ones(1),): 1},
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_cross_is_opaque(value: object) -> None:
    seen = to_wire(value)
    # A NumPy float is a Python float by inheritance, and crosses as one.
    assert isinstance(seen, float if isinstance(value, float) else Opaque)


def test_depth_and_items_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    seen: Any = to_wire(cyclic)
    for _ in range(tensors.MAX_DEPTH):
        seen = seen[0]
    assert seen == [Opaque("list", "nested too deep or too many items")]
    monkeypatch.setattr(tensors, "MAX_ITEMS", 10)
    assert to_wire([1] * 20) == Opaque("list", "too many items")


def test_a_subclass_is_read_by_torch_and_not_by_itself() -> None:
    liar = torch.ones(2).as_subclass(Liar)
    seen = to_wire(liar)
    # Shape and bytes are claims, and must fit each other for anything to arrive at all.
    assert isinstance(seen, Tensor)


def test_layouts_are_told_only_where_they_are_asked_for() -> None:
    assert to_wire(torch.ones(2)).layout is None


def test_tensors_that_share_memory_have_one_number() -> None:
    base, storages = torch.arange(12.0).reshape(3, 4), Storages()
    values = [
        base,
        base[1:, ::2],
        base.T,
        base.clone(),
        base.numpy(),
        torch.from_numpy(base.numpy()),
    ]
    told = [to_wire(value, storages).layout for value in values if torch.is_tensor(value)]
    assert [layout.storage for layout in told] == [0, 0, 0, 1, 0]
    assert told[1] == Layout(0, 4, (4, 2), 1)
    assert told[2] == Layout(0, 0, (1, 4), 2)


def test_a_view_of_a_whole_tensor_is_another_object() -> None:
    base, storages = torch.arange(6.0).reshape(2, 3), Storages()
    view = base[:]
    told = to_wire([base, view, base], storages)
    assert [one.layout for one in told] == [Layout(0, 0, (3, 1), n) for n in (0, 1, 0)]


def test_empty_tensors_share_nothing() -> None:
    storages = Storages()
    one, other = torch.empty(0), torch.empty(0)
    assert to_wire((one, other, one), storages)[0].layout != to_wire(other, storages).layout
