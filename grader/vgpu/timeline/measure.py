"""Measure a GPU that one owns, and write a profile that timelines take.

``vgpu measure mine.json`` runs a few products, copies and small kernels, in half a minute, and
takes the best of some rounds of each. The program is the same on virtual GPUs: on a timeline it
finds the figures of the card again, which shows that it measures what a profile means.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from grader.vgpu.timeline.profiles import read_profile

_ROUNDS = 5
_SIDE = 4096
"""Rows and columns of the product: 137 GFLOP, some milliseconds on any card."""
_SMALL = 200
"""Small kernels in a row: fewer than a driver's queue holds."""
_BIG, _LITTLE = 2**26, 2**20
"""Bytes of the copies whose difference gives a link's speed."""

Work = Callable[[], object]


class NoGpuError(Exception):
    """There is nothing to measure."""


def measure(device: int = 0) -> dict[str, dict[str, Any]]:
    """Return a profile of a GPU, field by field, each with its source.

    Args:
        device: Its number. The link is measured to the next one, where there is one.

    Raises:
        NoGpuError: There is no GPU.
    """
    if not torch.cuda.is_available():
        raise NoGpuError("there is no GPU here that could be measured")
    properties = torch.cuda.get_device_properties(device)
    measured = f"measured with torch {torch.__version__}, best of {_ROUNDS}: "
    fast = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        with torch.cuda.device(device):
            figures = dict(_figures(device))
    finally:
        torch.backends.cuda.matmul.allow_tf32 = fast
    sourced: dict[str, tuple[Any, str]] = {
        "title": (properties.name, "torch.cuda.get_device_properties"),
        "memory": (properties.total_memory, "torch.cuda.get_device_properties"),
        # Both copies of a tensor that goes through the host.
        "peer": (figures["pinned"][0] / 2, "assumed: one GPU; half of its link to the host"),
        **{key: (value, measured + how) for key, (value, how) in figures.items()},
    }
    return {key: {"value": value, "source": source} for key, (value, source) in sourced.items()}


def write_profile(file: Path, profile: Mapping[str, Mapping[str, Any]]) -> None:
    """Write a profile, and make sure that it can be read again.

    Raises:
        ValueError: A figure is not above 0: the clock was too coarse, or the machine too busy.
    """
    file.write_text(json.dumps(profile, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    read_profile(file)


Figure = tuple[float, str]


def _figures(device: int) -> Iterator[tuple[str, Figure]]:
    here = torch.device("cuda", device)
    factor = torch.ones(_SIDE, _SIDE, device=here)
    result = torch.empty_like(factor)

    def product() -> object:
        return torch.mm(factor, factor, out=result)

    long = _best(device, product)
    yield "flops", (2 * _SIDE**3 / long, f"a float32 product of {_SIDE} × {_SIDE}, no TF32")
    source, target = (torch.ones(_BIG, device=here) for _ in range(2))
    copied = _best(device, lambda: target.copy_(source))
    yield "bandwidth", (8 * _BIG / copied, f"{8 * _BIG >> 20} MiB read and written by copy_")
    number = torch.ones(1, device=here)
    issuing, all_of_it = _small_ones(device, product, number)
    launch = issuing / _SMALL
    yield "launch", (launch, f"issuing {_SMALL} small operations from Python")
    behind = f"{_SMALL} small kernels behind a long one"
    yield "floor", ((all_of_it - long) / _SMALL, behind)
    for name, pinned in (("pinned", True), ("pageable", False)):
        speed, least = _link(device, here, pinned)
        yield name, (speed, f"copies of {_BIG >> 20} and {_LITTLE >> 20} MiB to the GPU")
        if pinned:
            yield "latency", (max(least - launch, 1e-7), "a copy of 4 bytes, less its launch")
    if torch.cuda.device_count() > 1:
        other = (device + 1) % torch.cuda.device_count()
        speed, _ = _link(other, torch.device("cuda", other), None, here)
        yield "peer", (speed, f"copies of {_BIG >> 20} and {_LITTLE >> 20} MiB to the next GPU")


def _best(device: int, work: Work) -> float:
    """Return the seconds of the fastest of some rounds, until the GPU is done."""
    work()
    found = []
    for _ in range(_ROUNDS):
        torch.cuda.synchronize(device)
        began = time.perf_counter()
        work()
        torch.cuda.synchronize(device)
        found.append(time.perf_counter() - began)
    return min(found)


def _small_ones(device: int, long: Work, number: torch.Tensor) -> tuple[float, float]:
    """Return how long issuing small operations took, and how long all did with a long one first."""
    found = []
    for _ in range(_ROUNDS):
        torch.cuda.synchronize(device)
        began = time.perf_counter()
        long()
        issuing = time.perf_counter()
        for _ in range(_SMALL):
            number.add_(1)
        issued = time.perf_counter()
        torch.cuda.synchronize(device)
        found.append((issued - issuing, time.perf_counter() - began))
    return min(each for each, _ in found), min(each for _, each in found)


def _link(
    device: int, target: torch.device, pinned: bool | None, source: torch.device | None = None
) -> tuple[float, float]:
    """Return bytes a second over a link, and the seconds of a copy of next to nothing."""

    def copying(size: int) -> Work:
        held = torch.ones(size, dtype=torch.uint8, device=source or torch.device("cpu"))
        held = held.pin_memory() if pinned else held
        return lambda: held.to(target, non_blocking=True)

    big, little, least = (_best(device, copying(size)) for size in (_BIG, _LITTLE, 4))
    return (_BIG - _LITTLE) / (big - little), least
