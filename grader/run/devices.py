"""Which GPUs this machine has, asked of the driver's device nodes: the host imports no torch."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from grader.errors import UsageError

DeviceChoice = Literal["auto", "cpu", "cuda"]


def count_gpus() -> int:
    """Return the number of GPUs that an NVIDIA driver offers on this machine."""
    nodes = Path("/dev").glob("nvidia*")
    return sum(1 for node in nodes if re.fullmatch(r"nvidia\d+", node.name))


def usable_gpus(device: DeviceChoice) -> int:
    """Return the number of GPUs to grade with.

    Raises:
        UsageError: One was insisted on, and there is none.
    """
    gpus = 0 if device == "cpu" else count_gpus()
    if device == "cuda" and not gpus:
        raise UsageError(
            "--device cuda, but this machine has no GPU that a driver offers; use --device auto "
            "to leave what needs one pending"
        )
    return gpus
