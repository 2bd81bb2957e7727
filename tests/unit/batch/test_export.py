"""Grades go into an instructor's own export, and into nothing else of it."""

from __future__ import annotations

import csv
import datetime as dt
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.batch.discover import ClassSubmission, Student
from grader.batch.export import Points, canvas, moodle, nbgrader
from grader.batch.grades import Grade, LatePolicy, Pending, about, grade_of, submission_of
from grader.batch.lms_csv import Missing
from grader.errors import UsageError
from grader.report.model import Report

DUE = dt.datetime(2026, 10, 1, tzinfo=dt.timezone.utc)


def report(score: float, pending: float = 0.0, status: str = "graded") -> Report:
    return Report.model_validate(
        {
            "assignment": {"id": "toy", "version": "1"},
            "submission": {"id": "x"},
            "score": score,
            "max_score": 10,
            "pending": pending,
            "status": status,
            "questions": [
                {
                    "id": "f",
                    "title": "=f()",
                    "score": score,
                    "max_score": 10,
                    "pending": pending,
                    "status": "partial",
                    "checks": [
                        {
                            "id": "values", "kind": "x", "status": "partial", "code": "wrong_value",
                            "score": score, "max_score": 10, "pending": pending,
                        }
                    ],
                }
            ],
            "environment": {
                "torch": "2", "python": "3", "platform": "x", "device": "cpu",
                "isolation": {"tier": "full"}, "seed": 1, "grader_version": "0",
            },
        }
    )  # fmt: skip


def submission(name: str, *students: Student, days: float = 0) -> ClassSubmission:
    return ClassSubmission(name, Path(name), students, DUE + dt.timedelta(days=days))


MINA = Student("Mina Park", "mina@example.edu", "42")
JO = Student("Jo Doe", "jo@example.edu", "43")
LEE = Student("Lee Rhee", "lee@example.edu", "44")
POLICY = LatePolicy(due=DUE, per_day=0.1)
GRADES = [
    grade_of(submission("s1", MINA, JO), report(7.5), POLICY),
    grade_of(submission("s2", LEE, days=1.5), report(10), POLICY),
    grade_of(submission("s3", Student("Al", id="45")), report(5, 2, "pending"), POLICY),
    grade_of(submission("s4", Student("Bo", id="46")), report(5, 2, "incomplete"), POLICY),
    grade_of(ClassSubmission("s5", Path("s5"), (Student("Cy", id="47"),)), report(5), POLICY),
]


def test_what_is_final() -> None:
    assert [grade.final for grade in GRADES] == [7.5, 8.0, None, None, None]
    assert [grade.why_open for grade in GRADES[2:]] == [
        "2 points pending",
        "incomplete: the grader failed in places",
        "late or not is unknown: say when it came (`received`)",
    ]


def test_a_hand_in_is_remembered() -> None:
    for grade in GRADES:
        assert submission_of(grade.submission.name, about(grade.submission)) == grade.submission
    loose = ClassSubmission("x", {"toy.py": Path("a_toy.py")}, late=True)
    assert submission_of("x", about(loose)) == loose


CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,A0 (8),A1 (9),A1 extra (10),Notes\r\n"
    ",,,,,Manual Posting,,,\r\n"
    '"    Points Possible",,,,,10,10,5,\r\n'
    '"Park, Mina",42,u42,mina,"S, 1",3.0,,1,"=1+1"\r\n'
    '"Doe, Jo",900,u43,jo@example.edu,S,4.0,2,,\r\n'
    '"Rhee, Lee",901,44,lee,S,,,,\r\n'
    '"Other, One",902,99,one,S,1.0,9,,\r\n'
)


