"""The recipes of CONTRIBUTING.md and docs/recipes.md work as they stand there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import grader
from grader.batch import discover
from grader.errors import InfrastructureError
from grader.sandbox.host.open import open_sandbox

ROOT = Path(__file__).parents[2]
PAGE = "".join(
    (ROOT / name).read_text(encoding="utf-8") for name in ("CONTRIBUTING.md", "docs/recipes.md")
)
_BLOCK = re.compile(r"^ *```\w+\n(?P<body> *# (?P<path>\S+)\n.*?)^ *```$", re.MULTILINE | re.DOTALL)
_DIFF = re.compile(r"^ *```diff\n(?P<body>.*?)^ *```$", re.MULTILINE | re.DOTALL)
_SECTION = re.compile(r"^## (?P<title>.*)\n(?P<body>(?:(?!## ).*\n)*)", re.MULTILINE)
SECTIONS = {found["title"]: found["body"] for found in _SECTION.finditer(PAGE)}


def _blocks(section: str) -> dict[str, str]:
    """Return the whole files and messages of a section, by their paths."""
    found = _BLOCK.finditer(SECTIONS[section])
    return {match["path"]: textwrap.dedent(match["body"]) for match in found}


def test_a_new_kind_needs_a_class_its_messages_and_its_tests(tmp_path: Path) -> None:
    _add_kind(tmp_path, "Add a check kind", "signs", passed=2)
    assert _graded_with_signs(tmp_path) == {"right": ("ok", 2), "wrong": ("wrong_value", 0)}


def test_a_new_tolerance_needs_its_rule(tmp_path: Path) -> None:
    _add_kind(tmp_path, "Add a tolerance", "last_places", passed=5)


def _add_kind(place: Path, section: str, name: str, passed: int) -> None:
    """Add a kind to a copy of the package, and run its tests: nothing else there knows it."""
    blocks = _blocks(section)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(grader.__file__).parent, place / "grader", ignore=ignored)
    for language in ("en", "ko"):
        path = f"grader/report/messages/{language}.toml"
        catalogue = place / path
        text = catalogue.read_text(encoding="utf-8")
        changed = text.replace("\n[values]\n", f"\n[values]\n{blocks[path]}", 1)
        catalogue.write_text(changed, encoding="utf-8")
    kind, tests = f"grader/checks/{name}.py", f"tests/unit/checks/test_{name}.py"
    (place / kind).write_text(blocks[kind], encoding="utf-8")
    (place / "test_kind.py").write_text(blocks[tests], encoding="utf-8")
    _linted(place)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_kind.py"],
        cwd=place, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": f"{place}{os.pathsep}{ROOT / 'tests'}"},
    )  # fmt: skip
    assert f"{passed} passed" in done.stdout, done.stdout + done.stderr


def _graded_with_signs(place: Path) -> dict[str, tuple[str, float]]:
    """Grade two submissions of a new assignment by the new kind; return code and score of each."""
    course = place / "course"
    course.mkdir()
    _grader(place, "new", "toy")
    assignment = course / "assignments/toy/assignment.yml"
    text = assignment.read_text(encoding="utf-8")
    changed = re.sub(
        r"kind: close, points: 2, rtol: [^,]*, atol: [^}]*", "kind: signs, points: 2", text
    )
    assert changed != text
    assignment.write_text(changed, encoding="utf-8")
    results = {}
    for name, value in (("right", "5 * x"), ("wrong", "-x")):
        submission = course / name / "toy.py"
        submission.parent.mkdir()
        submission.write_text(f"def double(x):\n    return {value}\n", encoding="utf-8")
        out = course / f"{name}_graded"
        _grader(place, "grade", "toy", str(submission), "--out", str(out), "--isolation", "none")
        report = json.loads((out / "report.json").read_text(encoding="utf-8"))
        values = report["questions"][0]["checks"][0]
        results[name] = (values["code"], values["score"])
    return results


def _grader(place: Path, *arguments: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "grader", *arguments],
        cwd=place / "course", check=True, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(place)},
    )  # fmt: skip


def _changed(place: Path, section: str) -> None:
    """Copy the package, change files as a section says, and hold them to the rules of lint."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(grader.__file__).parent, place / "grader", ignore=ignored)
    diffs = [textwrap.dedent(found["body"]) for found in _DIFF.finditer(SECTIONS[section])]
    assert diffs
    for head, _, body in (diff.partition("\n") for diff in diffs):
        name = head.removeprefix("--- ")
        path = place / name
        text = path.read_text(encoding="utf-8")
        for hunk in body.split("@@\n")[1:]:
            lines = hunk.splitlines(keepends=True)
            before = "".join(line[1:] or "\n" for line in lines if line[0] in " -\n")
            after = "".join(line[1:] or "\n" for line in lines if line[0] in " +\n")
            assert text.count(before) == 1, (name, before)
            text = text.replace(before, after)
        path.write_text(text, encoding="utf-8")
    _linted(place)


