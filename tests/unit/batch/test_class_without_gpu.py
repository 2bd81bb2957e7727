"""A course without a GPU: what waits for one is out of the maximum, and comes back."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from grader.batch.ledger import graded_so_far, read_grades, read_setup, revise
from grader.errors import UsageError
from grader.report.model import Report, read_report
from grader.report.sums import with_checks, with_results
from grader.store.journal import JOURNAL_FILE, open_journal
from grader.verdict import Code, Owner, Status

COURSE = "schema: torchgrade/course/v1\ngpu: none\n"
WAITS = {"status": Status.DEFERRED, "code": Code.NO_DEVICE, "score": 0.0, "pending": 2.0}
LOST = {"status": Status.SKIPPED, "code": Code.REQUIREMENT_NOT_MET, "score": 0.0, "pending": 0.0}


def on_a_gpu(report: Report, wanted: dict[str, object]) -> Report:
    """Return a report as if a check were one that only a real GPU settles."""
    double, negate = report.questions
    changed = negate.checks[0].model_copy(update={"needs_gpu": True, **wanted})
    return with_results(report, [double, with_checks(negate, [changed])])


@pytest.fixture
def batch(course: Path, command) -> Path:
    """A class whose right submissions wait for a GPU; a wrong one lost those points."""
    assert command("batch", "tiny", "class", "--out", "out", "--isolation", "none") == 0
    with open_journal(course / "out" / JOURNAL_FILE) as journal:
        for done in list(graded_so_far(journal)):
            name = done.submission.name
            if name == "eli":
                wanted: dict[str, object] = {"owner": Owner.STUDENT, "needs_gpu": True}
            else:
                wanted = LOST | {"owner": Owner.STUDENT} if name == "cem" else dict(WAITS)
            revise(journal, done.with_run(on_a_gpu(done.run, wanted)))
    return course / "out"


def rows(batch: Path) -> dict[str, tuple[str, str, str, str]]:
    with (batch / "gradebook.csv").open(newline="", encoding="utf-8") as file:
        return {
            row["submission"]: (row["score"], row["max_score"], row["pending"], row["status"])
            for row in csv.DictReader(file)
        }


def test_points_of_a_gpu_leave_the_maximum_of_everybody_and_come_back(
    batch: Path, command, capsys: pytest.CaptureFixture[str]
) -> None:
    before = [grade.report for grade in read_grades(batch)]
    assert command("count", "out", "--without", "gpu") == 0
    said = capsys.readouterr().out
    assert "4/6 +2?" in said
    assert "4/4" in said
    now = rows(batch)
    assert now["ann"] == ("4", "4", "0", "graded")
    # Whoever had lost the points has lost nothing by now, and nobody has another maximum.
    assert now["cem"] == ("3", "4", "0", "graded")
    assert {maximum for _, maximum, *_ in now.values()} == {"4"}
    assert {grade.final is not None for grade in read_grades(batch)} == {True}
    kept = read_report(batch / "ann" / "report.json")
    check = kept.questions[1].checks[0]
    assert (check.code, check.max_score, check.uncounted) == (Code.NOT_COUNTED, 0.0, 2.0)
    document = json.loads((batch / "ann" / "results.json").read_text())
    assert "taken out of the maximum" in document["output"]
    assert sum(test["max_score"] for test in document["tests"]) == 4
    (row,) = (test for test in document["tests"] if "negate" in test["name"])
    assert (row["max_score"], "status" in row) == (0, False)
    assert "it is worth 2" in row["output"]
    page = (batch / "index.html").read_text(encoding="utf-8")
    assert "Points taken out of the maximum" in page
    assert command("count", "out", "--with", "gpu") == 0
    assert [grade.report for grade in read_grades(batch)] == before
    assert rows(batch)["ann"] == ("4", "6", "2", "pending")
    assert rows(batch)["cem"][:2] == ("3", "6")


def test_the_course_says_so_and_a_batch_remembers(batch: Path, command) -> None:
    (batch.parent / "course.yml").write_text(COURSE)
    assert command("batch", "tiny", "class", "--out", "out", "--isolation", "none", "--resume") == 0
    assert read_setup(batch).gpu == "none"
    assert rows(batch)["ann"] == ("4", "4", "0", "graded")
    (batch.parent / "course.yml").unlink()
    assert command("batch", "tiny", "class", "--out", "out", "--isolation", "none", "--resume") == 0
    assert rows(batch)["ann"] == ("4", "4", "0", "graded")
    (batch.parent / "course.yml").write_text(COURSE.replace("none", "real"))
    assert command("batch", "tiny", "class", "--out", "out", "--isolation", "none", "--resume") == 0
    assert rows(batch)["ann"] == ("4", "6", "2", "pending")


def test_a_decision_on_what_does_not_count_waits_until_it_counts(batch: Path, command) -> None:
    why = ("--why", "I ran it myself.")
    assert command("decide", "out", "ann", "negate", "--points", "2", *why) == 0
    assert rows(batch)["ann"] == ("6", "6", "0", "graded")
    assert command("count", "out", "--without", "gpu") == 0
    assert rows(batch)["ann"] == ("4", "4", "0", "graded")
    assert command("decide", "out", "ann", "negate", "--points", "2", *why) != 0
    assert command("count", "out", "--with", "gpu") == 0
    assert rows(batch)["ann"] == ("6", "6", "0", "graded")


def test_count_wants_one_of_two(batch: Path, command, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("count", "out") == UsageError("").exit_status
    assert "--without gpu or --with gpu" in capsys.readouterr().err
