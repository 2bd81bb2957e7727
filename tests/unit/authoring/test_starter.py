from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.assignment.find import locate
from grader.assignment.load import load_assignment
from grader.authoring.starter import build_starter, check_starter, write_starter
from grader.errors import AssignmentError

ROOT = Path(__file__).parents[3]

SPEC = """\
schema: torchgrade/assignment/v1
id: toy
version: "1"
title: Toy
hand_in: [toy.py]
support: [helper.py]
given: [given]
questions:
  - id: double
    title: Double
    points: 2.5
    cases:
      - {id: drawn, generate: cases}
    checks:
      - {id: values, kind: exact, points: 2.5}
"""
REFERENCE = '''\
def given(x):
    return x


def double(x):
    """Twice x."""
    # BEGIN SOLUTION
    return 2 * x
    # END SOLUTION


# BEGIN HIDDEN
def cases(seed):
    return (seed,)
# END HIDDEN
'''
STUBS = '''\
def given(x):
    return x


def double(x):
    """Twice x."""
    raise NotImplementedError("double is not written yet")
'''
HANDOUT = "# Toy\n\n## Double\n\n```python\ntoy.double(2)\n```\n"

Build = Callable[[], dict[str, bytes]]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    folder, reference = tmp_path / "assignments" / "toy", tmp_path / "reference" / "toy"
    for path, text in (
        (folder / "assignment.yml", SPEC),
        (folder / "handout.md", HANDOUT),
        (folder / "helper.py", "HELP = 1\n"),
        (reference / "toy.py", REFERENCE),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return lambda: build_starter(load_assignment(folder), folder, reference)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_starter_has_stubs_notebook_support_and_readme(build: Build) -> None:
    files = build()
    assert sorted(files) == ["README.md", "helper.py", "toy.ipynb", "toy.py"]
    assert files["toy.py"].decode() == STUBS
    assert files["helper.py"] == b"HELP = 1\n"
    readme = files["README.md"].decode()
    assert "| `double` | 2.5 |" in readme
    assert "worth no points: `given`." in readme
    assert "{" not in readme


KOREAN = 'title = "장난감"\n\n[double]\ntitle = "두 배"\n'


def test_a_translation_travels_with_the_starter(build: Build, tmp_path: Path) -> None:
    path = tmp_path / "assignments" / "toy" / "ko.toml"
    path.write_text(KOREAN, encoding="utf-8")
    (path.parent / "handout.ko.md").write_text("# 장난감", encoding="utf-8")
    files = build()
    assert files["ko.toml"].decode() == KOREAN
    korean = files["README.ko.md"].decode()
    assert korean.startswith("# 장난감\n")
    assert "| `double` | 두 배 | 2.5 |" in korean
    assert "점수가 없습니다: `given`." in korean
    assert "[handout.ko.md](handout.ko.md)" in korean
    assert "{" not in korean
    links = "[README.ko.md](README.ko.md), [handout.ko.md](handout.ko.md)"
    assert f"{links}; `grader check --lang ko`." in files["README.md"].decode()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[unseen]\ntitle = '둘'", r"\[unseen\]: there is no such question"),
        ("[double]\nname = '둘'", r"\[double\]: may have title and hint"),
        ("[double]\ntitle = 2", r"\[double\]: title and hint are texts"),
        ("double = '둘'", r"\[double\]: may have title and hint"),
        ("title = [1]", "title: is no text"),
        ("title = ", "Invalid value"),
    ],
)
def test_a_broken_translation_is_refused(
    build: Build, tmp_path: Path, text: str, told: str
) -> None:
    path = tmp_path / "assignments" / "toy" / "ko.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AssignmentError, match=rf"ko\.toml: {told}"):
        build()


def test_building_twice_gives_the_same_bytes(build: Build) -> None:
    assert build() == build()


def test_windows_line_ends_and_a_bom_do_not_matter(build: Build, tmp_path: Path) -> None:
    files = build()
    for path in (
        tmp_path / "reference" / "toy" / "toy.py",
        tmp_path / "assignments" / "toy" / "handout.md",
    ):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert build() == files


