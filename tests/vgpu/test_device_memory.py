"""Device memory: live, peak, the limit, and the lesson of an 8 GB card."""

from __future__ import annotations

import gc
import threading

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from grader.vgpu import virtual_gpus
from grader.vgpu.core.machine import rounded
from grader.vgpu.core.trace import Allocation, Release
from grader.vgpu.processes import in_ranks


def test_blocks_are_rounded_up() -> None:
    assert [rounded(size) for size in (0, 1, 512, 513)] == [0, 512, 512, 1024]


def test_a_storage_counts_once_however_many_look_at_it() -> None:
    with virtual_gpus(1) as machine:
        x = torch.zeros(1000, device="cuda")
        views = [x[1:], x.view(10, 100), x.detach(), x.t(), nn.Parameter(x)]
        assert machine.memory(0).live == 4096
        del x
        assert machine.memory(0).live == 4096
        views.clear()
        assert machine.memory(0).live == 0


def test_the_peak_is_the_most_at_one_time() -> None:
    with virtual_gpus(1) as machine:
        for _ in range(3):
            torch.zeros(128, device="cuda")
        kept = torch.zeros(128, device="cuda") + 1
        assert machine.memory(0).peak == 1024
        machine.memory(0).reset_peak()
        assert machine.memory(0).peak == machine.memory(0).live == 512
        del kept


def test_each_device_has_its_own() -> None:
    with virtual_gpus(2) as machine:
        x = torch.zeros(128, device="cuda:0")
        y = x.to("cuda:1")
        assert [machine.memory(each).live for each in (0, 1)] == [512, 512]
        del x
        assert [machine.memory(each).live for each in (0, 1)] == [0, 512]
        del y


def test_in_place_takes_nothing_and_growing_counts_again() -> None:
    with virtual_gpus(1) as machine:
        x = torch.zeros(128, device="cuda")
        x.add_(1).mul_(2)
        assert machine.memory(0).live == 512
        x.resize_(1024)
        assert machine.memory(0).live == 4096


def test_training_gives_back_all_it_took() -> None:
    with virtual_gpus(2) as machine:
        first, second = nn.Linear(8, 8).to("cuda:0"), nn.Linear(8, 2).to("cuda:1")
        optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()])
        for _ in range(2):
            optimizer.zero_grad()
            second(first(torch.randn(4, 8).to("cuda:0")).to("cuda:1")).sum().backward()
            optimizer.step()
        steady = machine.memory(0).live
        optimizer.zero_grad()
        assert machine.memory(0).live < steady
        del first, second, optimizer
        gc.collect()
        assert [machine.memory(each).live for each in (0, 1)] == [0, 0]
        taken, given = machine.trace.of(Allocation), machine.trace.of(Release)
        assert sorted(event.block for event in taken) == sorted(event.block for event in given)


