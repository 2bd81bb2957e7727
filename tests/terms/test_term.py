"""A term from its first submission to three platforms' files, each cell worked out once more here.

Two assignments and 60 students, 58 of whom hand in: a roster, extensions, a batch that is killed
and gone on with, a GPU worker's points, ten reviews, a rubric that is mended. Every command is the
real one, in a process of its own. What each student should get is worked out below from what they
handed in and when, by nothing that the grader uses.
"""

from __future__ import annotations

import csv
import datetime as dt
import importlib.util
import io
import json
import math
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

# In one process: the term is played once for all.
pytestmark = [pytest.mark.heavy, pytest.mark.xdist_group("term")]

ROOT = Path(__file__).parents[2]
DOUBLE = ROOT / "tests" / "gpu_double.py"
STUDENTS, ABSENT = 60, (17, 41)
EXTENDED = {5: 3, 23: 2, 38: 1}
"""Student → days."""
DUE = dt.datetime(2026, 10, 1, 14, 59, tzinfo=dt.timezone.utc)
GRACE, PER_DAY, MOST, CLOSES = dt.timedelta(minutes=10), 0.1, 0.5, dt.timedelta(days=7)

FIRST = """\
schema: torchgrade/assignment/v1
id: first
version: "1"
title: First steps
hand_in: [first.py]
questions:
  - id: double
    title: Twice
    points: 4
    cases: [{id: some, args: {x: {rand: [9], dtype: float32}}}]
    checks:
      - {id: values, kind: close, rtol: 1.0e-4, atol: 1.0e-4, points: 3}
      - {id: inputs, kind: unmodified, points: 1}
  - id: mm_on_gpu
    title: A product on the GPU
    points: 6
    needs: {cuda: 1}
    cases: [{id: large, args: {x: {rand: [16, 32]}, w: {rand: [32, 24]}}}]
    checks:
      - {id: precise, kind: product, factors: [x, w], points: 4}
      - {id: speed, kind: speedup, cpu: mm_on_cpu, values: precise, case: large, points: 2}
"""
FIRST_RIGHT = """\
def double(x):
    return x * 2


def mm_on_gpu(x, w):
    return (x.cuda() @ w.cuda()).cpu()


def mm_on_cpu(x, w):
    return x @ w
"""
SECOND = """\
schema: torchgrade/assignment/v1
id: second
version: "1"
title: Second steps
hand_in: [second.py]
questions:
  - id: triple
    title: Thrice
    points: 5
    cases: [{id: some, args: {x: {rand: [9], dtype: float32}}}]
    checks:
      - {id: values, kind: close, rtol: 1.0e-6, atol: 1.0e-6, points: 4}
      - {id: product, kind: forbidden_ops, ops: ["*add*"], points: 1, requires: [values]}
  - id: add
    title: Plus
    points: 2
    cases: [{id: some, args: {x: {rand: [4]}, y: {rand: [4]}}}]
    checks:
      - {id: values, kind: close, rtol: 1.0e-5, atol: 1.0e-5, points: 2}
"""
SECOND_RIGHT = """\
import torch


def triple(x):
    return x * 3


def add(x, y):
    return x + y
"""
UNREADABLE = "def double(x:\n"
IN_NUMPY = SECOND_RIGHT.replace("x * 3", "torch.from_numpy(x.numpy() * 3)")
"""No log holds what NumPy computes: a person says whether a sum is taken there."""

FIRST_KINDS = {
    # what is handed in, points of double, points of mm_on_gpu
    "right": (FIRST_RIGHT, 4, 6),
    "in_place": (FIRST_RIGHT.replace("x * 2", "x.mul_(2)"), 3, 6),
    "no_product": (FIRST_RIGHT.replace("w.cuda()).cpu()", "w.cuda()).cpu() + 1"), 4, 0),
    "nothing_right": (FIRST_RIGHT.replace("x * 2", "x * 3").replace("@ w.cu", "@ -w.cu"), 0, 0),
    "unreadable": (UNREADABLE, 0, 0),
}  # fmt: skip
SECOND_KINDS = {
    # what is handed in, points of triple before and after the rubric is mended, points of add
    "right": (SECOND_RIGHT, 5, 5, 2),
    "rough": (SECOND_RIGHT.replace("x * 3", "x * 3.001"), 0, 5, 2),
    "minus": (SECOND_RIGHT.replace("x + y", "x - y"), 5, 5, 0),
    "in_sums": (SECOND_RIGHT.replace("x * 3", "x + x + x"), 4, 4, 2),
    "in_numpy": (IN_NUMPY, 4, 4, 2),
    "lost": (SECOND_RIGHT.replace("x * 3", "x * 4"), 0, 0, 2),
}
LATE = [dt.timedelta(hours=-30), dt.timedelta(minutes=9), dt.timedelta(minutes=11),
        dt.timedelta(hours=25), dt.timedelta(days=4, hours=1), dt.timedelta(days=6, hours=23),
        dt.timedelta(days=7, minutes=1)]  # fmt: skip
