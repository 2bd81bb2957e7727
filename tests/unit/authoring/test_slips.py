"""A check of values that another type or dtype costs is told, unless that is its price alone."""

from __future__ import annotations

from pathlib import Path

import pytest
import toy_starter

from grader.authoring.lint import costs_of_slips
from grader.grading import Grader, Options
from grader.run.materials import load_materials

FILE = """\
schema: torchgrade/assignment/v1
id: toy
version: "1"
title: Toy
hand_in: [toy.py]
questions:
  - id: thirds
    title: Thirds and their number
    points: 4
    cases:
FLOAT32      - {id: float64, args: {x: {tensor: [1.0, 2.0], dtype: float64}}}
    checks:
CHECKS"""
FLOAT32 = "      - {id: float32, args: {x: {tensor: [1.0, 2.0]}}}\n"
REFERENCE = "def thirds(x):\n    return x / 3, len(x), x.sum()\n"
VALUES = "      - {id: values, kind: KIND, points: 3, cases: [CASES]}\n"
APART = "      - {id: float64, kind: KIND, points: 1, cases: [float64]}\n"


def lost(tmp_path: Path, checks: str, case: str = FLOAT32) -> list[tuple[str, str]]:
    folder = tmp_path / "assignments" / "toy"
    folder.mkdir(parents=True)
    (tmp_path / "reference" / "toy").mkdir(parents=True)
    (tmp_path / "reference" / "toy" / "toy.py").write_text(REFERENCE)
    (folder / "assignment.yml").write_text(FILE.replace("CHECKS", checks).replace("FLOAT32", case))
    with toy_starter.lent() as sandbox:
        grader = Grader(load_materials(folder / "assignment.yml"), sandbox, Options(1))
        grader.prepare()
        return list(costs_of_slips(grader))


@pytest.mark.parametrize("kind", ["exact", "close, rtol: 1e-9, atol: 1e-9", "envelope"])
def test_a_dtype_among_other_values_is_told(tmp_path: Path, kind: str) -> None:
    both = VALUES.replace("CASES", "float32, float64").replace("points: 3", "points: 4")
    ((where, text),) = lost(tmp_path, both.replace("KIND", kind))
    assert where == "thirds.values"
    assert "fails on float64" in text
    assert "float32 instead of float64" in text


@pytest.mark.parametrize("kind", ["exact", "envelope"])
def test_a_dtype_with_a_price_of_its_own_is_not(tmp_path: Path, kind: str) -> None:
    apart = (VALUES + APART).replace("CASES", "float32")
    assert lost(tmp_path, apart.replace("KIND", kind)) == []


def test_a_tolerance_above_rounding_lets_it_pass(tmp_path: Path) -> None:
    both = VALUES.replace("CASES", "float32, float64").replace("points: 3", "points: 4")
    assert lost(tmp_path, both.replace("KIND", "close, rtol: 1e-4, atol: 1e-4")) == []


def test_a_question_of_one_dtype_alone_is_told(tmp_path: Path) -> None:
    alone = VALUES.replace("CASES", "float64").replace("points: 3", "points: 4")
    ((where, _),) = lost(tmp_path, alone.replace("KIND", "exact"), case="")
    assert where == "thirds.values"
