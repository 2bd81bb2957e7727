"""A disk that is full or read-only in the middle of a class: said clearly, and nothing is lost."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BATCH = ("batch", "tiny", "class", "--seed", 7, "--clock", "off", "--out")


def mount(folder: Path, options: str) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.fixture
def disk(course: Path) -> Iterator[Path]:
    folder = course / "disk"
    folder.mkdir()
    if not mount(folder, "size=160k"):
        pytest.skip("a small disk cannot be mounted here (needs root)")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk(course: Path, command: Any, disk: Path, capsys: Any) -> None:
    assert command(*BATCH, "whole") == 0
    assert command(*BATCH, disk / "out") == 1
    assert "free some space" in capsys.readouterr().err
    assert mount(disk, "remount,size=20m")
    assert command(*BATCH, disk / "out", "--resume") == 0
    book = (disk / "out/gradebook.csv").read_bytes()
    assert book == (course / "whole/gradebook.csv").read_bytes()


def test_a_read_only_disk(course: Path, command: Any, disk: Path, capsys: Any) -> None:
    assert mount(disk, "remount,ro")
    assert command(*BATCH, disk / "out") == 2
    said = capsys.readouterr().err
    assert "cannot be written (Read-only file system); name another folder" in said
