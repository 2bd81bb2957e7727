"""What scenarios take along of the files that a hand-in leaves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader.guest import api
from grader.guest.api import artifact, artifacts, scratch
from grader.wire.values import Artifact


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_scratch_is_where_the_guest_stands(folder: Path) -> None:
    assert scratch() == folder


def test_a_file_is_its_name_and_what_it_held_when_it_was_taken(folder: Path) -> None:
    path = folder / "a.pt"
    path.write_bytes(b"first")
    taken = [artifact("a.pt"), artifact(path)]

    path.write_bytes(b"second")

    assert taken == [Artifact("a.pt", b"first")] * 2


@pytest.mark.parametrize("target", ["nowhere", "loop", "/dev/zero", "."])
def test_a_link_to_anything_but_a_file_is_none(folder: Path, target: str) -> None:
    (folder / "loop").symlink_to(target)

    assert artifact("loop") is None
    assert artifacts("*") == []


def test_pipes_and_folders_are_none(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "folder.h5").mkdir()

    assert artifact("pipe") is artifact("folder.h5") is artifact("nothing") is None
    assert artifacts("**/*") == []


def test_a_file_is_read_no_further_than_may_be(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "MAX_ARTIFACT", 100)
    (folder / "just").write_bytes(bytes(100))
    (folder / "large").write_bytes(bytes(101))

    assert len(artifact("just").data) == 100  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="large is larger than 100 bytes"):
        artifact("large")
    # As a file without a size of its own, where the system has one.
    if Path("/proc/self/maps").is_file():
        with pytest.raises(ValueError, match="maps is larger than 100 bytes"):
            artifact("/proc/self/maps")


def test_files_come_in_the_order_of_their_paths(folder: Path) -> None:
    for name in ("logs/b/2", "logs/a", "logs/b/1", "other"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)

    assert [bytes(file.data) for file in artifacts("logs/**/*")] == [
        b"logs/a",
        b"logs/b/1",
        b"logs/b/2",
    ]
