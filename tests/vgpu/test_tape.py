"""The tape on which a trace is kept: nothing is lost, and little memory taken."""

from __future__ import annotations

import threading
import tracemalloc

import pytest
import torch

from grader.vgpu import virtual_gpus
from grader.vgpu.core import trace
from grader.vgpu.core.trace import Allocation, Kernel, Mark, Release, Row, Tape


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks and parts of the table so short that a test fills many."""
    monkeypatch.setattr(trace, "CHUNK", 8)
    monkeypatch.setattr(trace, "TABLE", 4)


def told(found: Tape, first: int = 0) -> list[tuple[Row, int]]:
    return [(found.row(row), number) for _, row, number in found.read(first, found.count)]


@pytest.mark.usefixtures("short")
def test_what_was_noted_is_read_again() -> None:
    own = (-1, 0, 9, 2**32 - 2)
    noted = [
        ((Kernel, 1, 0, "forward", f"op{each % 23}", (each % 5, each % 7)), own[each % 4])
        for each in range(203)
    ]
    found = Tape()
    for row, number in noted:
        found.note(row, number)
    assert found.count == 203
    assert told(found) == noted
    assert [told(found, first) for first in (1, 8, 9, 199)] == [
        noted[first:] for first in (1, 8, 9, 199)
    ]
    assert [at for at, _, _ in found.read(6, 10)] == [6, 7, 8, 9]


@pytest.mark.usefixtures("short")
def test_numbers_rise_over_clearing() -> None:
    found = Tape()
    for _ in range(21):
        found.note((Kernel, "a"))
    found.clear()
    assert (found.count, told(found)) == (21, [])
    found.note((Kernel, "b"))
    assert list(found.read(0, found.count)) == [(21, 1, -1)]


def test_the_trace_of_a_loop_stays_small() -> None:
    with virtual_gpus(1) as machine:
        x = torch.ones(2, 2, device="cuda")

        def loop(times: int) -> None:
            for _ in range(times):
                x + x

        loop(5)
        tracemalloc.start()
        first, before = machine.trace.count, tracemalloc.get_traced_memory()[0]
        loop(trace.CHUNK // 2)
        taken = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        assert machine.trace.count - first > 1.4 * trace.CHUNK
        # Eight bytes an event for what is not full yet, and hardly any for what is.
        assert taken < 8 * trace.CHUNK + 50_000


@pytest.mark.usefixtures("short")
def test_events_are_whole_after_packing() -> None:
    with virtual_gpus(2) as machine:
        event = torch.cuda.Event()
        for size in range(1, 60):
            torch.ones(size, device=f"cuda:{size % 2}")
            event.record()
        kernels = machine.trace.of(Kernel)
        assert [(each.device, each.bytes) for each in kernels] == [
            (f"cuda:{size % 2}", 4 * size) for size in range(1, 60)
        ]
        taken, given = machine.trace.of(Allocation), machine.trace.of(Release)
        assert [each.block for each in taken] == [each.block for each in given] == list(range(59))
        assert {each.event for each in machine.trace.of(Mark)} == {event.number}
        numbers = [each.sequence for each in machine.trace.events]
        assert numbers == list(range(machine.trace.count))
        alike = [each for each in machine.trace.since(0) if isinstance(each, Kernel)]
        assert [(each.op, each.bytes) for each in alike] == [(k.op, k.bytes) for k in kernels]


@pytest.mark.usefixtures("short")
def test_threads_lose_nothing() -> None:
    found = Tape()

    def work(name: str) -> None:
        for each in range(400):
            found.note((Kernel, name, each % 3), each)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in "abcd":
        own = [(row[2], number) for row, number in told(found) if row[1] == name]
        assert own == [(each % 3, each) for each in range(400)]
