"""``course.yml`` and the roster: said once, and found on tables, pages and exports."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from test_batch_commands import BATCH, turned_in

from grader.assignment.document import read_document
from grader.batch.course import course_schema, read_course
from grader.batch.discover import ClassSubmission, Student
from grader.batch.ledger import read_setup
from grader.batch.roster import Roster, RosterStudent, read_roster
from grader.errors import AssignmentError, UsageError
from grader.report.gradebook import GRADEBOOK_FILE

COURSE = """\
schema: torchgrade/course/v1
timezone: Asia/Seoul
roster: roster.csv
language: en
released: after_due_date
batch: {clock: "off", jobs: 2}
late: {grace_minutes: 10, per_day: 0.5, closes_after_days: 7}
assignments:
  tiny:
    due: 2026-10-02 08:59
    extensions:
      "4": 2026-10-09 23:59
      fay@example.edu: 2026-10-05T00:00:00+00:00
    columns: {canvas: Tiny}
"""
ROSTER = """\
Student ID;Last_Name;First Name;E-Mail;Section
0;Abel;Ann;ann@example.edu;A
1;Bach;Bob;bob@example.edu;A
2;Cetin;Cem;cem@example.edu;B
4;Ek;Eli;eli@example.edu;B
9;Fox;Fay;fay@example.edu;B
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def refusal(path: Path) -> str:
    with pytest.raises((UsageError, AssignmentError)) as error:
        read_roster(path) if path.suffix == ".csv" else read_course(path)
    return str(error.value)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (ROSTER, "utf-8"),
        (ROSTER, "utf-8-sig"),
        (ROSTER.replace(";", ",").replace("\n", "\r\n"), "utf-8"),
        (ROSTER.replace(";", "\t") + "\t\t\t\t\n\n", "utf-8"),
    ],
)
def test_rosters_as_spreadsheets_write_them(tmp_path: Path, text: str, encoding: str) -> None:
    path = tmp_path / "roster.csv"
    path.write_bytes(text.encode(encoding))
    students = read_roster(path).students
    assert len(students) == 5
    assert students[1] == RosterStudent(
        name="Bob Bach", email="bob@example.edu", id="1", section="A"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nmae,grade\nAnn,1\n", ":1: no column is called “id” or “email”"),
        ("", ":1: no column"),
        ("id,name\n1,Ann\n,Bob\n", ":3: has neither a number nor an address"),
        ("id,name\n1,Ann\n2,Bob\n1,Cem\n", ":4: “1” is already on line 2"),
    ],
)
def test_a_roster_that_tells_nobody_apart_is_refused_with_its_line(
    tmp_path: Path, text: str, said: str
) -> None:
    assert said in refusal(write(tmp_path / "roster.csv", text))


