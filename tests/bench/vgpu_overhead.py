"""What a virtual device costs: an operation beside the plain CPU, start-up, and the trace.

    .venv/bin/python tests/bench/vgpu_overhead.py [--rounds 15] [--beside CHECKOUT]

Each round times every operation on the host and on a virtual device in turn, so that both see the
same noise; a row gives the medians of the rounds and of their differences. With another checkout of
the project (``git worktree add FOLDER COMMIT``) the same is measured of that one, round by round in
turn, in processes of their own, and the median of the rounds' ratios is printed. Times are of this
process's processor time: a busy machine changes them less.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

ROOT = Path(__file__).parents[2]

Work = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Case:
    """An operation, and how it is made ready on a device."""

    name: str
    prepare: Callable[[str], Work]


def adding(device: str) -> Work:
    x = torch.ones(3, 3, device=device)
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


def adam(foreach: bool | None) -> Callable[[str], Work]:
    """A step of a small net, with Adam."""

    def prepare(device: str) -> Work:
        layers = nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)
        net = nn.Sequential(*layers).to(device)
        optimizer = torch.optim.Adam(net.parameters(), foreach=foreach)
        inputs = torch.ones(32, 20, device=device)
        labels = torch.zeros(32, dtype=torch.long, device=device)

        def step() -> None:
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(inputs), labels).backward()
            optimizer.step()

        return step

    return prepare


CASES = [
    Case("x + x, 3 × 3", adding),
    Case("x[0]", viewing),
    Case("x @ x, 64 × 64", product(64)),
    Case("copy of 1000 elements", moving),
    Case("training step of ToyModel", training),
    Case("Adam step of an MLP", adam(None)),
    Case("the same, foreach", adam(True)),
]


def seconds(work: Work, times: int) -> float:
    start = time.thread_time()
    for _ in range(times):
        work()
    return (time.thread_time() - start) / times


def measure(case: Case, rounds: int, clear: Callable[[], None]) -> list[float]:
    """Return the medians on the host and on the device, and of the difference, in µs."""
    host, device = case.prepare("cpu"), case.prepare("cuda")
    # The first call of all imports and looks up.
    seconds(device, 3)
    times = max(1, int(0.01 / seconds(device, 3)))
    pairs = []
    for _ in range(rounds):
        pairs.append((seconds(host, times), seconds(device, times)))
        # A list of events would be looked through by the collector ever longer.
        clear()
    columns = [
        [on_host for on_host, _ in pairs], [on_device for _, on_device in pairs],
        [on_device - on_host for on_host, on_device in pairs],
    ]  # fmt: skip
    return [1e6 * statistics.median(column) for column in columns]


def bytes_an_operation(times: int = 200_000) -> float:
    """Return by how much this process grows with each operation that is traced."""
    x = torch.ones(3, 3, device="cuda")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(times):
        x + x
    return 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / times


def child() -> None:
    """Measure one checkout once, and print what came of it."""
    from grader.vgpu import virtual_gpus  # noqa: PLC0415  which one is the parent's choice

    torch.set_num_threads(1)
    found: dict[str, Any] = {}
    with virtual_gpus(1) as machine:
        for case in CASES:
            found[case.name] = measure(case, 9, machine.trace.clear)
        machine.trace.clear()
        found["bytes"] = bytes_an_operation()
    print(json.dumps(found))


def run(checkout: Path, arguments: Sequence[str]) -> tuple[float, str]:
    """Run Python where a checkout's ``grader`` is found; return seconds of processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # The working directory comes before PYTHONPATH.
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=checkout, env=environment,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def of_rounds(checkout: Path, rounds: list[dict[str, Any]]) -> None:
    """Print the medians of all rounds of a checkout."""
    print(f"\n{checkout}")
    print(f"{'operation':28} {'host µs':>9} {'device µs':>10} {'more µs':>9} {'ratio':>6}")
    for case in CASES:
        host, device, more = (
            statistics.median(each[case.name][column] for each in rounds) for column in range(3)
        )
        print(f"{case.name:28} {host:9.1f} {device:10.1f} {more:9.1f} {device / host:6.2f}")
    bare, started, size = (
        statistics.median(each[name] for each in rounds) for name in ("torch", "start", "bytes")
    )
    print(f"start-up: {started:.2f} s of processor time, import torch alone {bare:.2f} s")
    print(f"memory: {size:.1f} bytes an operation")


def of_pairs(here: list[dict[str, Any]], there: list[dict[str, Any]]) -> None:
    """Print how many times as long this checkout takes: the median of the rounds' ratios."""
    print("\nmedian of the rounds' ratios, device µs of the first to that of the second")
    for case in CASES:
        pairs = zip(here, there, strict=True)
        ratio = statistics.median(one[case.name][1] / other[case.name][1] for one, other in pairs)
        print(f"{case.name:28} {ratio:9.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--beside", type=Path, help="another checkout")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child()
        return
    checkouts = [ROOT, *([options.beside.resolve()] if options.beside else [])]
    found: dict[Path, list[dict[str, Any]]] = {checkout: [] for checkout in checkouts}
    with tempfile.NamedTemporaryFile(suffix=".py") as empty:
        for _ in range(options.rounds):
            for checkout in checkouts:
                _, told = run(checkout, [str(Path(__file__).resolve()), "--child"])
                alone, _ = run(checkout, ["-c", "import torch"])
                start, _ = run(checkout, ["-m", "grader.vgpu", empty.name])
                found[checkout].append({**json.loads(told), "torch": alone, "start": start})
    print(f"torch {torch.__version__}, one thread, medians of {options.rounds} rounds")
    for checkout, rounds in found.items():
        of_rounds(checkout, rounds)
    if options.beside:
        of_pairs(*found.values())


if __name__ == "__main__":
    main()
