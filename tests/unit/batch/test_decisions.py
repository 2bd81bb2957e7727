"""What a person decides on a class counts, stays, and can be taken back."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from in_process import Here

from grader.batch.decisions import awaited, decide, judged_otherwise
from grader.batch.discover import ClassSubmission
from grader.batch.graded import GradedSubmission
from grader.batch.ledger import BatchSettings, begin, read_grades, record
from grader.batch.review_queue import DecisionRequest, ReviewQueue
from grader.batch.status import lines_of
from grader.errors import UsageError
from grader.report.gradebook import GRADEBOOK_FILE
from grader.report.layers import fold, outdated
from grader.report.model import FileInfo, Report
from grader.store.journal import JOURNAL_FILE, open_journal
from grader.verdict import Basis

BATCH = ("batch", "tiny", "class", "--out", "out", "--seed", 7, "--clock", "off")


def check(name: str, code: str, score: float, pending: float, **more: object) -> dict[str, object]:
    status = "passed" if code == "ok" else "deferred" if pending else "failed"
    return {
        "id": name, "kind": "close", "status": status, "code": code, "score": score,
        "max_score": 2, "pending": pending, "message": f"said {code}",
        "student_message": f"said {code}", **more,
    }  # fmt: skip


def report(*checks: dict[str, Any]) -> Report:
    points = {
        "score": sum(each["score"] for each in checks),
        "max_score": sum(each["max_score"] for each in checks),
        "pending": sum(each["pending"] for each in checks),
    }
    question = {"id": "f", "title": "F", "status": "deferred", "checks": checks, **points}
    return Report.model_validate(
        {
            "assignment": {"id": "toy", "version": "1"},
            "submission": {"id": "x"},
            "status": "pending",
            "questions": [question],
            "environment": {
                "torch": "2", "python": "3", "platform": "x", "device": "cpu",
                "isolation": {"tier": "full"}, "seed": 1, "grader_version": "0",
            },
            **points,
        }
    )  # fmt: skip


WAITS = report(check("values", "ok", 2, 0), check("loops", "needs_review", 0, 2))


def test_a_decision_is_laid_over_what_the_grader_said() -> None:
    (made,) = decide(WAITS, "f.loops", 1.5, "It is a loop in half of the cases.", "sam")
    after = fold(WAITS, decisions=[made])
    assert (after.score, after.pending, after.status.value) == (3.5, 0, "graded")
    done = after.questions[0].checks[1]
    assert (done.status.value, done.code.value, done.score) == ("partial", "decided", 1.5)
    assert done.student_message == (
        "A person looked at this. Points given: 1.5 of 2. It is a loop in half of the cases."
    )
    assert "sam" in done.message
    assert "said needs_review" in done.message
    assert "sam" not in done.student_message
    assert not awaited(after)
    assert fold(after) == after


def test_points_of_a_question_go_to_its_checks_in_order() -> None:
    made = decide(WAITS, "f", 2.5, "See the answer to your request.", "sam")
    assert [item.points for item in made] == [2, 0.5]
    assert fold(WAITS, decisions=made).score == 2.5


@pytest.mark.parametrize(
    ("where", "points", "why", "said"),
    [
        ("g", 1, "x", "no question “g”"),
        ("f.loop", 1, "x", "no check “loop” in f; did you mean “loops”"),
        ("f.loops", 3, "x", "is worth 0 to 2 points"),
        ("f.loops", -1, "x", "is worth 0 to 2 points"),
        ("f.loops", float("nan"), "x", "is worth 0 to 2 points"),
        ("f.loops", 1, " ", "--why"),
    ],
)
def test_what_cannot_be_decided(where: str, points: float, why: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        decide(WAITS, where, points, why, "sam")


def test_a_decision_that_was_overtaken() -> None:
    (made,) = decide(WAITS, "f.loops", 0, "A loop.", "sam")
    settled = report(check("values", "ok", 2, 0), check("loops", "ok", 2, 0))
    assert judged_otherwise(settled, made)
    assert not judged_otherwise(WAITS, made)
    gone = report(check("values", "ok", 2, 0))
    worth_more = report(check("loops", "needs_review", 0, 3, max_score=3))
    for later in (gone, worth_more):
        assert outdated(later, made)
        assert fold(later, decisions=[made]) == later


def scores(course: Path) -> dict[str, str]:
    text = (course / "out" / GRADEBOOK_FILE).read_text()
    return {row["submission"]: row["score"] for row in csv.DictReader(text.splitlines())}


def test_a_decision_stays_whatever_comes_after(course: Path, command: Any, capsys: Any) -> None:
    Here.most = 3
    assert command(*BATCH) == 130
    Here.most = 99
    assert scores(course)["cem"] == "5"
    given = ("decide", "out", "cem", "double.inputs", "--points", "0.5", "--why", "Told in class.")
    assert command(*given, "--who", "sam") == 0
    assert (
        "cem double.inputs: 0.5 of 1 point (the grader: input_modified" in capsys.readouterr().out
    )
    assert scores(course)["cem"] == "5.5"
    for again in (
        (*BATCH, "--resume"),
        ("rejudge", "out"),
        ("regrade", "out", "--students", "cem"),
        ("regrade", "out", "--questions", "double"),
    ):
        assert command(*again) == 0
        assert scores(course)["cem"] == "5.5", again
        written = json.loads((course / "out/cem/report.json").read_text())
        assert written["score"] == 5.5
        assert "Told in class." in (course / "out/cem/student.html").read_text()
    assert "sam" not in (course / "out/cem/results.json").read_text()
    assert command("decide", "out", "cem", "double", "--undo") == 0
    assert scores(course)["cem"] == "5"
    assert json.loads((course / "out/cem/report.json").read_text())["score"] == 5
    assert command("decide", "out", "cem", "double", "--undo") == 2


def test_decisions_from_a_table_and_for_the_same_finding(
    course: Path, command: Any, capsys: Any
) -> None:
    (course / "class/dua.py").write_text((course / "class/cem.py").read_text() + "\n# dua\n")
    assert command(*BATCH) == 0
    given = ("decide", "out", "cem", "double.inputs", "--points", "1", "--why", "Fine.", "--same")
    assert command(*given) == 0
    assert scores(course) == {"ann": "6", "bob": "6", "cem": "6", "dua": "6", "eli": "0"}
    (course / "by_hand.csv").write_text(
        "student,question,points,why\neli,negate,1.5,It was only the colon.\nbob,double,0,Copied.\n"
    )
    assert command("decide", "out", "--from", "by_hand.csv") == 0
    assert scores(course) == {"ann": "6", "bob": "2", "cem": "6", "dua": "6", "eli": "1.5"}
    (course / "by_hand.csv").write_text("student,question,points,why\neli,negate,much,No.\n")
    assert command("decide", "out", "--from", "by_hand.csv") == 2
    assert "by_hand.csv:2: points are no number" in capsys.readouterr().err


def test_a_table_counts_as_a_whole_or_not_at_all(course: Path, command: Any, capsys: Any) -> None:
    assert command(*BATCH) == 0
    before = scores(course)
    head = "student,question,points,why\n"
    for rest, said in (
        ("cem,double.inputs,1,Fine.\neli,negate,1,\n", "by_hand.csv:3: --why: say why"),
        ("cem,double.inputs,1,Fine.\nzoe,negate,1,Fine.\n", "by_hand.csv:3: out: no submission of"),
        ('cem,double.inputs,1,"In\ntwo lines."\ncem,double,2,x\n',
         "by_hand.csv:4: cem double.inputs is decided already by by_hand.csv:3"),
    ):  # fmt: skip
        (course / "by_hand.csv").write_text(head + rest)
        assert command("decide", "out", "--from", "by_hand.csv") == 2
        assert said in " ".join(capsys.readouterr().err.split())
        assert scores(course) == before
    with open_journal(course / "out" / JOURNAL_FILE) as journal:
        assert journal.decided() == {}


def test_what_was_decided_for_one_stays_when_all_alike_get_points(
    course: Path, command: Any, capsys: Any
) -> None:
    for name in ("dua", "fay"):
        (course / f"class/{name}.py").write_text(
            (course / "class/cem.py").read_text() + f"\n# {name}\n"
        )
    assert command(*BATCH) == 0
    decide = ("decide", "out")
    assert command(*decide, "dua", "double.inputs", "--points", "0.25", "--why", "Told twice.") == 0

    def of_the_three() -> list[str]:
        return [scores(course)[name] for name in ("cem", "dua", "fay")]

    capsys.readouterr()
    given = (*decide, "cem", "double.inputs", "--same", "--why", "Fine.", "--points")
    assert command(*given, "1") == 0
    assert "Decided on already, and left as it was: dua" in capsys.readouterr().out
    assert of_the_three() == ["6", "5.25", "6"]
    # What was given to all alike is changed, and taken back, for all alike.
    assert command(*given, "0.5") == 0
    assert of_the_three() == ["5.5", "5.25", "5.5"]
    assert command(*decide, "cem", "double", "--undo", "--same") == 0
    assert "Taken back: cem double.inputs, fay double.inputs" in capsys.readouterr().out
    assert of_the_three() == ["5", "5.25", "5"]


def test_rejudging_says_what_was_decided_otherwise(course: Path, command: Any, capsys: Any) -> None:
    assert command(*BATCH) == 0
    assert (
        command("decide", "out", "bob", "double.values", "--points", "0", "--why", "Read it.") == 0
    )
    path = course / "assignments/tiny/assignment.yml"
    text = path.read_text()
    strict = text.replace(
        "rtol: 1.0e-4, atol: 1.0e-4, points: 3", "rtol: 1.0e-6, atol: 1.0e-6, points: 3"
    )
    path.write_text(strict)
    capsys.readouterr()
    assert command("rejudge", "out") == 0
    assert "judges bob double.values otherwise since it was decided" in capsys.readouterr().out
    path.write_text(text.replace("points: 3}", "points: 2}").replace("points: 4", "points: 3"))
    for dry in ("--dry-run",), ():
        assert command("rejudge", "out", *dry) == 0
        assert "decision on bob double.values does not count any more" in capsys.readouterr().out


def test_a_class_of_which_nothing_waits(course: Path, command: Any, capsys: Any) -> None:
    assert command(*BATCH) == 0
    assert command("review", "out") == 0
    assert "Nothing in out waits for a person." in capsys.readouterr().out


def waiting_class(folder: Path, basis: Basis = Basis.FACT, digests: str = "aab") -> Path:
    """Write a batch of three: two with one finding about a line, one with another finding."""
    out = folder / "out"
    out.mkdir()
    setup = BatchSettings(
        assignment="toy", file="toy", version="1", digest="", seed=1, device="cpu",
        questions=(), isolation="auto", clock=False, grader_version="0",
    )  # fmt: skip
    with begin(out, setup) as journal:
        lines = (("ann", 2), ("bob", 2), ("cem", None))
        for (name, line), digest in zip(lines, digests, strict=True):
            source = folder / name / "toy.py"
            source.parent.mkdir()
            source.write_text("import torch\n# marked\ndef f(x):\n    return x\n\nprint()\n")
            found = report(
                *(
                    check(
                        kind, "needs_review", 0, 2,
                        params={"line": line}, message=f"{line}", basis=basis,
                    )
                    for kind in ("loops", "views")
                )
            )  # fmt: skip
            info = found.submission.model_copy(
                update={"files": (FileInfo(path="toy.py", sha256=""),)}
            )
            found = found.model_copy(update={"submission": info})
            submission = ClassSubmission(name, source.parent)
            record(journal, GradedSubmission.of(submission, found, digest=digest))
    return out


def test_what_waits_is_shown_once_with_its_lines(tmp_path: Path) -> None:
    with ReviewQueue(waiting_class(tmp_path)) as course:
        first, second = course.findings()
        assert [done.submission.name for done in first.everybody] == ["ann", "bob"]
        assert [item.id for item in first.checks] == ["loops", "views"]
        assert first.worth == 4
        assert lines_of(first)[:2] == ["    1 import torch", "    2 # marked"]
        # A finding that names no line is about its function.
        assert lines_of(second) == ["    3 def f(x):", "    4     return x", "    5 "]
        course.decide(first.wishes(2.5, "It loops."), "sam")
        assert [finding.everybody[0].submission.name for finding in course.findings()] == ["cem"]
    after = {grade.submission.name: grade for grade in read_grades(tmp_path / "out")}
    assert {name: grade.report.score for name, grade in after.items()} == {
        "ann": 2.5, "bob": 2.5, "cem": 0,
    }  # fmt: skip
    assert after["ann"].final == 2.5
    assert "4 of them for a person to decide" in after["cem"].why_open


@pytest.mark.parametrize(
    ("basis", "digests", "together"),
    [(Basis.CLAIM, "aab", True), (Basis.CLAIM, "abc", False), (Basis.FACT, "abc", True)],
)
def test_a_doubt_about_the_word_of_a_process_is_decided_for_the_same_bytes_alone(
    tmp_path: Path, basis: Basis, digests: str, together: bool
) -> None:
    with ReviewQueue(waiting_class(tmp_path, basis, digests)) as course:
        first = course.findings()[0]
        names = [done.submission.name for done in first.everybody]
        assert names == (["ann", "bob"] if together else ["ann"])
        course.decide([DecisionRequest("ann", "f.loops", 2, "Fine.", same=True)], "sam")
    scored = {each.submission.name: each.report.score for each in read_grades(tmp_path / "out")}
    assert scored["bob"] == (2 if together else 0)


def test_a_decision_is_no_conflict_of_machines(course: Path, command: Any, capsys: Any) -> None:
    assert command(*BATCH) == 0
    give = ("decide", "out", "bob", "negate.values", "--points", 0.5, "--why", "Half of it.")
    assert command(*give) == 0
    before = (course / "out" / GRADEBOOK_FILE).read_bytes()
    copy = course / "copy"
    copy.mkdir()
    (copy / "journal.sqlite").write_bytes((course / "out/journal.sqlite").read_bytes())
    capsys.readouterr()
    assert command("merge", "out", "copy") == 0
    assert "Completed: 0 points" in capsys.readouterr().out
    assert (course / "out" / GRADEBOOK_FILE).read_bytes() == before