DECIDED = (0.0, 0.5, 1.0)


@dataclass(frozen=True)
class Person:
    """A student of the term."""

    number: int

    @property
    def id(self) -> str:
        return f"2026{self.number:04}"

    @property
    def first(self) -> str:
        return f"Given{self.number:02}"

    @property
    def last(self) -> str:
        return f"Family{self.number:02}"

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}"

    @property
    def email(self) -> str:
        return f"s{self.number:02}@example.edu"

    @property
    def absent(self) -> bool:
        return self.number in ABSENT

    @property
    def late(self) -> dt.timedelta:
        return LATE[self.number % len(LATE)]

    @property
    def first_kind(self) -> str:
        return list(FIRST_KINDS)[self.number % len(FIRST_KINDS)]

    @property
    def second_kind(self) -> str:
        return list(SECOND_KINDS)[self.number // 2 % len(SECOND_KINDS)]

    @property
    def points_by_hand(self) -> float:
        """What a person gives for the check that waits."""
        return DECIDED[self.number % len(DECIDED)] if self.second_kind == "in_numpy" else 0.0

    def left(self) -> float:
        """Return the share of the points that lateness leaves."""
        extra = dt.timedelta(days=EXTENDED.get(self.number, 0))
        late = self.late - extra
        if late <= GRACE:
            return 1.0
        if self.late > max(CLOSES, extra):
            return 0.0
        return 1.0 - min(MOST, PER_DAY * math.ceil(late / dt.timedelta(days=1)))

    def first_points(self) -> tuple[float, float]:
        return FIRST_KINDS[self.first_kind][1:]

    def second_points(self) -> tuple[float, float]:
        _, _, mended, add = SECOND_KINDS[self.second_kind]
        return mended + self.points_by_hand, add


PEOPLE = [Person(number) for number in range(STUDENTS)]
PRESENT = [person for person in PEOPLE if not person.absent]
REVIEWED = [person for person in PRESENT if person.second_kind == "in_numpy"]


class Term:
    """The folder of a course, and the command in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name, text, right in (
            ("first", FIRST, FIRST_RIGHT), ("second", SECOND, SECOND_RIGHT),
        ):  # fmt: skip
            self.write(f"assignments/{name}/assignment.yml", text)
            self.write(f"reference/{name}/{name}.py", right)
        self.write("course.yml", self.course())
        rows = [f"{p.id};{p.last};{p.first};{p.email}" for p in PEOPLE]
        roster = "\ufeffStudent ID;Last name;First name;E-mail\r\n" + "\r\n".join(rows)
        self.write("roster.csv", f"{roster}\r\n")
        self.hand_in("first", {p: FIRST_KINDS[p.first_kind][0] for p in PRESENT})
        self.hand_in("second", {p: SECOND_KINDS[p.second_kind][0] for p in PRESENT})

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())

    def course(self) -> str:
        due = "2026-10-01 23:59"  # in Seoul
        extensions = "".join(
            f"      {key}: 2026-10-{1 + EXTENDED[p.number]:02} 23:59\n"
            for p, key in ((p, p.email if p.number % 2 else f"'{p.id}'") for p in PEOPLE)
            if p.number in EXTENDED
        )
        both = f"    due: {due}\n    extensions:\n{extensions}"
        return (
            "schema: torchgrade/course/v1\ntimezone: Asia/Seoul\nroster: roster.csv\n"
            "late: {grace_minutes: 10, per_day: 0.1, most: 0.5, closes_after_days: 7}\n"
            "batch: {jobs: 2}\nassignments:\n"
            f"  first:\n{both}    columns: {{canvas: First}}\n  second:\n{both}"
        )

    def hand_in(self, assignment: str, what: dict[Person, str]) -> None:
        """Lay a class out as Gradescope exports it; everybody's file is their own."""
        listed = ""
        for person, text in what.items():
            folder = f"submission_{person.number:02}"
            self.write(f"{assignment}-class/{folder}/{assignment}.py", f"# {person.name}\n{text}")
            listed += (
                f"{folder}:\n  :submitters:\n  - :email: {person.email}\n"
                f"  :created_at: {(DUE + person.late).isoformat()}\n"
            )
        self.write(f"{assignment}-class/submission_metadata.yml", listed)

    def begin(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, *words], cwd=self.root, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def run(self, *words: str, program: tuple[str, ...] = ("-m", "grader")) -> str:
        process = self.begin(*program, *words)
        said, _ = process.communicate(timeout=300)
        assert process.returncode == 0, said
        return said

    def table(self, name: str) -> list[dict[str, str]]:
        text = (self.root / name).read_text(encoding="utf-8-sig")
        return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="module")
