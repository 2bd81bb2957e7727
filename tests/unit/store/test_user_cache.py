"""A cache is used only where nobody else writes, and what is wrong with it is not there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from grader.store import files
from grader.store.files import UserCache, cache_folder, open_cache

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there are no walls elsewhere")


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> UserCache:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    opened = open_cache("kind")
    assert opened is not None
    return opened


def test_what_was_written_is_read(cache: UserCache) -> None:
    assert cache.read("a") is None
    cache.write("a", b"content")
    cache.write("b", b"")
    assert (cache.read("a"), cache.read("b")) == (b"content", b"")
    assert cache.folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", [b"", b"short", b"\0" * 100])
def test_a_damaged_file_is_dropped(cache: UserCache, damage: bytes) -> None:
    (cache.folder / "a").write_bytes(damage)
    assert cache.read("a") is None
    assert not (cache.folder / "a").exists()


def test_the_newest_files_are_kept(cache: UserCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_MOST_FILES", 2)
    for number, name in enumerate("abc"):
        cache.write(name, b"content")
        os.utime(cache.folder / name, (number, number))
    cache.write("d", b"content")
    assert [name for _, name in cache.ages("")] == ["d", "c"]
    monkeypatch.setattr(files, "_MOST_BYTES", 60)
    cache.write("e", b"content")
    assert [name for _, name in cache.ages("")] == ["e"]


def test_a_folder_that_others_may_look_into_is_not_used(cache: UserCache) -> None:
    cache.folder.chmod(0o755)
    assert open_cache("kind") is None


def test_a_folder_that_student_processes_are_shown_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(files.view, "readable", lambda: (str(tmp_path),))
    assert open_cache("kind") is None


def test_a_relative_path_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == tmp_path / ".cache/torchgrade"


def test_a_full_disk_is_nobodys_business(cache: UserCache, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write_atomic", full)
    cache.write("a", b"content")
    assert cache.read("a") is None
