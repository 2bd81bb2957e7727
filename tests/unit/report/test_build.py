from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from grader.assignment.types import Assignment
from grader.errors import InfrastructureError
from grader.report.build import RunRecord, build_report, submission_info
from grader.report.model import Report, ReportStatus, SubmissionInfo, report_bytes
from grader.submission.submission import Submission, SubmittedFile
from grader.verdict import (
    Code,
    Message,
    Owner,
    Status,
    Verdict,
    Visibility,
    deferred,
    failed,
    fault,
    passed,
)

Build = Callable[[dict[str, dict[str, Verdict]]], Report]
LOST = failed(Code.TIMED_OUT, Message("timed_out", {"seconds": 10.0}))
HALF = replace(LOST, status=Status.PARTIAL, credit=0.5)
WAITING = deferred(Code.NO_DEVICE, Message("no_device", {"cuda": 1}))
BROKEN = fault(
    Code.REFERENCE_FAILED, Owner.INSTRUCTOR, Message("reference_failed", {"detail": "x"})
)


def _everything(verdict: Verdict) -> dict[str, dict[str, Verdict]]:
    return {
        "multiply": dict.fromkeys(("values", "shape", "inputs"), verdict),
        "normalize": dict.fromkeys(("values", "secret"), verdict),
        "on_gpu": {"values": verdict},
    }


def test_nothing_judged_earns_nothing_and_loses_nothing(build: Build) -> None:
    report = build({})
    assert (report.score, report.pending, report.max_score) == (0, 15, 15)
    assert report.status is ReportStatus.INCOMPLETE
    for question in report.questions:
        assert question.status is Status.ERROR
        for check in question.checks:
            assert (check.code, check.owner) == (Code.NOT_RUN, Owner.INFRASTRUCTURE)
            assert check.message.startswith("The grader stopped before it came to this.")


@pytest.mark.parametrize(
    ("verdict", "points", "statuses"),
    [
        (passed(), (15, 0), (Status.PASSED, ReportStatus.GRADED)),
        (LOST, (0, 0), (Status.FAILED, ReportStatus.GRADED)),
        (HALF, (7.5, 0), (Status.PARTIAL, ReportStatus.GRADED)),
        (replace(LOST, status=Status.SKIPPED), (0, 0), (Status.SKIPPED, ReportStatus.GRADED)),
        (WAITING, (0, 15), (Status.DEFERRED, ReportStatus.PENDING)),
        (BROKEN, (0, 15), (Status.ERROR, ReportStatus.INCOMPLETE)),
        # A fault and a deferral never cost points, not even where a judge blames the student.
        (
            replace(BROKEN, owner=Owner.STUDENT),
            (0, 15),
            (Status.ERROR, ReportStatus.INCOMPLETE),
        ),
        (replace(WAITING, owner=None), (0, 15), (Status.DEFERRED, ReportStatus.PENDING)),
        # Whose doing it is decides on the rest.
        (
            replace(LOST, owner=Owner.INSTRUCTOR),
            (0, 15),
            (Status.DEFERRED, ReportStatus.PENDING),
        ),
        (
            Verdict(Status.SKIPPED, Code.NOT_RUN),
            (0, 15),
            (Status.SKIPPED, ReportStatus.PENDING),
        ),
    ],
)
def test_points_follow_status_and_owner(
    build: Build,
    verdict: Verdict,
    points: tuple[float, float],
    statuses: tuple[Status, ReportStatus],
) -> None:
    report = build(_everything(verdict))
    assert (report.score, report.pending) == points
    assert {result.status for result in report.questions} == {statuses[0]}
    assert report.status is statuses[1]


def test_one_fault_among_passes_marks_the_report(build: Build) -> None:
    verdicts = _everything(passed())
    verdicts["multiply"]["shape"] = BROKEN
    report = build(verdicts)
    assert report.status is ReportStatus.INCOMPLETE
    assert (report.score, report.pending) == (14, 1)
    assert [q.status for q in report.questions] == [Status.ERROR, Status.PASSED, Status.PASSED]


@pytest.mark.parametrize("credit", [math.nan, math.inf, -math.inf, -0.1, 1.1, "1", None])
@pytest.mark.parametrize("status", list(Status))
def test_credit_that_is_no_share_is_refused(build: Build, status: Status, credit: object) -> None:
    verdict = Verdict(status, Code.OK, credit=credit)  # type: ignore[arg-type]
    with pytest.raises(InfrastructureError, match=r"multiply\.values: credit"):
        build({"multiply": {"values": verdict}})


@pytest.mark.parametrize(
    ("status", "credit"),
    [
        (Status.FAILED, 1.0), (Status.SKIPPED, 0.5), (Status.DEFERRED, 1.0), (Status.ERROR, 0.1),
        (Status.PASSED, 0.5),
    ],
)  # fmt: skip
def test_credit_that_contradicts_the_status_is_refused(
    build: Build, status: Status, credit: float
) -> None:
    with pytest.raises(InfrastructureError, match="does not go with the status"):
        build({"multiply": {"values": Verdict(status, Code.OK, credit=credit)}})


