"""A graded class in a folder, as ``grader batch`` leaves it, for tests of the desk."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path

from grader.batch.discover import ClassSubmission, Student
from grader.batch.graded import GradedSubmission
from grader.batch.ledger import BatchSettings, begin, record, renew_gradebook
from grader.batch.roster import RosterStudent
from grader.batch.schedule import write
from grader.report.model import Report
from grader.submission import read_submission

CODE = """\
def double(x):
    # {note}
    for each in x:
        each *= 2
    return x


def why_it_diverges():
    return "{note}"
"""
REFERENCE = "def double(x):\n    return x * 2\n"
RUBRIC = [["names", "clear names", 1], ["2", "comments", 0.5]]


def check(name: str, code: str, points: tuple[float, float, float], **more: object) -> dict:
    score, pending, worth = points
    status = "passed" if code == "ok" else "deferred" if pending else "failed"
    return {
        "id": name, "kind": "close", "status": status, "code": code, "score": score,
        "max_score": worth, "pending": pending, "message": f"said {code}",
        "student_message": f"said {code}", **more,
    }  # fmt: skip


def question(name: str, *checks: dict) -> dict:
    points = {key: sum(each[key] for each in checks) for key in ("score", "pending", "max_score")}
    status = "deferred" if points["pending"] else "passed"
    return {"id": name, "title": name.title(), "status": status, "checks": checks, **points}


def report(name: str, path: Path, text: str = "") -> Report:
    """Return a report: values right, a doubt on a loop, an essay that a person reads."""
    read = read_submission(path, ["toy.py"])
    (file,) = read.files
    doubt = {
        "params": {"line": 3, "file": "toy.py"}, "evidence": {"growth": 4.1, "text": text},
        "message": f"A loop in line 3. {text}", "student_message": "A loop in line 3.",
        "message_id": "loops_unclear",
    }  # fmt: skip
    read_it = {"message_id": "by_hand", "evidence": {"rubric": RUBRIC}, "message": f"Read. {text}"}
    questions = [
        question(
            "double",
            check("values", "ok", (2, 0, 2)),
            check("loops", "needs_review", (0, 2, 2), **doubt),
        ),
        question("why_it_diverges", check("content", "needs_review", (0, 1.5, 1.5), **read_it)),
    ]
    return Report.model_validate(
        {
            "assignment": {"id": "toy", "version": "1", "title": "Toy"},
            "submission": {
                "id": name, "digest": read.digest,
                "files": [{"path": file.path, "sha256": file.sha256}],
            },
            "status": "pending", "score": 2, "pending": 3.5, "max_score": 5.5,
            "questions": questions,
            "environment": {
                "torch": "2", "python": "3", "platform": "x", "device": "cpu",
                "isolation": {"tier": "full"}, "seed": 1, "grader_version": "0",
            },
        }
    )  # fmt: skip


def settings(root: Path, total: int) -> BatchSettings:
    return BatchSettings(
        assignment="toy", file=str(root / "assignments/toy/assignment.yml"), version="1",
        digest="d", seed=7, device="auto", questions=(), isolation="auto", clock=False,
        total=total, begun_at=dt.datetime.now(dt.timezone.utc), grader_version="0",
        absent=(RosterStudent(name="Zoe Late", email="zoe@example.org"),),
    )  # fmt: skip


def submission(root: Path, name: str, text: str = "") -> GradedSubmission:
    folder = root / "class" / name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "toy.py"
    path.write_text(CODE.format(note=(text or name).replace('"', "'").replace("\n", " ")))
    who = (Student(f"Student {name}", f"{len(name)}@example.org", ""),)
    made = report(name, folder, text)
    return GradedSubmission.of(ClassSubmission(name, folder, who), made)


def graded_class(root: Path, names: Sequence[str], texts: Sequence[str] = ()) -> Path:
    """Write a class and return its ``--out``."""
    out = root / "out"
    for folder in (out, root / "reference/toy"):
        folder.mkdir(parents=True)
    (root / "reference/toy/toy.py").write_text(REFERENCE)
    with begin(out, settings(root, len(names))) as journal:
        for number, name in enumerate(names):
            done = submission(root, name, texts[number] if texts else "")
            record(journal, done)
            write(done.report, out)
    renew_gradebook(out)
    return out
