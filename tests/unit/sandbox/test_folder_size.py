"""What a scratch folder that is no mount is charged for."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import pytest

from grader.sandbox.host.processes import folder_size

KEEP_SIZE = 1  # FALLOC_FL_KEEP_SIZE of fallocate(2)
PAGE = 4096


def reserve(path: Path, size: int) -> None:
    """Take blocks for a file beyond its end, as file systems do by themselves."""
    libc = ctypes.CDLL(None, use_errno=True)
    with path.open("ab") as file:
        failed = libc.fallocate(file.fileno(), KEEP_SIZE, ctypes.c_int64(0), ctypes.c_int64(size))
    if failed:
        pytest.skip(f"no blocks can be reserved here: {os.strerror(ctypes.get_errno())}")


def test_blocks_reserved_beyond_the_end_are_taken_and_not_written(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(8 * PAGE))
    reserve(path, 32 * PAGE)
    written, taken, entries = folder_size(str(tmp_path))
    assert (written, entries) == (8 * PAGE, 1)
    assert taken >= 32 * PAGE


def test_a_hole_is_neither(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        file.truncate(2**40)
    written, taken, _ = folder_size(str(tmp_path))
    assert (written, taken) == (0, 0)
