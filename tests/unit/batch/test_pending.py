"""Which hand-ins a GPU worker takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grader.batch.discover import ClassSubmission, Found
from grader.batch.merge import WaitingSubmissions, waiting
from grader.errors import UsageError

GOLDEN = Path(__file__).parents[2] / "golden" / "toy.report.json"
PASSED = {"id": "values", "status": "passed", "code": "ok", "score": 4.0, "max_score": 4.0}
WRONG = {**PASSED, "status": "failed", "code": "wrong_value", "owner": "student", "score": 0.0}
WAITS = {"id": "speed", "status": "deferred", "code": "no_device", "pending": 1.0, "score": 0.0}


def report(folder: Path, name: str, *checks: dict[str, Any]) -> ClassSubmission:
    document = json.loads(GOLDEN.read_text())
    template = document["questions"][2]["checks"][0]
    changed = [{**template, "pending": 0.0, "owner": None, "max_score": 1.0, **c} for c in checks]
    document["questions"][2]["checks"] = changed
    (folder / name).mkdir(parents=True)
    (folder / name / "report.json").write_text(json.dumps(document))
    return ClassSubmission(name, folder / f"{name}.py")


def test_only_what_waits_for_a_device_and_passed_the_rest_is_taken(tmp_path: Path) -> None:
    submissions = (
        report(tmp_path, "ann", PASSED, WAITS),
        report(tmp_path, "bob", WRONG, WAITS),
        report(tmp_path, "cyd", PASSED, {**WAITS, "status": "passed", "code": "ok", "pending": 0}),
        report(tmp_path, "dan", WAITS),
        report(tmp_path, "eve", PASSED, {**WAITS, "code": "needs_review"}),
        ClassSubmission("new", tmp_path / "new.py"),
    )
    left = waiting(Found(submissions, ("x.txt",)), tmp_path, "toy")
    assert [submission.name for submission in left.found.submissions] == ["ann", "dan"]
    assert left.questions == ("on_gpu",)
    assert left.found.left_out == ("x.txt",)


def test_nothing_is_taken_where_nothing_waits(tmp_path: Path) -> None:
    found = Found((report(tmp_path, "ann", PASSED, WRONG),), ())
    assert waiting(found, tmp_path, "toy") == WaitingSubmissions(Found((), ()), ())


def test_reports_of_another_assignment_are_refused(tmp_path: Path) -> None:
    found = Found((report(tmp_path, "ann", PASSED, WAITS),), ())
    with pytest.raises(UsageError, match="holds reports on “toy”"):
        waiting(found, tmp_path, "other")
