"""Hand-ins of a class as text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from class_of import LONG, OTHER, read

from grader.batch.discover import ClassSubmission
from grader.errors import UsageError
from grader.similarity.texts import MOST_BYTES, Scripts, read_class, read_starter

NOTEBOOK = json.dumps({
    "cells": [
        {"cell_type": "code", "source": "import torch"},
        {"cell_type": "markdown", "source": "words"},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "y = torch.ones(3)"]},
    ],
    "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
})  # fmt: skip


def test_identical_hand_ins_are_one(tmp_path: Path) -> None:
    found = read(tmp_path, ann=LONG, bob=OTHER, cem=LONG, dua=LONG + "\n")
    assert [each.names for each in found.compared] == [("ann", "cem"), ("bob",), ("dua",)]


def test_lines_of_a_notebook_are_known_by_cell(tmp_path: Path) -> None:
    (hand_in,) = read(tmp_path, ann=NOTEBOOK).compared
    lines = dict(zip(hand_in.script.labels, hand_in.script.source.split("\n"), strict=True))
    assert lines["1:1"] == "import torch"
    assert lines["2:2"] == "y = torch.ones(3)"


def test_offsets_are_right_whatever_the_line_ends_and_encoding(tmp_path: Path) -> None:
    files = {
        "dos": b"a = 'x'\r\nname = 2\r\n",
        "mac": b"a = 'x'\rname = 2\r",
        "latin": "# coding: latin-1\na = 'é'\nname = 2\n".encode("latin-1"),
        "bom": b"\xef\xbb\xbfa = 1\nname = 2\n",
        "emoji": "a = '🎓'\nname = 2\n".encode(),
    }
    for each in read(tmp_path, **files).compared:
        tokens, source = each.script.tokens, each.script.source
        stood = [source[a:b] for a, b in zip(tokens.starts, tokens.ends, strict=True)]
        assert stood[-3:] == ["name", "=", "2"], each.name


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x7fELF\x00\x01" * 10, "program"),
        (b"x = 1\n" * (MOST_BYTES // 6 + 1), "256 KiB"),
        (b"", "empty"),
    ],
)
def test_what_cannot_be_compared_is_said(tmp_path: Path, data: bytes, why: str) -> None:
    found = read(tmp_path, ann=data, bob=LONG)
    assert [each.name for each in found.compared] == ["bob"]
    assert why in found.unread["ann"]


def test_text_that_kills_its_reader_costs_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Scripts() as scripts:
        ask = scripts._tokeniser.ask

        def die_of_ann(data: bytes) -> bytes:
            if b"poison" in data:
                scripts._tokeniser.start()
                process = scripts._tokeniser._process
                assert process is not None
                process.kill()
                process.wait()
            return ask(data)

        monkeypatch.setattr(scripts._tokeniser, "ask", die_of_ann)
        paths = []
        for name, text in (("ann", "poison = 1\n"), ("bob", LONG)):
            paths.append(tmp_path / f"{name}.py")
            paths[-1].write_text(text)
        found = read_class([ClassSubmission(p.stem, p) for p in paths], ["hw.py"], scripts)
    assert "could not be taken apart" in found.unread["ann"]
    assert [each.name for each in found.compared] == ["bob"]


def test_one_that_may_not_be_read_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "ann.py").write_text(LONG)
    (tmp_path / "\udcff.py").symlink_to(tmp_path / "nowhere")
    hand_ins = [ClassSubmission(path.stem, path) for path in sorted(tmp_path.iterdir())]
    with Scripts() as scripts:
        found = read_class(hand_ins, ["hw.py"], scripts)
    assert [each.name for each in found.compared] == ["ann"]
    assert "udcff.py: cannot read" in found.unread["\udcff"].encode("ascii", "strict").decode()


def test_a_class_that_is_gone_is_named(tmp_path: Path) -> None:
    with Scripts() as scripts, pytest.raises(UsageError, match=r"gone\.py.*where they lay"):
        read_class([ClassSubmission("gone", tmp_path / "gone.py")], ["hw.py"], scripts)


def test_several_files_are_one_script(tmp_path: Path) -> None:
    for name in ("a.py", "b.py", "data.csv"):
        (tmp_path / name).write_text(f"{name[0]} = 1\n")
    with Scripts() as scripts:
        found = read_class(
            [ClassSubmission("ann", tmp_path)], ["a.py", "b.py", "data.csv"], scripts
        )
    script = found.compared[0].script
    assert script.source == "# a.py\na = 1\n\n# b.py\nb = 1\n"
    assert script.labels == ("", "1", "2", "", "1", "2")


def test_a_starter_is_its_modules_and_notebooks(tmp_path: Path) -> None:
    (tmp_path / "hw.py").write_text(LONG)
    (tmp_path / "hw.ipynb").write_text(NOTEBOOK)
    (tmp_path / "README.md").write_text("words")
    with Scripts() as scripts:
        assert len(read_starter(tmp_path, scripts)) == 2
        assert read_starter(tmp_path / "none", scripts) == []
