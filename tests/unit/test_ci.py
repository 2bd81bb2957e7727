"""What CI runs first is what the README tells a newcomer to run, and it ends well."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECK = ROOT / ".ci/check_grades.py"
SAMPLES = ROOT / "tests/submissions/pytorch101/showcase"


def check(folder: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, str(CHECK), str(folder)], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


@pytest.fixture
def graded(tmp_path: Path) -> Path:
    """A folder as ``make grade`` leaves it, as far as the check reads it."""
    names = [path.stem for path in SAMPLES.iterdir()]
    for name in names:
        (tmp_path / name).mkdir()
        write(tmp_path, name, "graded")
    rows = [f"{name},{'graded'}" for name in names]
    (tmp_path / "gradebook.csv").write_text("\r\n".join(["submission,status", *rows]))
    return tmp_path


def write(folder: Path, name: str, status: str) -> None:
    (folder / name / "report.json").write_text(json.dumps({"status": status}))


def test_samples_with_final_points_are_well(graded: Path) -> None:
    assert check(graded) == (0, "")


def test_an_incomplete_sample_fails_and_is_named(graded: Path) -> None:
    write(graded, "crash", "incomplete")
    book = graded / "gradebook.csv"
    book.write_text(book.read_text().replace("crash,graded", "crash,incomplete"))
    status, said = check(graded)
    assert status == 1
    assert said.startswith("crash: incomplete")
    assert said.count("\n") == 1


def test_a_sample_without_a_report_fails(graded: Path) -> None:
    (graded / "right/report.json").unlink()
    assert check(graded)[0] == 1


def test_a_gradebook_that_says_something_else_fails(graded: Path) -> None:
    write(graded, "right", "partial")
    status, said = check(graded)
    assert status == 1
    assert said.startswith("right: partial, but the gradebook says graded")


def test_a_sample_that_waits_for_something_fails(graded: Path) -> None:
    write(graded, "right", "pending")
    book = graded / "gradebook.csv"
    book.write_text(book.read_text().replace("right,graded", "right,pending"))
    status, said = check(graded)
    assert status == 1
    assert said.startswith("right: pending")


def test_nothing_graded_fails(tmp_path: Path) -> None:
    assert check(tmp_path)[0] == 1


def test_ci_begins_with_the_commands_of_the_readme_in_their_order() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8").split("## Try it")[1]
    first = re.findall(r"^make (\S+)", readme.split("```")[1], re.MULTILINE)
    assert first == ["grade", "test"]
    lines = (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()
    assert [line.split()[1] for line in lines if line.startswith("make ")][:2] == first
    graded = lines.index("make grade")
    assert lines[graded + 1].endswith(".ci/check_grades.py build/grades")


@pytest.mark.heavy
@pytest.mark.alone
def test_the_samples_get_final_grades(tmp_path: Path) -> None:
    asked = ["pytorch101", str(SAMPLES), "--without", "gpu", "--out", str(tmp_path)]
    batch = ["-m", "grader", "batch", *asked]
    done = subprocess.run(
        [sys.executable, *batch], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert check(tmp_path) == (0, "")
