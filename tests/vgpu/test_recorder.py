"""What real GPUs do, tried on the CPU: tensors called ``cuda:0``, and memory that is told."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from grader.vgpu import virtual_gpus
from grader.vgpu.core.trace import Synchronisation, Transfer
from grader.vgpu.recording.summary import RecordedOperations, Recorder, Summary, summarise, watching


def train_step() -> None:
    """A step of a small net, on whatever device factories use."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(72, 5))
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for _ in range(2):
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(net(torch.ones(4, 1, 8, 8)), torch.arange(4))
        loss.backward()
        optimiser.step()
    loss.item()


def work(summary: Summary, name: str) -> dict[str, tuple[int, int]]:
    return {
        op: (item.count, item.flops)
        for (op, device), item in summary.work.items()
        if device == name and item.flops
    }


def test_real_and_virtual_gpus_are_told_alike() -> None:
    with RecordedOperations(lambda _: "cuda:0") as seen:
        train_step()
    real = summarise(seen.events)
    with virtual_gpus(1) as machine, torch.device("cuda"):
        train_step()
        virtual = summarise(machine.trace.events)
    expected = work(virtual, "cuda:0")
    assert {"convolution", "addmm", "mm"} <= expected.keys()
    assert work(real, "cuda:0") == expected
    assert real.waits == {"cuda:0": 1}


def name_of(tensor: torch.Tensor) -> str:
    """Meta tensors stand for those on a GPU: the one other device of every machine."""
    return "cuda:0" if tensor.is_meta else "cpu"


def test_copies_have_a_direction_and_know_parameters() -> None:
    layer = nn.Linear(3, 2, bias=False)
    with RecordedOperations(name_of) as seen:
        there = layer.to("meta")
        torch.ones(4).to("meta")
        torch.empty(4, device="meta").copy_(torch.ones(4))
        torch.ones(4).copy_(torch.ones(4))
        torch.ones(2).to(torch.float64)
        there(torch.ones(1, 3, device="meta"))
    copies = [event for event in seen.events if isinstance(event, Transfer)]
    assert [(item.source, item.target, item.bytes, item.parameter) for item in copies] == [
        ("cpu", "cuda:0", 24, True),
        ("cpu", "cuda:0", 16, False),
        ("cpu", "cuda:0", 16, False),
    ]
    assert copies[0].shape == (2, 3)
    assert ("mm", "cuda:0") in summarise(seen.events).work


def test_a_number_that_is_asked_for_makes_the_host_wait() -> None:
    with RecordedOperations(lambda _: "cuda:0") as seen:
        torch.ones(1).item()
    assert [event for event in seen.events if isinstance(event, Synchronisation)]


class FakeMemory:
    """Memory of two GPUs, as ``torch.cuda`` tells of it."""

    def __init__(self) -> None:
        self.live, self.peak, self.taken = [100, 0], [100, 0], [1, 0]

    def take(self, ordinal: int, size: int) -> None:
        self.live[ordinal] += size
        self.peak[ordinal] = max(self.peak[ordinal], self.live[ordinal])
        self.taken[ordinal] += size > 0

    def stats(self, ordinal: int) -> dict[str, int]:
        return {
            "allocated_bytes.all.current": self.live[ordinal],
            "allocation.all.allocated": self.taken[ordinal],
            "allocated_bytes.all.allocated": 10 * self.taken[ordinal],
        }

    def reset(self, ordinal: int) -> None:
        self.peak[ordinal] = self.live[ordinal]


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeMemory]:
    fake = FakeMemory()
    for name, function in {
        "is_available": lambda: True,
        "device_count": lambda: 2,
        "synchronize": lambda _: None,
        "memory_stats": fake.stats,
        "max_memory_allocated": lambda ordinal: fake.peak[ordinal],
        "reset_peak_memory_stats": fake.reset,
        "get_device_properties": lambda _: SimpleNamespace(total_memory=5000),
    }.items():
        monkeypatch.setattr(torch.cuda, name, function)
    return fake


def test_memory_is_told_by_device(memory: FakeMemory) -> None:
    with watching() as seen:
        memory.take(0, 50)
        memory.take(0, -60)
        memory.take(1, 7)
    assert seen.report["real"] is True
    assert seen.report["memory"] == {
        "cuda:0": {"before": 100, "after": 90, "peak": 150, "limit": 5000,
                   "allocations": 1, "allocated": 10},
        "cuda:1": {"before": 0, "after": 7, "peak": 7, "limit": 5000,
                   "allocations": 1, "allocated": 10},
    }  # fmt: skip


def test_an_inner_recorder_does_not_take_the_outer_ones_peak(memory: FakeMemory) -> None:
    with Recorder() as outer:
        memory.take(0, 500)
        memory.take(0, -500)
        with Recorder() as inner:
            memory.take(0, 20)
    assert inner.report()["memory"]["cuda:0"]["peak"] == 120
    assert outer.report()["memory"]["cuda:0"]["peak"] == 600


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a real GPU")
def test_a_real_gpu_is_watched() -> None:
    x, w = torch.rand(64, 128), torch.rand(128, 32)
    torch.mm(x.cuda(), w.cuda())
    with watching() as seen:
        torch.mm(x.cuda(), w.cuda()).cpu()
    report = seen.report
    assert [(row["op"], row["device"], row["flops"]) for row in report["kernels"]] == [
        ("mm", "cuda:0", 2 * 64 * 128 * 32)
    ]
    assert [(row["source"], row["target"], row["count"]) for row in report["transfers"]] == [
        ("cpu", "cuda:0", 2),
        ("cuda:0", "cpu", 1),
    ]
    assert report["memory"]["cuda:0"]["peak"] >= 4 * (64 * 128 + 128 * 32 + 64 * 32)
