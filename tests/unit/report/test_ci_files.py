"""Files for CI: Classroom 50's result, and JUnit XML."""

from __future__ import annotations

import datetime as dt
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from grader.errors import InfrastructureError
from grader.report.export.ci import classroom50_result, junit, write_classroom50, write_junit
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
    assert "**6.5 of 15 points**" in (tmp_path / "release-body.md").read_text()


def test_an_incomplete_report_is_no_result(report: Report, tmp_path: Path) -> None:
    broken = report.model_copy(update={"status": ReportStatus.INCOMPLETE})
    with pytest.raises(InfrastructureError, match="run the job again"):
        write_classroom50(broken, tmp_path, JOB, NOW)
    assert list(tmp_path.iterdir()) == []


def _suite(report: Report) -> ET.Element:
    suite = ET.fromstring(junit(report)).find("testsuite")
    assert suite is not None
    return suite


def _points(element: ET.Element) -> dict[str, str | None]:
    return {each.attrib["name"]: each.get("value") for each in element.iterfind("properties/*")}


def test_a_case_a_check_with_its_points(report: Report) -> None:
    suite = _suite(report)
    cases = suite.findall("testcase")
    names = {(case.attrib["classname"], case.attrib["name"]) for case in cases}
    assert ("toy.normalize", "values") in names
    assert ("toy.normalize", "secret") not in names
    assert len(names) == len(cases) == sum(len(q.checks) for q in report.questions) - 1
    assert _points(suite)["score"] == "6"
    assert int(suite.attrib["tests"]) == len(cases)
    for kind, count in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert len(list(suite.iter(kind))) == int(suite.attrib[count])


def test_pending_is_skipped_with_the_points(report: Report) -> None:
    told = [each.attrib["message"] for each in _suite(report).iter("skipped")]
    assert any(message.startswith("5 of 5 points pending.") for message in told)


def test_only_what_a_student_may_read(report: Report) -> None:
    text = junit(report).decode()
    for question in report.questions:
        for check in question.checks:
            if check.message and check.message != check.student_message:
                assert check.message not in text


def test_no_time_is_told_that_a_submission_could_write_with(report: Report) -> None:
    assert report.timing.seconds > 0
    assert not [each for each in _suite(report).iter() if "time" in each.attrib]


def test_hostile_text_is_inert(report: Report) -> None:
    question = report.questions[0]
    evil = "]]>\x00\x1b[31m<script>\ud800\u202e"
    check = question.checks[0].model_copy(update={"student_message": evil, "status": "failed"})
    hostile = question.model_copy(update={"checks": (check,)})
    about = report.submission.model_copy(update={"id": evil})
    data = junit(report.model_copy(update={"questions": (hostile,), "submission": about}))
    assert b"\x00" not in data
    assert "<script>" in (ET.fromstring(data).find(".//failure").text or "")  # type: ignore[union-attr]


def test_it_is_written(report: Report, tmp_path: Path) -> None:
    assert write_junit(report, tmp_path / "new").read_bytes() == junit(report)
