"""Points that only a person can give: pending until then, and each student's own."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from test_batch_commands import BATCH

from grader.batch.review_queue import ReviewQueue
from grader.batch.status import lines_of
from grader.checks import KINDS

BY_HAND = """\
      - id: style
        kind: by_hand
        points: 1.5
        rubric: [{text: clear names, points: 1, id: names}, {text: comments, points: 0.5}]
"""


@pytest.fixture
def read(course: Path) -> Path:
    """A class of which ``double`` is read by a person."""
    before, after = "kind: unmodified, points: 1}\n", "points: 4\n"
    file = course / "assignments/tiny/assignment.yml"
    text = file.read_text().replace(before, before + BY_HAND)
    file.write_text(text.replace(after, "points: 5.5\n", 1))
    right = (course / "class/ann.py").read_text()
    for name, body in (("fay", "raise NotImplementedError"), ("gus", "return x / 0 + 'a'")):
        (course / f"class/{name}.py").write_text(right.replace("return x * 2", body))
    return course


ESSAY = """\
  - id: why_it_diverges
    title: An essay
    points: 2
    cases: [{id: text}]
    checks: [{id: content, kind: by_hand, points: 2, rubric: [{text: the step, points: 2}]}]
"""


def rows(course: Path) -> dict[str, tuple[str, str, str]]:
    table = csv.DictReader((course / "out/gradebook.csv").open())
    return {row["submission"]: (row["score"], row["pending"], row["max_score"]) for row in table}


def test_what_a_person_reads_waits_and_nothing_rests_on_it(read: Path, command: Any) -> None:
    assert command(*BATCH) == 0
    assert rows(read) == {
        "ann": ("6", "1.5", "7.5"),
        "bob": ("6", "1.5", "7.5"),
        "cem": ("5", "1.5", "7.5"),
        "dua": ("6", "1.5", "7.5"),
        "eli": ("0", "0", "7.5"),
        "fay": ("2", "0", "7.5"),
        "gus": ("2", "1.5", "7.5"),
    }
    page = (read / "out/ann/student.html").read_text()
    assert "A person reads this and gives the points: clear names (1); comments (0.5)." in page


def test_each_student_is_read_by_themselves(read: Path, command: Any, capsys: Any) -> None:
    assert command(*BATCH) == 0
    with ReviewQueue(read / "out") as course:
        findings = course.findings()
    assert [[done.submission.name for done in each.everybody] for each in findings] == [
        ["ann"], ["bob"], ["cem"], ["dua"], ["gus"],
    ]  # fmt: skip
    assert any("return x * 2.0001" in line for line in lines_of(findings[1]))
    give = ("decide", "out", "bob", "double.style", "--points", 1, "--why", "No comments.")
    assert command(*give) == 0
    assert rows(read)["bob"] == ("7", "0", "7.5")
    assert rows(read)["ann"] == ("6", "1.5", "7.5")
    assert "No comments." in (read / "out/bob/student.html").read_text()
    capsys.readouterr()
    assert command("rejudge", "out") == 0
    assert rows(read)["bob"] == ("7", "0", "7.5")


def test_items_of_the_rubric_give_their_points(read: Path, command: Any, capsys: Any) -> None:
    assert command(*BATCH) == 0
    decide = ("decide", "out", "bob")
    assert command(*decide, "double", "--item", "names") == 0
    assert rows(read)["bob"] == ("7", "0", "7.5")
    page = (read / "out/bob/student.html").read_text()
    assert "Points given: 1 of 1.5. clear names (1)" in page
    both = ("--item", "names", "--item", "2", "--why", "Well done.")
    assert command(*decide, "double.style", *both) == 0
    assert rows(read)["bob"] == ("7.5", "0", "7.5")
    page = (read / "out/bob/student.html").read_text()
    assert "clear names (1); comments (0.5). Well done." in page
    capsys.readouterr()
    for asked, said in (
        (("double.style", "--item", "name"), "no such item in the rubric of double.style; did you"),
        (("double.values", "--item", "names"), "no check with a rubric to go by at double.values"),
        (("negate", "--item", "names"), "no check with a rubric to go by at negate"),
        (("double.style", "--item", "2", "--points", 1), "needs --points and --why, or --item"),
    ):
        assert command(*decide, *asked) == 2
        assert said in " ".join(capsys.readouterr().err.split())
    assert rows(read)["bob"] == ("7.5", "0", "7.5")


def test_a_review_offers_the_items_as_keys(
    read: Path, command: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command(*BATCH) == 0
    answers = iter(["b a", "", "b", "Where are your names?", "1.25", "Almost.", "z", "q"])
    asked: list[str] = []

    def prompt(text: str, **_: object) -> str:
        asked.append(text)
        return next(answers)

    monkeypatch.setattr("typer.prompt", prompt)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    assert command("review", "out") == 0
    assert list(answers) == []
    assert "keys of what is met, such as ab, or 0 to 1.5" in asked[0]
    said = capsys.readouterr().out
    assert "a  clear names (1)" in said
    assert "“z” is no number from 0 to 1.5; left open" in said
    points = {name: row[:2] for name, row in rows(read).items()}
    assert points == {
        "ann": ("7.5", "0"), "bob": ("6.5", "0"), "cem": ("6.25", "0"), "dua": ("6", "1.5"),
        "eli": ("0", "0"), "fay": ("2", "0"), "gus": ("2", "1.5"),
    }  # fmt: skip
    assert "comments (0.5). Where are your names?" in (read / "out/bob/student.html").read_text()


def test_an_essay_is_a_function_that_returns_its_text(course: Path, command: Any) -> None:
    file = course / "assignments/tiny/assignment.yml"
    file.write_text(file.read_text() + ESSAY)
    text = 'def why_it_diverges():\n    return """\n{}\n    """\n'
    answers = {"ann": "The learning rate is too high.", "bob": "No idea.", "dua": "1 / 0"}
    for name, answer in answers.items():
        path = course / f"class/{name}.py"
        path.write_text(path.read_text() + text.format(answer))
    reference = course / "reference/tiny/tiny.py"
    reference.write_text(reference.read_text() + text.format("The step is too long."))
    assert command(*BATCH) == 0
    waiting = {name: row[1] for name, row in rows(course).items()}
    assert waiting == {"ann": "2", "bob": "2", "cem": "0", "dua": "2", "eli": "0"}
    with ReviewQueue(course / "out") as decided:
        findings = decided.findings()
    assert any("The learning rate is too high." in line for line in lines_of(findings[0]))
    assert command("decide", "out", "ann", "why_it_diverges", "--item", "1") == 0
    assert rows(course)["ann"] == ("8", "0", "8")


def test_a_rubric_adds_up() -> None:
    items = [{"text": "names", "points": 1}, {"text": "comments", "points": 0.25}]
    with pytest.raises(ValidationError, match=r"adds up to 1\.25, and the points are 1\.5"):
        KINDS["by_hand"].model_validate({"id": "style", "points": 1.5, "rubric": items})
    same = [{"text": "names", "points": 1}, {"text": "comments", "points": 0.25, "id": "1"}]
    with pytest.raises(ValidationError):
        KINDS["by_hand"].model_validate({"id": "style", "points": 1.25, "rubric": same})
    alike = [item | {"id": "x"} for item in items]
    with pytest.raises(ValidationError, match="two items of the rubric have the same id"):
        KINDS["by_hand"].model_validate({"id": "style", "points": 1.25, "rubric": alike})
