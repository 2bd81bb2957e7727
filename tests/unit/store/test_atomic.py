from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from grader.errors import InfrastructureError, UsageError
from grader.store.files import write_atomic


def test_writes_and_replaces(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_atomic(path, b"one")
    write_atomic(path, b"two")
    assert path.read_bytes() == b"two"
    assert [item.name for item in tmp_path.iterdir()] == ["a.json"]


def test_readable_by_all_whatever_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o077)
    try:
        write_atomic(tmp_path / "a", b"")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o644


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_at_the_target_is_refused(tmp_path: Path, exists: bool) -> None:
    victim = tmp_path / "victim"
    if exists:
        victim.write_bytes(b"keep")
    link = tmp_path / "a"
    link.symlink_to(victim)
    with pytest.raises(UsageError, match="symbolic link"):
        write_atomic(link, b"new")
    assert victim.exists() is exists
    assert not exists or victim.read_bytes() == b"keep"


def test_a_folder_at_the_target_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        write_atomic(tmp_path, b"")


def test_a_missing_folder_is_made(tmp_path: Path) -> None:
    write_atomic(tmp_path / "new" / "deep" / "a", b"x")
    assert (tmp_path / "new" / "deep" / "a").read_bytes() == b"x"


def test_a_file_as_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="its parent is not a folder"):
        write_atomic(tmp_path / "file" / "a", b"")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_folder_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(UsageError, match="not writable"):
            write_atomic(tmp_path / "a", b"")
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize(
    ("number", "kind", "words"),
    [
        (errno.ENOSPC, InfrastructureError, "disk is full"),
        (errno.EDQUOT, InfrastructureError, "quota"),
        (errno.EIO, InfrastructureError, "Input/output error"),
        (errno.EACCES, UsageError, "not writable"),
        (errno.EROFS, UsageError, "read-only"),
    ],
)
def test_a_failed_write_leaves_the_old_file_and_no_other(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    kind: type[Exception],
    words: str,
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "chmod", fail)
    with pytest.raises(kind, match=words) as caught:
        write_atomic(path, b"new")
    assert str(path) in str(caught.value)
    assert path.read_bytes() == b"old"
    assert [item.name for item in tmp_path.iterdir()] == ["a"]


def test_an_interrupt_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "chmod", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomic(tmp_path / "a", b"new")
    assert list(tmp_path.iterdir()) == []
