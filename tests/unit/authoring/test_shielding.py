"""Lint names a question that a known mistake of another costs points."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import toy_starter

from grader.assignment.cells import KnownMistake
from grader.authoring.shielding import costs_elsewhere, earned_with, with_mistake
from grader.grading import Grader, Options
from grader.run.materials import load_materials

SPEC = """\
schema: torchgrade/assignment/v1
id: toy
version: "1"
title: Toy
hand_in: [toy.py]
questions:
  - id: double
    title: Twice
    points: 1
    cases: [{id: some, args: {x: {randn: [3]}}}]
    checks: [{id: values, kind: exact, points: 1}]
  - id: four_times
    title: Four times
    points: 1
    cases: [{id: some, CALLED args: {x: {randn: [3]}}}]
    checks: [{id: values, kind: exact, points: 1}]
"""
REFERENCE = """\
def double(x):
    return 2 * x


def four_times(x):
    return double(double(x))
"""
MISTAKES = """\
# Known mistakes.


# %% tripled
# says: Three times.

def double(x):
    return 3 * x


# %% squared
# says: The square.

def four_times(x):
    return x * x
"""
SHIELD = """\
from grader.scenario_process import actor, callback


def play(x):
    actor.set_attr(actor.module, "double", callback(lambda x: 2 * x, most=9))
    return actor.call("four_times", x)
"""


@pytest.mark.parametrize("shielded", [False, True])
def test_a_mistake_that_another_question_pays_for_is_told(
    tmp_path: Path, shielded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []

    def earned(grader: Grader, users: Sequence[str], mistake: KnownMistake | None) -> Any:
        if users and mistake is not None:
            tried.append("raising" if "RuntimeError" in mistake.module else mistake.name)
        return earned_with(grader, users, mistake)

    monkeypatch.setattr("grader.authoring.shielding.earned_with", earned)
    files = {
        "assignments/toy/assignment.yml": SPEC.replace("CALLED", "scenario: play," * shielded),
        "reference/toy/toy.py": REFERENCE,
        "reference/toy/mistakes.py": MISTAKES,
        **({"assignments/toy/scenario.py": SHIELD} if shielded else {}),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    with toy_starter.lent() as sandbox:
        grader = Grader(
            load_materials(tmp_path / "assignments/toy/assignment.yml"), sandbox, Options(1)
        )
        grader.prepare()
        found = list(costs_elsewhere(grader, lambda *_: None))
    text = "loses points by a mistake in double alone (tripled); put a stand-in for that function "
    assert found == ([] if shielded else [("four_times", f"{text}into its scenario")])
    assert tried == (["raising"] if shielded else ["raising", "tripled"])


def test_a_mistake_takes_the_place_of_what_it_replaces() -> None:
    right = "from __future__ import annotations\n\n@once\ndef f():\n    pass\n\n\nx = f()\n"
    wrong = "from __future__ import annotations\n\n\ndef f():\n    return 1\n"
    namespace: dict[str, int] = {}
    exec(with_mistake(right, wrong), namespace)
    assert namespace["x"] == 1
