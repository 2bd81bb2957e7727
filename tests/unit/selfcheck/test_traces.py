"""What a starter tells of the reference's devices, and what a student hears of their own."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from observed import CASE, seen

from grader.checks.base import Check
from grader.checks.device_work import RanOn, Transfers
from grader.checks.judge import judge_case
from grader.checks.overlap import Overlap
from grader.checks.placement import Placement
from grader.observation import Observation
from grader.report.messages.language import VARIABLE
from grader.selfcheck.pictures import device_lines
from grader.selfcheck.public import patterns, without_the_way
from grader.verdict import Code, Status
from grader.wire.values import Value


def trace(*kernels: tuple[str, str, int]) -> dict[Value, Value]:
    return {
        "real": False,
        "devices": ["cuda:0", "cuda:1"],
        "kernels": [
            {"op": op, "device": device, "count": 2, "flops": flops, "bytes": 99}
            for op, device, flops in kernels
        ],
        "transfers": [
            {"source": "cpu", "target": "cuda:0", "count": 1, "bytes": 80, "parameters": 0}
        ],
        "each": [{"source": "cpu", "target": "cuda:0", "bytes": 80, "shape": [4, 5]}],
        "memory": {"cuda:0": {"peak": 1536, "allocations": 3}, "cuda:1": {"peak": 0}},
        "synchronisations": {"cuda:0": 7},
    }


WHOLE = trace(
    ("addmm", "cuda:0", 40), ("mm", "cuda:1", 40), ("tanh", "cuda:0", 5), ("cat", "cuda:1", 0)
)


def planned(*checks: Check) -> Any:
    case = SimpleNamespace(case=SimpleNamespace(id="one"), key="one")
    question = SimpleNamespace(id="q", checks=checks)
    return SimpleNamespace(question=question, cases=(case,))


def test_how_the_reference_did_it_is_not_told() -> None:
    told = without_the_way({"work": WHOLE, "loss": 1.5}, ["*mm*"])
    assert isinstance(told, dict)
    assert told["loss"] == 1.5
    for secret in ("addmm", "tanh", "cat", "each", "synchronisations", "allocations", "99"):
        assert secret not in str(told)
    assert "'*mm*'" in str(told)


CHECKS = [
    RanOn(id="all", points=1, within=0.0),
    RanOn(id="some", points=1, ops=("*mm*",), within=0.0),
    RanOn(id="there", points=1, device="cuda:0", ops=("addmm", "a*"), of_reference=1.0),
    Transfers(id="moves", points=1, count="exactly", bytes="exactly"),
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_checks_say_the_same_with_what_is_told(check: Any) -> None:
    told = without_the_way(WHOLE, patterns(planned(*CHECKS)))
    wrong = trace(("addmm", "cuda:0", 39), ("mm", "cuda:1", 45), ("tanh", "cuda:0", 5))
    wrong["transfers"] = []
    for own in (WHOLE, wrong):
        verdicts = [
            judge_case(check, CASE, probed(reference), probed(own)) for reference in (WHOLE, told)
        ]
        assert verdicts[0] == verdicts[1]
        assert (verdicts[0].status is Status.PASSED) == (own is WHOLE)


def probed(told: Value) -> Observation:
    return seen(1, probes={"devices": told})


def lines_of(check: Check, code: Code, own: Observation) -> tuple[str, ...]:
    place: Any = SimpleNamespace(public=SimpleNamespace(plan=(planned(check),)))
    result = SimpleNamespace(id=check.id, code=code, case="one")
    question: Any = SimpleNamespace(id="q", checks=(result,))
    runs: Any = {"q": SimpleNamespace(observations={"one": own})}
    return device_lines(question, place, runs).get(check.id, ())


def test_a_student_reads_what_their_own_code_did(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "en")
    own = trace(("tanh", "cuda:0", 5), ("addmm", "cuda:0", 40))
    assert lines_of(CHECKS[0], Code.RAN_ELSEWHERE, probed(own)) == (
        "What happened:",
        "cuda:0: addmm × 2, tanh × 2; at most 1536 bytes in use.",
        "cuda:1: nothing.",
        "cpu → cuda:0: 1 copied, 80 bytes.",
    )
    own["transfers"] = []
    last = lines_of(CHECKS[3], Code.WRONG_TRANSFERS, probed(own))[-1]
    assert last == "Nothing was copied from one device to another."


def test_a_student_reads_where_everything_lay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "en")
    own: Value = {
        name: {"kind": "parameter", "device": device, "shape": [2], "bytes": 8}
        for name, device in (("net2.weight", "cuda:1"), ("net1.weight", "cpu"), ("b", "cpu"))
    }
    check = Placement(id="placed", points=1, item="placement")
    assert lines_of(check, Code.WRONG_DEVICE, seen({"placement": own})) == (
        "Where it lay:",
        "cpu, parameter: net1.weight, b (16 bytes).",
        "cuda:1, parameter: net2.weight (8 bytes).",
    )
    assert lines_of(check, Code.WRONG_DEVICE, seen({})) == ()
    assert lines_of(check, Code.WRONG_VALUE, seen({"placement": own})) == ()


def test_a_student_sees_when_each_gpu_worked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "en")
    lap: Value = {
        "profile": "v100", "elapsed": 0.02, "serial": 0.02, "ideal": 0.01,
        "devices": {"cuda:0": {"busy": 0.01}, "cuda:1": {"busy": 0.01}},
        "idle": {}, "critical": {}, "gaps": [],
        "rows": [["cuda:0", 0.0, 0.01, "forward"], ["cuda:1", 0.01, 0.02, "forward"]],
    }  # fmt: skip
    check = Overlap(id="overlaps", points=1, item="lap")
    assert lines_of(check, Code.NOT_OVERLAPPED, seen({"lap": lap})) == (
        "When each GPU worked, from 0 to 20.0 ms: █ forward or update, ▒ backward, → copying, "
        "· nothing.",
        f"cuda:0  {'█' * 28}{'·' * 28}",
        f"cuda:1  {'·' * 28}{'█' * 28}",
    )
    assert lines_of(check, Code.NOT_OVERLAPPED, seen({"lap": "late"})) == ()
