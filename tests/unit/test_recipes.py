"""The recipes of CONTRIBUTING.md work as they stand on the page."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import grader
from grader.batch import discover

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"^ *```\w+\n(?P<body> *# (?P<path>\S+)\n.*?)^ *```$", re.MULTILINE | re.DOTALL)
BLOCKS = {found["path"]: textwrap.dedent(found["body"]) for found in _BLOCK.finditer(PAGE)}


def test_a_new_kind_needs_a_class_its_messages_and_its_tests(tmp_path: Path) -> None:
    """Nothing else in the package knows the kind: a copy of it gets these files and no more."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(grader.__file__).parent, tmp_path / "grader", ignore=ignored)
    for language in ("en", "ko"):
        path = f"grader/report/messages/{language}.toml"
        catalogue = tmp_path / path
        text = catalogue.read_text(encoding="utf-8")
        changed = text.replace("\n[values]\n", f"\n[values]\n{BLOCKS[path]}", 1)
        catalogue.write_text(changed, encoding="utf-8")
    new = "grader/checks/signs.py", "tests/unit/checks/test_signs.py"
    (tmp_path / new[0]).write_text(BLOCKS[new[0]], encoding="utf-8")
    (tmp_path / "test_signs.py").write_text(BLOCKS[new[1]], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_signs.py"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT / 'tests'}"},
    )  # fmt: skip
    assert "2 passed" in done.stdout, done.stdout + done.stderr


def test_a_new_platform_needs_a_pattern_and_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = dict(vars(discover))
    exec(BLOCKS["grader/batch/discover.py"], place)
    row = re.search(r"`(\(\"attempts\".*?\)),`", PAGE)
    assert row
    known = eval(row[1], place)
    monkeypatch.setattr(discover, "_BY_NAME", (*discover._BY_NAME, known))
    for user in ("jdoe", "mina"):
        name = f"Homework 1_{user}_attempt_2026-10-01-12-30-00_toy.py"
        (tmp_path / name).write_text("x = 1\n")
    (tmp_path / "readme.txt").write_text("")
    found = discover.discover(tmp_path, tmp_path / "out")
    assert (found.platform, found.left_out) == ("attempts", ("readme.txt",))
    assert [(each.name, each.students[0].id) for each in found.hand_ins] == [
        ("jdoe", "jdoe"),
        ("mina", "mina"),
    ]
