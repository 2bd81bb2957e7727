"""Hand-ins made to hurt the machine, or the person who opens them."""

from __future__ import annotations

import gzip
import io
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path

import pytest

from grader.errors import UsageError
from grader.submission import Bounds, IntakeError, read_submission
from grader.submission.reader import _read, list_folder
from grader.verdict import Code

ONE = ["pytorch101.py"]
SOURCE = b"x = 1\n"
SMALL = Bounds(
    entries=20,
    headers=60,
    source_bytes=4 << 20,
    total_bytes=8 << 20,
    ratio=50,
    ratio_from=1 << 16,
    depth=4,
)


def refusal(path: Path, bounds: Bounds = SMALL) -> tuple[Code, str]:
    with pytest.raises(IntakeError) as caught:
        read_submission(path, ONE, bounds=bounds)
    return caught.value.code, caught.value.message.id


def bad(message_id: str) -> tuple[Code, str]:
    return Code.BAD_SUBMISSION, message_id


def tar_of(path: Path, *members: tarfile.TarInfo, fmt: int = tarfile.PAX_FORMAT) -> Path:
    with tarfile.open(path, "w", format=fmt) as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(SOURCE) if member.size else None)
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    info.size = len(SOURCE) if kind == tarfile.REGTYPE else 0
    return info


# names


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../pytorch101.py", "path_outside"),
        ("a/../../x", "path_outside"),
        ("/etc/passwd", "path_outside"),
        ("C:/x.py", "path_outside"),
        ("d:x.py", "path_outside"),
        ("a/b/c/d/e", "path_too_deep"),
        ("n" * 256, "name_too_long"),
    ],
)
def test_archive_names_that_are_refused(make_archive, name, message):
    assert refusal(make_archive({name: SOURCE, "pytorch101.py": SOURCE})) == bad(message)


def test_backslashes_in_a_tar_are_refused(tmp_path):
    path = tar_of(tmp_path / "a.tar", member("a\\b"), member("pytorch101.py"))
    assert refusal(path) == bad("path_unusable")


