"""Programs on a timeline, with arithmetic and without."""

from __future__ import annotations

import math
import time
import timeit
from types import ModuleType

import pytest
import torch

from grader.vgpu import installed, virtual_gpus
from grader.vgpu.timeline import afterwards, on_timeline, profile
from grader.vgpu.timeline import report as pictures


@pytest.fixture(autouse=True)
def _gpus():
    with virtual_gpus(2):
        yield


def net() -> torch.nn.Module:
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(inplace=True),
        torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Dropout(), torch.nn.Linear(8 * 49, 10),
    )  # fmt: skip


def step(device: str = "cuda:0") -> torch.Tensor:
    torch.manual_seed(1)
    model = net().to(device)
    optimizer = torch.optim.Adam(model.parameters())
    images, labels = torch.ones(4, 3, 16, 16), torch.zeros(4, dtype=torch.long)
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    return loss


def kernels() -> list[tuple[str, str, int, int]]:
    machine = installed()
    assert machine is not None
    return [
        (event.op, event.device, event.flops, event.bytes)
        for event in machine.trace.events
        if hasattr(event, "flops")
    ]


def test_events_agree_with_the_timeline() -> None:
    with on_timeline("t4") as line:
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        x = torch.ones(256, 256, device="cuda")
        first.record()
        x = x @ torch.mm(x, x)
        last.record()
        last.synchronize()
        ones, *_, product = line.line.spans
        assert (ones.what, product.what) == ("ones", "mm")
        assert first.elapsed_time(last) == pytest.approx(1e3 * (product.end - ones.end))
        assert line.line.now == line.elapsed
    assert float(x[0, 0]) == 256**2


def test_without_arithmetic_the_same_runs_in_the_same_time() -> None:
    machine = installed()
    assert machine is not None
    with on_timeline("t4") as line:
        assert torch.isfinite(step())
    computed, times = kernels(), line.elapsed
    machine.trace.clear()
    with on_timeline("t4", arithmetic=False) as line:
        step()
    assert kernels() == computed[: len(kernels())]
    # What isfinite has done is not there.
    assert line.elapsed == pytest.approx(times, rel=0.05)
    assert {event[0] for event in computed[len(kernels()) :]} <= {
        "abs",
        "eq",
        "ne",
        "mul",
        "_to_copy",
    }


def test_without_arithmetic_a_number_is_nan_and_is_waited_for() -> None:
    with on_timeline("v100", arithmetic=False) as line:
        x = torch.ones(4096, 4096, device="cuda")
        product = torch.mm(x, x)
        before = line.line.now
        value = product.sum().item()
        assert math.isnan(value)
        assert isinstance(value, float)
        assert line.line.now > before + 0.005
        assert torch.isnan(product.cpu()).all()
        assert not product.is_meta
        assert product.device == torch.device("cuda:0")
        assert "device='cuda:0'" in repr(product)
        assert x.argmax().item() == 0


def test_without_arithmetic_memory_counts_and_runs_out() -> None:
    installed().uninstall()
    with virtual_gpus(1, memory=2**20), on_timeline("t4", arithmetic=False):
        kept = torch.empty(2**17, device="cuda")
        assert torch.cuda.memory_allocated() == kept.numel() * 4
        with pytest.raises(torch.OutOfMemoryError, match="Tried to allocate"):
            torch.ones(2**18, device="cuda")


def test_without_arithmetic_shapes_that_do_not_fit_are_refused() -> None:
    with on_timeline("t4", arithmetic=False):
        x = torch.ones(2, 3, device="cuda")
        with pytest.raises(RuntimeError, match="must have same reduction dim"):
            torch.mm(x, x)
        with pytest.raises(RuntimeError, match="same device"):
            x + torch.ones(2, 3, device="cuda:1")
        with pytest.raises(NotImplementedError, match="depends on the elements"):
            x.nonzero()


def test_draws_and_writes_work_without_arithmetic() -> None:
    with on_timeline("t4", arithmetic=False):
        x = torch.randn(3, 4, device="cuda", generator=torch.Generator("cuda"))
        x.normal_().add_(1.0)
        x[0] = 2.0
        x.copy_(torch.ones(3, 4))
        host = torch.ones(3, 4)
        host.copy_(x)
        assert torch.zeros_like(x, device="cuda:1").device.index == 1
        assert torch.nn.functional.dropout(x).shape == (3, 4)
        assert x.t()[1:].shape == (3, 3)
        assert (x.sum(0, keepdim=True) * 1).dtype == (x.sum(0, keepdim=True) * 1.0).dtype
        assert (x.long() * 1).dtype is torch.int64
        assert (x.long() * 1.0).dtype is torch.float32


