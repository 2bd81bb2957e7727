"""Lint names what students get that does the work of a question, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
import toy_starter

from grader.authoring.shown_solutions import solutions_shown
from grader.grading import Grader, Options
from grader.run.materials import load_materials

SPEC = """\
schema: torchgrade/assignment/v1
id: toy
version: "1"
title: Toy
hand_in: [toy.py]
SUPPORTquestions:
  - id: double
    title: Twice
    points: 2
    cases: [{id: some, args: {x: {randn: [3]}}}]
    checks: [{id: values, kind: exact, points: 1}, {id: dtype, kind: dtype, points: 1}]
  - id: Counter
    title: Counting
    points: 1
    cases: [{id: some, scenario: count, args: {start: 3}}]
    checks: [{id: values, kind: exact, points: 1}]
"""
REFERENCE = """\
import torch


def double(x):
    # BEGIN SOLUTION
    return 2 * x
    # END SOLUTION


class Counter:
    def __init__(self, start):
        # BEGIN SOLUTION
        self.total = start
        # END SOLUTION

    def add(self, n):
        # BEGIN SOLUTION
        self.total += n
        return self.total
        # END SOLUTION
"""
SCENARIO = """\
from grader.scenario_process import actor, callback

FACTOR = 2


def count(start):
    return actor.method(actor.keep("Counter", start), "add", 4)


"""
FUNCTION = """\
def right(x, scale=FACTOR):
    return (scale * x).double()
"""
COUNTER = """\
def made():
    class Right:
        def __init__(self, start):
            self.start = start

        def add(self, n):
            return self.start + n

    return Right
"""
HIDDEN = f"# BEGIN HIDDEN\n{FUNCTION}# END HIDDEN\n"
DRIVES = 'def right(x):\n    return actor.call("double", x)\n'
OTHER = "def other(x):\n    return x + 2\n\n\ndef two(x, y):\n    return 2 * x\n"
LAMBDA = (
    'def put():\n    actor.set_attr(actor.module, "double", callback(lambda x: x + x, most=9))\n'
)
PLAIN = "def right(x):\n    return x + x\n"
SAID = "students get this file, and {} in it does the work of {}; put it between BEGIN HIDDEN and "


def found(root: Path, files: dict[str, str]) -> list[tuple[str, str]]:
    support = "support: [helper.py]\n" * ("assignments/toy/helper.py" in files)
    every = {
        "assignments/toy/assignment.yml": SPEC.replace("SUPPORT", support),
        "assignments/toy/scenario.py": SCENARIO,
        "reference/toy/toy.py": REFERENCE,
        **files,
    }
    for name, text in every.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    sandbox = toy_starter.lent()
    materials = load_materials(root / "assignments/toy/assignment.yml")
    grader = Grader(materials, sandbox, Options(1))
    grader.prepare()
    return list(solutions_shown(grader, sandbox))


@pytest.mark.parametrize(
    ("file", "text", "name", "asked"),
    [
        ("assignments/toy/scenario.py", SCENARIO + FUNCTION, "right", "double"),
        ("assignments/toy/scenario.py", SCENARIO + LAMBDA, "“lambda x: x + x”", "double"),
        ("assignments/toy/scenario.py", SCENARIO + COUNTER, "Right", "Counter"),
        ("assignments/toy/given.py", PLAIN, "right", "double"),
        ("assignments/toy/helper.py", PLAIN, "right", "double"),
        ("reference/toy/toy.py", REFERENCE + "\n\n" + PLAIN, "right", "double"),
    ],
)
def test_what_does_the_work_of_a_question_is_told(
    file: str, text: str, name: str, asked: str, tmp_path: Path
) -> None:
    said = f"{SAID.format(name, asked)}END HIDDEN"
    assert found(tmp_path, {file: text}) == [(str(tmp_path / file), said)]


@pytest.mark.parametrize("text", [HIDDEN, DRIVES, OTHER])
def test_what_is_hidden_or_does_less_is_not(text: str, tmp_path: Path) -> None:
    assert found(tmp_path, {"assignments/toy/scenario.py": SCENARIO + text}) == []


def test_what_the_author_gives_is_not(tmp_path: Path) -> None:
    spec = SPEC.replace("SUPPORT", "given: [right]\n")
    files = {
        "assignments/toy/assignment.yml": spec,
        "reference/toy/toy.py": f"{REFERENCE}\n\n{PLAIN}",
    }
    assert found(tmp_path, files) == []
