"""A class on the command line: graded, gone on with, exported, gone over again."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from in_process import Here

from grader.batch import rerun as gone_over
from grader.batch.discover import ClassSubmission
from grader.batch.graded import GradedSubmission
from grader.batch.ledger import graded_so_far
from grader.cli import class_run
from grader.cli.support import terminate
from grader.grading import Grader
from grader.report.gradebook import GRADEBOOK_FILE
from grader.report.html.render import STAFF_FILE, STUDENT_FILE
from grader.store.journal import JOURNAL_FILE, open_journal

CANVAS = "Student,ID,SIS User ID,SIS Login ID,Section,Tiny (1),Notes\n" + "".join(
    f"{name},{number},,{name},S,,keep\n" for number, name in enumerate(["ann", "bob", "cem"])
)
BATCH = ("batch", "tiny", "class", "--out", "out", "--seed", 7, "--clock", "off")


def book(course: Path) -> dict[str, str]:
    text = (course / "out" / GRADEBOOK_FILE).read_text()
    return {row["submission"]: row["score"] for row in csv.DictReader(text.splitlines())}


def edit(course: Path, old: str, new: str) -> None:
    path = course / "assignments/tiny/assignment.yml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_killed_and_gone_on_with(course: Path, command: Any, capsys: Any) -> None:
    Here.most = 2
    assert command(*BATCH) == 130
    said = capsys.readouterr()
    assert "Stopped early" in said.out
    assert "--resume goes on" in said.err
    Here.most = 99
    assert command(*BATCH, "--resume") == 0
    resumed = (course / "out" / GRADEBOOK_FILE).read_bytes()
    assert command(*BATCH) == 0
    assert (course / "out" / GRADEBOOK_FILE).read_bytes() == resumed
    said = capsys.readouterr().out
    assert "Left out, by their endings no submissions: far.txt" in said
    assert "Scores: median 6 of 6" in said


def test_whoever_ends_it_while_pages_are_written_learns_that_all_is_graded(
    course: Path, command: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(class_run, "renew_pages", terminate)
        assert command(*BATCH) == 143
    said = capsys.readouterr().err
    assert "Ended from outside. All is graded and kept; --resume writes the pages." in said
    assert not (course / "out" / "index.html").exists()
    assert command(*BATCH, "--resume") == 0
    assert (course / "out" / "index.html").exists()


def test_a_resume_that_cannot_be(course: Path, command: Any, capsys: Any) -> None:
    assert command(*BATCH, "--resume") == 0
    assert "No batch was begun in out: it begins now." in capsys.readouterr().out
    assert command(*BATCH, "--resume", "--device", "cpu") == 2
    assert "begun with another --device" in capsys.readouterr().err
    (course / "out" / JOURNAL_FILE).write_bytes(b"not a journal" * 200)
    assert command(*BATCH, "--resume") == 2
    said = capsys.readouterr().err
    assert "is damaged" in said
    assert "The reports in the folders beside it are untouched" in said


def test_exports_of_a_batch(course: Path, command: Any, capsys: Any) -> None:
    assert command(*BATCH) == 0
    (course / "mine.csv").write_text(CANVAS)
    arguments = ("export", "canvas", "out", "--into", "mine.csv")
    assert command(*arguments) == 2
    assert "--column" in capsys.readouterr().err
    assert command(*arguments, "--column", "Tiny", "--out", "theirs.csv") == 0
    rows = {row["Student"]: row for row in csv.DictReader((course / "theirs.csv").open())}
    assert {name: row["Tiny (1)"] for name, row in rows.items()} == {
        "ann": "6", "bob": "6", "cem": "5",
    }  # fmt: skip
    assert {row["Notes"] for row in rows.values()} == {"keep"}
    assert "Graded, but not in your file: dua, eli" in capsys.readouterr().out
    assert command("export", "nbgrader", "out", "--out", "nb.csv") == 0
    assert [row["score"] for row in csv.DictReader((course / "nb.csv").open())] == [
        "6", "6", "5", "6", "0",
    ]  # fmt: skip
    assert command("export", "junit", "out", "--out", "junit") == 0
    assert (course / "junit/ann/junit.xml").is_file()


@pytest.mark.parametrize(
    ("words", "others"),
    [
        (("nbgrader", "--points", "percent"), "canvas, moodle"),
        (("nbgrader", "--into", "mine.csv"), "canvas, moodle, gradescope"),
        (("moodle", "--into", "mine.csv", "--column", "Tiny"), "canvas"),
        (("junit", "--dry-run"), "canvas, moodle, nbgrader"),
        (("summary", "--pending", "full"), "canvas, moodle, nbgrader"),
        (("gradescope", "--into", "a.zip", "--missing", "zero"), "canvas, moodle, nbgrader"),
    ],
)
def test_an_option_that_an_export_would_pass_over_is_refused(
    words: tuple[str, ...], others: str, course: Path, command: Any, capsys: Any
) -> None:
    kind, *options = words
    assert command("export", kind, "out", *options) == 2
    option = next(word for word in reversed(options) if word.startswith("--"))
    message = " ".join(capsys.readouterr().err.split())
    assert f"export {kind} takes no {option}; leave it out. It is for {others}. Nothing" in message
    assert not (course / "out").exists()


def test_one_is_one(course: Path, command: Any, capsys: Any) -> None:
    for name in ("bob", "cem", "dua", "eli"):
        (course / f"class/{name}.py").unlink()
    assert command(*BATCH) == 0
    assert command("export", "nbgrader", "out", "--out", "nb.csv") == 0
    assert "nb.csv, 1 final grade\n" in capsys.readouterr().out


def test_files_are_found_from_every_folder(
    course: Path, command: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command(*BATCH) == 0
    assert command("similarity", "out") == 0
    compared = capsys.readouterr().out.splitlines()[-2]
    for folder, out in (
        (course / "out", "."),
        (course / "class", "../out"),
        (Path("/"), course / "out"),
    ):
        monkeypatch.chdir(folder)
        assert command("replay", f"{out}/cem") == 0
        assert command("similarity", out, "--out", course / "alike") == 0
        assert capsys.readouterr().out.splitlines()[-2] == compared
    monkeypatch.chdir(course)
    moved = course.rename(course.with_name("moved"))
    monkeypatch.chdir(moved / "out")
    with open_journal(Path(JOURNAL_FILE)) as journal:
        (cem,) = graded_so_far(journal, ["cem"])
    assert cem.submission.paths == (moved / "class/cem.py",)
    # The batch's folder alone: then it is the folder in which one works that counts.
    apart = (moved / "out").rename(moved.with_name("apart"))
    monkeypatch.chdir(moved)
    with open_journal(apart / JOURNAL_FILE) as journal:
        (cem,) = graded_so_far(journal, ["cem"])
    assert cem.submission.paths == (Path("class/cem.py"),)


def test_a_class_gone_over_again(course: Path, command: Any, capsys: Any) -> None:
    assert command(*BATCH) == 0
    capsys.readouterr()
    assert command("replay", "out/cem") == 0
    assert "every verdict holds" in capsys.readouterr().out

    edit(course, "id: values, kind: close, rtol: 1.0e-4, atol: 1.0e-4, points: 3}",
         "id: values, kind: close, rtol: 1.0e-6, atol: 1.0e-6, points: 3}")  # fmt: skip
    before = contents(course / "out")
    assert command("rejudge", "out", "--dry-run") == 0
    assert contents(course / "out") == before
    said = capsys.readouterr().out
    assert "3/3 ok" in said
    assert "0/3 wrong_value" in said
    assert command("rejudge", "out") == 0
    assert book(course)["bob"] == "2"
    assert "Changed: 1 of 5 submissions." in capsys.readouterr().out

    (course / "class/bob.py").write_text((course / "class/ann.py").read_text())
    assert command("regrade", "out") == 2
    assert command("regrade", "out", "--students", "bib") == 2
    assert "did you mean “bob”" in capsys.readouterr().err
    assert command("regrade", "out", "--students", "bob") == 0
    assert book(course) == {"ann": "6", "bob": "6", "cem": "5", "dua": "6", "eli": "0"}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*.json"))}


def test_what_a_gpu_worker_found_stays_whatever_comes_after(
    course: Path, command: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(course, "    title: Minus\n", "    title: Minus\n    needs: {cuda: 1}\n")
    assert command(*BATCH, "--device", "cpu") == 0
    assert json.loads((course / "out/ann/report.json").read_text())["pending"] == 2
    # As it comes from a machine with a GPU.
    for name in ("ann", "bob"):
        report = json.loads((course / "out" / name / "report.json").read_text())
        check = report["questions"][1]["checks"][0]
        check |= {"status": "passed", "code": "ok", "owner": None, "score": 2.0, "pending": 0.0}
        (course / "gpu" / name).mkdir(parents=True)
        (course / "gpu" / name / "report.json").write_text(json.dumps(report))
    assert command("merge", "out", "gpu") == 0
    full = {"ann": "6", "bob": "6", "cem": "3", "dua": "4", "eli": "0"}
    assert book(course) == full
    merged = contents(course / "out")

    for again in (
        ("merge", "out", "gpu"),
        (*BATCH, "--device", "cpu", "--resume"),
        ("rejudge", "out"),
    ):
        assert command(*again) == 0
        assert book(course) == full, again
    assert contents(course / "out") == merged
    capsys.readouterr()
    assert command("export", "nbgrader", "out", "--out", "nb.csv") == 0
    told = capsys.readouterr().out
    assert "cem (2 points pending)" in told
    assert "Points of 3 submissions wait for a machine" in told
    assert "--pending zero (lost) or --pending full (earned)" in told
    assert command("export", "nbgrader", "out", "--out", "nb.csv", "--pending", "zero") == 0
    assert "wait for a machine" not in capsys.readouterr().out
    assert command("export", "nbgrader", "out", "--out", "nb.csv") == 0
    scores = [row["score"] for row in csv.DictReader((course / "nb.csv").open())]
    assert scores == ["6", "6", "", "", ""]

    edit(course, "atol: 1.0e-4, points: 3}", "atol: 1.0e-6, points: 3}")
    edit(course, "{id: values, kind: close, rtol: 1.0e-4", "{id: values, kind: close, rtol: 1.0e-6")
    assert command("rejudge", "out") == 0
    assert book(course) == {**full, "bob": "2"}
    capsys.readouterr()
    assert command("regrade", "out", "--questions", "negate") == 0
    assert book(course) == {"ann": "4", "bob": "0", "cem": "3", "dua": "4", "eli": "0"}
    assert json.loads((course / "out/ann/report.json").read_text())["merged"] == []


@pytest.mark.parametrize("clock", ["auto", "off"])
def test_what_a_batch_has_timed_is_timed_again(
    course: Path, command: Any, monkeypatch: pytest.MonkeyPatch, clock: str
) -> None:
    timed: list[bool] = []
    grade_one = gone_over.grade_one

    def seen(grader: Grader, submission: ClassSubmission, clock: bool = True) -> GradedSubmission:
        timed.append(clock and grader.options.clock)
        return grade_one(grader, submission, clock)

    assert command(*BATCH[:-1], clock) == 0
    monkeypatch.setattr(gone_over, "grade_one", seen)

    assert command("regrade", "out", "--students", "bob") == 0
    assert command("replay", "out/bob") == 0

    assert timed == [clock == "auto"] * 2


def turned_in(course: Path) -> None:
    """Lay the class out as Gradescope exports it; everybody is a day late but ann."""
    for number, name in enumerate(["ann", "bob", "cem", "dua", "eli"]):
        folder = course / f"class/submission_{number}"
        folder.mkdir()
        (course / f"class/{name}.py").rename(folder / "tiny.py")
    listed = "".join(
        f"submission_{number}:\n  :submitters:\n  - :name: {name}\n    :sid: '{number}'\n"
        f"  :created_at: 2026-10-0{1 if name == 'ann' else 2}T12:00:00Z\n"
        for number, name in enumerate(["ann", "bob", "cem", "dua", "eli"])
    )
    (course / "class/submission_metadata.yml").write_text(listed)
    (course / "late.yml").write_text("due: 2026-10-01T23:59:00Z\nper_day: 0.5\n")


def finals(course: Path) -> list[str]:
    text = (course / "out" / GRADEBOOK_FILE).read_text()
    return [row["final"] for row in csv.DictReader(text.splitlines())]


def test_a_batch_remembers_what_lateness_costs(course: Path, command: Any, capsys: Any) -> None:
    turned_in(course)
    assert command(*BATCH, "--late", "late.yml") == 0
    assert finals(course) == ["6", "3", "2.5", "3", "0"]
    capsys.readouterr()
    canvas = "".join(CANVAS.splitlines(keepends=True)[:3])
    (course / "mine.csv").write_text(canvas)
    export = ("export", "canvas", "out", "--into", "mine.csv", "--column", "Tiny", "--dry-run")
    assert command(*export) == 0
    said = capsys.readouterr().out
    assert "Lateness as the batch remembers: due 2026-10-01 23:59 +0000, 50% a day" in said
    assert "bob: empty → 3\n" in said
    assert "Nothing was written" in said
    assert not (course / "out/canvas.csv").exists()
    for again in (("rejudge", "out"), ("regrade", "out", "--students", "submission_1")):
        assert command(*again) == 0
        assert finals(course) == ["6", "3", "2.5", "3", "0"]
    assert command(*BATCH, "--resume") == 0
    assert finals(course) == ["6", "3", "2.5", "3", "0"]


def test_students_read_how_late_they_were_and_what_that_costs(
    course: Path, command: Any, capsys: Any
) -> None:
    turned_in(course)
    assert command(*BATCH, "--late", "late.yml") == 0
    said = "Days late: 0.5. That takes 50 % of the score. Points that count: 3 of 6."
    out = course / "out"
    late = json.loads((out / "submission_1/results.json").read_text())
    assert said in late["output"]
    assert late["score"] == 6
    assert late["extra_data"]["lateness"] == {
        "days": pytest.approx(0.5007, abs=1e-3), "attempts": 0, "penalty": 0.5, "final": 3.0,
    }  # fmt: skip
    for page in (STUDENT_FILE, STAFF_FILE):
        assert said in (out / "submission_1" / page).read_text()
    in_time = json.loads((out / "submission_0/results.json").read_text())
    assert "late" not in in_time["output"].lower()
    assert "Days late" not in (out / "submission_0/student.html").read_text()

    (course / "mild.yml").write_text("due: 2026-10-01T23:59:00Z\nper_day: 0.1\n")
    assert command("rejudge", "out", "--late", "mild.yml") == 0
    assert "Points that count: 5.4 of 6." in (out / "submission_1/results.json").read_text()
    assert command("decide", "out", "bob", "negate", "--points", 0, "--why", "Copied.") == 0
    assert "Points that count: 3.6 of 6." in (out / "submission_1/results.json").read_text()
    assert command(*BATCH, "--resume") == 0
    assert "Points that count: 3.6 of 6." in (out / "submission_1/results.json").read_text()


def test_what_counts_does_not_tell_the_points_that_are_not_shown(
    course: Path, command: Any
) -> None:
    turned_in(course)
    edit(course, "points: 2}", "points: 2, visibility: after_published}")
    assert command(*BATCH, "--late", "late.yml") == 0
    texts = [
        (course / "out/submission_1" / name).read_text() for name in ("results.json", STUDENT_FILE)
    ]
    assert all("That takes 50 % of the score." in text for text in texts)
    assert not any("Points that count" in text for text in texts)
    assert "Points that count: 3 of 6." in (course / "out/submission_1" / STAFF_FILE).read_text()


def test_another_price_of_lateness_is_told_and_remembered(
    course: Path, command: Any, capsys: Any
) -> None:
    turned_in(course)
    assert command(*BATCH, "--late", "late.yml") == 0
    (course / "mild.yml").write_text("due: 2026-10-01T23:59:00Z\nper_day: 0.1\n")
    capsys.readouterr()
    assert command("export", "nbgrader", "out", "--late", "mild.yml", "--out", "nb.csv") == 0
    assert "this time only: due 2026-10-01 23:59 +0000, 10% a day" in capsys.readouterr().out
    assert [row["score"] for row in csv.DictReader((course / "nb.csv").open())][1] == "5.4"
    assert command("rejudge", "out") == 0
    assert finals(course)[1] == "3"
    assert command("rejudge", "out", "--late", "mild.yml") == 0
    assert "from now on" in capsys.readouterr().out
    assert command("rejudge", "out") == 0
    assert finals(course)[1] == "5.4"


def test_an_extension_of_a_stranger_is_refused_before_anything_is_graded(
    course: Path, command: Any, capsys: Any
) -> None:
    turned_in(course)
    (course / "late.yml").write_text(
        "due: 2026-10-01T23:59:00Z\nextensions: {anm: 2026-10-09T00:00:00Z}\n"
    )
    assert command(*BATCH, "--late", "late.yml") == 2
    assert "extensions for anm" in capsys.readouterr().err
    assert not (course / "out" / JOURNAL_FILE).exists()
