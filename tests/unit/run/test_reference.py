"""Broken references, generators and scenarios: the assignment's fault, said with file and line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.authoring.lint import lint_assignment
from grader.cli import app as cli
from grader.errors import AssignmentError, Problem
from grader.grading import Grader, Options
from grader.run.materials import load_materials
from grader.sandbox.host.processes import Sandbox

SPEC = """\
schema: torchgrade/assignment/v1
id: toy
version: "1"
title: Toy
hand_in: [toy.py]
limits: {seconds: 5}
questions:
  - id: double
    title: Double
    points: 1
    cases:
      - {id: drawn, dims: {N: 3}, generate: cases}
    checks:
      - {id: values, kind: exact, points: 1}
  - id: halve
    title: Halve
    points: 1
    cases:
      - {id: played, scenario: play, args: {x: {ones: [2]}}, repeats: 2}
    checks:
      - {id: values, kind: exact, points: 1}
"""
REFERENCE = """\
def double(x):
    return 2 * x


def halve(x):
    return x / 2


def cases(seed, N):
    return (N,)
"""
SCENARIO = """\
from grader.scenario_process import actor


def play(x):
    return actor.call("halve", x)
"""
FILES = {
    "assignments/toy/assignment.yml": SPEC,
    "assignments/toy/scenario.py": SCENARIO,
    "reference/toy/toy.py": REFERENCE,
}
REF, PLAY = "reference/toy/toy.py", "assignments/toy/scenario.py"

Edit = Callable[[str, str, str], None]


@pytest.fixture
def edit(tmp_path: Path) -> Edit:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def replace(name: str, old: str, new: str) -> None:
        text = (tmp_path / name).read_text()
        assert old in text
        (tmp_path / name).write_text(text.replace(old, new))

    return replace


def problems(root: Path, sandbox: Sandbox) -> list[Problem]:
    materials = load_materials(root / "assignments/toy/assignment.yml")
    try:
        Grader(materials, sandbox, Options(1, "cpu")).prepare()
    except AssignmentError as error:
        return list(error.problems)
    return []


def test_a_sound_assignment_has_no_problem(edit: Edit, tmp_path: Path, sandbox: Sandbox) -> None:
    assert problems(tmp_path, sandbox) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ((REF, "(x):\n    return 2", "(x)\n    return 2"),
         ["reference/toy/toy.py:1: ",
          "SyntaxError: ", "; the reference must import cleanly"]),
        ((REF, "\n\ndef halve", "1 / 0\n\ndef halve"),
         ["reference/toy/toy.py:3: ",
          "ZeroDivisionError: division by zero; the reference must import cleanly"]),
        ((REF, "def double", "import os\nos._exit(3)\ndef double"),
         ["reference/toy/toy.py: ",
          "exit status 3; the reference must import cleanly"]),
        ((REF, "def double", "def doubel"),
         ["reference/toy/toy.py: double: ",
          "defines none of double; did you mean “doubel”?"]),
        ((REF, "def cases", "def caess"),
         ["reference/toy/toy.py: double.drawn: ",
          "the generator “cases” is not defined; did you mean “caess”?"]),
        ((REF, "return (N,)", "return (N / 0,)"),
         ["reference/toy/toy.py:10: double.drawn: ",
          "called as cases(seed=…, N=…), failed: ZeroDivisionError: division by zero"]),
        ((REF, "(seed, N)", "(seed)"),
         ["reference/toy/toy.py:9: double.drawn: ",
          "TypeError: ", "unexpected keyword argument 'N'"]),
        ((REF, "return (N,)", "return N"),
         ["reference/toy/toy.py:9: double.drawn: ",
          "“cases” returned a int; it returns the arguments as a tuple"]),
        ((REF, "return (N,)", "import os; os._exit(3)"),
         ["reference/toy/toy.py:9: double.drawn: ",
          "failed: crashed: ", "exit status 3"]),
        ((REF, "return 2 * x", "return x.double"),
         ["reference/toy/toy.py:2: double.drawn: ",
          "the reference failed: AttributeError: 'int' object has no attribute 'double'"]),
        ((REF, "return x / 2", "raise ValueError('no\\nhalf')"),
         ["reference/toy/toy.py:6: halve.played: ",
          "the scenario “play” failed: ValueError: no\\nhalf"]),
        ((REF, "return x / 2", "import os; os._exit(3)"),
         ["assignments/toy/scenario.py:4: halve.played: ",
          "the scenario “play” failed: crashed: "]),
        ((PLAY, '"halve"', '"havle"'),
         ["assignments/toy/scenario.py:4: halve.played: ",
          "AttributeError: ", "'havle'"]),
        ((PLAY, "return actor", "return {}[actor"),
         ["assignments/toy/scenario.py:5: halve.played: ",
          "SyntaxError: "]),
        ((PLAY, "def play", "def plya"),
         ["assignments/toy/scenario.py: halve.played: ",
          "the scenario “play” is not defined; did you mean “plya”?"]),
        ((PLAY, "(x):", "():"),
         ["assignments/toy/scenario.py:4: halve.played: ",
          "TypeError: ", "takes 0 positional arguments but 1 was given"]),
        ((PLAY, "def play", "x = y\ndef play"),
         ["assignments/toy/scenario.py:4: ",
          "the scenario “play” failed: NameError: name 'y' is not defined"]),
    ],
)  # fmt: skip
def test_every_fault_has_file_line_and_place(
    edit: Edit, tmp_path: Path, sandbox: Sandbox, change: tuple[str, str, str], said: list[str]
) -> None:
    edit(*change)
    (problem,) = problems(tmp_path, sandbox)
    text = str(problem).removeprefix(f"{tmp_path}/")
    assert text.startswith(said[0])
    for words in said[1:]:
        assert words in text


def test_all_faults_are_told_at_once(edit: Edit, tmp_path: Path, sandbox: Sandbox) -> None:
    edit(REF, "return (N,)", "return (N / 0,)")
    edit(PLAY, '"halve"', '"havle"')
    found = problems(tmp_path, sandbox)
    assert [problem.where for problem in found] == ["double.drawn", "halve.played"]


def test_lint_tells_it_once(edit: Edit, tmp_path: Path, sandbox: Sandbox) -> None:
    edit(REF, "return 2 * x", "return x.double")
    materials = load_materials(tmp_path / "assignments/toy/assignment.yml")
    with pytest.raises(AssignmentError) as caught:
        lint_assignment(materials, sandbox)
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize(
    "broken",
    [
        ((REF, "return 2 * x", "return x.double"),
         "toy.py:2: double.drawn: the reference failed: AttributeError"),
        ((PLAY, "return actor", "return {}[actor"), "scenario.py:5: SyntaxError: "),
    ],
)  # fmt: skip
def test_the_command_exits_2(
    edit: Edit,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    broken: tuple[tuple[str, str, str], str],
) -> None:
    change, told = broken
    edit(*change)
    monkeypatch.setenv("COLUMNS", "1000")
    monkeypatch.chdir(tmp_path)
    arguments = ["grade", "toy", REF, "--out", "out", "--isolation", "none"]
    monkeypatch.setattr("sys.argv", ["grader", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert told in said
    assert "Traceback" not in said
    assert not (tmp_path / "out" / "report.json").exists()
