"""Whether bytes can be Python source, and if not, what they look like.

The source is not parsed: an expression nested deeply enough kills the parser, and with it whoever
called it. Syntax errors are found in the student process.
"""

from __future__ import annotations

import codecs
import io
import re
import tokenize

from grader.submission.submission import bad, show

# Longest first where one mark begins another.
_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_BINARY = (
    (b"\x7fELF", "elf"),
    (b"MZ", "windows_program"),
    (b"PK\x03\x04", "zip"),
    (b"\x1f\x8b", "gzip"),
    (b"\x89PNG", "png"),
    (b"\x89HDF", "hdf5"),
)
# None of these can begin a Python file that means anything.
_TEXTUAL = (
    (re.compile(rb"%PDF-"), "pdf"),
    (re.compile(rb"\{\\rtf"), "rtf"),
    (re.compile(rb"(?i)<!doctype|<html|<\?xml"), "web_page"),
    (re.compile(rb'\{\s*"(cells|metadata|nbformat|worksheets)"\s*:'), "notebook"),
)
_COMPILED = re.compile(rb"[\x00-\xff][\x0c-\x0f\xf3]\r\n")
# Read the same in every encoding that a person would choose for source, and in no encoding that
# could hide code from whoever reads it as text (unicode_escape, utf-7, punycode, idna, hz).
_PLAIN = bytes(range(32, 92)) + bytes(range(93, 127))
_PLAIN += b"\t\n\\x41\\u0041+AGE-~{VPND~}.xn--nxasmq6b.\n"


def check_source(path: str, data: bytes) -> None:
    """Check that ``data`` is text that Python would decode.

    Raises:
        IntakeError: With what the file looks like, or where it stops being text.
    """
    if not data.removeprefix(codecs.BOM_UTF8).strip():
        raise bad("empty_file", file=show(path))
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            raise bad("wrong_encoding", file=show(path), encoding=encoding)
    kind = _kind(data)
    if kind:
        raise bad(f"not_source_{kind}", file=show(path))
    if b"\0" in data:
        raise bad("nul_bytes", file=show(path), line=_line_at(data, data.index(b"\0")))
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except (SyntaxError, ValueError) as error:
        # Raised for an unknown coding cookie, but also for a first line that is not UTF-8.
        decode(path, data, "utf-8")
        raise bad("unknown_encoding", file=show(path), problem=show(str(error))) from error
    # A reader of the text must see what Python runs: some encodings turn harmless text into code.
    if not _is_plain(encoding):
        raise bad("unknown_encoding", file=show(path), problem=show(encoding))
    decode(path, data, encoding)


def _kind(data: bytes) -> str | None:
    """Return what ``data`` is by its first bytes, as message ids name it, or None for text."""
    head = data[:4096].removeprefix(codecs.BOM_UTF8).lstrip()
    for pattern, name in _TEXTUAL:
        if pattern.match(head):
            return name
    # Text may begin with MZ; only with a NUL in it is it no text.
    if b"\0" not in data:
        return None
    for magic, name in _BINARY:
        if data.startswith(magic):
            return name
    if _COMPILED.match(data) and b"\0" in data[:16]:
        return "pyc"
    halves = (data[:4096:2].count(0), data[1:4096:2].count(0))
    return "utf16" if max(halves) * 4 > min(len(data), 4096) else None


def _is_plain(encoding: str) -> bool:
    try:
        return _PLAIN.decode(encoding) == _PLAIN.decode("ascii")
    except (UnicodeError, LookupError):  # LookupError: a codec such as zlib, which is none for text
        return False


def decode(path: str, data: bytes, encoding: str) -> str:
    """Return ``data`` as text.

    Raises:
        IntakeError: Naming the line and the byte that are none in this encoding.
    """
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = _line_at(data, error.start)
        byte = f"0x{data[error.start]:02x}"
        korean = _OF_WINDOWS if _reads_as_korean(data) else None
        raise bad(
            "not_text", file=show(path), encoding=encoding, line=line, byte=byte, windows=korean
        ) from error


_OF_WINDOWS = "cp949"
_HANGUL = re.compile("[가-힣]{2}")


def _reads_as_korean(data: bytes) -> bool:
    """Return whether a file is Korean text in the encoding that Windows gives it."""
    try:
        return _HANGUL.search(data.decode(_OF_WINDOWS)) is not None
    except UnicodeDecodeError:
        return False


def _line_at(data: bytes, offset: int) -> int:
    """Return the 1-based line of a byte, with any kind of line ending."""
    return len(re.findall(rb"\r\n|\r|\n", data[:offset])) + 1
