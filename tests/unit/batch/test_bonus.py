"""Bonus points count above the maximum, which stays: in reports, pages, exports and decisions."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from test_batch_commands import BATCH

from grader.assignment.load import load_assignment
from grader.authoring.instructions import narrowed
from grader.errors import AssignmentError
from grader.report.gradescope import gradescope_results
from grader.report.model import QuestionResult, Report, read_report
from grader.report.student import StudentView
from grader.verdict import Status

CHECK = "      - {id: dtype, kind: dtype, points: 1, bonus: true, requires: [values]}\n"
QUESTION = """\
  - id: cube
    title: Cubes
    points: 1.5
    bonus: true
    cases: [{id: some, args: {x: {rand: [4]}}}]
    checks: [{id: values, kind: close, rtol: 1.0e-4, atol: 1.0e-4, points: 1.5}]
"""
CANVAS = "Student,ID,Tiny (1)\n    Points Possible,,6\nann,0,\ncem,2,\n"


@pytest.fixture
def extra(course: Path) -> Path:
    """A class with a check and a question that are a bonus; only ann has written that question."""
    file = course / "assignments/tiny/assignment.yml"
    before = "kind: unmodified, points: 1}\n"
    file.write_text(file.read_text().replace(before, before + CHECK) + QUESTION)
    right = "def cube(x):\n    return x ** 3\n"
    for path in (course / "reference/tiny/tiny.py", course / "class/ann.py"):
        path.write_text(path.read_text() + right)
    return course


def rows(course: Path) -> Mapping[str, tuple[str, str]]:
    table = csv.DictReader((course / "out/gradebook.csv").open())
    return {row["submission"]: (row["score"], row["max_score"]) for row in table}


def report(course: Path, name: str) -> Report:
    return read_report(course / "out" / name / "report.json")


def test_they_count_above_the_maximum(extra: Path, command: Any) -> None:
    assert command(*BATCH) == 0
    assert rows(extra) == {
        "ann": ("8.5", "6"),
        "bob": ("7", "6"),
        "cem": ("6", "6"),
        "dua": ("7", "6"),
        "eli": ("0", "6"),
    }
    double, _, cube = report(extra, "cem").questions
    assert (double.score, double.max_score, double.above) == (4, 4, 1)
    assert double.status is Status.PARTIAL, "a bonus is no right answer in place of another"
    assert (cube.score, cube.max_score, cube.bonus) == (0, 1.5, True)
    page = (extra / "out/ann/student.html").read_text()
    assert "1.5 / 1.5 bonus" in page
    assert "1 / 1 bonus" in page
    assert "8.5<small> / 6</small>" in page


def test_the_class_page_counts_no_bonus_as_a_right_answer(extra: Path, command: Any) -> None:
    assert command(*BATCH) == 0
    page = (extra / "out/index.html").read_text()
    # Of 4 points ann, bob and dua have all, cem has 3; all four have the bonus of 1 besides.
    assert '<tr data-full="3" data-unwritten="0" data-share="0.7500">' in page
    assert "a bonus is not in it" in page
    cem = page[page.index("cem/report.html") :]
    assert '<b class="partial">' in cem[: cem.index("</tr>")]


def test_exports_keep_the_column_and_gradescope_its_total(
    extra: Path, command: Any, capsys: Any
) -> None:
    assert command(*BATCH) == 0
    (extra / "mine.csv").write_text(CANVAS)
    assert command("export", "canvas", "out", "--into", "mine.csv", "--column", "Tiny") == 0
    cells = list(csv.reader(io.StringIO((extra / "out/canvas.csv").read_text())))
    assert [row[2] for row in cells] == ["Tiny (1)", "6", "8.5", "6"]
    document = gradescope_results(report(extra, "ann"))
    assert document["score"] == 8.5
    tests = {test["name"]: (test["score"], test["max_score"]) for test in document["tests"]}
    assert tests == {
        "double: Twice": (5, 4), "negate: Minus": (2, 2), "cube: Cubes (bonus)": (1.5, 1.5),
    }  # fmt: skip
    capsys.readouterr()


def test_a_person_gives_and_takes_them(extra: Path, command: Any, capsys: Any) -> None:
    assert command(*BATCH) == 0
    give = ("decide", "out", "bob", "cube", "--points", 0.5, "--why", "On paper.")
    assert command(*give) == 0
    assert rows(extra)["bob"] == ("7.5", "6")
    take = ("decide", "out", "ann", "double.dtype", "--points", 0, "--why", "Not yours.")
    assert command(*take) == 0
    assert rows(extra)["ann"] == ("7.5", "6")
    assert command("rejudge", "out") == 0
    assert (rows(extra)["ann"], rows(extra)["bob"]) == (("7.5", "6"), ("7.5", "6"))
    capsys.readouterr()


def test_rejudging_with_a_bonus_made_a_part_of_the_maximum(
    extra: Path, command: Any, capsys: Any
) -> None:
    assert command(*BATCH) == 0
    file = extra / "assignments/tiny/assignment.yml"
    file.write_text(file.read_text().replace("    points: 1.5\n    bonus: true", "    points: 1.5"))
    assert command("rejudge", "out") == 0
    assert rows(extra)["ann"] == ("8.5", "7.5")
    assert rows(extra)["bob"] == ("7", "7.5")
    capsys.readouterr()


def test_a_packed_assignment_keeps_its_maximum(extra: Path) -> None:
    file = extra / "assignments/tiny/assignment.yml"
    text = file.read_bytes()
    without = [("double", "values"), ("double", "inputs")]
    for scale, points in ((True, 6), (False, 2)):
        data = json.loads(narrowed(str(file), text, without, scale))
        double, negate, cube = data["questions"]
        assert (double["bonus"], double["points"], cube["points"]) == (True, 1, 1.5)
        assert negate["points"] == points
        file.write_text(json.dumps(data).replace('"requires": []', '"requires": null'))
        assert load_assignment(file).points == points


def test_a_self_check_fills_its_bar_and_no_more() -> None:
    out = io.StringIO()
    points = {"score": 3.0, "max_score": 2.0, "pending": 0.0}
    plain = QuestionResult(id="f", title="F", status=Status.PASSED, checks=(), bonus=True, **points
        | {"score": 2.0})  # fmt: skip
    counted = plain.model_copy(update={"id": "g", "bonus": False, "score": 3.0})
    view = StudentView(Console(file=out, width=100), {})
    whole = {"id": "x", "version": "1"}
    made = Report.model_construct(
        assignment=whole, questions=(plain, counted), score=5.0, max_score=2.0, pending=0.0
    )
    view.report(made)
    lines = out.getvalue().splitlines()
    assert "2 / 2 bonus" in lines[0]
    assert lines[-1] == "━" * 30 + "  5 / 2"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (QUESTION, QUESTION.replace("points: 1.5}", "points: 1.5, bonus: true}"),
         "the whole question is a bonus; remove one of them"),
        (QUESTION, QUESTION.replace("    bonus: true\n", "").replace("5}]", "5, bonus: true}]"),
         "all are a bonus; say so of the question: bonus: true"),
        ("points: 4", "points: 5",
         "found 5, but the points of its checks add up to 4, without bonus"),
    ],
)  # fmt: skip
def test_a_slip_is_told(extra: Path, old: str, new: str, said: str) -> None:
    file = extra / "assignments/tiny/assignment.yml"
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(AssignmentError) as caught:
        load_assignment(file)
    assert any(problem.text.endswith(said) for problem in caught.value.problems)
