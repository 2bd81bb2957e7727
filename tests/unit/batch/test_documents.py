"""Questions on a file that a person reads: received, never run, and its points wait."""

from __future__ import annotations

import csv
import io
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
from test_batch_commands import BATCH

from grader.assignment.load import load_assignment
from grader.batch.review_queue import ReviewQueue
from grader.batch.status import lines_of
from grader.errors import AssignmentError
from grader.submission import IntakeError, read_submission
from grader.submission.submission import Bounds

QUESTIONS = """\
  - id: report
    title: What you measured
    points: 3
    file: report.pdf
    checks:
      - {id: style, kind: by_hand, points: 1}
      - id: content
        kind: by_hand
        points: 2
        rubric: [{text: a plot, points: 1, id: plot}, {text: its reason, points: 1}]
  - id: answers
    title: Answers
    points: 1
    file: answers.md
    checks: [{id: right, kind: by_hand, points: 1}]
"""
PDF = b"%PDF-1.7\n\0raise SystemExit\n" + b"x" * 1973
TEXT = "# Why\n\nBecause \x1b[31mx.\n" + "line\n" * 400


@pytest.fixture
def papers(course: Path) -> Path:
    """A class that hands in a report and answers beside the code."""
    file = course / "assignments/tiny/assignment.yml"
    file.write_text(file.read_text() + QUESTIONS)
    right = (course / "class/ann.py").read_text()
    shutil.rmtree(course / "class")
    everything = {"tiny.py": right.encode(), "report.pdf": PDF, "answers.md": TEXT.encode()}
    hand_ins: dict[str, dict[str, bytes]] = {
        "ann": everything,
        "bob": {"tiny.py": right.encode()},
        "cem": {"tiny.py": right.encode(), "Report.PDF": PDF, "answers.txt": b"x"},
        "fay": {"report.pdf": PDF},
        "gus": {**everything, "report.pdf": PDF * 3},
    }
    for name, files in hand_ins.items():
        for path, data in files.items():
            (course / "class" / name / path).parent.mkdir(parents=True, exist_ok=True)
            (course / "class" / name / path).write_bytes(data)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, data in everything.items():
            archive.writestr(f"hw1/{path}", data)
    (course / "class/dua.zip").write_bytes(buffer.getvalue())
    return course


def rows(course: Path) -> dict[str, tuple[str, str, str]]:
    table = csv.DictReader((course / "out/gradebook.csv").open())
    return {row["submission"]: (row["score"], row["pending"], row["max_score"]) for row in table}


def student(course: Path, name: str) -> str:
    return (course / "out" / name / "student.html").read_text()


def test_what_is_there_waits_for_a_person_and_what_is_missing_earns_nothing(
    papers: Path, command: Any, capsys: Any
) -> None:
    assert command(*BATCH) == 0
    before = {
        "ann": ("6", "4", "10"),
        "bob": ("6", "0", "10"),
        "cem": ("6", "3", "10"),
        "dua": ("6", "4", "10"),
        # Without the code nobody looked for the others: a person does.
        "fay": ("0", "4", "10"),
        "gus": ("6", "4", "10"),
    }
    assert rows(papers) == before
    assert "report.pdf was received (2.0 kB). A person reads it" in student(papers, "ann")
    # The same code as ann's, so it ran once; the report is gus's own.
    assert "report.pdf was received (6.0 kB)." in student(papers, "gus")
    assert "report.pdf was not handed in" in student(papers, "bob")
    assert "“answers.txt” was: rename it to answers.md" in student(papers, "cem")
    assert command("rejudge", "out") == 0
    assert rows(papers) == before
    assert "report.pdf was received (6.0 kB)." in student(papers, "gus")
    late = ("decide", "out", "bob", "report.content", "--points", 1, "--why", "Sent by mail.")
    assert command(*late) == 0
    assert command("decide", "out", "ann", "report.content", "--item", "plot") == 0
    assert (rows(papers)["bob"], rows(papers)["ann"]) == (("7", "0", "10"), ("7", "2", "10"))
    assert "Sent by mail." in student(papers, "bob")


def test_a_review_says_where_a_file_lies_and_shows_a_text(papers: Path, command: Any) -> None:
    assert command(*BATCH) == 0
    with ReviewQueue(papers / "out") as course:
        shown = {
            (each.question, each.everybody[0].submission.name): lines_of(each)
            for each in course.findings()
        }
    place = Path("class/ann")
    assert shown["report", "ann"] == [f"{place}: ann/report.pdf (2.0 kB)"]
    assert shown["report", "dua"] == ["class/dua.zip: dua.zip/hw1/report.pdf (2.0 kB)"]
    assert shown["report", "fay"] == ["class/fay"]
    head, *text = shown["answers", "ann"]
    assert head == f"{place}: ann/answers.md (2.0 kB)"
    assert text[0] == "    1 # Why"
    assert (len(text), text[-1]) == (201, "      …")
    (papers / "class/ann/report.pdf").unlink()
    with ReviewQueue(papers / "out") as course:
        gone = next(each for each in course.findings() if each.question == "report")
    assert lines_of(gone) == ["report.pdf: is no longer there as it was handed in"]


def test_a_file_that_is_too_large_costs_its_own_question(tmp_path: Path) -> None:
    (tmp_path / "tiny.py").write_text("x = 1\n")
    (tmp_path / "report.pdf").write_bytes(PDF)
    small = Bounds(file_bytes=100)
    found = read_submission(tmp_path, ["tiny.py"], documents=["report.pdf"], bounds=small)
    assert [file.path for file in found.files] == ["tiny.py"]
    assert found.documents == ()
    assert found.refused["report.pdf"].message.id == "too_large"
    whole = read_submission(tmp_path, ["tiny.py"], documents=["report.pdf"])
    assert [(file.path, file.size) for file in whole.documents] == [("report.pdf", "2.0 kB")]
    assert whole.digest != found.digest
    (tmp_path / "tiny.py").unlink()
    with pytest.raises(IntakeError):
        read_submission(tmp_path, ["tiny.py"], documents=["report.pdf"])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("file: report.pdf", "file: reports/a.pdf", "must lie beside tiny.py"),
        ("file: report.pdf", "file: report.ipynb", "and be no notebook"),
        ("hand_in: [tiny.py]", "hand_in: [tiny.py, report.pdf]", "stands at its question alone"),
        ("file: answers.md", "file: answers.md\n    cases: [{id: a}]", "nothing is run where"),
        ("kind: by_hand, points: 1}\n", "kind: exact, points: 1}\n", "all checks are of kind"),
        ("    file: answers.md\n", "", "cases: is missing"),
    ],
)
def test_what_cannot_be_asked_of_a_file_is_said(
    papers: Path, old: str, new: str, said: str
) -> None:
    file = papers / "assignments/tiny/assignment.yml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(AssignmentError, match=said):
        load_assignment(file)
