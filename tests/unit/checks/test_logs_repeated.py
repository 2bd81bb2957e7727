"""The check ``repeats``, and the checks on devices that rest on it."""

from __future__ import annotations

from typing import Any

import pytest
from observed import CASE, seen, tensor

from grader.checks.device_checks import UNREPEATED, RepeatsLog
from grader.checks.device_work import RanOn, Transfers
from grader.checks.judge import judge_case
from grader.checks.placement import Placement
from grader.report.messages.catalogue import ENGLISH
from grader.verdict import Basis, Code, Owner, Status, Verdict

RIGHT, WRONG = {"output": tensor([1.0, 2.0])}, {"output": tensor([1.0, 3.0])}


def told(**changes: Any) -> dict[Any, Any]:
    return {"state": "ran", "why": "", "outputs": RIGHT, "own": None, "outside": False,
            "reads": False, **changes}  # fmt: skip


def judged(actual: Any, expected: Any = None) -> Verdict:
    check = RepeatsLog(id="again", points=0, item="again", rtol=1e-5, atol=1e-5)
    pair = (seen({"again": expected or told()}), seen({"again": actual}))
    return judge_case(check, CASE, *pair)


def test_right_outputs_on_other_inputs_are_a_fact() -> None:
    verdict = judged(told())
    assert (verdict.status, verdict.basis) == (Status.PASSED, Basis.FACT)


def test_what_came_from_outside_torch_must_not_decide() -> None:
    assert judged(told(outside=True)).code is Code.OK
    verdict = judged(told(outputs=WRONG, outside=True, own=True))
    assert (verdict.code, verdict.owner) == (Code.NOT_REPEATED, Owner.STUDENT)


def test_a_log_that_rests_on_what_it_read_is_judged_on_its_own_inputs_and_says_so() -> None:
    verdict = judged(told(outputs=WRONG, reads=True, own=True))
    assert (verdict.status, verdict.basis) == (Status.PASSED, Basis.CLAIM)
    assert verdict.message is not None
    assert "its own inputs" in ENGLISH.for_staff(verdict)


@pytest.mark.parametrize(
    "actual",
    [
        told(outputs=WRONG),
        told(outputs=WRONG, reads=True, own=False),
        told(state="unrepeatable", outputs={}),
        told(state="unlisted", why="linalg_inv_ex", outputs={}),
    ],
)
def test_what_nobody_can_explain_waits_for_a_person(actual: Any) -> None:
    assert judged(actual).code is Code.NEEDS_REVIEW


@pytest.mark.parametrize("actual", [told(state="malformed"), told(state="real"), {}])
def test_no_log_is_the_submissions_fault(actual: Any) -> None:
    assert judged(actual).code is Code.PROTOCOL_VIOLATION


def test_on_real_gpus_there_is_no_log() -> None:
    verdict = judged({"state": "real"}, {"state": "real"})
    assert (verdict.status, verdict.basis) == (Status.PASSED, Basis.CLAIM)


def report(*work: tuple[str, str, int]) -> dict[Any, Any]:
    return {
        "devices": ["cuda:0"], "transfers": [], "memory": {"cuda:0": {"peak": 0}},
        "kernels": [
            {"op": op, "device": device, "count": 1, "flops": flops, "bytes": 8}
            for op, device, flops in work
        ],
    }  # fmt: skip


def test_work_on_the_cpu_is_not_made_up_for_by_more_elsewhere() -> None:
    check = RanOn(id="r", points=1, item="part", ops=("*mm*",), on_host=0.1, replayed=True)
    honest = report(("mm", "cuda:0", 1000))
    hidden = report(("mm", "cuda:0", 10**9), ("mul", "cpu", 1000))
    small = report(("mm", "cuda:0", 1000), ("add", "cpu", 90))
    verdicts = [
        judge_case(check, CASE, seen({"part": honest}), seen({"part": part}))
        for part in (honest, small, hidden)
    ]
    assert [verdict.code for verdict in verdicts] == [Code.OK, Code.OK, Code.RAN_ELSEWHERE]
    assert {verdict.basis for verdict in verdicts} == {Basis.FACT}


@pytest.mark.parametrize(
    "check",
    [
        Transfers(id="c", points=1, item="part", most=0, replayed=True),
        Placement(id="c", points=1, item="part", replayed=True),
    ],
)
def test_what_could_not_be_run_again_waits_for_a_person(check: Any) -> None:
    placed = {"w": {"kind": "parameter", "device": "cuda:0", "shape": [2], "bytes": 8}}
    expected = placed if check.kind == "placement" else report()
    verdict = judge_case(check, CASE, seen({"part": expected}), seen({"part": UNREPEATED}))
    assert verdict.code is Code.NEEDS_REVIEW
    # What a submission's own process leaves out is no reason to wait.
    claimed = check.model_copy(update={"replayed": False})
    verdict = judge_case(claimed, CASE, seen({"part": expected}), seen({"part": UNREPEATED}))
    assert verdict.code is Code.WRONG_TYPE
