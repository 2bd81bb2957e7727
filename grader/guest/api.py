"""What an instructor's ``scenario.py`` may use. It runs in the guest, beside the hand-in.

A scenario is a function that gets the submitted module first and the case's arguments after it,
builds what the wire cannot carry (a model, a loader, an optimiser), calls the entry points, and
returns values. It holds no expected value: the reference runs under the same scenario.
"""

from __future__ import annotations

from pathlib import Path

from grader.vgpu.placed import placement
from grader.vgpu.watch import watching
from grader.wire.values import Artifact

MAX_ARTIFACT = 64 * 2**20

__all__ = ["Artifact", "artifact", "placement", "scratch", "watching"]


def scratch() -> Path:
    """Return the guest's own writable folder."""
    return Path.cwd()


def artifact(path: str | Path) -> Artifact:
    """Return a file that the hand-in left, to be returned from the scenario.

    Args:
        path: Relative to the scratch folder, or inside it.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: It is larger than ``MAX_ARTIFACT``.
    """
    file = scratch() / path
    if file.stat().st_size > MAX_ARTIFACT:
        raise ValueError(f"{file.name} is larger than {MAX_ARTIFACT} bytes")
    return Artifact(file.name, file.read_bytes())
