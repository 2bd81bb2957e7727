from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from grader.report.ci import junit, write_junit
from grader.report.messages.language import VARIABLE
from grader.report.model import Report


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
    assert any(message.startswith("pending: 5 of 5.") for message in told)


def test_only_what_a_student_may_read(report: Report) -> None:
    text = junit(report).decode()
    for question in report.questions:
        for check in question.checks:
            if check.message and check.message != check.student_message:
                assert check.message not in text


def test_no_time_is_told_that_a_submission_could_write_with(report: Report) -> None:
    assert report.timing.seconds > 0
    assert not [each for each in _suite(report).iter() if "time" in each.attrib]


def test_points_are_those_of_the_checks_that_are_there(report: Report) -> None:
    suite = _suite(report)
    for name in ("score", "max_score", "pending"):
        parts = [float(_points(case)[name] or 0) for case in suite.findall("testcase")]
        assert float(_points(suite)[name] or 0) == sum(parts)


def test_it_speaks_one_language(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "ko")
    told = [each.attrib["message"] for each in _suite(report).iter("failure")]
    assert told
    for message in told:
        assert re.search("[가-힣]", message), message


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
