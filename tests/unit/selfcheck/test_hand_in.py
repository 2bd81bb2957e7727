"""What is handed in: the file that was meant, and nothing else without a question."""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path

import pytest
from toy_starter import fill, notebook

from grader.cli import app as cli
from grader.selfcheck.workplace import open_workplace, read_workplace
from grader.selfcheck.written_stubs import absent, elsewhere, inside

IN_CELLS = "def double(x):\n    return x + x", "def mean_of(x):\n    return x.mean()"


COLUMNS = "200"


class Terminal(io.StringIO):
    """Somebody at a keyboard."""

    def isatty(self) -> bool:
        return True


def run(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *arguments: str,
    typed: str | None = None,
) -> tuple[int, str]:
    stdin = io.StringIO() if typed is None else Terminal(f"{typed}\n")
    monkeypatch.setattr(sys, "stdin", stdin)
    monkeypatch.setattr("sys.argv", ["grader", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr()
    return int(ended.value.code or 0), " ".join(f"{said.out} {said.err}".split())


def test_the_advice_names_the_file_that_was_checked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook(folder / "my work.ipynb", *IN_CELLS)
    _, said = run(monkeypatch, capsys, "check", "my work.ipynb")
    assert "To hand in: my work.ipynb; “grader submit-zip 'my work.ipynb'” packs it" in said
    _, said = run(monkeypatch, capsys, "check", "toy.py")
    assert "To hand in: toy.py; “grader submit-zip” packs it into toy.zip." in said
    monkeypatch.chdir(folder.parent)
    _, said = run(monkeypatch, capsys, "check", "toy/my work.ipynb")
    assert "“grader submit-zip 'toy/my work.ipynb'”" in said
    _, said = run(monkeypatch, capsys, "check", "toy")
    assert "“grader submit-zip toy”" in said


@pytest.mark.parametrize("name", ["mine.ipynb", "toy.ipynb", "toy (1).py"])
def test_an_untouched_starter_is_not_packed_beside_work_in_another_file(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if name.endswith(".ipynb"):
        notebook(folder / name, "import torch", *IN_CELLS)
    else:
        (folder / name).write_text("\n\n".join(IN_CELLS))
    status, said = run(monkeypatch, capsys, "submit-zip")
    assert status == 4
    assert f"{name} has these (2), and toy.py does not: double, mean_of." in said
    assert f"to hand that in: “grader submit-zip {name!r}”." in said.replace(
        f" {name}”", f" {name!r}”"
    )
    assert "Nothing was packed" in said
    assert not (folder / "toy.zip").exists()
    status, said = run(monkeypatch, capsys, "submit-zip", typed="n")
    assert "Pack it all the same?" in said
    assert (status, (folder / "toy.zip").exists()) == (4, False)
    status, _ = run(monkeypatch, capsys, "submit-zip", typed="y")
    assert (status, (folder / "toy.zip").exists()) == (0, True)


@pytest.mark.parametrize(
    "kernels", [{"JPY_PARENT_PID": "1"}, {"TERM": "xterm-color", "PAGER": "cat"}]
)
def test_in_a_notebooks_cell_nobody_is_asked(
    kernels: dict[str, str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    notebook(folder / "mine.ipynb", *IN_CELLS)
    for name, value in kernels.items():
        monkeypatch.setenv(name, value)
    # A cell's command has a terminal, at which nobody can type.
    status, said = run(monkeypatch, capsys, "submit-zip", typed="y")
    assert status == 4
    assert "Pack it all the same?" not in said
    assert not (folder / "toy.zip").exists()


def test_a_file_that_is_named_is_packed_without_a_question(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook(folder / "mine.ipynb", *IN_CELLS)
    assert run(monkeypatch, capsys, "submit-zip", "toy.py")[0] == 0
    assert zipfile.ZipFile(folder / "toy.zip").namelist() == ["toy.py"]
    status, said = run(monkeypatch, capsys, "submit-zip", "mine.ipynb")
    assert status == 0
    assert zipfile.ZipFile(folder / "toy.zip").namelist() == ["toy.ipynb"]
    assert "Not in mine.ipynb (1): Counter." in said


def test_what_another_file_has_is_said_where_this_one_has_something_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(folder, "double", "    return x + x")
    notebook(folder / "mine.ipynb", *IN_CELLS)
    wanted = "mine.ipynb has these (1), and toy.py does not: mean_of."
    for arguments in (["check"], ["submit-zip"]):
        status, said = run(monkeypatch, capsys, *arguments)
        assert status == 0
        assert wanted in said
    fill(folder, "mean_of", "    return x.mean()")
    assert wanted not in run(monkeypatch, capsys, "submit-zip")[1]


def test_stubs_drafts_that_do_not_parse_and_tests_are_no_work(folder: Path) -> None:
    (folder / "copy.py").write_text((folder / "toy.py").read_text())
    (folder / "draft.py").write_text("def double(x:\n")
    (folder / "test_mine.py").write_text("def double(x):\n    return x\n")
    (folder / "noise.py").write_bytes(b"\x89PNG\0\0")
    place = open_workplace(folder)
    assert elsewhere(place, read_workplace(place)) == {}


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_function_inside_a_class_is_none_of_the_file(
    language: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    body = "class Solution:\n    def double(self, x):\n        return x + x\n"
    (folder / "toy.py").write_text(f"{body}\n\n{IN_CELLS[1]}\n")
    wanted = {
        "en": "double stands inside “Solution” (toy.py, line 2), where grading does not find it.",
        "ko": "double이(가) “Solution” 안에 있어(toy.py 2번째 줄) 채점할 때 찾을 수 없습니다.",
    }[language].replace("이(가)", "이")
    for arguments in (["check"], ["submit-zip"]):
        _, said = run(monkeypatch, capsys, *arguments, "--lang", language)
        assert wanted in said
        assert "Counter" in said  # absent altogether
    (folder / "toy.py").write_text(body)
    _, said = run(monkeypatch, capsys, "check", "--lang", language)
    assert wanted in said
    assert "another assignment" not in said


def test_one_line_for_what_is_not_in_the_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook(folder / "mine.ipynb", IN_CELLS[0])
    _, said = run(monkeypatch, capsys, "check", "mine.ipynb")
    assert "Not in mine.ipynb (2): mean_of, Counter." in said
    assert "✗" not in said
    _, said = run(monkeypatch, capsys, "check", "mine.ipynb", "--all")
    assert "✗ mean_of 0 / 4 Mean function not found" in said
    # A name that is asked for is no misspelling of another one.
    assert "rename" not in said


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("if True:\n    def double(x): return x\n", True),
        ("try:\n    from math import floor as double\nexcept ImportError:\n    pass\n", True),
        ("def make():\n    global double\n    double = 1\nmake()\n", True),
        ("double = lambda x: x\n", True),
        ("globals()['dou' + 'ble'] = lambda x: x\n", True),
        ("from helper import *\n", True),
        ("def f():\n    def double(x): return x\n", False),
        ("def f(double): return double\n", False),
        ("print(double)\n", False),
    ],
)
def test_what_the_file_binds_is_in_it(text: str, found: bool, folder: Path) -> None:
    (folder / "toy.py").write_text(text)
    place = open_workplace(folder)
    submission = read_workplace(place)
    assert ("double" not in absent(place, submission)) is found
    question = place.public.assignment.questions[0]
    assert (inside(place, submission, question) is not None) == text.startswith("def f():")