def test_a_roster_that_is_no_utf8(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    path.write_bytes(b"id,name\n1,Ann\n2,J\xf6rg\n")
    assert "roster.csv:3: is not UTF-8; save the file as “CSV UTF-8”" in refusal(path)


GRADEBOOK = """\
Student,ID,SIS User ID,SIS Login ID,Section,A1 (501)
    Points Possible,,,,,10
"O'Neil, Carla",9004,2026-105,carla,B,
최다은,9005,,daeun@example.edu,B,
"Student, Test",9999,,,B,
"""


def test_the_gradebook_of_canvas_is_a_roster(tmp_path: Path) -> None:
    roster = read_roster(write(tmp_path / "canvas.csv", GRADEBOOK))
    assert roster.students == (
        RosterStudent(name="O'Neil, Carla", id="2026-105", section="B", platform_id="9004"),
        RosterStudent(
            name="최다은", id="9005", email="daeun@example.edu", section="B", platform_id="9005"
        ),
    )
    # Its downloads carry its own number and a name in one word.
    carla = ClassSubmission("x", Path("x"), (Student("oneilcarla", id="9004"),))
    assert [each.id for each in roster.named(carla).students] == ["2026-105"]
    assert [each.name for each in roster.absent([roster.named(carla)])] == ["최다은"]


@pytest.mark.parametrize(
    ("name", "number"),
    [("oneilcarla", "1"), ("obiemeka", "2"), ("núñezhugo", "3"), ("김민아", "4"), ("leekim", "")],
)
def test_names_in_one_word_as_canvas_writes_them(name: str, number: str) -> None:
    names = ("O'Neil, Carla", "Emeka Obi", "Hugo Núñez", "김민아", "Lee Kim", "Kim Lee")
    people = [RosterStudent(id=str(n), name=name) for n, name in enumerate(names, 1)]
    submission = ClassSubmission("x", Path("x"), (Student(name, id="80017"),))
    (found,) = Roster(students=tuple(people)).named(submission).students
    assert found.id == (number or "80017")


def test_whose_a_submission_is(tmp_path: Path) -> None:
    roster = read_roster(write(tmp_path / "roster.csv", ROSTER))
    by_name = roster.named(ClassSubmission("bob", Path("x")))
    assert by_name.students == (Student("Bob Bach", "bob@example.edu", "1", "A"),)
    # The platform's number stays, as its own files know the student by it.
    canvas = ClassSubmission("x", Path("x"), (Student("Cem Cetin", id="80017"),))
    assert roster.named(canvas).students == (
        Student("Cem Cetin", "cem@example.edu", "2", "B", platform_id="80017"),
    )
    twins = Roster(students=(RosterStudent(id="1", name="Lee"), RosterStudent(id="2", name="Lee")))
    assert twins.named(ClassSubmission("lee", Path("x"))).students == ()
    assert roster.strangers([ClassSubmission("zoe", Path("x")), canvas]) == ("zoe",)
    assert [each.id for each in roster.absent([by_name, roster.named(canvas)])] == ["0", "4", "9"]


TWINS = """\
id,email,name
1,bo1@example.edu,Bo Lee
2,bo2@example.edu,Bo Lee
3,al@example.edu,Al Roe
"""


def test_two_students_of_one_name_are_told_with_both_rows(
    course: Path, command: Any, capsys: Any
) -> None:
    for place, name in enumerate(("ann", "bob", "cem", "dua", "eli")):
        source = course / f"class/{name}.py"
        if place < 2:
            # As Moodle calls them: it tells its own number, which is not the school's.
            source.rename(course / f"class/Bo Lee_{81 + place}_assignsubmission_file_tiny.py")
        else:
            source.unlink()
    write(course / "roster.csv", TWINS)
    arguments = ("batch", "tiny", "class", "--out", "out", "--seed", 7, "--roster", "roster.csv")
    assert command(*arguments) == 0
    said = capsys.readouterr().out
    both = "Bo Lee bo1@example.edu 1; Bo Lee bo2@example.edu 2."
    for name in ("Bo_Lee_81", "Bo_Lee_82"):
        assert f"Several students of the roster fit {name}: {both}" in said
    assert "On no line" not in said
    book = [(row["student_id"], row["name"], row["status"]) for row in rows(course)]
    assert book == [
        ("81", "Bo Lee", "graded"),
        ("82", "Bo Lee", "graded"),
        ("3", "Al Roe", "nothing handed in"),
    ]
    assert command("replay", "out/Bo_Lee_81") == 0
    assert command("decide", "out", "Bo Lee", "double", "--points", 0, "--why", "Copied.") == 2
    told = "several submissions of “Bo Lee”: Bo_Lee_81, Bo_Lee_82; name one of them"
    assert told in capsys.readouterr().err

    (course / "own.csv").write_text(
        "Identifier,Full name,ID number,Grade,Feedback comments\n"
        "Participant 90,Al Roe,3,,\nParticipant 81,Bo Lee,1,-,\nParticipant 91,Bo Lee,2,-,\n"
    )
    arguments = ("export", "moodle", "out", "--into", "own.csv", "--out", "theirs.csv")
    assert command(*arguments, "--missing", "zero") == 0
    said = capsys.readouterr().out
    assert "Whose row it is, nobody can tell; enter these by hand: Bo Lee 82 (row 3, 4)" in said
    grades = [row["Grade"] for row in csv.DictReader((course / "theirs.csv").open())]
    assert grades == ["0", "6", "-"]


@pytest.fixture
def whole(course: Path) -> Path:
    turned_in(course)
    write(course / "course.yml", COURSE)
    write(course / "roster.csv", ROSTER)
    return course


def test_a_policy_in_the_time_zone_of_the_course(whole: Path) -> None:
    policy = read_course(whole / "course.yml").policy("tiny")
    assert policy is not None
    assert policy.due.isoformat() == "2026-10-02T08:59:00+09:00"
    assert policy.closes is not None
    assert policy.closes.isoformat() == "2026-10-09T08:59:00+09:00"
    assert policy.extensions["fay@example.edu"].isoformat() == "2026-10-05T00:00:00+00:00"
    assert read_course(whole / "course.yml").policy("other") is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("timezone: Asia/Seoul", "timezone: Asia/Soul", ":2: timezone: “Asia/Soul” is no time z"),
        ("roster:", "rooster:", ":3: rooster: unknown key “rooster”; did you mean “roster”?"),
        ("language: en", "language: eng", ":4: language: unknown word “eng”; expected one of en, "),
        ("jobs: 2", "jobs: 0", ":6: batch.jobs: found the number 0; expected at least 1"),
        ("jobs: 2", "jbos: 2", ":6: batch.jbos: unknown key “jbos”; did you mean “jobs”?"),
        ("per_day: 0.5", "perday: 0.5", ":7: late.perday: unknown key “perday”; did you mean"),
        ("  tiny:", "  tinny:", ":9: assignments.tinny: there is no assignments/tinny/assignm"),
        ("due: 2026-10-02 08:59", "duee: x", ":10: assignments.tiny.duee: unknown key “duee”"),
        ("2026-10-02 08:59", "tomorrow", ":10: assignments.tiny.due: “tomorrow” is no time; w"),
        ("2026-10-02 08:59", "2026-10-02", ":10: assignments.tiny.due: “2026-10-02” has no time"),
        ("2026-10-09 23:59", "2026-09-09 23:59", ":12: assignments.tiny.extensions.4: 2026-09-09"),
    ],
)
def test_what_is_wrong_in_a_course_is_told_with_its_line(
    whole: Path, old: str, new: str, said: str
) -> None:
    assert old in COURSE
    path = write(whole / "course.yml", COURSE.replace(old, new))
    assert f"{path}{said}" in refusal(path)


