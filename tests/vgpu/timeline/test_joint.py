"""Collectives on a timeline, and one timeline of several processes."""

from __future__ import annotations

import pytest

from grader.vgpu.core.trace import COMMUNICATION, Collective, Kernel, Mark, TraceEvent
from grader.vgpu.processes import Account
from grader.vgpu.show import joint_report
from grader.vgpu.timeline import profile
from grader.vgpu.timeline.profiles import collective_bytes, collective_seconds, collective_steps

CARD = profile("v100")
SIZE = 10**9


def rank(number: int, *events: TraceEvent) -> Account:
    return Account(f"rank {number}", number, list(events), {})


def work(seconds: float, device: str) -> Kernel:
    return Kernel("mm", device, round(seconds * CARD.flops), 0)


def reduced(number: int, number_of: int = 0, stream: int = 0) -> Collective:
    device = f"cuda:{number}"
    return Collective(device, "all_reduce", SIZE, (0, 1), number, "0", number_of, stream=stream)


@pytest.mark.parametrize(
    ("op", "ranks", "share", "steps"),
    [
        ("all_reduce", 4, 1.5, 6),
        ("all_gather", 4, 0.75, 3),
        ("reduce_scatter_tensor", 2, 0.5, 1),
        ("broadcast", 4, 1.0, 3),
        ("send", 2, 1.0, 1),
        ("all_reduce", 1, 0.0, 0),
    ],
)
def test_a_ring_carries_what_its_formula_says(
    op: str, ranks: int, share: float, steps: int
) -> None:
    assert collective_bytes(op, SIZE, ranks) == share * SIZE
    assert collective_steps(op, ranks) == steps
    expected = 8.4e-6 + steps * 3.4e-6 + share * SIZE / CARD.peer
    assert collective_seconds(op, SIZE, ranks, CARD) == pytest.approx(expected)


def test_pci_express_takes_longer_steps() -> None:
    slow = CARD.slowed(1.0, peer=10e9)
    assert collective_seconds("send", 0, 2, slow) == pytest.approx(8.4e-6 + 5.7e-6)


def test_a_collective_begins_when_the_last_rank_comes_to_it() -> None:
    report = joint_report(
        [
            rank(0, work(0.1, "cuda:0"), reduced(0)),
            rank(1, work(0.3, "cuda:1"), reduced(1), work(0.1, "cuda:1")),
        ],
        CARD,
    )
    exchange = SIZE / CARD.peer
    assert report["elapsed"] == pytest.approx(0.3 + exchange + 0.1, rel=1e-3)
    rows = {(device, sort): (start, end) for device, start, end, sort in report["rows"]}
    for device in ("cuda:0 rank 0", "cuda:1 rank 1"):
        start, end = rows[device, "copy"]
        assert start == pytest.approx(0.3, rel=1e-3)
        assert end == pytest.approx(0.3 + exchange, rel=1e-3)
    assert set(report["devices"]) == {"cuda:0 rank 0", "cuda:1 rank 1"}


def test_devices_compute_while_they_exchange() -> None:
    events = [
        [
            Mark(f"cuda:{n}", 1, "record"),
            Mark(f"cuda:{n}", 1, "wait", stream=-1),
            reduced(n, stream=-1),
            work(0.5, f"cuda:{n}"),
        ]
        for n in (0, 1)
    ]
    report = joint_report([rank(n, *each) for n, each in enumerate(events)], CARD)
    assert report["elapsed"] == pytest.approx(0.5, rel=1e-3)


def test_collectives_have_a_row_of_their_own_below_the_streams() -> None:
    stream = COMMUNICATION
    ranks = [
        rank(n, work(0.1, f"cuda:{n}"), reduced(n, stream=stream), work(0.1, f"cuda:{n}"))
        for n in (0, 1)
    ]
    names = list(dict.fromkeys(row[0] for row in joint_report(ranks, CARD)["rows"]))
    assert [name for name in names if name.startswith("cuda:0")] == [
        "cuda:0 rank 0 stream 0", "cuda:0 rank 0 collectives",
    ]  # fmt: skip


def test_two_processes_share_a_device() -> None:
    report = joint_report([rank(0, work(0.2, "cuda:0")), rank(1, work(0.2, "cuda:0"))], CARD)
    assert report["elapsed"] == pytest.approx(0.4, rel=1e-3)


def test_a_rank_that_never_came_keeps_nobody() -> None:
    report = joint_report([rank(0, reduced(0)), rank(1, work(0.1, "cuda:1"))], CARD)
    assert report["elapsed"] == pytest.approx(0.1, rel=1e-3)
