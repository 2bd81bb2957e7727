"""What an author writes at a check is read where that check finds something wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import toy_starter
from jsonschema import Draft202012Validator

from grader.assignment.document import read_document
from grader.assignment.load import load_assignment
from grader.assignment.types import Assignment, assignment_schema
from grader.authoring.lint import new_assignment
from grader.errors import AssignmentError
from grader.grading import Grader, Options
from grader.report.model import CheckResult, Report, in_language
from grader.run.materials import load_materials

VALUES = """\
      - id: values
        message: {en: Twice means x + x., ko: 두 배는 x + x입니다.}
        hint: Try [1, 2] on paper.
"""


def assignment(root: Path, values: str = VALUES) -> Path:
    new_assignment("toy_two", root)
    file = root / "assignments" / "toy_two" / "assignment.yml"
    text = file.read_text()
    before = "      - {id: values, kind: close,"
    assert before in text
    start = text.index(before)
    end = text.index("\n", start) + 1
    line = "        kind: close\n        points: 2\n        rtol: 1e-5\n        atol: 1e-6\n"
    file.write_text(text[:start] + values + line + text[end:])
    return file


@pytest.fixture(scope="module")
def authored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grader]:
    with toy_starter.lent() as sandbox:
        materials = load_materials(assignment(tmp_path_factory.mktemp("authored")))
        grader = Grader(materials, sandbox, Options(seed=5, device="virtual"))
        grader.prepare()
        yield grader


def graded(grader: Grader, folder: Path, body: str) -> Report:
    path = folder / "toy_two.py"
    path.write_text(f"import torch\n\n\ndef double(x):\n    {body}\n")
    return grader.grade(path, "toy_two")


def values_of(report: Report) -> CheckResult:
    return next(check for check in report.questions[0].checks if check.id == "values")


def test_they_stand_around_what_the_grader_found(authored: Grader, tmp_path: Path) -> None:
    report = graded(authored, tmp_path, "return x + 1")
    said = values_of(report).student_message
    first, last = said.index("Twice means x + x."), said.index("Hint: Try [1, 2] on paper.")
    assert first < said.index("Mismatched elements") < last
    korean = values_of(in_language(report, "ko")).student_message
    assert "두 배는 x + x입니다." in korean
    assert "힌트: Try [1, 2] on paper." in korean
    assert "Twice" not in korean


@pytest.mark.parametrize(
    "body", ["raise ValueError('no')", "raise NotImplementedError", "return", "return 2 * x"]
)
def test_they_are_not_said_where_the_check_found_nothing(
    authored: Grader, tmp_path: Path, body: str
) -> None:
    for check in graded(authored, tmp_path, body).questions[0].checks:
        assert "Twice" not in check.message
        assert "Hint" not in check.student_message


def test_a_hidden_case_tells_them_and_no_number(authored: Grader, tmp_path: Path) -> None:
    report = graded(authored, tmp_path, "return x + 1")
    hidden = values_of(report).model_copy(update={"hidden": True})
    question = report.questions[0].model_copy(update={"checks": (hidden,)})
    report = report.model_copy(update={"questions": (question,)})
    said = values_of(in_language(report, "ko")).student_message
    assert said.startswith("두 배는 x + x입니다. ")
    assert said.endswith("힌트: Try [1, 2] on paper.")
    assert not any(sign.isdigit() for sign in said.replace("[1, 2]", ""))


def test_a_self_check_carries_them(tmp_path: Path) -> None:
    loaded = load_assignment(assignment(tmp_path))
    dumped = loaded.model_dump(mode="json", by_alias=True, exclude_unset=True)
    again = Assignment.model_validate_json(json.dumps(dumped), strict=True)
    assert again.questions[0].checks[0] == loaded.questions[0].checks[0]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("message: {kr: x}", "questions[0].checks[0].message.kr: unknown key “kr”"),
        ("message: ''", "questions[0].checks[0].message: is empty"),
        ("hint: {}", "questions[0].checks[0].hint: is empty"),
        ("hint: {en: 5}", "questions[0].checks[0].hint.en: found the number 5; expected text"),
        ("hint: [x]", "questions[0].checks[0].hint: found a list of 1; expected a mapping"),
    ],
)
def test_a_slip_is_told_with_its_line(tmp_path: Path, written: str, said: str) -> None:
    file = assignment(tmp_path, f"      - id: values\n        {written}\n")
    line = file.read_text().split("\n").index(f"        {written}") + 1
    with pytest.raises(AssignmentError) as caught:
        load_assignment(file)
    (problem,) = caught.value.problems
    assert str(problem).endswith(said) or said in str(problem)
    assert f":{line}:" in str(problem)


@pytest.mark.parametrize(
    ("hint", "right"),
    [
        ("Try.", True),
        ({"ko": "x", "en": "y"}, True),
        ("", False),
        ({}, False),
        ({"kr": "x"}, False),
    ],
)
def test_editors_know_them(tmp_path: Path, hint: object, right: bool) -> None:
    file = assignment(tmp_path)
    data = read_document(str(file), file.read_bytes()).data
    data["questions"][0]["checks"][0]["hint"] = hint
    assert Draft202012Validator(assignment_schema()).is_valid(data) is right


def test_the_report_carries_the_authors_titles(tmp_path: Path) -> None:
    file = assignment(tmp_path)
    text = 'title = "둘"\n[double]\ntitle = "두 배"\n'
    (file.parent / "ko.toml").write_text(text, encoding="utf-8")
    materials = load_materials(file)
    with toy_starter.lent() as sandbox:
        grader = Grader(materials, sandbox, Options(seed=5, device="virtual"))
        grader.prepare()
        report = graded(grader, tmp_path, "return x + x")
    assert report.assignment.titles == {"ko": "둘"}
    assert report.questions[0].titles == {"ko": "두 배"}
    (file.parent / "ko.toml").write_text("[treble]\n", encoding="utf-8")
    with pytest.raises(AssignmentError, match=r"ko\.toml.*treble"):
        load_materials(file)