def test_the_hosts_clocks_tell_its_time_where_they_are_held() -> None:
    module = ModuleType("student")
    module.clock = time.perf_counter  # type: ignore[attr-defined]
    own = time.perf_counter
    with on_timeline("v100", arithmetic=False, clocks=[module]):
        start, held = time.perf_counter(), module.clock()
        (torch.ones(4096, 4096, device="cuda") @ torch.ones(4096, 4096, device="cuda")).sum()
        launched = time.perf_counter() - start
        torch.cuda.synchronize()
        done = module.clock() - held
    assert launched < 1e-3
    assert 5e-3 < done < 2e-2
    assert time.perf_counter is own
    assert module.clock is own


def test_laps_begin_and_end_with_idle_devices() -> None:
    with on_timeline("t4", arithmetic=False) as line:
        x = torch.ones(2048, 2048, device="cuda")
        with line.lap() as first:
            y = torch.mm(x, x)
        with line.lap() as second:
            y @ y
    assert first.elapsed == pytest.approx(second.elapsed)
    assert first.report["devices"]["cuda:0"]["kernels"] == 1
    assert first.report["profile"] == "t4"


def test_a_timeline_needs_virtual_devices_and_is_the_only_one() -> None:
    with on_timeline("t4"), pytest.raises(RuntimeError, match="already"):
        on_timeline(profile("t4")).__enter__()
    installed().uninstall()
    with pytest.raises(RuntimeError, match="needs virtual GPUs"):
        on_timeline("t4")


def test_timeit_tells_its_time_too() -> None:
    own = timeit.Timer.__init__
    with on_timeline("v100", arithmetic=False):
        x = torch.ones(4096, 4096, device="cuda")
        names = {"x": x, "torch": torch}
        run = "(x @ x).sum().item()"
        first, second = timeit.repeat(run, number=1, repeat=2, globals=names)
        assert timeit.timeit(run, globals=names, number=2) == pytest.approx(2 * second, rel=0.01)
        assert timeit.Timer(run, globals=names, timer=lambda: 7.0).timeit(1) == 0
    assert first == pytest.approx(second, rel=0.01)
    assert 5e-3 < first < 2e-2
    assert timeit.Timer.__init__ is own


def test_what_was_made_without_arithmetic_is_refused_where_it_is_done() -> None:
    with on_timeline("t4", arithmetic=False):
        blank = torch.ones(3, device="cuda")
    for use in (
        lambda: blank + 1, blank.sum, blank[0].item, blank.cpu, blank.tolist,
        lambda: blank.to("cuda:1"), lambda: torch.zeros(3, device="cuda").copy_(blank),
    ):  # fmt: skip
        with pytest.raises(NotImplementedError, match=r"was made without arithmetic|meta tensor"):
            use()
    assert blank.view(1, 3).shape == (1, 3)
    assert "..." in repr(blank)


def test_a_clock_that_was_imported_meanwhile_is_the_hosts_again() -> None:
    module, own = ModuleType("student"), time.perf_counter
    with on_timeline("t4", clocks=[module]):
        exec("from time import monotonic_ns, perf_counter as clock", vars(module))
        assert vars(module)["clock"] is not own
    assert vars(module)["clock"] is own
    assert vars(module)["monotonic_ns"] is time.monotonic_ns


def test_an_event_of_before_the_timeline_is_told() -> None:
    early, late = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    early.record()
    with on_timeline("t4"):
        late.record()
        with pytest.raises(RuntimeError, match="recorded before the timeline began"):
            early.elapsed_time(late)


def test_a_trace_can_be_laid_out_afterwards() -> None:
    machine = installed()
    assert machine is not None
    with on_timeline("v100") as line, line.lap() as lap:
        step()
    assert afterwards(machine.trace.events, profile("v100"), machine.names) == lap.report


def test_a_lap_in_a_notebook_is_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    with on_timeline("t4", arithmetic=False) as line:
        with line.lap() as lap:
            torch.ones(2048, 2048, device="cuda")
        with line.lap() as idle:
            pass
    assert repr(lap).startswith("<lap of 0.0")
    assert 'alt="On NVIDIA T4"' in str(lap._repr_html_())
    assert idle._repr_html_() is None
    monkeypatch.setattr(pictures, "find_spec", lambda _: None)
    assert lap._repr_html_() is None
