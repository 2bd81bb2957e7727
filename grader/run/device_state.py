"""What the driver's own tool tells of a device: clocks, temperature, errors, the link to it.

``nvidia-smi`` is asked, in a process of its own, because a driver that hangs must not hang the
host. What it cannot tell on a device it answers with “N/A”, and is left out here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from grader.sandbox.host.guests import Gpu
from grader.sandbox.walls.cuda import node

if TYPE_CHECKING:
    from grader.verdict import Param

FIELDS = (
    "name", "driver_version", "temperature.gpu", "clocks.sm", "clocks.max.sm", "memory.used",
    "ecc.errors.uncorrected.volatile.total", "pcie.link.gen.max", "pcie.link.width.max",
)  # fmt: skip
REASONS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")
"""The same field: drivers before 535 know only the second name."""

_SLOWDOWNS = {
    0x08: "hardware slowdown",
    0x20: "temperature (driver)",
    0x40: "temperature (hardware)",
    0x80: "power brake",
}
"""Bits of NVML's nvmlClocksEventReasons that lower clocks below what a load alone would.

The cap on power (0x04) is not among them: a product of matrices runs into it on sound devices.
"""

_LANE = {1: 0.25e9, 2: 0.5e9, 3: 0.985e9, 4: 1.969e9, 5: 3.938e9, 6: 7.563e9}
"""Bytes a second of one PCI Express lane, by generation, after coding."""

_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Health:
    """The state of a device.

    Attributes:
        problem: Why it cannot be used; empty if it can.
        throttled: Why its clocks are lowered; empty if they are not.
        link: Greatest rate of the link to it in bytes a second, if known.
        facts: For the record.
    """

    problem: str = ""
    throttled: str = ""
    link: float | None = None
    facts: Mapping[str, Param] = field(default_factory=dict)


def list_gpus(folder: Path = Path("/proc/driver/nvidia/gpus")) -> tuple[Gpu, ...]:
    """Return the devices that the driver offers, by number."""
    found = []
    for path in folder.glob("*/information"):
        text = path.read_text(encoding="utf-8", errors="replace")
        uuid = re.search(r"^GPU UUID:\s*(\S+)", text, re.MULTILINE)
        minor = re.search(r"^Device Minor:\s*(\d+)", text, re.MULTILINE)
        if uuid and minor:
            found.append(Gpu(uuid[1], int(minor[1])))
    return tuple(sorted(found, key=lambda gpu: gpu.minor))


def visible_gpus() -> tuple[Gpu, ...]:
    """Return the GPUs that may be used: with a node, and named where CUDA_VISIBLE_DEVICES names."""
    there = [gpu for gpu in list_gpus() if Path(node(gpu.minor)).exists()]
    return choose(there, os.environ.get("CUDA_VISIBLE_DEVICES"))


def choose(gpus: Sequence[Gpu], named: str | None) -> tuple[Gpu, ...]:
    """Return the GPUs that a value of CUDA_VISIBLE_DEVICES names; all where it is not set.

    Args:
        gpus: By number.
        named: Places in ``gpus``, or beginnings of UUIDs, separated by commas. As in CUDA, the
            first that names no GPU ends the list.
    """
    if named is None:
        return tuple(gpus)
    chosen: list[Gpu] = []
    for name in (part.strip() for part in named.split(",")):
        found = [
            gpu
            for place, gpu in enumerate(gpus)
            if name == str(place) or (name and gpu.uuid.startswith(name))
        ]
        if len(found) != 1 or found[0] in chosen:
            break
        chosen += found
    return tuple(chosen)


def ask(uuid: str) -> Health:
    """Ask the driver's tool for the state of a device."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return Health(facts={"driver_tool": "nvidia-smi was not found"})
    said = ""
    for reasons in REASONS:
        query = f"--query-gpu={','.join((reasons, *FIELDS))}"
        command = [program, f"--id={uuid}", query, "--format=csv,noheader,nounits"]
        try:
            done = subprocess.run(  # noqa: S603  a fixed program, no shell
                command, capture_output=True, text=True, timeout=_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return Health(problem=f"nvidia-smi did not answer within {_SECONDS:g} s")
        if done.returncode == 0:
            return read_state(done.stdout)
        said = (done.stdout + done.stderr).strip()
    return Health(problem=f"nvidia-smi failed: {said[:300]}")


def read_state(line: str) -> Health:
    """Return the state in a line of comma-separated values, ``REASONS`` first, then ``FIELDS``."""
    mask, *values = (value.strip() for value in line.strip().split(","))
    told = {
        name: value
        for name, value in zip(FIELDS, values, strict=False)
        if value and not value.strip("[]").startswith(("N/A", "Not Supported", "Unknown"))
    }
    errors = told.get("ecc.errors.uncorrected.volatile.total", "0")
    broken = f"{errors} uncorrectable memory errors" if errors not in ("", "0") else ""
    return Health(broken, _slowdowns(mask), _link(told), {**told})


def _slowdowns(mask: str) -> str:
    try:
        bits = int(mask, 16)
    except ValueError:
        return ""
    return ", ".join(name for bit, name in _SLOWDOWNS.items() if bits & bit)


def _link(told: Mapping[str, str]) -> float | None:
    try:
        lane = _LANE[int(told["pcie.link.gen.max"])]
        return lane * int(told["pcie.link.width.max"])
    except (KeyError, ValueError):
        return None
