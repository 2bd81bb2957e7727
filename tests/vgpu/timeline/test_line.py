"""The rules by which a trace is laid out in time, on a card of round numbers."""

from __future__ import annotations

import pytest

from grader.vgpu.core.trace import Kernel, Mark, Synchronisation, TraceEvent, Transfer
from grader.vgpu.timeline.line import Timeline, Waited
from grader.vgpu.timeline.profiles import Profile

CARD = Profile(
    "round", "A card of round numbers", flops=1e9, bandwidth=1e9, floor=0.5, launch=0.125,
    memory=2**30, peer=1e6, pinned=1e6, pageable=5e5, latency=0.25,
)  # fmt: skip
A, B = "cuda:0", "cuda:1"


def kernel(device: str = A, seconds: float = 2.0, stream: int = 0, thread: int = 0) -> Kernel:
    return Kernel("mm", device, int(seconds * 1e9), 0, stream=stream, thread=thread)


def copy(source: str, target: str, megabytes: float = 1.0, blocking: bool = False) -> Transfer:
    return Transfer(source, target, int(megabytes * 1e6), blocking)


def laid_out(*events: TraceEvent) -> Timeline:
    line = Timeline(CARD)
    line.take(events)
    return line


def stretches(line: Timeline) -> list[tuple[float, float]]:
    return [(span.start, span.end) for span in line.spans]


@pytest.mark.parametrize(
    ("flops", "size", "seconds"),
    [(4_000_000_000, 0, 4.0), (0, 3_000_000_000, 3.0), (1, 1, 0.5), (10**9, 2 * 10**9, 2.0)],
)
def test_a_kernel_takes_what_arithmetic_memory_or_the_floor_takes(flops, size, seconds) -> None:
    (span,) = laid_out(Kernel("mm", A, flops, size)).spans
    assert span.end - span.start == seconds


def test_a_stream_runs_in_order_and_the_host_runs_ahead() -> None:
    line = laid_out(kernel(), kernel())
    assert stretches(line) == [(0.125, 2.125), (2.125, 4.125)]
    assert line.now == 0.25
    assert line.end == 4.125
    assert line.spans[1].waited is Waited.STREAM
    assert line.spans[1].after == 0


def test_devices_work_side_by_side() -> None:
    line = laid_out(kernel(A), kernel(B))
    assert stretches(line) == [(0.125, 2.125), (0.25, 2.25)]


def test_small_kernels_wait_for_their_launch() -> None:
    card = Profile("slow host", "", 1e9, 1e9, 0.5, 1.0, 1, 1.0, 1.0, 1.0, 1.0)
    line = Timeline(card)
    line.take([kernel(seconds=0), kernel(seconds=0)])
    assert stretches(line) == [(1.0, 1.5), (2.0, 2.5)]
    assert line.spans[1].waited is Waited.LAUNCH


def test_a_copy_between_gpus_waits_for_both_and_both_wait_for_it() -> None:
    line = laid_out(kernel(A), kernel(B, 4), copy(A, B), kernel(A), kernel(B))
    assert stretches(line)[2:] == [(4.25, 5.5), (5.5, 7.5), (5.5, 7.5)]
    assert [span.waited for span in line.spans[2:]] == [Waited.OTHER, Waited.STREAM, Waited.OTHER]
    assert line.now < 1


@pytest.mark.parametrize(("blocking", "seconds"), [(True, 2.25), (False, 1.25)])
def test_page_locked_memory_is_faster_and_not_waited_for(blocking, seconds) -> None:
    line = laid_out(copy("cpu", A, blocking=blocking), kernel(A))
    assert line.spans[0].end - line.spans[0].start == seconds
    assert line.now == (0.125 + seconds + 0.125 if blocking else 0.25)


@pytest.mark.parametrize("why", ["item", "torch.cuda.synchronize", "Stream.synchronize", "nonzero"])
def test_a_wait_holds_the_host_up_and_what_it_issues_then(why) -> None:
    line = laid_out(kernel(A), Synchronisation(A, why), kernel(B))
    assert stretches(line)[1] == (2.25, 4.25)
    assert line.spans[1].waited is Waited.BLOCKED
    assert line.spans[1].after == 0


def test_a_wait_for_the_device_is_for_all_streams_and_item_for_one() -> None:
    events = kernel(A, 1), kernel(A, 4, stream=7)
    assert laid_out(*events, Synchronisation(A, "item")).now == 1.125
    assert laid_out(*events, Synchronisation(A, "torch.cuda.synchronize")).now == 5.125


def test_streams_of_a_device_share_it() -> None:
    line = laid_out(kernel(A, 2, 1), kernel(A, 2, 2), kernel(A, 2, 1))
    assert line.end == 6.125
    assert sum(span.end - span.start for span in line.spans) == 6


def test_a_copy_goes_on_beside_the_kernels_of_another_stream() -> None:
    line = laid_out(kernel(A, 2, stream=1), copy("cpu", A))
    assert stretches(line) == [(0.125, 2.125), (0.25, 1.5)]


def test_a_hole_is_filled_by_another_stream() -> None:
    line = laid_out(
        kernel(B, 8),
        Mark(B, 1, "record"),
        Mark(A, 1, "wait", stream=1),
        kernel(A, 2, stream=1),
        kernel(A, 2, stream=2),
    )
    assert stretches(line)[1:] == [(8.125, 10.125), (0.375, 2.375)]


def test_an_event_orders_streams_and_has_a_time() -> None:
    line = laid_out(
        kernel(A), Mark(A, 1, "record"), Mark(B, 1, "wait"), kernel(B), Mark(B, 2, "record")
    )
    assert stretches(line)[1] == (2.125, 4.125)
    assert line.spans[1].waited is Waited.OTHER
    assert line.time_of(2) - line.time_of(1) == 2


def test_the_host_waits_for_an_event_alone() -> None:
    events = (
        kernel(A), Mark(A, 1, "record"), kernel(A), Mark(A, 1, "host"),
        Synchronisation(A, "Event.synchronize"),
    )  # fmt: skip
    assert laid_out(*events).now == 2.125


def test_threads_take_turns_at_issuing_and_wait_each_for_itself() -> None:
    line = laid_out(
        kernel(A, thread=1), Synchronisation(A, "item", thread=1), kernel(B, thread=2),
        kernel(A, thread=1),
    )  # fmt: skip
    assert stretches(line) == [(0.125, 2.125), (0.25, 2.25), (2.25, 4.25)]


def test_after_a_rest_everything_begins_anew() -> None:
    line = laid_out(kernel(A), kernel(B, 4))
    assert line.rest() == 4.25
    line.take([kernel(A)])
    assert stretches(line)[2] == (4.375, 6.375)
    assert line.spans[2].after == -1
