"""What a virtual device costs an operation: beside the plain CPU, side by side, medians.

    .venv/bin/python tests/bench/vgpu_overhead.py [--rounds 30]

Each round times every operation on the host and on a virtual device in turn, so that both see the
same noise; a row gives the medians of the rounds and of their differences.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from grader.vgpu import Machine, virtual_gpus

Work = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Case:
    """An operation, and how it is made ready on a device."""

    name: str
    prepare: Callable[[str], Work]


def adding(device: str) -> Work:
    x = torch.ones(4, device=device)
    return lambda: x + x


def product(size: int) -> Callable[[str], Work]:
    def prepare(device: str) -> Work:
        x = torch.ones(size, size, device=device)
        return lambda: x @ x

    return prepare


def viewing(device: str) -> Work:
    x = torch.ones(4, 4, device=device)
    return lambda: x[0]


def moving(device: str) -> Work:
    x = torch.ones(1000)
    return x.clone if device == "cpu" else (lambda: x.to(device))


def training(device: str) -> Work:
    """The seed's ToyModel on one device: forward, loss, backward and a step of SGD."""
    net = nn.Sequential(nn.Linear(10, 10), nn.ReLU(), nn.Linear(10, 5)).to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.001)
    inputs, labels = torch.ones(20, 10, device=device), torch.ones(20, 5, device=device)

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(inputs), labels).backward()
        optimizer.step()

    return step


CASES = [
    Case("x + x, 4 elements", adding),
    Case("x[0]", viewing),
    Case("x @ x, 64 × 64", product(64)),
    Case("x @ x, 512 × 512", product(512)),
    Case("copy of 1000 elements", moving),
    Case("training step of ToyModel", training),
]


def seconds(work: Work, times: int) -> float:
    start = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - start) / times


def measure(case: Case, rounds: int, machine: Machine) -> tuple[float, float, float]:
    """Return the medians on the host and on the device, and of the difference, in µs."""
    host, device = case.prepare("cpu"), case.prepare("cuda")
    times = max(1, int(0.01 / seconds(device, 3)))
    pairs = []
    for _ in range(rounds):
        pairs.append((seconds(host, times), seconds(device, times)))
        # A trace that only grows would be looked through by the collector ever longer.
        machine.trace.clear()
    columns = [
        [on_host for on_host, _ in pairs], [on_device for _, on_device in pairs],
        [on_device - on_host for on_host, on_device in pairs],
    ]  # fmt: skip
    on_host, on_device, more = (1e6 * statistics.median(column) for column in columns)
    return on_host, on_device, more


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, one thread, {rounds} rounds, medians")
    print(f"{'operation':28} {'host µs':>9} {'device µs':>10} {'more µs':>9} {'ratio':>6}")
    for case in CASES:
        with virtual_gpus(1) as machine:
            on_host, on_device, more = measure(case, rounds, machine)
        ratio = on_device / on_host
        print(f"{case.name:28} {on_host:9.1f} {on_device:10.1f} {more:9.1f} {ratio:6.2f}")
    start = time.perf_counter()
    for _ in range(20):
        with virtual_gpus(2):
            pass
    print(f"installing and leaving: {(time.perf_counter() - start) / 20 * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