def _linted(place: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", place)
    for words in (["check"], ["format", "--diff"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *words, "--no-cache", "grader"],
            cwd=place, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_new_export_needs_a_function(tmp_path: Path) -> None:
    _changed(tmp_path, "Add an export")
    course = tmp_path / "course"
    course.mkdir()
    _grader(tmp_path, "new", "toy")
    for name, value in (("ann", "2 * x"), ("bob", "-x")):
        submission = course / "class" / name / "toy.py"
        submission.parent.mkdir(parents=True)
        submission.write_text(f"def double(x):\n    return {value}\n", encoding="utf-8")
    _grader(tmp_path, "batch", "toy", "class", "--out", "out", "--isolation", "none", "-j", "1")
    _grader(tmp_path, "export", "plain", "out", "--out", "table.csv")
    with pytest.raises(subprocess.CalledProcessError) as error:
        _grader(tmp_path, "export", "plain", "out", "--points", "percent")
    assert "export plain takes no --points" in error.value.stderr
    lines = (course / "table.csv").read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[0] for line in lines] == ["ann", "bob"]
    right, wrong = (float(line.split(",")[1]) for line in lines)
    assert right > wrong


@pytest.fixture
def sandboxed() -> None:
    """Skip where this machine gives no sandbox."""
    try:
        open_sandbox("auto").close()
    except InfrastructureError as error:
        pytest.skip(str(error))


@pytest.mark.usefixtures("sandboxed")
def test_a_new_wall_is_put_up_and_proved(tmp_path: Path) -> None:
    _changed(tmp_path, "Add a wall")
    isolation = _isolation_of_a_grading(tmp_path)
    assert "private files" in isolation["mechanisms"]
    assert isolation["proved"]["umask"] == "nobody"
    # Where it is not put up, the proof misses it, and nothing is graded.
    _replace(tmp_path / "grader/sandbox/walls/apply.py", "os.umask(0o077)", "pass")
    assert "umask met others, where nobody was due" in _refusal_to_grade(tmp_path)


@pytest.mark.usefixtures("sandboxed")
def test_a_further_denied_call_is_proved(tmp_path: Path) -> None:
    _changed(tmp_path, "Add a denied call or a limit")
    assert _isolation_of_a_grading(tmp_path)["proved"]["lend_pages"] == "EPERM"
    _replace(tmp_path / "grader/sandbox/walls/seccomp.py", '    "vmsplice",\n', "")
    assert "lend_pages met EBADF, where EPERM was due" in _refusal_to_grade(tmp_path)


_GRADE = ("grade", "toy", "reference/toy", "--out", "out", "--no-cache")


def _isolation_of_a_grading(place: Path) -> dict[str, Any]:
    course = place / "course"
    course.mkdir()
    _grader(place, "new", "toy")
    _grader(place, *_GRADE)
    report = json.loads((course / "out/report.json").read_text(encoding="utf-8"))
    isolation: dict[str, Any] = report["environment"]["isolation"]
    return isolation


def _refusal_to_grade(place: Path) -> str:
    with pytest.raises(subprocess.CalledProcessError) as error:
        _grader(place, *_GRADE)
    return " ".join(error.value.stderr.split())


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, (path, old)
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_new_platform_needs_a_pattern_and_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = dict(vars(discover))
    exec(_blocks("Add a platform")["grader/batch/discover.py"], place)
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
    assert [(each.name, each.students[0].id) for each in found.submissions] == [
        ("jdoe", "jdoe"),
        ("mina", "mina"),
    ]
