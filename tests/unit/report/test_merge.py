"""Completing a report with another machine's: what is filled, what stays, what is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from grader.report.gradescope import gradescope_results
from grader.report.layers import fold
from grader.report.merge import Allowed, ConflictError, MergeError, completions
from grader.report.messages.catalogue import ENGLISH
from grader.report.model import Environment, Report, ReportStatus, report_bytes
from grader.report.summary import notices
from grader.sandbox.host.processes import Tier
from grader.verdict import (
    Code,
    Message,
    Owner,
    Status,
    Verdict,
    deferred,
    failed,
    fault,
    passed,
    review,
)

_NOTHING = Allowed()


def merge(base: Report, others: Sequence[Report], allowed: Allowed = _NOTHING) -> Report:
    """Return a report completed from others, as ``grader merge`` writes it."""
    return fold(base, completions(base, others, allowed))


Build = Callable[[dict[str, dict[str, Verdict]]], Report]
Verdicts = dict[str, dict[str, Verdict]]

NOT_RUN = Verdict(Status.SKIPPED, Code.NOT_RUN, message=Message("not_selected"))


@pytest.fixture
def gpu(build: Build) -> Callable[..., Report]:
    """A GPU worker's report: only what was pending was graded there."""

    def report(verdict: Verdict, **environment: Any) -> Report:
        skipped = {"multiply": dict.fromkeys(("values", "shape", "inputs"), NOT_RUN)}
        skipped["normalize"] = dict.fromkeys(("values", "secret"), NOT_RUN)
        made = build({**skipped, "on_gpu": {"values": verdict}})
        there = made.environment.model_copy(
            update={"device": "cuda ×1", "seed": 7, "platform": "Linux gpu", **environment}
        )
        return made.model_copy(update={"environment": there})

    return report


def test_a_pending_check_is_filled_and_everything_is_added_up_again(
    report: Report, gpu: Callable[..., Report]
) -> None:
    merged = merge(report, [gpu(passed())])
    assert (report.score, report.pending) == (6, 5)
    assert (merged.score, merged.pending, merged.max_score) == (11, 0, 15)
    assert merged.status is ReportStatus.GRADED
    (question,) = (each for each in merged.questions if each.id == "on_gpu")
    assert (question.status, question.score, question.pending) == (Status.PASSED, 5, 0)
    (source,) = merged.merged
    assert (source.device, source.seed, source.checks) == ("cuda ×1", 7, ("on_gpu.values",))
    # What was decided before, and where it was, is as it was.
    assert merged.questions[:2] == report.questions[:2]
    assert merged.environment == report.environment
    assert gradescope_results(merged)["score"] == 11


def test_merging_again_changes_nothing(report: Report, gpu: Callable[..., Report]) -> None:
    worker = gpu(failed(Code.WRONG_VALUE, Message("wrong_value", {"mismatched": 1})))
    once = merge(report, [worker])
    assert report_bytes(merge(once, [worker, worker])) == report_bytes(once)
    assert (once.score, once.pending) == (6, 0)


def test_what_is_pending_on_both_sides_stays_pending_and_says_what_is_known_of_it(
    report: Report, gpu: Callable[..., Report]
) -> None:
    worker = gpu(review(Message("loops_unread")))
    merged = merge(report, [worker])
    assert (merged.score, merged.pending, merged.status) == (6, 5, ReportStatus.PENDING)
    assert merged.questions[2].checks[0].code is Code.NEEDS_REVIEW
    # A machine without a GPU has nothing to add to that.
    assert merge(merged, [report]) is merged


def test_a_fault_of_the_grader_is_filled_too(
    build: Build, report: Report, verdicts: Verdicts
) -> None:
    broken = fault(Code.SANDBOX_FAILED, Owner.INFRASTRUCTURE, Message("sandbox_failed"))
    base = build({**verdicts, "multiply": dict.fromkeys(("values", "shape", "inputs"), broken)})
    assert base.status is ReportStatus.INCOMPLETE
    assert merge(base, [report]).questions == report.questions


