from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest

from grader.errors import InfrastructureError
from grader.report.ci import classroom50_result, write_classroom50
from grader.report.model import Report, ReportStatus

NOW = dt.datetime(2026, 9, 1, 9, 30, tzinfo=dt.timezone(dt.timedelta(hours=9)))
JOB = {
    "CLASSROOM": "dl-2026", "ASSIGNMENT": "toy", "ASSIGNMENT_TYPE": "individual", "OWNER": "mina",
    "SUBMISSION_TAG": "submit/1", "COMMIT_URL": "c", "RELEASE_URL": "r", "REVIEW_URL": "v",
    "USERNAME": "mina",
}  # fmt: skip


def test_points_are_whole_and_the_job_is_named(report: Report) -> None:
    document = classroom50_result(report, JOB, NOW)
    assert document["schema"] == "classroom50/result/v1"
    assert (document["classroom"], document["commit"]) == ("dl-2026", "c")
    assert document["datetime"] == "2026-09-01T00:30:00Z"
    assert document["submitted_by"] == {"username": "mina"}
    assert (document["score"], document["max-score"]) == (6, 15)
    assert not any("secret" in test["test-name"] for test in document["tests"])
    for test in document["tests"]:
        assert type(test["score"]) is type(test["max-score"]) is int
        assert isinstance(test["passed"], bool)


def test_halves_are_rounded_up(report: Report) -> None:
    half = report.model_copy(update={"score": 6.5})
    assert classroom50_result(half, {}, NOW)["score"] == 7
    assert "submitted_by" not in classroom50_result(half, {}, NOW)


def test_it_is_written_with_the_exact_points_beside(report: Report, tmp_path: Path) -> None:
    half = report.model_copy(update={"score": 6.5})
    path = write_classroom50(half, tmp_path, JOB, NOW)
    assert json.loads(path.read_text())["score"] == 7
    assert "**6.5 of 15**" in (tmp_path / "release-body.md").read_text()


def test_the_text_beside_tells_points_of_shown_checks(report: Report, tmp_path: Path) -> None:
    write_classroom50(report, tmp_path, JOB, NOW)
    lines = (tmp_path / "release-body.md").read_text().splitlines()
    # Its hidden check is worth 1 of 5 points.
    assert "| `normalize` | 2 of 4 | 0 |" in lines
    assert "Some checks count that are not shown here." in lines


def test_an_incomplete_report_is_no_result(report: Report, tmp_path: Path) -> None:
    broken = report.model_copy(update={"status": ReportStatus.INCOMPLETE})
    with pytest.raises(InfrastructureError, match="run the job again"):
        write_classroom50(broken, tmp_path, JOB, NOW)
    assert list(tmp_path.iterdir()) == []