def _zip_with_raw_name(path: Path, name: bytes) -> Path:
    """Write a zip whose one entry has a name that zipfile would tidy up."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("N" * len(name), SOURCE)
    path.write_bytes(path.read_bytes().replace(b"N" * len(name), name))
    return path


def test_windows_separators_in_a_zip_are_folders(tmp_path):
    path = _zip_with_raw_name(tmp_path / "a.zip", b"hw1\\pytorch101.py")
    assert read_submission(path, ONE).files[0].data == SOURCE


@pytest.mark.parametrize("name", [b"..\\pytorch101.py", b"C:\\pytorch101.py", b"\\pytorch101.py"])
def test_windows_separators_lead_nowhere_else(tmp_path, name):
    assert refusal(_zip_with_raw_name(tmp_path / "a.zip", name)) == bad("path_outside")


def test_nul_in_a_zip_name_is_refused(tmp_path):
    path = _zip_with_raw_name(tmp_path / "a.zip", b"pytorch101.py\0.txt")
    assert refusal(path) == bad("path_unusable")


@pytest.mark.parametrize(
    ("wanted", "other"),
    [
        ("pytorch101.py", "PyTorch101.py"),
        ("m\u00e9.py", "me\u0301.py"),
        ("straße.py", "STRASSE.py"),
    ],
)
def test_names_that_collide_are_refused(make, wanted, other):
    with pytest.raises(IntakeError) as caught:
        read_submission(make({wanted: SOURCE, other: b"y = 2"}), [wanted])
    assert caught.value.message.id == "collision"
    assert len(caught.value.message.params["files"]) == 2


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_same_name_twice_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("pytorch101.py", SOURCE)
        archive.writestr("pytorch101.py", b"y = 2")
    assert refusal(tmp_path / "a.zip") == bad("collision")
    path = tar_of(tmp_path / "a.tar", member("pytorch101.py"), member("./pytorch101.py"))
    assert refusal(path) == bad("collision")


# what is no plain file


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (tarfile.SYMTYPE, "is_link"),
        (tarfile.LNKTYPE, "is_link"),
        (tarfile.FIFOTYPE, "is_special"),
        (tarfile.CHRTYPE, "is_special"),
        (tarfile.GNUTYPE_SPARSE, "is_special"),
    ],
)
def test_tar_members_that_are_no_files(tmp_path, kind, message):
    path = tar_of(tmp_path / "a.tar", member("pytorch101.py", kind, "/etc/passwd"))
    assert refusal(path) == bad(message)


@pytest.mark.parametrize(
    ("mode", "message"), [(stat.S_IFLNK, "is_link"), (stat.S_IFIFO, "is_special")]
)
def test_zip_entries_that_are_no_files(tmp_path, mode, message):
    info = zipfile.ZipInfo("pytorch101.py")
    info.external_attr = (mode | 0o644) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    assert refusal(tmp_path / "a.zip") == bad(message)


def test_links_in_a_folder(tmp_path):
    (tmp_path / "secret.py").write_bytes(b"answer = 42")
    for make_link in (os.symlink, os.link):
        folder = tmp_path / make_link.__name__
        folder.mkdir()
        make_link(tmp_path / "secret.py", folder / "pytorch101.py")
        assert refusal(folder) == bad("is_link")


def test_linked_folder_is_not_entered(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other/pytorch101.py").write_bytes(SOURCE)
    (tmp_path / "alice").mkdir()
    (tmp_path / "alice/hw").symlink_to(tmp_path / "other")
    assert refusal(tmp_path / "alice") == (Code.MISSING_FILE, "missing_file")


def test_pipe_in_a_folder_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "pytorch101.py")
    assert refusal(tmp_path) == bad("is_special")


def test_file_exchanged_after_listing_is_not_read(tmp_path):
    (tmp_path / "a").write_bytes(SOURCE)
    (tmp_path / "b").write_bytes(b"other")
    listed = os.lstat(tmp_path / "a")
    (tmp_path / "b").replace(tmp_path / "a")
    with pytest.raises(UsageError, match="exchanged"):
        _read(tmp_path / "a", os.O_RDONLY, 100, listed)


def test_file_moved_behind_a_link_after_listing_is_not_read(tmp_path):
    (tmp_path / "pytorch101.py").write_bytes(SOURCE)
    (entry,) = list_folder(tmp_path, SMALL, lambda _: True)
    (tmp_path / "pytorch101.py").rename(tmp_path / "moved.py")
    (tmp_path / "pytorch101.py").symlink_to("moved.py")
    with pytest.raises(UsageError, match="cannot be read"):
        entry.read()


def test_what_may_not_be_looked_at(tmp_path, monkeypatch):
    (tmp_path / "closed").mkdir()
    (tmp_path / "gone.py").write_bytes(SOURCE)
    (tmp_path / "pytorch101.py").write_bytes(SOURCE)
    scandir, lstat = os.scandir, os.lstat

    def refuse(path: Path) -> object:
        if path.name in {"closed", "gone.py"}:
            raise PermissionError(13, "Permission denied")
        return (scandir if path.is_dir() else lstat)(path)

    monkeypatch.setattr(os, "scandir", refuse)
    monkeypatch.setattr(os, "lstat", refuse)
    with pytest.raises(IntakeError) as caught:
        read_submission(tmp_path, ["absent.py"])
    assert caught.value.message.params["found"] == ["gone.py", "pytorch101.py"]
    with pytest.raises(IntakeError) as caught:
        read_submission(tmp_path, ["gone.py"])
    assert caught.value.message.id == "is_special"
    with pytest.raises(UsageError, match=r"cannot list this folder: Permission denied"):
        read_submission(tmp_path / "closed", ONE)


def test_file_that_cannot_be_opened(tmp_path, monkeypatch):
    (tmp_path / "pytorch101.py").write_bytes(SOURCE)

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(UsageError, match=r"pytorch101.py: cannot be read: Permission denied"):
        read_submission(tmp_path, ONE)


def test_file_replaced_by_a_pipe_after_a_look(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="no plain file"):
        _read(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK, 100, None)


# amounts


def test_too_many_files(make):
    assert refusal(make({f"{i}.txt": b"" for i in range(21)})) == bad("too_many_files")


def test_walk_of_a_hostile_folder_stops_early(tmp_path, monkeypatch):
    for i in range(200):
        (tmp_path / f"{i}").mkdir()
    looked = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: looked.append(path) or scandir(path))
    assert refusal(tmp_path) == bad("too_many_files")
    assert len(looked) == 1


def test_data_set_below_a_complete_folder_is_no_reason_to_refuse(tmp_path):
    (tmp_path / "data").mkdir()
    for i in range(100):
        (tmp_path / "data" / f"{i}").write_bytes(b"")
    (tmp_path / "pytorch101.py").write_bytes(SOURCE)
    assert read_submission(tmp_path, ONE, bounds=SMALL).files[0].data == SOURCE


def test_endless_listing_is_refused_before_it_is_built(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for i in range(61):
            archive.writestr(f"{i}/", b"")
    monkeypatch.setattr(zipfile, "ZipFile", None)
    assert refusal(tmp_path / "a.zip") == bad("too_many_files")


def test_endless_headers_in_a_tar(tmp_path):
    path = tar_of(tmp_path / "a.tar", *[member(f"{i}", tarfile.DIRTYPE) for i in range(61)])
    assert refusal(path) == bad("too_many_files")


def test_deep_folder_is_refused(tmp_path):
    (tmp_path / "a/b/c/d").mkdir(parents=True)
    (tmp_path / "a/b/c/d/pytorch101.py").write_bytes(SOURCE)
    assert refusal(tmp_path) == bad("path_too_deep")


@pytest.mark.parametrize("size", [(4 << 20) + 1, 6 << 20])
def test_large_file(make, size):
    assert refusal(make({"pytorch101.py": os.urandom(size)})) == bad("too_large")


def test_large_archive(tmp_path):
    (tmp_path / "a.zip").write_bytes(bytes(9 << 20))
    assert refusal(tmp_path / "a.zip") == bad("too_large")


def test_wanted_files_together(make):
    half = os.urandom(1 << 19).hex().encode()
    bounds = Bounds(total_bytes=(1 << 20) + 1000)
    path = make({"a.dat": half, "b.dat": half})
    with pytest.raises(IntakeError) as caught:
        read_submission(path, ["a.dat", "b.dat"], bounds=bounds)
    assert caught.value.message.id == "too_large"


def test_zip_bomb_is_counted_not_believed(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("pytorch101.py", bytes(3 << 20))
    assert refusal(tmp_path / "a.zip") == bad("too_compressed")
    data = (tmp_path / "a.zip").read_bytes()
    (tmp_path / "a.zip").write_bytes(data.replace(struct.pack("<I", 3 << 20), struct.pack("<I", 9)))
    assert refusal(tmp_path / "a.zip") == bad("broken_archive")


def test_zip_is_never_asked_for_more_than_its_bound(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("pytorch101.py", bytes(3 << 20))
    asked = []
    original = zipfile.ZipExtFile.read

    def spy(self: zipfile.ZipExtFile, size: int = -1) -> bytes:
        asked.append(size)
        return original(self, size)

    monkeypatch.setattr(zipfile.ZipExtFile, "read", spy)
    assert refusal(tmp_path / "a.zip") == bad("too_compressed")
    assert 0 < min(asked) <= max(asked) <= 1 << 20


def test_bomb_beside_the_wanted_file_is_never_unpacked(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.bin", bytes(3 << 20))
        archive.writestr("pytorch101.py", SOURCE)
    opened = []
    original = zipfile.ZipFile.open

    def spy(self: zipfile.ZipFile, info: zipfile.ZipInfo) -> object:
        opened.append(info.filename)
        return original(self, info)

    monkeypatch.setattr(zipfile.ZipFile, "open", spy)
    assert read_submission(tmp_path / "a.zip", ONE, bounds=SMALL).files[0].data == SOURCE
    assert opened == ["pytorch101.py"]


@pytest.mark.parametrize(("size", "message"), [(3 << 20, "too_compressed"), (9 << 20, "too_large")])
def test_gzip_bomb(tmp_path, size, message):
    filler = os.urandom(1 << 18) if message == "too_large" else b""
    (tmp_path / "a.tgz").write_bytes(gzip.compress(filler + bytes(size)))
    assert refusal(tmp_path / "a.tgz") == bad(message)


def test_gzip_is_never_unpacked_beyond_its_bound(tmp_path, monkeypatch):
    asked = []

    class Spy:
        eof = True

        def decompress(self, _: bytes, most: int) -> bytes:
            asked.append(most)
            return b""

    monkeypatch.setattr(zlib, "decompressobj", lambda _: Spy())
    (tmp_path / "a.tgz").write_bytes(gzip.compress(b"x"))
    assert refusal(tmp_path / "a.tgz") == (Code.MISSING_FILE, "nothing_found")
    assert asked == [(1 << 16) + 1]


# damage


def test_gzip_without_its_end_is_broken_even_if_the_tar_in_it_is_whole(tmp_path):
    tar_of(tmp_path / "a.tar", member("pytorch101.py"))
    (tmp_path / "a.tgz").write_bytes(gzip.compress((tmp_path / "a.tar").read_bytes())[:-4])
    assert refusal(tmp_path / "a.tgz") == bad("broken_archive")


def test_truncated_archives(make_archive):
    path = make_archive({"pytorch101.py": os.urandom(5000)})
    path.write_bytes(path.read_bytes()[:2000])
    assert refusal(path) == bad("broken_archive")


def test_wrong_checksum_in_a_zip(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("pytorch101.py", SOURCE)
    data = (tmp_path / "a.zip").read_bytes()
    (tmp_path / "a.zip").write_bytes(data.replace(SOURCE, b"x = 2\n"))
    assert refusal(tmp_path / "a.zip") == bad("broken_archive")


def test_wrong_checksum_in_a_tgz(tmp_path):
    data = bytearray(gzip.compress(b"x" * 3000))
    data[-6] ^= 1
    (tmp_path / "a.tgz").write_bytes(data)
    assert refusal(tmp_path / "a.tgz") == bad("broken_archive")


def test_encrypted_zip(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("pytorch101.py", SOURCE)
    data = bytearray((tmp_path / "a.zip").read_bytes())
    data[6] |= 1  # the flag in the local header …
    data[data.index(b"PK\x01\x02") + 8] |= 1  # … and in the listing
    (tmp_path / "a.zip").write_bytes(data)
    assert refusal(tmp_path / "a.zip") == bad("encrypted")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_zip_with_an_unusual_method(tmp_path, method):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", method) as archive:
        archive.writestr("pytorch101.py", SOURCE)
    assert refusal(tmp_path / "a.zip") == bad("unknown_compression")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"Rar!\x1a\x07", "unknown_archive"),
        (b"7z\xbc\xaf\x27\x1c", "unknown_archive"),
        (b"hello", "not_an_archive"),
        (b"", "empty_file"),
        (b"PK\x03\x04 and no more", "broken_archive"),
        (b"\x1f\x8b and no more", "broken_archive"),
        (bytes(257) + b"ustar" + bytes(250), "broken_archive"),
    ],
)
def test_archives_that_are_none(tmp_path, data, message):
    (tmp_path / "a.zip").write_bytes(data)
    assert refusal(tmp_path / "a.zip") == bad(message)


def test_archive_in_an_archive_is_not_opened(make_archive, tmp_path):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("pytorch101.py", SOURCE)
    code, message = refusal(make_archive({"hw1.zip": inner.getvalue()}))
    assert (code, message) == (Code.MISSING_FILE, "archive_inside")


# tar's own ways


@pytest.mark.parametrize("fmt", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
@pytest.mark.parametrize("folder", ["f" * 60, "g" * 120, "é" * 30])
def test_long_names_in_every_tar_format(tmp_path, fmt, folder):
    path = tmp_path / "a.tar"
    if fmt == tarfile.USTAR_FORMAT and len(folder.encode()) > 100:
        folder = folder[:100]
    tar_of(path, member(f"{folder}/pytorch101.py"), member(f"{folder}/README"), fmt=fmt)
    result = read_submission(path, ONE)
    assert result.files[0].data == SOURCE
    assert result.files[0].origin.startswith("a.tar/")


def _side_header(kind: bytes, body: bytes) -> bytes:
    info = tarfile.TarInfo("x")
    info.type, info.size = kind, len(body)
    return info.tobuf(tarfile.USTAR_FORMAT) + body + bytes(-len(body) % 512)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"18 path=../escape\n", "path_outside"),
        (b"9999999999 path=x", "missing_file"),
        (b"0 path=x\n", "broken_archive"),
        (b"-5 path=x\n", "broken_archive"),
        (b"7" * 100_000, "broken_archive"),
        (b"x path=y\n", "broken_archive"),
        (b"22 GNU.sparse.major=1\n", "broken_archive"),
    ],
)
def test_hostile_extended_headers(tmp_path, body, message):
    data = _side_header(tarfile.XHDTYPE, body) + member("x").tobuf() + SOURCE.ljust(512, b"\0")
    (tmp_path / "a.tar").write_bytes(data + bytes(1024))
    assert refusal(tmp_path / "a.tar")[1] == message


def test_extended_headers_without_end(tmp_path):
    header = _side_header(tarfile.XHDTYPE, b"6 a=b\n" * 3000)
    (tmp_path / "a.tar").write_bytes(header * 3 + member("x").tobuf() + bytes(1536))
    assert refusal(tmp_path / "a.tar")[1] == "missing_file"
    assert refusal(tmp_path / "a.tar", Bounds(tar_extras=50_000)) == bad("broken_archive")


def test_chain_of_extended_headers_is_no_recursion(tmp_path):
    chain = _side_header(tarfile.GNUTYPE_LONGNAME, b"pytorch101.py\0") * 3000
    data = chain + member("x").tobuf() + SOURCE.ljust(512, b"\0") + bytes(1024)
    (tmp_path / "a.tar").write_bytes(data)
    assert read_submission(tmp_path / "a.tar", ONE).files[0].data == SOURCE


def test_size_beyond_the_archive(tmp_path):
    info = member("pytorch101.py")
    info.size = 1 << 40
    (tmp_path / "a.tar").write_bytes(info.tobuf(tarfile.GNU_FORMAT) + bytes(1024))
    assert refusal(tmp_path / "a.tar") == bad("broken_archive")