def term(tmp_path_factory: pytest.TempPathFactory) -> Term:
    """A term that was played to its end."""
    term = Term(tmp_path_factory.mktemp("term"))
    batch = ("batch", "first", "first-class", "--out", "first-out", "--device", "virtual")
    killed_midway(term, batch)
    assert "58 of 58 graded" in resumed(term, batch)
    term.run(
        "leases", "batch", "first", "first-class", "--out", "gpu-out", "--only-pending",
        "first-out", program=(str(DOUBLE),),
    )  # fmt: skip
    waiting = sum(person.first_points()[1] > 0 for person in PRESENT)
    said = term.run("merge", "first-out", "gpu-out")
    assert f"Completed: {2 * waiting} points of {waiting} submissions." in said
    second(term)
    return term


def killed_midway(term: Term, batch: tuple[str, ...]) -> None:
    process = term.begin("-m", "grader", *batch)
    reports = term.root / "first-out"
    while process.poll() is None and len(list(reports.glob("*/report.json"))) < 5:
        time.sleep(0.02)
    process.kill()
    assert process.wait() == -9, "it was done before it could be killed"
    said = term.run("status", "first-out")
    assert "of 58 graded. No batch is at work" in said
    assert "To go: " in said


def resumed(term: Term, batch: tuple[str, ...]) -> str:
    term.run(*batch, "--resume")
    return term.run("status", "first-out")


def second(term: Term) -> None:
    """Grade the second assignment, decide what waits, and mend a tolerance that was too strict."""
    term.run("batch", "second", "second-class", "--out", "second-out")
    book = term.table("second-out/gradebook.csv")
    waiting = {row["submission"] for row in book if float(row["pending"] or 0)}
    assert waiting == {f"submission_{person.number:02}" for person in REVIEWED}
    rows = [f"{p.id},triple.product,{p.points_by_hand},Read by a person." for p in REVIEWED]
    term.write("by_hand.csv", "student,question,points,why\n" + "\n".join(rows) + "\n")
    term.run("decide", "second-out", "--from", "by_hand.csv")
    mended = SECOND.replace("rtol: 1.0e-6, atol: 1.0e-6", "rtol: 1.0e-2, atol: 1.0e-2")
    term.write("assignments/second/assignment.yml", mended)
    rough = sum(person.second_kind == "rough" for person in PRESENT)
    assert f"Changed: {rough} of 58 submissions." in term.run("rejudge", "second-out")


def close(cell: str, points: float) -> bool:
    return math.isclose(float(cell), points, abs_tol=1e-4)


def test_ten_wait_for_a_person_and_some_of_each_kind_are_there() -> None:
    assert len(REVIEWED) == 10
    assert {person.left() for person in PRESENT} == {1.0, 0.9, 0.8, 0.6, 0.5, 0.0}
    assert {person.first_kind for person in PRESENT} == set(FIRST_KINDS)
    assert {person.second_kind for person in PRESENT} == set(SECOND_KINDS)


@pytest.mark.parametrize(
    ("out", "questions", "points"),
    [
        ("first-out", ("double", "mm_on_gpu"), Person.first_points),
        ("second-out", ("triple", "add"), Person.second_points),
    ],
)
def test_every_cell_of_the_gradebooks(
    term: Term, out: str, questions: object, points: object
) -> None:
    rows = term.table(f"{out}/gradebook.csv")
    assert len(rows) == STUDENTS
    by_id = {row["student_id"]: row for row in rows}
    for person in PEOPLE:
        row = by_id[person.id]
        assert (row["name"], row["email"]) == (person.name, person.email)
        if person.absent:
            assert (row["submission"], row["score"], row["final"]) == ("", "", "")
            assert row["status"] == "nothing handed in"
            continue
        parts = points(person)
        assert row["submission"] == f"submission_{person.number:02}"
        assert [float(row[name]) for name in questions] == list(parts), person
        assert (float(row["score"]), row["pending"], row["status"]) == (sum(parts), "0", "graded")
        assert close(row["penalty"], 1 - person.left())
        assert close(row["final"], sum(parts) * person.left()), person
        assert row["created_at"] == (DUE + person.late).isoformat()


