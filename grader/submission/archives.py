"""Tar and zip archives, read in memory; only the wanted entries are ever unpacked.

The headers of a tar archive are walked here rather than by ``tarfile.open``: it follows chains of
extension headers by recursion, searches them with expressions that need quadratic time, and
believes sizes in them. Only its parser for one header block is used.

Defends against: bombs (real bytes are counted while unpacking, against what went in), archives and
listings without end, links, devices, sparse files that claim terabytes, encrypted or damaged
entries.
"""

from __future__ import annotations

import io
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from functools import partial

from grader.submission.submission import (
    Bounds,
    FoundFile,
    bad,
    clean_path,
    entry_of,
    is_ignored,
    show,
)

_BLOCK = tarfile.BLOCKSIZE
_END = bytes(_BLOCK)
_GZIP = 31  # zlib's window bits for a gzip wrapper
_LINKS = frozenset({tarfile.LNKTYPE, tarfile.SYMTYPE})
_FILES = frozenset({tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE})
# These carry no data whatever their size field says.
_BARE = _LINKS | {tarfile.DIRTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE}
_PAX = frozenset({tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE})
_SIDE = _PAX | {tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK}


def gunzip(name: str, data: bytes, bounds: Bounds) -> bytes:
    """Unpack gzip data, its first member only.

    Raises:
        IntakeError: If it is broken or grows beyond ``bounds``.
    """
    limit, grown = bounds.total_bytes, bounds.unpacked(len(data))
    stream = zlib.decompressobj(_GZIP)
    try:
        # Bounded while it unpacks, one byte beyond the limit: a bomb of gigabytes is never in
        # memory.
        content = stream.decompress(data, min(limit, grown) + 1)
    except zlib.error as error:
        raise bad("broken_archive", file=show(name), problem=show(str(error))) from error
    if len(content) > limit:
        raise bad("too_large", file=show(name), limit=limit)
    if len(content) > grown:
        raise bad("too_compressed", file=show(name), limit=bounds.ratio)
    if not stream.eof:
        raise bad("broken_archive", file=show(name), problem="it ends too early")
    return content


def list_tar(name: str, data: bytes, bounds: Bounds) -> list[FoundFile]:
    """List the entries of a tar archive.

    Raises:
        IntakeError: If it is broken, too long, or an entry's name is refused.
    """
    found = []
    try:
        for raw, header, body in _members(data, bounds):
            path = clean_path(raw, bounds)
            if is_ignored(path) or header.isdir():
                continue
            read = partial(_content, path, body, bounds)
            link, plain = header.type in _LINKS, header.type in _FILES
            found.append(entry_of(path, read, link=link, plain=plain))
            if len(found) > bounds.entries:
                raise bad("too_many_files", limit=bounds.entries)
    except (tarfile.TarError, ValueError) as error:
        raise bad("broken_archive", file=show(name), problem=show(str(error))) from error
    return found


def _content(path: str, body: memoryview, bounds: Bounds) -> bytes:
    if len(body) > bounds.largest(path):
        raise bad("too_large", file=show(path), limit=bounds.largest(path))
    return bytes(body)


def _members(data: bytes, bounds: Bounds) -> Iterator[tuple[str, tarfile.TarInfo, memoryview]]:
    """Yield name, header and content of each member, with the long names put in."""
    view = memoryview(data)
    position = headers = extras = 0
    longer: str | None = None
    while data[position : position + _BLOCK] not in {_END, b""}:
        headers += 1
        # Headers, not files: members that are ignored cost time too.
        if headers > bounds.headers:
            raise bad("too_many_files", limit=bounds.entries)
        header = tarfile.TarInfo.frombuf(
            data[position : position + _BLOCK], "utf-8", "surrogateescape"
        )
        size = 0 if header.type in _BARE else header.size
        start = position + _BLOCK
        # A negative size would send the loop backwards, for ever.
        if size < 0 or start + size > len(data):
            raise tarfile.ReadError("it ends too early")
        body = view[start : start + size]
        position = start + -(-size // _BLOCK) * _BLOCK
        if header.type in _SIDE:
            extras += size
            if extras > bounds.tar_extras:
                raise tarfile.ReadError("its extended headers are too long")
            if header.type == tarfile.GNUTYPE_LONGNAME:
                plain = bytes(body).rstrip(b"\0")
                longer = plain.decode("utf-8", "surrogateescape") or longer
            elif header.type in _PAX:
                longer = _pax_path(bytes(body)) or longer
        else:
            yield longer or header.name, header, body
            longer = None


def _pax_path(body: bytes) -> str | None:
    """Return ``path`` from records of the form ``LENGTH KEY=VALUE newline``, in linear time."""
    position, path = 0, None
    while position < len(body):
        # Twenty characters hold any length; a search without an end would make the loop quadratic.
        space = body.find(b" ", position, position + 20)
        if space < 0:
            raise tarfile.ReadError("an extended header is malformed")
        length = int(body[position:space])
        if length <= space - position:
            raise tarfile.ReadError("an extended header is malformed")
        key, _, value = body[space + 1 : position + length - 1].partition(b"=")
        if key == b"path":
            path = value.decode("utf-8", "surrogateescape")
        # A sparse file stands in the archive in a few bytes and is terabytes once it is read.
        if key.startswith(b"GNU.sparse."):
            raise tarfile.ReadError("it holds sparse files")
        position += length
    return path


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


def list_zip(name: str, data: bytes, bounds: Bounds) -> list[FoundFile]:
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
        read = partial(_unpack_zipped, archive, info, path, bounds)
        kind = stat.S_IFMT(info.external_attr >> 16)
        link, plain = kind == stat.S_IFLNK, kind in {0, stat.S_IFREG}
        found.append(entry_of(path, read, link=link, plain=plain))
        if len(found) > bounds.entries:
            raise bad("too_many_files", limit=bounds.entries)
    return found


def _unpack_zipped(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: str, bounds: Bounds
) -> bytes:
    if info.flag_bits & _ENCRYPTED:
        raise bad("encrypted", file=show(path))
    # The other methods may ask for gigabytes of dictionary before the first byte comes out.
    if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise bad("unknown_compression", file=show(path))
    limit, grown = bounds.largest(path), bounds.unpacked(info.compress_size)
    try:
        with archive.open(info) as stream:
            # Not the size that the listing claims, which the archive's maker chose.
            content = stream.read(min(limit, grown) + 1)
    except _BROKEN as error:
        raise bad("broken_archive", file=show(path), problem=show(str(error))) from error
    if len(content) > limit:
        raise bad("too_large", file=show(path), limit=limit)
    if len(content) > grown:
        raise bad("too_compressed", file=show(path), limit=bounds.ratio)
    return content
