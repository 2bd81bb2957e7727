"""What counts as Python source, and what is said of everything else."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from grader.submission import IntakeError
from grader.submission.text import check_source

LINE = b"x = 1\n"


def refusal(data: bytes) -> tuple[str, dict[str, object]]:
    with pytest.raises(IntakeError) as caught:
        check_source("pytorch101.py", data)
    return caught.value.message.id, dict(caught.value.message.params)


@pytest.mark.parametrize(
    "data",
    [
        LINE,
        b"\xef\xbb\xbf" + LINE,
        b"x = 1\r\ny = 2\r\n",
        b"x = 1\ry = 2\r",
        b"x = 1",
        "# 注释 한국어\n".encode(),
        "# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1"),
        "# -*- coding: gbk -*-\n# 注释\n".encode("gbk"),
        "\n# vim: set fileencoding=euc-kr :\n# 한국어\n".encode("euc-kr"),
        "# coding: cp1252\n# “x”\n".encode("cp1252"),
        "# coding: shift_jis\n# 日本\n".encode("shift_jis"),
        "# coding: cp932\n# 日本\n".encode("cp932"),
        "# coding: big5\n# 注\n".encode("big5"),
        "# coding: gb18030\n# 注\n".encode("gb18030"),
        "# coding: koi8-r\n# ж\n".encode("koi8-r"),
        b"# coding: ascii\n",
        b"MZ = 3\n",
        b"def f(:\n",
        b"(" * 100_000,
    ],
)
def test_accepted(data):
    check_source("pytorch101.py", data)


@pytest.mark.parametrize("data", [b"", b" \r\n\t", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_empty(data):
    assert refusal(data) == ("empty_file", {"file": "pytorch101.py"})


@pytest.mark.parametrize(
    ("encoding", "said"),
    [("utf-16", "UTF-16"), ("utf-32", "UTF-32")],
)
def test_wide_encodings_with_a_mark(encoding, said):
    message, params = refusal("x = 1\n".encode(encoding))
    assert (message, params["encoding"]) == ("wrong_encoding", said)


def test_wide_encodings_with_a_mark_big_endian():
    assert refusal(b"\xfe\xff" + "x".encode("utf-16-be"))[1]["encoding"] == "UTF-16"
    assert refusal(b"\0\0\xfe\xff" + "x".encode("utf-32-be"))[1]["encoding"] == "UTF-32"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x7fELF\x02\x01\x01\0\0", "elf"),
        (b"MZ\x90\0\x03\0", "windows_program"),
        (b"PK\x03\x04\x14\0\0\0", "zip"),
        (b"\x1f\x8b\x08\0\0", "gzip"),
        (b"\x89PNG\r\n\x1a\n\0\0", "png"),
        (b"\x89HDF\r\n\x1a\n\0", "hdf5"),
        (b"%PDF-1.7\n", "pdf"),
        (rb"{\rtf1\ansi", "rtf"),
        (b"\n<!DOCTYPE html>\n<html>", "web_page"),
        (b'{\n "cells": [', "notebook"),
        (importlib.util.MAGIC_NUMBER + bytes(12) + b"\xe3", "pyc"),
        ("x = 1\n".encode("utf-16-le"), "utf16"),
        ("x = 1\n".encode("utf-16-be"), "utf16"),
    ],
)
def test_what_it_looks_like(data, kind):
    assert refusal(data) == (f"not_source_{kind}", {"file": "pytorch101.py"})


def test_nul_byte_is_located():
    assert refusal(b"x = 1\r\ny = 2\r\nz = '\0'\n") == (
        "nul_bytes",
        {"file": "pytorch101.py", "line": 3},
    )


@pytest.mark.parametrize("before", [b"", LINE * 5])
def test_byte_that_is_not_utf8_is_located(before):
    message, params = refusal(before + b"# caf\xe9\n")
    assert message == "not_text"
    assert params["line"] == 1 + before.count(b"\n")
    assert (params["byte"], params["encoding"]) == ("0xe9", "utf-8")
    assert params["windows"] is None


def test_korean_as_windows_saves_it_is_named():
    text = "x = 1  # 행을 거꾸로\r\n"
    assert refusal(text.encode("cp949"))[1]["windows"] == "cp949"
    # A first line that says so is enough.
    check_source("pytorch101.py", f"# -*- coding: cp949 -*-\r\n{text}".encode("cp949"))


@pytest.mark.parametrize(
    "name",
    [
        "klingon",
        "zlib",
        "rot13",
        "unicode_escape",
        "raw_unicode_escape",
        "utf-7",
        "punycode",
        "idna",
        "hz",
        "utf-16",
        "cp037",
        "undefined",
        "hex",
    ],
)
def test_encodings_that_hide_code_are_refused(name):
    message, params = refusal(f"# coding: {name}\nx = 1\n".encode())
    assert message == "unknown_encoding"
    assert name.replace("-", "") in str(params["problem"]).replace("-", "")


def test_mark_and_cookie_that_disagree():
    assert refusal(b"\xef\xbb\xbf# coding: latin-1\n")[0] == "unknown_encoding"


def test_the_host_never_parses(monkeypatch):
    import ast  # noqa: PLC0415
    import builtins  # noqa: PLC0415

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the host parsed a submission")

    monkeypatch.setattr(ast, "parse", refuse)
    monkeypatch.setattr(builtins, "compile", refuse)
    check_source("pytorch101.py", Path(__file__).read_bytes())