def test_every_cell_of_canvas(term: Term) -> None:
    headings = [
        "Student",
        "ID",
        "SIS User ID",
        "SIS Login ID",
        "Section",
        "First (77)",
        "Quiz (78)",
    ]
    mine = [headings, ["    Points Possible", "", "", "", "", "10", "5"]]
    mine += [
        [f"{p.last}, {p.first}", str(9000 + p.number), p.id, p.email, "A", "", str(p.number % 6)]
        for p in PEOPLE
    ]
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(mine)
    term.write("canvas.csv", text.getvalue())
    term.run("export", "canvas", "first-out", "--into", "canvas.csv", "--missing", "zero")
    made = list(csv.reader((term.root / "first-out/canvas.csv").open(newline="")))
    assert made[:2] == mine[:2]
    for person, before, after in zip(PEOPLE, mine[2:], made[2:], strict=True):
        assert [*after[:5], after[6]] == [*before[:5], before[6]]
        earned = 0.0 if person.absent else sum(person.first_points()) * person.left()
        assert close(after[5], earned), person


def test_every_cell_of_moodle(term: Term) -> None:
    headings = ["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade",
                "Feedback comments"]  # fmt: skip
    mine = [headings] + [
        [f"Participant {700 + p.number}", p.name, p.email, "Submitted", "", "35.00", ""]
        for p in PEOPLE
    ]
    text = io.StringIO()
    csv.writer(text).writerows(mine)
    term.write("moodle.csv", text.getvalue())
    term.run("export", "moodle", "second-out", "--into", "moodle.csv", "--points", "scaled")
    made = list(csv.reader((term.root / "second-out/moodle.csv").open(newline="")))
    assert made[0] == headings
    for person, before, after in zip(PEOPLE, mine[1:], made[1:], strict=True):
        assert [*after[:4], after[5]] == [*before[:4], before[5]]
        if person.absent:
            assert (after[4], after[6]) == ("", "")
            continue
        triple, add = person.second_points()
        assert close(after[4], (triple + add) * person.left() * 5), person
        taken = f"; late: −{100 * (1 - person.left()):.0f} %" if person.left() < 1 else ""
        assert after[6] == f"Thrice: {triple:g}/5; Plus: {add:g}/2{taken}"


def test_every_cell_of_nbgrader(term: Term) -> None:
    term.run("export", "nbgrader", "second-out")
    rows = {row["student_id"]: row for row in term.table("second-out/nbgrader.csv")}
    assert len(rows) == STUDENTS
    for person in PEOPLE:
        row = rows[person.id]
        raw = 0.0 if person.absent else sum(person.second_points())
        assert (row["assignment"], row["email"]) == ("second", person.email)
        assert (row["first_name"], row["last_name"]) == (person.first, person.last)
        assert row["duedate"] == "2026-10-01 23:59:00+09:00"
        moment = "" if person.absent else (DUE + person.late).isoformat(" ")
        assert row["timestamp"] == moment
        assert close(row["raw_score"], raw)
        assert close(row["late_submission_penalty"], raw * (1 - person.left()))
        assert close(row["score"], raw * person.left())
        assert row["max_score"] == "7"


def test_what_was_decided_is_read_by_its_student(term: Term) -> None:
    for person in REVIEWED:
        page = (term.root / f"second-out/submission_{person.number:02}/student.html").read_text()
        assert "Read by a person." in page


needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed (extra “ray”)"
)


@needs_ray
def test_a_cluster_writes_the_same_bytes(term: Term) -> None:
    for engine in ("local", "ray"):
        batch = ("batch", "first", "first-class", "--device", "virtual", "--seed", "5")
        term.run(*batch, "--engine", engine, "--out", f"{engine}-out")
        term.run("export", "nbgrader", f"{engine}-out")
    here, there = (bytes_of(term.root / f"{engine}-out") for engine in ("local", "ray"))
    assert len(here) == 2 + 2 * len(PRESENT)
    assert here.keys() == there.keys()
    assert [name for name in here if here[name] != there[name]] == []


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Return what a batch wrote of grades; of reports all but how long it took, and where."""
    tables = ["gradebook.csv", "nbgrader.csv"]
    found = {name: (folder / name).read_bytes() for name in tables}
    for path in folder.glob("*/results.json"):
        report = json.loads((path.parent / "report.json").read_bytes())
        del report["timing"], report["environment"]
        found[f"{path.parent.name}/results.json"] = path.read_bytes()
        found[f"{path.parent.name}/report.json"] = json.dumps(report).encode()
    return found