def test_the_schema_of_a_course() -> None:
    validator = Draft202012Validator(course_schema())
    Draft202012Validator.check_schema(validator.schema)
    assert validator.is_valid(read_document("course.yml", COURSE.encode()).data)
    for old, new in (("jobs: 2", "jobs: 0"), ("roster:", "rooster:"), ("per_day: 0.5", "most: 2")):
        data = read_document("course.yml", COURSE.replace(old, new).encode()).data
        assert not validator.is_valid(data)
    assert all("description" in part for part in validator.schema["properties"].values())


def rows(course: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((course / "out" / GRADEBOOK_FILE).read_text().splitlines()))


def test_a_course_is_said_once(whole: Path, command: Any, capsys: Any) -> None:
    assert command("batch", "tiny", "class", "--out", "out", "--seed", 7) == 0
    assert "On no line of the roster: submission_3." in capsys.readouterr().out
    book = rows(whole)
    assert [(row["name"], row["section"], row["final"]) for row in book] == [
        ("Ann Abel", "A", "6"),
        ("Bob Bach", "A", "3"),
        ("Cem Cetin", "B", "2.5"),
        ("dua", "", "3"),
        ("Eli Ek", "B", "0"),
        ("Fay Fox", "B", ""),
    ]
    assert [row["days_late"] for row in book[3:5]] == ["0.5007", ""]
    assert not read_setup(whole / "out").clock
    assert (book[5]["submission"], book[5]["status"]) == ("", "nothing handed in")
    page = (whole / "out/index.html").read_text()
    assert "Handed in nothing" in page
    assert "Fay Fox" in page
    # What was said stays said: nothing is read again from a roster that is gone.
    (whole / "roster.csv").unlink()
    assert command("rejudge", "out") == 0
    assert rows(whole) == book


