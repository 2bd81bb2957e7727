"""``grader similarity`` on the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from class_of import DISGUISED, LONG, OTHER

from grader.batch.discover import ClassSubmission
from grader.batch.graded import GradedSubmission
from grader.batch.ledger import BatchSettings, begin, record
from grader.batch.pages import SIMILARITY_FILE
from grader.cli import app as cli
from grader.cli import similarity as cli_similarity
from grader.report.model import Report
from grader.similarity.pages import DATA_FILE

GOLDEN = Path(__file__).parents[2] / "golden" / "toy.report.json"
ASSIGNMENT = """\
schema: torchgrade/assignment/v1
id: hw
version: "1"
title: Home <work>
hand_in: [hw.py]
questions:
  - id: first
    title: One
    points: 1
    cases: [{id: some, args: {x: {rand: [4], dtype: float32}}}]
    checks: [{id: values, kind: close, rtol: 1.0e-4, atol: 1.0e-4, points: 1}]
"""


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {
        "assignments/hw/assignment.yml": ASSIGNMENT,
        "reference/hw/hw.py": "def first(x):\n    return x\n",
        "class/ann.py": LONG,
        "class/bob.py": DISGUISED,
        "class/cem.py": OTHER,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["grader", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def pairs(folder: Path) -> list[list[list[str]]]:
    return [pair["hand_ins"] for pair in json.loads((folder / DATA_FILE).read_text())["pairs"]]


def test_a_class_folder(course: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    words = ("similarity", "class", "--assignment", "hw", "--out", "pages")
    assert run(monkeypatch, *words) == 0
    assert pairs(course / "pages") == [[["ann"], ["bob"]]]
    said = capsys.readouterr().out
    assert "Pairs from 60% on: 1." in said
    assert "To be read, not believed: pages/index.html" in said


def test_a_batch_knows_its_hand_ins_and_assignment(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = BatchSettings(
        assignment="hw", file=str(course / "assignments/hw/assignment.yml"), version="1",
        digest="", seed=1, device="auto", questions=(), isolation="auto", clock=False,
        grader_version="0",
    )  # fmt: skip
    report = Report.model_validate_json(GOLDEN.read_text())
    out = course / "graded"
    out.mkdir()
    with begin(out, setup) as journal:
        for name in ("ann", "bob", "cem"):
            hand_in = ClassSubmission(name, course / "class" / f"{name}.py")
            record(journal, GradedSubmission.of(hand_in, report, digest=""))
    assert run(monkeypatch, "similarity", "graded") == 0
    assert pairs(out / "similarity") == [[["ann"], ["bob"]]]
    assert (out / SIMILARITY_FILE).is_file(), "what the page of the class links to"
    assert run(monkeypatch, "similarity", "graded", "--out", "else", "--threshold", "1") == 0
    assert pairs(course / "else") == []


def test_what_is_missing_is_said(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    assert run(monkeypatch, "similarity", "class") == 2
    assert "add --assignment ID and --out DIR" in capsys.readouterr().err
    monkeypatch.setattr(cli_similarity, "find_spec", lambda name: None)
    assert run(monkeypatch, "similarity", "class", "--assignment", "hw", "--out", "x") == 2
    assert "torchgrade[similarity]" in capsys.readouterr().err
    assert not (course / "x").exists()
