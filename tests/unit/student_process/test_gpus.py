"""A process that is promised GPUs has virtual ones, tells what they did, and believes no
impostor."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.checks.arrays import to_numpy
from grader.student_process.server import Session
from grader.student_process.tensors import to_torch, to_wire
from grader.vgpu import virtual_gpus
from grader.vgpu.core.machine import installed
from grader.vgpu.core.tensor import VirtualTensor
from grader.wire.messages import MODULE as MODULE_HANDLE
from grader.wire.messages import Call, CallbackRequest, Load, Reply, Request, Response
from grader.wire.values import ActorHandle, Layout, Tensor

MODULE = b"""
import torch

COUNT = torch.cuda.device_count()

def count():
    return COUNT

def product(x, w):
    return torch.mm(x.cuda(), w.cuda())

def dropped(x, w):
    torch.mm(x.cuda(), w.cuda())
    return torch.mm(x, w)

def dropped_in_numpy(x, w):
    torch.mm(x.cuda(), w.cuda())
    return torch.from_numpy(x.numpy() @ w.numpy())

def through_numpy(x, w):
    return torch.from_numpy(torch.mm(x.cuda(), w.cuda()).cpu().numpy())

def through_a_list(x, w):
    return torch.tensor(torch.mm(x.cuda(), w.cuda()).tolist())

def through_numbers(x, w):
    product = torch.mm(x.cuda(), w.cuda())
    return torch.tensor([[entry.item() for entry in row] for row in product])

def through_a_copy(x, w):
    product = torch.empty(2, 1)
    product[...] = torch.mm(x.cuda(), w.cuda())
    return product

def as_an_array(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu().numpy()

def in_a_form_without_a_log(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu().to_sparse()

def device_of(x):
    return str(x.device)

def too_much():
    return torch.zeros(2**19, device="cuda:1")
"""
GIVEN = """
import torch

from grader.student_process.api import placement, watching

def placed(student):
    with watching() as seen:
        out = student.product(torch.ones(2, 3), torch.ones(3, 2))
    return {"trace": seen.report, "placement": placement(torch.nn.Linear(2, 1).cuda(), out)}
"""
X = Tensor("float32", (2, 3), bytearray(torch.arange(6.0).numpy().tobytes()))
W = Tensor("float32", (3, 1), bytearray(torch.ones(3).numpy().tobytes()))


def no_line(back: CallbackRequest) -> Response:
    raise AssertionError(back)


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    monkeypatch.setattr("sys.meta_path", [*__import__("sys").meta_path])

    def session(**gpus: int) -> Session:
        made = Session(tmp_path, no_line)
        loaded = made.load(Load({"work.py": MODULE}, "work.py", given=GIVEN, **gpus))
        assert loaded.fault is None
        return made

    yield session
    machine = installed()
    if machine is not None:
        machine.uninstall()


def call(session: Session, entry: str, *args: Any, **fields: Any) -> Reply:
    return session.call(Call(entry, args, **fields))


def test_gpus_are_there_before_the_hand_in_is_imported(load: Any) -> None:
    assert call(load(gpus=2), "count").value == 2


def test_without_them_a_process_has_what_the_machine_has(load: Any) -> None:
    assert call(load(), "count").value == torch.cuda.device_count()
    assert installed() is None


def test_results_cross_with_their_device(load: Any) -> None:
    value = call(load(gpus=1), "product", X, W).value
    assert value.device == "cuda:0"
    assert to_numpy(value).tolist() == [[3], [12]]


def test_inputs_are_made_where_they_are_said_to_be(load: Any) -> None:
    there = Tensor("float32", (2, 3), X.data, device="cuda:1")
    assert call(load(gpus=2), "device_of", there).value == "cuda:1"


def test_the_probe_tells_of_one_call_alone(load: Any) -> None:
    session = load(gpus=1)
    for _ in range(2):
        told = call(session, "product", X, W, probes=("devices",)).probes["devices"]
        assert [(row["op"], row["count"]) for row in told["kernels"]] == [("mm", 1)]
        assert [(row["source"], row["count"]) for row in told["transfers"]] == [("cpu", 2)]
    assert call(session, "product", X, W).probes == {}


@pytest.mark.parametrize("entry", ["dropped", "dropped_in_numpy"])
def test_work_that_a_result_does_not_come_from_is_left_out(load: Any, entry: str) -> None:
    told = call(load(gpus=1), entry, X, W, probes=("devices",)).probes["devices"]
    assert told["kernels"] == []
    assert told["dropped"] == 12
    assert [(row["source"], row["count"]) for row in told["transfers"]] == [("cpu", 2)]


@pytest.mark.parametrize(
    "entry",
    [
        "product", "through_numpy", "through_a_list", "through_numbers", "through_a_copy",
        "as_an_array", "in_a_form_without_a_log",
    ],
)  # fmt: skip
def test_work_that_a_result_comes_from_counts_on_whatever_way(load: Any, entry: str) -> None:
    told = call(load(gpus=1), entry, X, W, probes=("devices",)).probes["devices"]
    assert [row["flops"] for row in told["kernels"] if row["op"] == "mm"] == [12]


def test_memory_is_bounded_as_the_question_says(load: Any) -> None:
    fault = call(load(gpus=2, gpu_memory_mb=1), "too_much").fault
    assert fault.type == "OutOfMemoryError"
    assert "CUDA out of memory" in fault.message


def test_given_code_watches_and_places(load: Any) -> None:
    value = load(gpus=1).ask(Request("given", "placed", args=(ActorHandle(MODULE_HANDLE),))).value
    assert [row["op"] for row in value["trace"]["kernels"]] == ["mm"]
    assert value["placement"]["output"]["device"] == "cuda:0"
    assert value["placement"]["weight"]["kind"] == "parameter"


class Liar(torch.Tensor):
    """Says that it is on a GPU."""

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return torch.device("cuda:0")


def test_a_device_that_a_subclass_makes_up_is_not_believed() -> None:
    assert to_wire(torch.ones(2).as_subclass(Liar)).device == "cpu"


def test_nor_is_a_subclass_of_the_real_thing() -> None:
    class Child(VirtualTensor):
        pass

    with virtual_gpus(1):
        tensor = torch.Tensor._make_subclass(Child, torch.ones(2))
        tensor.ordinal = 3
        assert to_wire(tensor).device == "cpu"


def test_gradients_and_layouts_of_device_tensors_cross_too() -> None:
    from grader.student_process.tensors import Storages  # noqa: PLC0415

    with virtual_gpus(1):
        x = torch.arange(6.0, device="cuda").reshape(2, 3).requires_grad_()
        assert to_wire(x).requires_grad
        assert to_wire(torch.nn.Parameter(x.detach())).device == "cuda:0"
        storages = Storages()
        whole, column = to_wire([x.detach(), x.detach()[:, 1]], storages)
    assert (whole.layout, column.layout) == (Layout(0, 0, (3, 1)), Layout(0, 1, (3,), 1))
    assert to_numpy(column).tolist() == [1, 4]


def test_an_input_on_a_gpu_that_is_not_there_is_an_error() -> None:
    with virtual_gpus(1), pytest.raises(RuntimeError, match="invalid device ordinal"):
        to_torch(Tensor("float32", (1,), b"\0\0\0\0", device="cuda:1"), {})
