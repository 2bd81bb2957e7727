"""Reports of a course that has no GPU."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.assignment.find import find_assignment
from grader.assignment.load import load_assignment
from grader.checks.speed import only_on_device
from grader.report.messages.catalogue import ENGLISH
from grader.report.model import Report, ReportStatus
from grader.report.summary import notices, sentences, summarise
from grader.report.without_gpu import points_without_gpu, without_gpu
from grader.verdict import Code, Status


def marked(report: Report, places: set[tuple[str, str]]) -> Report:
    """Return a report of which some checks need a GPU."""
    questions = tuple(
        question.model_copy(
            update={
                "checks": tuple(
                    check.model_copy(update={"needs_gpu": (question.id, check.id) in places})
                    for check in question.checks
                )
            }
        )
        for question in report.questions
    )
    return report.model_copy(update={"questions": questions})


def test_what_waits_for_a_gpu_is_out_of_the_maximum(report: Report) -> None:
    assert (report.max_score, report.pending, report.status) == (15, 5, ReportStatus.PENDING)
    now = without_gpu(marked(report, {("on_gpu", "values")}))
    assert (now.score, now.max_score, now.pending) == (report.score, 10, 0)
    assert now.status is ReportStatus.GRADED
    assert now.uncounted == 5
    check = now.by_place()["on_gpu", "values"]
    assert (check.status, check.code) == (Status.SKIPPED, Code.NOT_COUNTED)
    assert "worth 5" in check.student_message
    assert now.questions[-1].status is Status.SKIPPED
    said = notices(now, ENGLISH)
    assert not any("Not final" in line for line in said)
    assert any("taken out of the maximum" in line and line.endswith(": 5.") for line in said)
    assert "Not counted, as this course has no GPU: 5 points (on_gpu.values)" in sentences(
        summarise([now])
    )


def test_a_report_without_such_checks_stays_as_it_is(report: Report) -> None:
    assert without_gpu(report) is report


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_the_maximum_is_less_by_what_does_not_count(data: st.DataObject, report: Report) -> None:
    places = sorted(report.by_place())
    needs = data.draw(st.sets(st.sampled_from(places)))
    before = marked(report, needs)
    now = without_gpu(before)
    known = before.by_place()
    kept = [check for place, check in known.items() if place not in needs]
    assert now.max_score == pytest.approx(sum(each.max_score for each in kept if not each.bonus))
    assert now.score == pytest.approx(sum(each.score for each in kept))
    assert now.pending == pytest.approx(sum(each.pending for each in kept))
    assert without_gpu(now) is now
    assert list(now.by_place()) == list(known), "a row is dropped"


def test_a_page_tells_who_is_waited_for(report: Report) -> None:
    (said,) = (line for line in notices(report, ENGLISH) if "Not final" in line)
    assert said.endswith("Of these wait for a GPU: 5.")
    asked = marked(report, set())
    check = asked.questions[-1].checks[0].model_copy(update={"code": Code.NEEDS_REVIEW})
    last = asked.questions[-1].model_copy(update={"checks": (check,)})
    asked = asked.model_copy(update={"questions": (*asked.questions[:-1], last)})
    assert "wait for a person: 5." in " ".join(notices(asked, ENGLISH))
    assert "wait for you: 5." in " ".join(notices(asked, ENGLISH, staff=True))


def test_only_the_speed_on_a_gpu_needs_one() -> None:
    file = find_assignment("pytorch101", Path(__file__))
    assignment = load_assignment(file)
    found = {question.id: set(only_on_device(question.checks)) for question in assignment.questions}
    assert {name: ids for name, ids in found.items() if ids} == {"mm_on_gpu": {"speed"}}
    assert points_without_gpu(assignment) == assignment.points - 1
