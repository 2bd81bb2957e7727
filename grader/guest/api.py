"""What an instructor's ``scenario.py`` and ``reader.py`` may use.

A scenario runs in the guest, beside the hand-in. It is a function that gets the submitted module
first and the case's arguments after it, builds what the wire cannot carry (a model, a loader, an
optimiser), calls the entry points, and returns values. It holds no expected value: the reference
runs under the same scenario.

A reader runs in a guest of its own, with no hand-in in it. It is a function that gets the file, or
the files, that a scenario returned, and returns what they hold, in values.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from grader.vgpu.placed import placement
from grader.vgpu.timeline import on_timeline
from grader.vgpu.watch import watching
from grader.wire.values import Artifact

MAX_ARTIFACT = 64 * 2**20

__all__ = [
    "Artifact", "artifact", "artifacts", "on_timeline", "placement", "scratch", "unpack",
    "watching",
]  # fmt: skip


def scratch() -> Path:
    """Return the guest's own writable folder."""
    return Path.cwd()


def artifact(path: str | Path) -> Artifact | None:
    """Return a file that the hand-in left, to be returned from the scenario; None if there is none.

    Its bytes are taken at once: what becomes of the file afterwards is nobody's concern. A folder,
    a pipe, a device or a link to nowhere is no file.

    Args:
        path: Relative to the scratch folder, or inside it.

    Raises:
        ValueError: It is larger than ``MAX_ARTIFACT``.
    """
    file = scratch() / path
    if not file.is_file():
        return None
    with file.open("rb") as stream:
        # Not as many as it says: a link may lead to a file that says nothing of its size.
        data = stream.read(MAX_ARTIFACT + 1)
    if len(data) > MAX_ARTIFACT:
        raise ValueError(f"{file.name} is larger than {MAX_ARTIFACT} bytes")
    return Artifact(file.name, data)


def artifacts(pattern: str) -> list[Artifact]:
    """Return the files that match a pattern below the scratch folder, in the order of their paths.

    Args:
        pattern: As in ``Path.glob``: ``logs/**/*`` for all that lies below ``logs``.
    """
    found = (artifact(path) for path in sorted(scratch().glob(pattern)))
    return [file for file in found if file is not None]


def unpack(file: Artifact) -> Path:
    """Write a file into a new folder, for parsers that want a path; return the path."""
    # Not beside the reader, where a file called h5py.py would be imported in place of h5py.
    path = Path(tempfile.mkdtemp(dir=scratch())) / (Path(file.name).name.strip(".") or "file")
    path.write_bytes(file.data)
    return path
