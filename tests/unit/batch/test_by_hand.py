"""Points that only a person can give: pending until then, and each student's own."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from test_batch_commands import BATCH

from grader.batch.awaited import GradedClass, lines_of
from grader.checks import KINDS

BY_HAND = """\
      - id: style
        kind: by_hand
        points: 1.5
        rubric: [{text: clear names, points: 1}, {text: comments, points: 0.5}]
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
    with GradedClass(read / "out") as course:
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


def test_a_rubric_adds_up() -> None:
    items = [{"text": "names", "points": 1}, {"text": "comments", "points": 0.25}]
    with pytest.raises(ValidationError, match=r"adds up to 1\.25, and the points are 1\.5"):
        KINDS["by_hand"].model_validate({"id": "style", "points": 1.5, "rubric": items})
