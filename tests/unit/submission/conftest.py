"""Builders of hand-ins; content by path, the same for every container."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Files = Mapping[str, bytes]
Make = Callable[[Files], Path]


def make_folder(where: Path, files: Files) -> Path:
    root = where / "alice"
    root.mkdir()
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


def make_zip(where: Path, files: Files) -> Path:
    path = where / "alice.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def _make_tar(path: Path, mode: str, files: Files) -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def make_tar(where: Path, files: Files) -> Path:
    return _make_tar(where / "alice.tar", "w", files)


def make_tgz(where: Path, files: Files) -> Path:
    return _make_tar(where / "alice.tar.gz", "w:gz", files)


MAKERS = {"folder": make_folder, "zip": make_zip, "tar": make_tar, "tgz": make_tgz}
ARCHIVES = {"zip": make_zip, "tar": make_tar, "tgz": make_tgz}


@pytest.fixture(params=MAKERS)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    return lambda files: MAKERS[request.param](tmp_path, files)


@pytest.fixture(params=ARCHIVES)
def make_archive(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    return lambda files: ARCHIVES[request.param](tmp_path, files)
