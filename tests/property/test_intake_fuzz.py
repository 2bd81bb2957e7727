"""Whatever bytes are handed in, the answer is a submission or a refusal."""

from __future__ import annotations

import contextlib
import io
import json
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.submission import Bounds, IntakeError, Submission, read_submission
from grader.submission.notebook import NEWLINE, to_python
from grader.submission.text import check_source

SOURCE = b"def f(x):\n    return x\n"
NAMES = ["pytorch101.py", "hw/pytorch101.py", "hw/pytorch101.ipynb", "n" * 150, "a/./b//c"]
BOUNDS = Bounds(total_bytes=1 << 20, file_bytes=1 << 18, notebook_bytes=1 << 18)


def _zip() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in NAMES:
            archive.writestr(name, SOURCE * 3)
    return data.getvalue()


def _tar(mode: str, fmt: int) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=mode, format=fmt) as archive:  # type: ignore[call-overload]
        for name in [*NAMES, "é"]:
            info = tarfile.TarInfo(name)
            info.size = len(SOURCE)
            archive.addfile(info, io.BytesIO(SOURCE))
    return data.getvalue()


def _notebook(version: int) -> bytes:
    key = "source" if version == 4 else "input"
    cells = [{"cell_type": "code", key: ["%time\n", "x = 1"], "outputs": [], "metadata": {}}]
    body = {"cells": cells} if version == 4 else {"worksheets": [{"cells": cells}]}
    return json.dumps({"nbformat": version, "nbformat_minor": 4, "metadata": {}, **body}).encode()


SEEDS = {
    "a.zip": _zip(),
    "a.tar": _tar("w", tarfile.PAX_FORMAT),
    "b.tar": _tar("w", tarfile.GNU_FORMAT),
    "a.tgz": _tar("w:gz", tarfile.PAX_FORMAT),
    "a.ipynb": _notebook(4),
    "b.ipynb": _notebook(3),
    "a.py": SOURCE,
}


def read(name: str, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        refusal, result = None, None
        try:
            result = read_submission(path, ["pytorch101.py"], bounds=BOUNDS)
        except IntakeError as error:
            refusal = error
    if refusal is not None:
        assert refusal.message.id
        assert len(str(dict(refusal.message.params))) < 5000
    else:
        assert isinstance(result, Submission)
        assert result.files[0].path == "pytorch101.py"


def test_seeds_are_valid():
    for name in ("a.ipynb", "b.ipynb", "a.py"):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / name).write_bytes(SEEDS[name])
            assert read_submission(Path(folder) / name, ["pytorch101.py"]).files[0].data


@pytest.mark.parametrize("name", SEEDS)
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_mutated_hand_ins(name, data):
    content = bytearray(SEEDS[name])
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(content)))
        cut = data.draw(st.integers(0, 4) | st.integers(0, len(content)))
        content[at : at + cut] = data.draw(st.binary(max_size=8) | st.sampled_from(MARKS))
    read(name, bytes(content))


MARKS = [b"\0", b"\xff" * 4, b"PK\x01\x02", b"PK\x05\x06", b"ustar", b"../", b'"', b"[", b"9999999"]


@pytest.mark.parametrize("name", [*SEEDS, "noname"])
@given(data=st.binary(max_size=600))
@settings(max_examples=60, deadline=None)
def test_random_hand_ins(name, data):
    read(name, data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["cells", "cell_type", "source", "input", "nbformat", "worksheets", "code"]
            ),
            inner | st.sampled_from(["code", 1, 2, 3, 4]),
            max_size=5,
        )
    ),
    max_leaves=15,
)


@given(content=JSON)
@settings(max_examples=200, deadline=None)
def test_any_json_as_a_notebook(content):
    read("a.ipynb", json.dumps(content).encode())


PIECES = ["%", "!", "?", "'", '"', '"""', "'''", "\\", "\n", "\r", "(", "]", "#", "x", " ", "="]


@given(cell=st.lists(st.sampled_from([*PIECES, "%%time", "from __future__ import x"])).map("".join))
@settings(max_examples=300, deadline=None)
def test_any_cell_keeps_its_line_count(cell):
    lines, _ = to_python(cell, "m.py")
    assert len(lines) == len(NEWLINE.split(cell.removesuffix("\n")))
    assert not any(NEWLINE.search(line) for line in lines)


COOKIES = ["", "# coding: gbk\n", "# coding: x\n", "\ufeff# coding: idna\n"]


@given(data=st.binary(max_size=200), cookie=st.sampled_from(COOKIES))
@settings(max_examples=200, deadline=None)
def test_any_source_is_accepted_or_refused(data, cookie):
    with contextlib.suppress(IntakeError):
        check_source("m.py", cookie.encode() + data)
