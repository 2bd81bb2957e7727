"""Small things that keep a student's time: indentation, blanks, hidden names, a reason."""

from __future__ import annotations

from pathlib import Path

import pytest
import toy_starter
from toy_starter import fill

from grader.cli import app as cli
from grader.report.model import CheckResult
from grader.selfcheck.engine import SelfCheck
from grader.selfcheck.workplace import open_workplace, read_workplace
from grader.selfcheck.written_stubs import bracket_lines
from grader.verdict import Code

COLUMNS = "60"


def told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> list[str]:
    monkeypatch.setattr("sys.argv", ["grader", *arguments])
    with pytest.raises(SystemExit):
        cli.main()
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("    y = x\n      return y", ["          return y", "         ^"]),
        ("    return (x", ["        return (x", "               ^"]),
    ],
)
def test_a_syntax_error_is_shown_as_it_is_indented(
    body: str,
    shown: list[str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fill(folder, "double", body)
    assert told(monkeypatch, capsys, "check")[-2:] == shown


@pytest.mark.parametrize(
    ("line", "is_magic"),
    [
        ("%matplotlib inline", True),
        ("    %time double(x)", True),
        ("!pip install einops", True),
        ("% 3", False),
        ("x = (7\n     %y 3)", False),
    ],
)
def test_a_line_for_notebooks_is_named_in_a_file(
    line: str,
    is_magic: bool,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fill(folder, "double", f"    y = x\n{line}")
    text = " ".join(told(monkeypatch, capsys, "check"))
    assert ("in a notebook alone" in text) is is_magic, text


def test_no_line_ends_in_blanks(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(folder, "double", "    return x * 3")
    for arguments in (["check", "--all"], ["submit-zip"], ["check", "nobody"]):
        lines = told(monkeypatch, capsys, *arguments)
        assert [line for line in lines if line != line.rstrip()] == []
        assert max(map(len, lines), default=0) <= 60


@pytest.mark.parametrize(
    ("language", "wanted"),
    [
        ("en", "Python has a function “{name}” of its own, and toy.py, line {line},"),
        ("ko", "파이썬의 함수인데, toy.py {line}번째 줄에서"),
    ],
)
@pytest.mark.parametrize(
    ("top", "body", "name"),
    [
        ("list = [1, 2]", "    return list(x)", "list"),
        ("", "    sum = 3\n    return sum(x)", "sum"),
        ("for max in range(3):\n    pass", "    return max(x)", "max"),
        ("tuple = 1, 2\ndef f(x: tuple[int]): pass", "    return x", "tuple"),
    ],
)
def test_a_name_that_hides_pythons_own_is_named_where_it_is_made(  # noqa: PLR0917
    top: str,
    body: str,
    name: str,
    language: str,
    wanted: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fill(folder, "double", body)
    path = folder / "toy.py"
    path.write_text(f"{top}\n{path.read_text()}")
    text = path.read_text().splitlines()
    line = next(n for n, each in enumerate(text, 1) if f"{name} =" in each or f"for {name}" in each)
    said = told(monkeypatch, capsys, "check", "double", "--lang", language)
    assert wanted.format(name=name, line=line) in " ".join(" ".join(said).split())


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("    for i in range(len(x)):\n        x = x * 3\n        return x", 3),
        ("    while len(x):\n        return x * 3", 2),
        ("    for i in range(len(x)):\n        if i:\n            return x * 3\n    return x", 0),
        ("    for i in (1, 2):\n        if i < 2:\n            continue\n        return x * 3", 0),
        ("    for i in (1, 2):\n        x = x * 3\n    return x", 0),
    ],
)
def test_a_return_that_ends_its_loop_at_once_is_named(
    body: str,
    line: int,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fill(folder, "double", body)
    said = " ".join(" ".join(told(monkeypatch, capsys, "check", "double")).split())
    above = (folder / "toy.py").read_text().partition(body)[0].count("\n")
    wanted = f"toy.py, line {above + line}: this return ends the loop around it in the first turn."
    assert said.count("this return ends the loop") == said.count(wanted) == bool(line), said


@pytest.mark.parametrize("body", ["    input = 3\n    return x.nothing(input)", "    return x()"])
def test_a_name_that_is_not_to_blame_is_not_named(
    body: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(folder, "double", body)
    assert "Python has a function" not in " ".join(told(monkeypatch, capsys, "check", "double"))


def test_the_reason_of_a_failed_sandbox_is_told(folder: Path) -> None:
    place = open_workplace(folder)
    with SelfCheck(place, toy_starter.lent()) as own:
        report = own.check(["double"], on_result=lambda _: None)
        check = report.questions[0].checks[0]
        reason = "The grader's sandbox failed: no memory. No points are lost."
        failed: CheckResult = check.model_copy(
            update={
                "code": Code.SANDBOX_FAILED,
                "message": reason,
                "student_message": "its sandbox",
            }
        )
        question = report.questions[0].model_copy(update={"checks": (failed,)})
        assert own.located(question).checks[0].student_message == reason


@pytest.mark.parametrize(
    ("top", "told_of"),
    [
        ('torch.set_default_device("cuda")', True),
        ('torch.set_default_device(torch.device("cuda", 0))', True),
        ("torch.set_default_tensor_type(torch.cuda.FloatTensor)", True),
        ('torch.set_default_device("cpu")', False),
        ('if torch.cuda.is_available():\n    torch.set_default_device("cuda")', False),
    ],
)
def test_a_line_that_puts_all_tensors_on_a_gpu_is_named(
    top: str,
    told_of: bool,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = folder / "toy.py"
    path.write_text(f"import torch\n{top}\n{path.read_text()}")
    said = " ".join(" ".join(told(monkeypatch, capsys, "check", "double")).split())
    named = f"toy.py, line 2: {top} puts every new tensor on a GPU"
    assert (named in said) is told_of


BRACKETS = """\
def helper(x):
    return x[0]


def double(x: list[int], y=[1, 2][0]) -> dict[str, int]:
    sizes = x.shape[0], x.size()[1], [1, 2][0], "ab"[0]
    made: list[int] = []
    x[0] = x[1]
    x[2][3] += 1
    return helper(x[:,
                    None])


def other(x):
    return x[9]
"""


@pytest.mark.parametrize(("assigned", "lines"), [(False, [2, 8, 9, 10]), (True, [8, 9])])
def test_brackets_on_tensors_are_found_with_those_of_helpers(
    assigned: bool, lines: list[int], folder: Path
) -> None:
    (folder / "toy.py").write_text(BRACKETS)
    submission = read_workplace(open_workplace(folder))
    assert bracket_lines(submission, ["double"], assigned) == [("toy.py", row) for row in lines]
    assert bracket_lines(submission, ["nothing"], assigned) == []