def test_threads_lose_no_byte() -> None:
    def work(device: str) -> None:
        for size in range(1, 100):
            (torch.ones(size, device=device) * 2).sum()

    with virtual_gpus(2) as machine:
        threads = [threading.Thread(target=work, args=(f"cuda:{n % 2}",)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [machine.memory(each).live for each in (0, 1)] == [0, 0]


def test_a_full_device_raises_and_takes_nothing() -> None:
    with virtual_gpus(1, memory=4096) as machine:
        kept = torch.zeros(512, device="cuda")
        with pytest.raises(torch.OutOfMemoryError):
            torch.zeros(513, device="cuda")
        with pytest.raises(torch.cuda.OutOfMemoryError):
            torch.cat([kept, kept])
        assert machine.memory(0).live == 2048
        torch.zeros(512, device="cuda").add_(kept)
        free, total = torch.cuda.mem_get_info()
        assert (free, total) == (2048, 4096)
        assert torch.cuda.get_device_properties(0).total_memory == 4096


def test_one_full_device_leaves_the_other_alone() -> None:
    with virtual_gpus(2, memory=1024):
        kept = torch.zeros(256, device="cuda:0")
        with pytest.raises(RuntimeError, match="GPU 0 has a total capacity of 1024 bytes"):
            kept + 1
        assert kept.to("cuda:1").device.index == 1


@pytest.mark.parametrize("name", [
    "memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved",
])  # fmt: skip
def test_torch_answers_with_the_same_numbers(name: str) -> None:
    with virtual_gpus(2):
        kept = torch.zeros(1000, device="cuda:1")
        assert getattr(torch.cuda, name)(1) == getattr(torch.cuda, name)("cuda:1") == 4096
        assert getattr(torch.cuda, name)() == 0
        assert torch.cuda.memory_stats(1)["allocated_bytes.all.current"] == 4096
        assert "4096 B" in torch.cuda.memory_summary(1)
        del kept


class Blocks(nn.Module):
    """Like the seed's network in what matters: each layer keeps its output for the way back."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(*[nn.Conv2d(3, 3, 1) for _ in range(8)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def test_the_lesson_of_the_full_card() -> None:
    """As in the seed: too large a batch for one card; half of the layers on another, and it fits.

    The card has 8 GB there. Here it has 8 MB, and all sizes are a thousandth, so that the lesson
    costs no 8 GB of this machine: what is counted is what torch would take.
    """
    batch = torch.ones(20, 3, 70, 70)
    with virtual_gpus(2, memory=8 * 2**20):
        model = Blocks().to("cuda:0")
        with pytest.raises(torch.OutOfMemoryError, match="CUDA out of memory") as caught:
            model(batch.to("cuda:0"))
        assert "Tried to allocate 1.12 MiB. GPU 0 has a total capacity of 8.00 MiB" in str(
            caught.value
        )
        # A traceback holds its frames, and they hold the activations.
        del caught
        gc.collect()
        halves = model.layers[:4], model.layers[4:].to("cuda:1")
        out = halves[1](halves[0](batch.to("cuda:0")).to("cuda:1"))
        out.sum().backward()
        assert max(torch.cuda.max_memory_allocated(each) for each in (0, 1)) <= 8 * 2**20


def test_eight_gigabytes_by_their_number_alone() -> None:
    """The seed's card: 8.00 GiB, 20.00 MiB too much, in today's torch's words."""
    with virtual_gpus(1, memory=8 * 2**30) as machine:
        # As though that much were live: nobody has to hold it.
        machine.memory(0).live = 8 * 2**30 - int(16.65 * 2**20)
        with pytest.raises(torch.OutOfMemoryError) as caught:
            torch.empty(5 * 2**20, device="cuda")
        assert str(caught.value).startswith(
            "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of "
            "8.00 GiB of which 16.65 MiB is free. "
        )


@pytest.mark.parametrize(
    ("size", "block"),
    [
        (16_000_000, 16_777_216),  # 0.74 MiB would remain of a segment of 16 MiB: it is not cut off
        (15 * 2**20, 16 * 2**20),  # 1 MiB would: not more, so neither
        (15 * 2**20 - 512, 15 * 2**20 - 512),
        (64 * 2**20, 64 * 2**20),
        (9_999_999, 10_000_384),  # shares a segment of 20 MiB with others
    ],
)
def test_a_large_block_is_not_split_for_little(
    size: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with virtual_gpus(1):
        x = torch.empty(size, dtype=torch.uint8, device="cuda")
        assert torch.cuda.memory_allocated() == block
        del x
        assert torch.cuda.memory_allocated() == 0
    monkeypatch.setenv("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
    with virtual_gpus(1):
        x = torch.empty(size, dtype=torch.uint8, device="cuda")
        assert torch.cuda.memory_allocated() == -(-size // 512) * 512
        del x


@pytest.mark.parametrize(("as_views", "trained"), [(False, 9), (True, 6)])
def test_buckets_of_gradients_take_memory_before_the_first_of_them(
    as_views: bool, trained: int
) -> None:
    """Three layers of a MiB, their buckets, and their gradients where these are no views."""

    def work(_: int) -> list[int]:
        dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
        model = nn.Sequential(*[nn.Linear(512, 512, bias=False) for _ in range(3)]).cuda()
        sizes = [torch.cuda.memory_allocated()]
        spread = DistributedDataParallel(model, bucket_cap_mb=1, gradient_as_bucket_view=as_views)
        sizes.append(torch.cuda.memory_allocated())
        for _ in range(3):  # the second time there are other buckets
            out = spread(torch.ones(1, 512, device="cuda")).sum()
            during = torch.cuda.memory_allocated()
            out.backward()
            sizes += [during, torch.cuda.memory_allocated()]
            del out
            model.zero_grad()
        return [size >> 20 for size in sizes]

    with virtual_gpus(1):
        (sizes,) = in_ranks(1, work, __file__)
    assert sizes == [3, 6, *(6, trained) * 3]
