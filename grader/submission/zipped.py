"""Zip archives, read in memory; only the wanted entries are ever unpacked.

Defends against: bombs (real bytes are counted while unpacking, against what went in), listings
without end, entries that are links or devices, encrypted or damaged entries.
"""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from functools import partial

from grader.submission.bounds import Bounds
from grader.submission.entry import Entry, Kind, no_content
from grader.submission.names import bad, clean_path, is_ignored, show

_LISTING = b"PK\x01\x02"
_ENCRYPTED = 0x1
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
)


def list_zip(name: str, data: bytes, bounds: Bounds) -> list[Entry]:
    """List the entries of a zip archive.

    Raises:
        IntakeError: If it is broken, too long, or an entry's name is refused.
    """
    # Every entry listed carries this mark, so counting marks bounds the list before it is built.
    if data.count(_LISTING) > bounds.headers:
        raise bad("too_many_files", limit=bounds.entries)
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except _BROKEN as error:
        raise bad("broken_archive", file=show(name), problem=show(str(error))) from error
    found = []
    for info in archive.infolist():
        # Windows tools write backslashes between folders; zipfile cuts names at a NUL.
        path = clean_path(info.orig_filename.replace("\\", "/"), bounds)
        if is_ignored(path) or info.is_dir() or info.orig_filename.endswith("\\"):
            continue
        found.append(_entry(archive, info, path, bounds))
        if len(found) > bounds.entries:
            raise bad("too_many_files", limit=bounds.entries)
    return found


def _entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: str, bounds: Bounds) -> Entry:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return Entry(path, Kind.LINK, no_content)
    if kind not in {0, stat.S_IFREG}:
        return Entry(path, Kind.SPECIAL, no_content)
    return Entry(path, Kind.FILE, partial(_unpack, archive, info, path, bounds))


def _unpack(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: str, bounds: Bounds) -> bytes:
    if info.flag_bits & _ENCRYPTED:
        raise bad("encrypted", file=show(path))
    # The other methods may ask for gigabytes of dictionary before the first byte comes out.
    if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise bad("unknown_compression", file=show(path))
    limit, grown = bounds.largest(path), bounds.unpacked(info.compress_size)
    try:
        with archive.open(info) as stream:
            content = stream.read(min(limit, grown) + 1)
    except _BROKEN as error:
        raise bad("broken_archive", file=show(path), problem=show(str(error))) from error
    if len(content) > limit:
        raise bad("too_large", file=show(path), limit=limit)
    if len(content) > grown:
        raise bad("too_compressed", file=show(path), limit=bounds.ratio)
    return content
