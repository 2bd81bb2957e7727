"""Which GPUs this machine has, asked of the driver's device nodes: the host imports no torch."""

from __future__ import annotations

import re
from pathlib import Path


def count_gpus() -> int:
    """Return the number of GPUs that an NVIDIA driver offers on this machine."""
    nodes = Path("/dev").glob("nvidia*")
    return sum(1 for node in nodes if re.fullmatch(r"nvidia\d+", node.name))