def test_a_student_is_graded_again_by_name_or_address(
    whole: Path, command: Any, capsys: Any
) -> None:
    assert command(*BATCH) == 0
    capsys.readouterr()
    assert command("regrade", "out", "--students", "Bob Bach") == 0
    assert "Changed: 0 of" in capsys.readouterr().out
    assert command("regrade", "out", "--students", "nobody@example.edu") == 2
    assert "no submission of “nobody@example.edu”" in capsys.readouterr().err


def test_options_win_over_the_course(whole: Path, command: Any) -> None:
    write(whole / "few.csv", "id,name\n0,A. Abel\n")
    assert command(*BATCH, "--roster", "few.csv", "--late", "late.yml") == 0
    book = rows(whole)
    assert [row["name"] for row in book] == ["A. Abel", "bob", "cem", "dua", "eli"]
    assert [row["final"] for row in book][1] == "3"


def test_a_course_that_has_changed_is_told_and_taken_over(
    whole: Path, command: Any, capsys: Any
) -> None:
    assert command(*BATCH) == 0
    write(whole / "course.yml", COURSE.replace("per_day: 0.5", "per_day: 0.1"))
    capsys.readouterr()
    assert command("rejudge", "out") == 0
    assert "course.yml says otherwise by now" in capsys.readouterr().out
    assert rows(whole)[1]["final"] == "3"
    assert command(*BATCH, "--resume") == 0
    assert rows(whole)[1]["final"] == "5.4"


CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Tiny (7)
    Points Possible,,,,,6
"Abel, Ann",70,0,ann,A,
"Fox, Fay",71,9,fay,B,
"""


def test_who_handed_in_nothing_is_exported(whole: Path, command: Any, capsys: Any) -> None:
    assert command(*BATCH) == 0
    export = ("export", "canvas", "out", "--into", write(whole / "mine.csv", CANVAS))
    assert command(*export) == 0
    assert (
        "Handed in nothing; --missing zero writes a 0 into their cells: Fay Fox"
        in capsys.readouterr().out
    )
    lines = (whole / "out/canvas.csv").read_text().splitlines()
    assert [line.rpartition(",")[2] for line in lines[2:]] == ["6", ""]
    assert command(*export, "--missing", "zero") == 0
    assert "Handed in nothing, and get 0: Fay Fox" in capsys.readouterr().out
    lines = (whole / "out/canvas.csv").read_text().splitlines()
    assert [line.rpartition(",")[2] for line in lines[2:]] == ["6", "0"]
    # Who is excused stays excused.
    write(whole / "mine.csv", CANVAS.replace("fay,B,", "fay,B,EX"))
    capsys.readouterr()
    assert command(*export, "--missing", "zero") == 0
    said = capsys.readouterr().out
    assert "Handed in nothing, and keep what stands in their cells: Fay Fox" in said
    assert "get 0" not in said
    assert (whole / "out/canvas.csv").read_text().rstrip().endswith("EX")
    assert command("export", "nbgrader", "out") == 0
    scores = {row["student_id"]: row["score"] for row in
              csv.DictReader((whole / "out/nbgrader.csv").open())}  # fmt: skip
    assert scores == {"0": "6", "1": "3", "2": "2.5", "3": "3", "4": "0", "9": "0"}
