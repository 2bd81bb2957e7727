"""A trace added up: kernels, copies, memory, waits; and where a model's tensors lie."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from grader.vgpu import virtual_gpus
from grader.vgpu.core.tensor import placement
from grader.vgpu.core.trace import Allocation, Kernel, Release, Synchronisation, Transfer
from grader.vgpu.recording.summary import MOST_KERNELS, MOST_TRANSFERS, summarise, watching


def rows(report, key, *names):
    return [tuple(row[name] for name in names) for row in report[key]]


def test_kernels_are_added_up_by_operation_and_device() -> None:
    events = [
        Kernel("mm", "cuda:0", 10, 4),
        Kernel("mm", "cuda:0", 5, 2),
        Kernel("mm", "cuda:1", 1, 1),
        Kernel("add", "cuda:0", 7, 3),
    ]
    report = summarise(events).report({}, real=False)
    assert rows(report, "kernels", "op", "device", "count", "flops", "bytes") == [
        ("mm", "cuda:0", 2, 15, 6),
        ("add", "cuda:0", 1, 7, 3),
        ("mm", "cuda:1", 1, 1, 1),
    ]


def test_of_very_many_kernels_the_heaviest_are_told() -> None:
    events = [Kernel(f"op{n}", "cuda:0", n, 0) for n in range(MOST_KERNELS + 5)]
    told = rows(summarise(events).report({}, real=True), "kernels", "flops")
    assert (len(told), told[0], told[-1]) == (MOST_KERNELS, (MOST_KERNELS + 4,), (5,))


def test_copies_are_added_up_by_route_and_the_first_are_told_one_by_one() -> None:
    events = [Transfer("cpu", "cuda:0", 4, True, (1,)) for _ in range(MOST_TRANSFERS + 1)]
    events.append(Transfer("cuda:0", "cpu", 8, True, (2, 1), parameter=True))
    report = summarise(events).report({}, real=False)
    assert rows(report, "transfers", "source", "target", "count", "bytes", "parameters") == [
        ("cpu", "cuda:0", MOST_TRANSFERS + 1, 4 * MOST_TRANSFERS + 4, 0),
        ("cuda:0", "cpu", 1, 8, 1),
    ]
    assert len(report["each"]) == MOST_TRANSFERS
    assert report["each"][0]["shape"] == [1]


def test_waits_are_counted_by_device() -> None:
    events = [Synchronisation("cuda:1", "item"), Synchronisation("cuda:1", "print")]
    assert summarise(events).report({}, real=False)["synchronisations"] == {"cuda:1": 2}


def test_the_peak_is_of_these_events_alone() -> None:
    events = [
        Allocation("cuda:0", 100, 1),
        Release("cuda:0", 100, 1),
        Allocation("cuda:1", 999, 2),
        Allocation("cuda:0", 50, 3),
        Release("cuda:0", 20, 0),
    ]
    held = summarise(events).held("cuda:0", 330, 1000)
    assert (held.before, held.after, held.peak, held.limit) == (300, 330, 400, 1000)
    assert (held.allocations, held.allocated) == (2, 150)


def test_a_watch_sees_its_own_block_and_may_stand_in_another() -> None:
    with virtual_gpus(2) as machine:
        before = torch.ones(1000, device="cuda:1")
        with watching() as outer:
            first = torch.ones(8, 8, device="cuda:0")
            large = torch.zeros(10_000, device="cuda:0")
            del large
            with watching() as inner:
                second = (first @ first).to("cuda:1")
        assert machine.memory(0).live
    assert rows(inner.report, "kernels", "op", "device", "flops") == [("mm", "cuda:0", 1024)]
    assert rows(inner.report, "transfers", "source", "target") == [("cuda:0", "cuda:1")]
    assert inner.report["each"] == [
        {"source": "cuda:0", "target": "cuda:1", "bytes": 256, "shape": [8, 8], "parameter": False}
    ]
    assert inner.report["memory"]["cuda:0"]["peak"] < 10_000
    assert outer.report["memory"]["cuda:0"]["peak"] > 40_000
    assert outer.report["memory"]["cuda:1"]["before"] == 4096
    assert inner.report["devices"] == ["cuda:0", "cuda:1"]
    assert inner.report["real"] is False
    assert second.shape == (8, 8)
    assert before is not None


def test_parameters_that_are_copied_are_told_from_other_tensors() -> None:
    with virtual_gpus(1):
        layer = nn.Linear(3, 2)
        with watching() as seen:
            layer.cuda()(torch.ones(1, 3).cuda())
    assert rows(seen.report, "transfers", "count", "parameters") == [(3, 2)]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU to watch")
def test_without_a_gpu_there_is_nothing_to_watch() -> None:
    with pytest.raises(RuntimeError, match="no GPU to watch"):
        watching()


def test_everything_of_a_model_is_placed() -> None:
    with virtual_gpus(2):
        model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3).cuda(1))
        model[0].cuda(0)
        out = model[1](model[0](torch.ones(2, 4).cuda()).to("cuda:1"))
        out.sum().backward()
        told = placement(model, {"logits": [out, 3], "left": out.cpu()})
    assert told["0.weight"] == {
        "kind": "parameter", "device": "cuda:0", "shape": [3, 4], "bytes": 48,
        "requires_grad": True,
    }  # fmt: skip
    assert told["0.weight.grad"]["device"] == "cuda:0"
    assert told["0.weight.grad"]["kind"] == "gradient"
    assert told["1.running_mean"] == {
        "kind": "buffer", "device": "cuda:1", "shape": [3], "bytes": 12, "requires_grad": False,
    }  # fmt: skip
    assert told["output[logits][0]"]["device"] == "cuda:1"
    assert told["output[left]"]["device"] == "cpu"
    assert {item["kind"] for item in told.values()} == {
        "parameter", "gradient", "buffer", "output",
    }  # fmt: skip


def test_a_tensor_alone_is_the_output() -> None:
    assert placement(None, torch.zeros(2))["output"]["device"] == "cpu"
    assert placement(None) == {}


def test_a_subclass_with_a_device_of_its_own_is_where_its_elements_are() -> None:
    class Liar(torch.Tensor):
        @property
        def device(self):
            return torch.device("cuda:0")

    told = placement(None, torch.zeros(2).as_subclass(Liar))
    assert told["output"]["device"] == "cpu"
