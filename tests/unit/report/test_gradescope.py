from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from gradescope_utils.autograder_utils.json_test_runner import JSONTestRunner

from grader.report.gradescope import gradescope_results, write_results
from grader.report.html.render import Labels
from grader.report.html.submission_page import student_page
from grader.report.model import IsolationInfo, Report
from grader.report.view import ReleaseStage
from grader.sandbox.host.processes import Tier
from grader.verdict import Code, Message, Owner, Status, Verdict, failed, passed

Build = Callable[[dict[str, dict[str, Verdict]]], Report]
FORMATS = {"text", "html", "simple_format", "md", "ansi"}


def _test(document: dict[str, Any], number: str) -> dict[str, Any]:
    return next(test for test in document["tests"] if test["number"] == number)


def test_the_runner_is_gradescopes_own(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[object] = []
    run = JSONTestRunner.run
    monkeypatch.setattr(
        JSONTestRunner, "run", lambda self, suite: (ran.append(suite), run(self, suite))[1]
    )
    gradescope_results(report)
    assert len(ran) == 1


def test_one_row_a_question_what_failed_first(report: Report) -> None:
    document = gradescope_results(report)
    # The second question has a check of which students see nothing.
    assert [test["number"] for test in document["tests"]] == ["1", "2.1", "2.2", "3"]
    assert [test["score"] for test in document["tests"]] == [4, 2, 0, 0]
    assert sum(test["max_score"] for test in document["tests"]) == report.max_score
    right = report.questions[0].model_copy(update={"checks": report.questions[0].checks[:1]})
    questions = (right, *report.questions[1:])
    document = gradescope_results(report.model_copy(update={"questions": questions}))
    assert [test["number"] for test in document["tests"]] == ["2.1", "2.2", "3", "1"]


def test_a_row_has_a_line_for_each_check_what_failed_first(report: Report) -> None:
    row = _test(gradescope_results(report), "1")
    assert row["name"] == "multiply: Multiply two batches"
    first, *others = row["output"].splitlines()
    assert first.startswith("✗ inputs (0/1): ")
    assert others == ["✓ values (3/3)", "✓ shape (1/1)"]


def test_the_score_is_the_reports(report: Report) -> None:
    document = gradescope_results(report)
    assert document["score"] == 6.0
    assert document["score"] == sum(test["score"] for test in document["tests"])


def test_one_point_is_told_as_well_as_several(report: Report) -> None:
    open_point = report.model_copy(update={"pending": 1.0, "max_score": 66.0})
    said = "Not final. Pending points: 1 of 66. The score may still rise."
    assert gradescope_results(open_point)["output"].startswith(said)
    assert said in student_page(open_point, Labels(), release=ReleaseStage.PUBLISHED)


def test_pending_points_have_a_row_and_a_line_on_top(report: Report) -> None:
    document = gradescope_results(report)
    assert document["output"].startswith("Not final. Pending points: 5 of 15.")
    row = _test(document, "3")
    assert row["name"].startswith("[pending]")
    assert row["output"].startswith("… values (0/5, 5 pending): GPUs needed: 1.")
    assert "status" not in row
    assert (row["score"], row["max_score"]) == (0, 5)
    assert "pending" in row["tags"]


def test_no_time_is_told_that_a_submission_could_write_with(report: Report) -> None:
    assert report.timing.seconds == 1.25
    assert "execution_time" not in gradescope_results(report)


def test_an_infrastructure_error_writes_no_score_at_all(broken: Report) -> None:
    document = gradescope_results(broken)
    assert '"score"' not in json.dumps(document)
    first, second, *_ = document["output"].splitlines()
    assert first == "The grader itself failed in places. No points are lost; it runs again."
    assert second.startswith("Not final. Pending points: 10 of 15.")
    assert len(document["tests"]) == 4


def test_hidden_rows_are_there_and_hidden(report: Report) -> None:
    row = _test(gradescope_results(report), "2.2")
    assert row["visibility"] == "hidden"
    assert row["output"] == "✗ secret (0/1): In a hidden case: ValueError."


def test_nothing_of_a_hidden_case_is_in_the_file(report: Report) -> None:
    text = json.dumps(gradescope_results(report))
    assert "0.125" not in text
    assert "Traceback" not in text


def test_all_text_is_declared_plain(broken: Report) -> None:
    document = gradescope_results(broken)
    for name in ("output_format", "test_output_format", "test_name_format"):
        assert document[name] == "text"
    for test in document["tests"]:
        assert test["output_format"] == test["name_format"] == "text"
    assert "\x1b" not in json.dumps(document, ensure_ascii=False)
    assert document["stdout_visibility"] == "hidden"


def test_no_empty_leaderboard(report: Report) -> None:
    assert "leaderboard" not in gradescope_results(report)


def test_a_check_worth_nothing_can_fail(report: Report) -> None:
    question = report.questions[0]
    inputs = question.checks[2].model_copy(update={"max_score": 0.0})
    informs = question.model_copy(update={"checks": (inputs,)})
    document = gradescope_results(report.model_copy(update={"questions": (informs,)}))
    assert document["tests"][0]["status"] == "failed"


def test_passed_and_failed_are_told_apart(report: Report) -> None:
    document = gradescope_results(report)
    found = {test["number"]: test.get("status") for test in document["tests"]}
    assert found == {
        "1": "failed", "2.1": "failed", "2.2": "failed", "3": None,
    }  # fmt: skip


def test_a_title_of_several_lines_is_one_name(report: Report) -> None:
    question = report.questions[0].model_copy(update={"title": "one\n\n<b>two</b>"})
    document = gradescope_results(report.model_copy(update={"questions": (question,)}))
    assert document["tests"][0]["name"] == "multiply: one\\n\\n<b>two</b>"


def test_a_self_check_is_stamped(report: Report) -> None:
    none = report.environment.model_copy(update={"isolation": IsolationInfo(tier=Tier.NONE)})
    document = gradescope_results(report.model_copy(update={"environment": none}))
    assert "not an official score" in document["output"]


def test_a_clean_report_says_nothing_on_top(build: Build) -> None:
    verdicts = {
        "multiply": dict.fromkeys(("values", "shape", "inputs"), passed()),
        "normalize": dict.fromkeys(("values", "secret"), passed()),
        "on_gpu": {"values": passed()},
    }
    report = build(verdicts)
    submission = report.submission.model_copy(update={"notes": ()})
    document = gradescope_results(report.model_copy(update={"submission": submission}))
    assert document["output"] == ""
    assert document["score"] == 15
    assert {test["status"] for test in document["tests"]} == {"passed"}


@pytest.mark.parametrize(
    "message", ["nan", "</script><script>", "\n✓ values (3/3)", "\x1b]0;x\x07", "=HYPERLINK()"]
)
def test_hostile_text_stays_text(build: Build, tmp_path: Path, message: str) -> None:
    verdict = failed(Code.RAISED, Message("raised", {"type": message, "message": message}))
    report = build({"multiply": {"values": verdict}})
    path = write_results(report, tmp_path)
    assert path == tmp_path / "results.json"
    document = json.loads(path.read_text(), parse_constant=pytest.fail)
    assert document["tests"][0]["output_format"] == "text"
    # A line for the check, one for the two that did not run, and none that the submission began.
    lines = document["tests"][0]["output"].split("\n")
    assert len(lines) == 2
    assert all(ord(char) >= 32 for line in lines for char in line)


def changed(report: Report, *changes: dict[str, Any]) -> Report:
    """Return a report of its first question alone, with its checks changed."""
    question = report.questions[0]
    checks = [
        check.model_copy(update={"score": 0.0, **change})
        for check, change in zip(question.checks, changes, strict=True)
    ]
    only = question.model_copy(update={"checks": tuple(checks)})
    return report.model_copy(update={"questions": (only,)})


def test_what_is_said_of_several_checks_stands_once(report: Report) -> None:
    stub = {"status": Status.FAILED, "code": Code.NOT_IMPLEMENTED, "student_message": "Write f."}
    hidden = {**stub, "student_message": "In a hidden case: not implemented yet."}
    after = {"status": Status.SKIPPED, "code": Code.REQUIREMENT_NOT_MET}
    later = {**after, "student_message": "Counts only once values passes."}
    row = gradescope_results(changed(report, stub, hidden, later))["tests"][0]
    assert row["output"].splitlines() == [
        "✗ values (0/3), shape (0/1): Write f.", "– inputs (0/1): Counts only once values passes.",
    ]  # fmt: skip
    assert row["status"] == "failed"


def test_what_is_worth_nothing_is_told_only_where_it_failed(report: Report) -> None:
    informs = {"max_score": 0.0, "student_message": ""}
    right = {**informs, "status": Status.PASSED, "code": Code.OK}
    wrong = {**informs, "status": Status.FAILED, "code": Code.WRONG_DTYPE}
    document = gradescope_results(changed(report, {}, right, wrong))
    assert document["tests"][0]["output"].splitlines() == ["✗ inputs", "✓ values (0/3)"]


def test_what_was_not_judged_is_not_shown_as_failed(report: Report) -> None:
    after = {"status": Status.SKIPPED, "code": Code.REQUIREMENT_NOT_MET}
    row = gradescope_results(changed(report, after, after, after))["tests"][0]
    assert "status" not in row
    assert row["score"] == 0


def test_a_file_that_cannot_be_read_is_told_on_top(report: Report) -> None:
    lost = {"status": Status.FAILED, "code": Code.SYNTAX_ERROR, "student_message": "Line 3: x"}
    document = gradescope_results(changed(report, lost, lost, lost))
    assert document["output"].splitlines()[0] == "Line 3: x"


def test_points_lost_to_the_grader_are_pending_in_the_row(build: Build, report: Report) -> None:
    half = Verdict(Status.PARTIAL, Code.WRONG_VALUE, Owner.INFRASTRUCTURE, credit=0.5)
    row = gradescope_results(build({"multiply": {"values": replace(half)}}))["tests"][0]
    assert row["output"].startswith("◐ values (1.5/3, 1.5 pending): wrong values\n")