def test_canvas_touches_one_column(tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_bytes(CANVAS.encode())
    done = canvas(GRADES, own, "A1")
    before, after = (
        list(csv.reader(io.StringIO(text, newline=""))) for text in (CANVAS, done.text)
    )
    assert [row[6] for row in after] == ["A1 (9)", "", "10", "7.5", "7.5", "8", "9"]
    for row in (*before, *after):
        del row[6]
    assert before == after
    assert done.text.count("\r\n") == CANVAS.count("\r\n")
    assert done.filled == 3
    assert done.absent == ("Al", "Bo", "Cy")
    assert set(done.open) == {"s3", "s4", "s5"}


def test_whoever_was_graded_gets_no_zero_for_handing_in_nothing(tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_text(CANVAS)
    # Canvas knows them by its own number, the school's list by another; their grade is open.
    waits = grade_of(submission("s9", Student("One", id="902")), report(5, 2, "pending"), POLICY)
    listed = Missing((Student("Other, One", id="99"), Student("Rhee, Lee", id="44")), zero=True)
    done = canvas([waits], own, "A0", missing=listed)
    assert done.zeros == ("Rhee, Lee",)
    assert [line.split(",")[-4] for line in done.text.splitlines()[-2:]] == ["0", "1.0"]
    own.write_text(CANVAS.replace("one,S,1.0", "one,S,"))
    done = canvas([waits], own, "A0", missing=listed)
    assert [line.split(",")[-4] for line in done.text.splitlines()[-2:]] == ["0", ""]
    assert (done.zeros, done.blank, done.kept) == (("Rhee, Lee",), (), ())


@pytest.mark.parametrize(("column", "word"), [("A9", "no column “A9”"), ("Section ", "no column")])
def test_canvas_without_that_column(tmp_path: Path, column: str, word: str) -> None:
    own = tmp_path / "own.csv"
    own.write_text(CANVAS)
    with pytest.raises(UsageError, match=word):
        canvas(GRADES, own, column)


def test_points_that_do_not_fit_their_column_are_refused_or_scaled(tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_text(CANVAS.replace(",,,,,10,10,5,", ",,,,,10,4,100,"))
    with pytest.raises(UsageError, match=r"“A1 \(9\)” is worth 4 points, the assignment 10"):
        canvas(GRADES, own, "A1")
    with pytest.raises(UsageError, match=r"is worth 4 points, a percentage 100"):
        canvas(GRADES, own, "A1", Points.PERCENT)
    scaled = canvas(GRADES, own, "A1", Points.SCALED)
    assert scaled.changed == (("Mina Park", "", "3"), ("Jo Doe", "2", "3"), ("Lee Rhee", "", "3.2"))
    percent = canvas(GRADES, own, "A1 extra", Points.PERCENT)
    assert [now for _, _, now in percent.changed] == ["75", "75", "80"]


def test_a_column_that_does_not_say_what_it_is_worth(tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_text(CANVAS.replace(",,,,,10,10,5,", ",,,,(read only),(read only),,,"))
    assert canvas(GRADES, own, "A1").filled == 3
    with pytest.raises(UsageError, match="nothing can be scaled"):
        canvas(GRADES, own, "A1", Points.SCALED)


MOODLE = (
    "\ufeffIdentifier,Full name,ID number,Email address,Status,Grade,Maximum grade,"
    "Grade can be changed,Feedback comments\n"
    "Participant 42,Mina Park,,mina@example.edu,Submitted,-,10,Yes,\n"
    "Participant 71,Jo Doe,,jo@example.edu,Submitted,-,10,Yes,kept\n"
    "Participant 72,Somebody,,s@example.edu,No,-,10,Yes,kept\n"
    "Participant 45,Al,,a@example.edu,Submitted,-,10,Yes,kept\n"
)


def test_moodle_touches_grade_and_feedback(tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_bytes(MOODLE.encode())
    done = moodle(GRADES, own)
    assert done.text.startswith("\ufeffIdentifier,")
    rows = list(csv.DictReader(io.StringIO(done.text.lstrip("\ufeff"))))
    assert [row["Grade"] for row in rows] == ["7.5", "7.5", "-", "-"]
    # A title that a spreadsheet would take for a formula is none in the cell.
    assert rows[0]["Feedback comments"] == "'=f(): 7.5/10"
    assert [row["Feedback comments"] for row in rows[2:]] == ["kept", "kept"]
    assert [row["Maximum grade"] for row in rows] == ["10"] * 4


BO = [submission("b1", Student("Bo Lee", id="81")), submission("b2", Student("Bo Lee", id="82"))]
HEADINGS = "Identifier,Full name,Grade,Feedback comments\n"


@pytest.mark.parametrize(
    ("rows", "written", "unclear", "absent"),
    [
        (["81,Bo Lee", "82,Bo Lee"], ["7.5", "5"], (), ()),
        # The row of one is no row of the other, who has the name alone.
        (["81,Bo Lee", "99,Al Roe"], ["7.5", "-"], ("Bo Lee 82 (row 2)",), ()),
        (["98,Bo Lee", "99,Al Roe"], ["-", "-"], ("Bo Lee 81 (row 2)", "Bo Lee 82 (row 2)"), ()),
        (
            ["98,Bo Lee", "99,Bo Lee"],
            ["-", "-"],
            ("Bo Lee 81 (row 2, 3)", "Bo Lee 82 (row 2, 3)"),
            (),
        ),
        (["98,Al Roe", "99,Cy Fox"], ["-", "-"], (), ("Bo Lee", "Bo Lee")),
    ],
)
def test_of_two_students_of_one_name_none_gets_the_others_grade(
    tmp_path: Path, rows: list[str], written: list[str], unclear: tuple[str, ...], absent: Any
) -> None:
    own = tmp_path / "own.csv"
    own.write_text(HEADINGS + "".join(f"Participant {row},-,\n" for row in rows))
    grades = [grade_of(one, report(points), None) for one, points in zip(BO, (7.5, 5), strict=True)]
    done = moodle(grades, own, missing=Missing((Student("Bo Lee", id="98"),), zero=True))
    assert [row["Grade"] for row in csv.DictReader(io.StringIO(done.text))] == written
    assert done.unclear == unclear
    assert done.absent == absent


def test_moodle_says_why_nothing_was_earned(tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_bytes(MOODLE.encode())
    told = {
        "id": "values", "kind": "x", "status": "failed", "code": "missing_file", "score": 0,
        "max_score": 10, "pending": 0, "owner": "student",
        "message": "Missing: toy.py.", "student_message": "Missing: toy.py.",
    }  # fmt: skip
    document = report(0).model_dump(mode="json")
    document["questions"][0] |= {"status": "failed", "checks": [told]}
    lost = grade_of(submission("s1", MINA), Report.model_validate(document), POLICY)
    rows = list(csv.DictReader(io.StringIO(moodle([lost], own).text.lstrip("\ufeff"))))
    assert rows[0]["Grade"] == "0"
    assert rows[0]["Feedback comments"] == "Missing: toy.py.\n=f(): 0/10"


def test_moodles_worksheet_says_what_a_grade_is_worth(tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_bytes(MOODLE.replace(",10,Yes", ",5.00,Yes").encode())
    with pytest.raises(UsageError, match="“Grade” is worth 5 points, the assignment 10"):
        moodle(GRADES, own)
    assert moodle(GRADES, own, Points.SCALED).changed[0] == ("Mina Park", "-", "3.75")


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"\xff\xfe\x00", b'Identifier,Grade\n"a'])
def test_a_file_that_is_no_export(tmp_path: Path, content: bytes) -> None:
    own = tmp_path / "own.csv"
    own.write_bytes(content)
    with pytest.raises(UsageError, match=r"own\.csv"):
        moodle(GRADES, own)


def test_nbgrader_has_a_row_a_student() -> None:
    rows = list(csv.DictReader(io.StringIO(nbgrader(GRADES, "toy", "2026-10-01").text)))
    assert [row["student_id"] for row in rows] == ["42", "43", "44", "45", "46", "47"]
    assert [row["score"] for row in rows] == ["7.5", "7.5", "8", "", "", ""]
    assert [row["raw_score"] for row in rows] == ["7.5", "7.5", "10", "5", "", "5"]
    assert rows[2]["late_submission_penalty"] == "2"
    assert (rows[0]["first_name"], rows[0]["last_name"]) == ("Mina", "Park")
    turned = nbgrader(
        [replace(GRADES[0], submission=submission("x", Student("O'Neil, Carla")))], "t"
    )
    (row,) = csv.DictReader(io.StringIO(turned.text))
    assert (row["first_name"], row["last_name"]) == ("Carla", "O'Neil")


def test_without_students_the_name_has_to_do() -> None:
    rows = nbgrader([Grade(ClassSubmission("jdoe", Path("x")), report(3))], "toy").text.splitlines()
    assert rows[1].split(",")[3] == "jdoe"


def waiting(**pending: float) -> Report:
    """A report with 5 points, and more that wait: code → points."""
    document = report(5, sum(pending.values()), "pending").model_dump(mode="json")
    document["questions"][0]["checks"] = [
        {
            "id": code, "kind": "x", "code": code, "score": 0, "max_score": points,
            "pending": points, "status": "skipped" if code == "not_run" else "deferred",
        }
        for code, points in pending.items()
    ]  # fmt: skip
    return Report.model_validate(document)


@pytest.mark.parametrize(
    ("pending", "choice", "final"),
    [
        ({"no_device": 2, "not_timed": 0.5}, "ask", None),
        ({"no_device": 2, "not_timed": 0.5}, "zero", 4.5),
        ({"no_device": 2, "not_timed": 0.5}, "full", 6.75),
        ({"no_device": 1, "needs_review": 1}, "full", None),
        ({"needs_review": 1}, "zero", None),
        ({"not_run": 1}, "full", None),
    ],
)
def test_points_that_wait_for_a_machine_are_settled_by_a_word(
    pending: dict[str, float], choice: str, final: float | None
) -> None:
    grade = grade_of(submission("s", MINA, days=0.5), waiting(**pending), POLICY)
    settled = replace(grade, pending=Pending(choice))
    assert settled.final == final
    assert bool(settled.why_open) == (final is None)


def test_nothing_settles_what_the_grader_failed_at() -> None:
    for choice in Pending:
        assert replace(GRADES[3], pending=choice).final is None