def test_writing_writes_what_changed_and_then_there_is_no_drift(
    build: Build, tmp_path: Path
) -> None:
    target = tmp_path / "starter" / "toy"
    assert len(check_starter(build(), target)) == 4
    assert len(write_starter(build(), target)) == 4
    assert check_starter(build(), target) == []
    edit(target / "toy.py", "Twice x.", "Thrice x.")
    assert write_starter(build(), target) == [target / "toy.py"]


def test_drift_names_file_line_and_remedy(build: Build, tmp_path: Path) -> None:
    target = tmp_path / "starter" / "toy"
    write_starter(build(), target)
    edit(target / "toy.py", "Twice x.", "Thrice x.")
    (target / "helper.py").unlink()
    (target / "old.py").write_text("")
    (target / "__pycache__").mkdir()
    (target / "__pycache__" / "toy.pyc").write_bytes(b"")
    problems = check_starter(build(), target)
    assert [(Path(p.file).name, p.line) for p in problems] == [
        ("toy.py", 6),
        ("helper.py", None),
        ("old.py", None),
    ]
    assert "Thrice" in problems[0].text
    assert "run make starter ID=toy" in problems[0].text
    assert "run make starter ID=toy" in problems[1].text


def test_a_file_that_is_cut_short_drifts_at_the_line_that_is_missing(
    build: Build, tmp_path: Path
) -> None:
    target = tmp_path / "starter" / "toy"
    write_starter(build(), target)
    (target / "toy.py").write_bytes(b"def given(x):\n")
    (problem,) = check_starter(build(), target)
    assert (problem.line, problem.text.split(",")[0]) == (2, "is nothing")


@pytest.mark.parametrize(
    ("file", "change", "text"),
    [
        ("reference/toy/toy.py", ("# BEGIN HIDDEN\n", ""), "has no “BEGIN HIDDEN” before it"),
        (
            "reference/toy/toy.py",
            (REFERENCE[REFERENCE.index("# BEGIN HIDDEN") :], "def cases(seed):\n    return (1,)\n"),
            "the case generator “cases” would be given to students",
        ),
        ("reference/toy/toy.py", ("def double", "def twice"), "does not define “double”"),
        ("assignments/toy/handout.md", ("toy.double(2)", "2"), "example calls toy.double"),
    ],
)
def test_what_would_spoil_the_starter_is_refused(
    build: Build, tmp_path: Path, file: str, change: tuple[str, str], text: str
) -> None:
    edit(tmp_path / file, *change)
    with pytest.raises(AssignmentError, match=text) as caught:
        build()
    assert file in str(caught.value)


def test_a_missing_or_undecodable_file_is_named(build: Build, tmp_path: Path) -> None:
    handout = tmp_path / "assignments" / "toy" / "handout.md"
    handout.write_bytes(b"# T\xff")
    with pytest.raises(AssignmentError, match=r"handout\.md: is not UTF-8 \(byte 3\)"):
        build()
    handout.unlink()
    (tmp_path / "reference" / "toy" / "toy.py").unlink()
    with pytest.raises(AssignmentError, match=r"toy\.py: cannot be read"):
        build()


def test_without_a_handout_the_notebook_shows_the_docstrings(build: Build, tmp_path: Path) -> None:
    (tmp_path / "assignments" / "toy" / "handout.md").unlink()
    cells = json.loads(build()["toy.ipynb"])["cells"]
    texts = ["".join(cell["source"]) for cell in cells]
    assert texts[0] == "# Toy"
    assert texts[2:4] == ["## Double", "help(toy.double)"]
    assert texts[4] == "%check double"
    assert "hand in `toy.py`" in texts[5]
    assert texts[6] == "%check"


def test_the_examples_of_the_handout_run_with_the_reference() -> None:
    file = ROOT / "assignments" / "pytorch101" / "assignment.yml"
    located = locate(file, load_assignment(file))
    notebook = json.loads((located.starter / "pytorch101.ipynb").read_text())
    cells = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    lines = [line for line in "\n".join(cells).splitlines() if not line.startswith(("%", "!"))]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        env={**os.environ, "PYTHONPATH": str(located.reference), "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "torch.float64" in done.stdout
    assert "x unchanged: True" in done.stdout