def test_a_verdict_for_a_check_that_does_not_exist_is_refused(build: Build) -> None:
    with pytest.raises(InfrastructureError, match=r"normalize\.shape"):
        build({"normalize": {"shape": passed()}})


def test_thirds_make_a_whole(
    assignment: Assignment, submission: SubmissionInfo, record: RunRecord
) -> None:
    question = assignment.questions[0]
    checks = tuple(check.model_copy(update={"points": 1 / 3}) for check in question.checks)
    thirds = question.model_copy(update={"points": 1.0, "checks": checks})
    toy = assignment.model_copy(update={"questions": (thirds,)})
    report = build_report(toy, submission, {"multiply": _everything(passed())["multiply"]}, record)
    assert [check.score for check in report.questions[0].checks] == [0.3333] * 3
    assert (report.score, report.max_score, report.pending) == (1.0, 1.0, 0.0)


def test_tenths_add_up_without_dust(build: Build) -> None:
    partial = replace(LOST, status=Status.PARTIAL, credit=0.1)
    assert build(_everything(partial)).score == 1.5


def test_questions_left_out_stay_pending(
    assignment: Assignment, submission: SubmissionInfo, record: RunRecord
) -> None:
    chosen = replace(record, questions=frozenset({"multiply"}))
    verdicts = {"multiply": _everything(passed())["multiply"]}
    report = build_report(assignment, submission, verdicts, chosen)
    assert report.status is ReportStatus.PENDING
    assert (report.score, report.pending) == (5, 10)
    assert [q.status for q in report.questions] == [Status.PASSED, Status.SKIPPED, Status.SKIPPED]
    assert "Left out of this run" in report.questions[1].checks[0].message


def test_a_check_worth_nothing_only_informs(
    assignment: Assignment, submission: SubmissionInfo, record: RunRecord
) -> None:
    question = assignment.questions[0]
    checks = (question.checks[0], question.checks[1].model_copy(update={"points": 0.0}))
    toy = assignment.model_copy(
        update={"questions": (question.model_copy(update={"points": 3.0, "checks": checks}),)}
    )

    def status(values: Verdict, shape: Verdict) -> Status:
        verdicts = {"multiply": {"values": values, "shape": shape}}
        return build_report(toy, submission, verdicts, record).questions[0].status

    assert status(passed(), LOST) is Status.PASSED
    assert status(LOST, passed()) is Status.FAILED
    assert status(passed(), WAITING) is Status.DEFERRED
    assert status(passed(), BROKEN) is Status.ERROR


def test_evidence_is_finite_bounded_and_harmless(build: Build) -> None:
    evidence = {
        "nan": math.nan, "inf": [-math.inf, [1.5]], "big": 10**5000,
        "text": "a\x1b[31m\ud800\u202e", "trace": "one\ntwo", "long": "x" * 10**6,
        "none": None, "flag": True, "n": 3,
        "deep": [[[[[[[[[["too deep"]]]]]]]]]],
    }  # fmt: skip
    verdict = replace(LOST, evidence=evidence)
    check = build({"multiply": {"values": verdict}}).questions[0].checks[0]
    found = check.evidence
    assert found["nan"] == "nan"
    assert found["inf"] == ["-inf", [1.5]]
    assert found["big"] == "an integer of 16610 bits"
    assert found["text"] == "a\\x1b[31m\\ud800\\u202e"
    assert found["trace"] == "one\ntwo"
    assert isinstance(found["long"], str)
    assert len(found["long"]) == 20_000
    assert (found["none"], found["flag"], found["n"]) == (None, True, 3)
    assert "too deep" not in str(found["deep"])


def test_hidden_cases_speak_to_staff_only(report: Report) -> None:
    secret = report.questions[1].checks[1]
    assert secret.hidden
    assert "0.125" in secret.message
    assert "0.125" not in secret.student_message
    assert secret.visibility is Visibility.HIDDEN


def test_a_check_without_a_message_says_its_code(build: Build) -> None:
    verdict = Verdict(Status.FAILED, Code.WRONG_SHAPE, Owner.STUDENT)
    check = build({"multiply": {"values": verdict}}).questions[0].checks[0]
    assert check.message == "wrong shape"
    assert check.message_id is None


def test_a_folders_name_becomes_text(assignment: Assignment, record: RunRecord) -> None:
    hostile = SubmissionInfo(id="a\x1b[2J\udcff" + "b" * 300)
    report = build_report(assignment, hostile, {}, record)
    assert report.submission.id.startswith("a\\x1b[2J\\udcffbbb")
    assert len(report.submission.id) == 200
    assert report_bytes(report)


def test_submission_info_carries_digests_and_notes() -> None:
    hand_in = Submission(
        id="alice",
        files=(SubmittedFile("toy.py", b"x = 1\n", "hw.zip/toy.py"),),
        notes=(Message("not_implemented", {"function": "f"}),),
    )
    info = submission_info(hand_in)
    assert info.id == "alice"
    assert info.files[0].sha256 == hand_in.files[0].sha256
    assert info.digest == hand_in.digest
    assert info.notes == ("Not implemented yet: f.",)