def test_thirds_that_were_rounded_one_by_one_still_make_one_whole(
    report: Report, gpu: Callable[..., Report]
) -> None:
    third = (
        report.questions[2]
        .checks[0]
        .model_copy(update={"score": 0.0, "max_score": 0.3333, "pending": 0.3333})
    )
    names = ("a", "b", "c")
    question = report.questions[2].model_copy(
        update={
            "checks": tuple(third.model_copy(update={"id": name}) for name in names),
            "max_score": 1.0,
            "pending": 1.0,
        }
    )
    base = report.model_copy(update={"questions": (question,), "max_score": 1.0, "pending": 1.0})
    right = {"score": 0.3333, "pending": 0.0, "status": Status.PASSED, "code": Code.OK}
    full = question.model_copy(
        update={"checks": tuple(check.model_copy(update=right) for check in question.checks)}
    )
    merged = merge(base, [base.model_copy(update={"questions": (full,)})])
    assert (merged.score, merged.pending, merged.questions[0].score) == (1.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": "2026.2"}, ["toy version 2026.1", "toy version 2026.2"]),
        ({"id": "other"}, ["toy version", "other version"]),
        ({"digest": "ee" * 32}, ["efefefefefef", "eeeeeeeeeeee"]),
    ],
)
def test_another_assignment_is_refused_and_both_are_named(
    report: Report, gpu: Callable[..., Report], change: dict[str, str], words: list[str]
) -> None:
    worker = gpu(passed())
    other = worker.model_copy(update={"assignment": worker.assignment.model_copy(update=change)})
    with pytest.raises(MergeError) as caught:
        merge(report, [other])
    assert all(word in str(caught.value) for word in words)
    assert caught.value.exit_status == 2


def test_another_hand_in_is_refused_and_both_are_named(
    report: Report, gpu: Callable[..., Report]
) -> None:
    worker = gpu(passed())
    changed = worker.submission.model_copy(update={"digest": "12" * 32, "id": "team-8"})
    with pytest.raises(MergeError, match=r"“team-7” with sha256 cdcdcdcdcdcd.*“team-8” with sha"):
        merge(report, [worker.model_copy(update={"submission": changed})])


def test_two_different_verdicts_are_refused_and_both_are_told(
    build: Build, report: Report, verdicts: Verdicts
) -> None:
    other = build({**verdicts, "multiply": {**verdicts["multiply"], "inputs": passed()}})
    with pytest.raises(ConflictError, match=r"multiply\.inputs: .*failed \(input_modified.*passed"):
        merge(report, [other])


def test_a_question_that_was_decided_in_two_ways_is_left_as_it_is_where_that_is_allowed(
    build: Build, verdicts: Verdicts
) -> None:
    open_still = deferred(Code.NO_DEVICE, Message("speed_no_device"))
    base = build({**verdicts, "multiply": {**verdicts["multiply"], "shape": open_still}})
    decided = {**verdicts["multiply"], "inputs": passed(), "shape": passed()}
    other = build({**verdicts, "multiply": decided, "on_gpu": {"values": passed()}})
    merged = merge(base, [other], Allowed(conflicts=True))
    # What is pending there is not filled either: it may rest on what was decided differently.
    assert merged.questions[:2] == base.questions[:2]
    assert merged.score == base.score + 5
    assert merged.merged[0].checks == ("on_gpu.values",)


def test_the_same_verdict_for_another_reason_is_no_conflict(
    build: Build, report: Report, verdicts: Verdicts
) -> None:
    again = failed(Code.SHARES_MEMORY, Message("shares_memory"))
    other = build({**verdicts, "multiply": {**verdicts["multiply"], "inputs": again}})
    assert merge(report, [other]) is report


def test_points_from_a_run_without_walls_are_refused_unless_accepted_and_then_told(
    report: Report, gpu: Callable[..., Report], environment: Environment
) -> None:
    bare = environment.isolation.model_copy(update={"tier": Tier.NONE})
    worker = gpu(passed(), isolation=bare)
    with pytest.raises(MergeError, match="--accept-unwalled"):
        merge(report, [worker])
    merged = merge(report, [worker], Allowed(unwalled=True))
    assert merged.score == 11
    assert any(
        "without a sandbox" in line and "on_gpu.values" in line for line in notices(merged, ENGLISH)
    )
