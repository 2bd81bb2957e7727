"""What is taken down: kernels, transfers, waits, streams, phases, threads."""

from __future__ import annotations

import threading

import pytest
import torch
from torch import nn

from grader.vgpu import virtual_gpus
from grader.vgpu.core.trace import (
    Allocation,
    Kernel,
    Mark,
    Release,
    Synchronisation,
    Trace,
    TraceEvent,
    Transfer,
)


def kernels(trace: Trace) -> list[tuple[str, str]]:
    return [(event.op, event.device) for event in trace.of(Kernel)]


def test_kernels_say_what_ran_where() -> None:
    with virtual_gpus(2) as machine:
        a = torch.ones(4, 8, device="cuda:1")
        machine.trace.clear()
        a @ a.t()
        (product,) = machine.trace.of(Kernel)
        assert (product.op, product.device, product.flops) == ("mm", "cuda:1", 2 * 4 * 8 * 4)
        assert product.bytes == 4 * (4 * 8 + 8 * 4 + 4 * 4)


def test_views_and_moves_are_no_kernels() -> None:
    with virtual_gpus(1) as machine:
        a = torch.ones(4, 8).cuda()
        a.t(), a[0], a.view(-1), a.detach(), a.cpu(), torch.empty_like(a)
        assert kernels(machine.trace) == []


def test_factories_that_write_are_kernels() -> None:
    with virtual_gpus(1) as machine:
        torch.empty(3, device="cuda")
        torch.zeros(3, device="cuda")
        assert kernels(machine.trace) == [("zeros", "cuda:0")]


def test_transfers_have_ends_bytes_and_shape() -> None:
    with virtual_gpus(2) as machine:
        weight = nn.Parameter(torch.ones(4, 8))
        weight.to("cuda:0").to("cuda:1").cpu()
        torch.ones(2, device="cuda:0").copy_(torch.ones(2))
        seen = [(t.source, t.target, t.bytes, t.shape) for t in machine.trace.of(Transfer)]
        assert seen == [
            ("cpu", "cuda:0", 128, (4, 8)), ("cuda:0", "cuda:1", 128, (4, 8)),
            ("cuda:1", "cpu", 128, (4, 8)), ("cpu", "cuda:0", 8, (2,)),
        ]  # fmt: skip
        assert [t.parameter for t in machine.trace.of(Transfer)] == [True, False, False, False]


def test_where_the_host_waits() -> None:
    with virtual_gpus(1) as machine:
        x = torch.ones(3)
        x.cuda()
        x.cuda(non_blocking=True)
        x.pin_memory().cuda(non_blocking=True)
        x.pin_memory().cuda()
        assert [t.blocking for t in machine.trace.of(Transfer)] == [True, True, False, True]


def test_a_dtype_changes_before_the_journey() -> None:
    with virtual_gpus(1) as machine:
        torch.ones(4, dtype=torch.float64).to("cuda", torch.float32)
        assert [t.bytes for t in machine.trace.of(Transfer)] == [16]


@pytest.mark.parametrize(("call", "why"), [
    (lambda x: x.sum().item(), "item"), (lambda x: float(x[0]), "item"),
    (lambda x: bool(x[0] > 0), "item"), (lambda x: x[x > 0], "nonzero"),
    (lambda x: x.nonzero(), "nonzero"), (lambda x: x.index_put((x > 0,), x), "nonzero"),
    (torch.unique, "unique"), (repr, "print"),
    (lambda _: torch.cuda.synchronize(), "torch.cuda.synchronize"),
    (lambda _: torch.cuda.current_stream().synchronize(), "Stream.synchronize"),
    (lambda x: torch.equal(x, x), "equal"),
])  # fmt: skip
def test_what_makes_the_host_wait(call: object, why: str) -> None:
    with virtual_gpus(1) as machine:
        x = torch.ones(3, device="cuda")
        machine.trace.clear()
        assert callable(call)
        call(x)
        assert why in {event.why for event in machine.trace.of(Synchronisation)}


def test_what_does_not_wait() -> None:
    with virtual_gpus(1) as machine:
        x = torch.ones(3, device="cuda", requires_grad=True)
        (x * 2).sum().backward()
        x.detach()[x > 0] = 3.0
        x[torch.tensor([1], device="cuda")]
        assert machine.trace.of(Synchronisation) == []


def test_forward_and_backward_are_told_apart() -> None:
    with virtual_gpus(2) as machine:
        model = nn.Sequential(nn.Linear(3, 3).to("cuda:0"), nn.Linear(3, 1).to("cuda:1"))
        machine.trace.clear()
        model[1](model[0](torch.ones(2, 3).to("cuda:0")).to("cuda:1")).sum().backward()
        moves = [(t.source, t.target, t.phase) for t in machine.trace.of(Transfer)]
        assert moves == [
            ("cpu", "cuda:0", "forward"), ("cuda:0", "cuda:1", "forward"),
            ("cuda:1", "cuda:0", "backward"),
        ]  # fmt: skip
        assert {event.phase for event in machine.trace.of(Kernel)} == {"forward", "backward"}


def test_streams_and_marks() -> None:
    with virtual_gpus(1) as machine:
        x = torch.ones(3, device="cuda")
        side, event = torch.cuda.Stream(), torch.cuda.Event()
        machine.trace.clear()
        with torch.cuda.stream(side):
            x + 1
            event.record()
        torch.cuda.current_stream().wait_event(event)
        x + 2
        assert [k.stream for k in machine.trace.of(Kernel)] == [side.stream_id, 0]
        marks = [(m.action, m.stream) for m in machine.trace.of(Mark)]
        assert marks == [("record", side.stream_id), ("wait", 0)]


def test_events_say_which_thread_issued_them() -> None:
    with virtual_gpus(1) as machine:
        mine = threading.get_ident()
        thread = threading.Thread(target=lambda: torch.ones(1, device="cuda"))
        thread.start()
        other = thread.ident
        thread.join()
        torch.zeros(1, device="cuda")
        assert [(k.op, k.thread) for k in machine.trace.of(Kernel)] == [
            ("ones", other), ("zeros", mine),
        ]  # fmt: skip


def test_numbers_rise_and_clearing_keeps_them_rising() -> None:
    with virtual_gpus(1) as machine:
        torch.ones(1, device="cuda")
        last = machine.trace.count
        machine.trace.clear()
        torch.ones(1, device="cuda")
        numbers = [event.sequence for event in machine.trace.events]
        assert numbers == sorted(numbers)
        assert numbers[0] >= last
        assert machine.trace.count == numbers[-1] + 1


def test_allocations_are_told() -> None:
    with virtual_gpus(1) as machine:
        x = torch.ones(1, device="cuda")
        del x
        (taken,), (given,) = machine.trace.of(Allocation), machine.trace.of(Release)
        assert (taken.bytes, taken.block) == (given.bytes, given.block)
        assert all(isinstance(event, TraceEvent) for event in machine.trace.events)
