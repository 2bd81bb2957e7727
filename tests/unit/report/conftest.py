"""A small assignment and a hand-in that meets every status."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from grader.assignment.types import Assignment
from grader.report.build import RunRecord, build_report
from grader.report.model import Environment, FileInfo, IsolationInfo, Report, SubmissionInfo, Timing
from grader.sandbox.host.processes import Tier
from grader.verdict import (
    Basis,
    Code,
    Message,
    Owner,
    Status,
    Verdict,
    deferred,
    failed,
    fault,
    passed,
)

Verdicts = dict[str, dict[str, Verdict]]


def _close(name: str, points: float, **more: object) -> dict[str, object]:
    return {"kind": "close", "id": name, "points": points, "rtol": 1e-5, "atol": 1e-6, **more}


@pytest.fixture
def assignment() -> Assignment:
    case = [{"id": "square"}, {"id": "wide", "visibility": "hidden"}]
    return Assignment.model_validate(
        {
            "schema": "torchgrade/assignment/v1",
            "id": "toy",
            "version": "2026.1",
            "title": "A toy",
            "hand_in": ["toy.py"],
            "questions": [
                {
                    "id": "multiply",
                    "title": "Multiply two batches",
                    "points": 5,
                    "cases": case,
                    "checks": [
                        _close("values", 3),
                        {"kind": "shape", "id": "shape", "points": 1},
                        {"kind": "unmodified", "id": "inputs", "points": 1},
                    ],
                },
                {
                    "id": "normalize",
                    "title": "Normalize columns",
                    "points": 5,
                    "cases": case,
                    "checks": [
                        _close("values", 4),
                        _close("secret", 1, visibility="hidden"),
                    ],
                },
                {
                    "id": "on_gpu",
                    "title": "Multiply on the GPU",
                    "points": 5,
                    "needs": {"cuda": 1},
                    "cases": case,
                    "checks": [_close("values", 5)],
                },
            ],
        }
    )


@pytest.fixture
def submission() -> SubmissionInfo:
    return SubmissionInfo(
        id="team-7",
        files=(FileInfo(path="toy.py", sha256="ab" * 32),),
        digest="cd" * 32,
        notes=("toy.ipynb was read as toy.py: 3 code cells.",),
    )


@pytest.fixture
def environment() -> Environment:
    return Environment(
        torch="2.4.0",
        python="3.11.2",
        platform="Linux x86_64",
        device="cpu",
        isolation=IsolationInfo(
            tier=Tier.FULL,
            mechanisms=("namespaces", "landlock", "seccomp"),
            proved={"write_outside": "EACCES", "socket": "EPERM"},
        ),
        seed=598,
        grader_version="0.1.0",
    )


@pytest.fixture
def record(environment: Environment) -> RunRecord:
    timing = Timing(seconds=1.25, questions={"multiply": 0.5}, phases={"reference": 0.25})
    return RunRecord(environment, timing, assignment_digest="ef" * 32)


@pytest.fixture
def verdicts() -> Verdicts:
    wrong = Message(
        "wrong_value",
        {
            "mismatched": 3, "total": 12, "percent": 25.0, "abs_diff": 0.5, "abs_index": [0, 1],
            "rel_diff": 2.0, "rel_index": [2, 3], "atol": 1e-6, "rtol": 1e-5, "where": "result",
        },
    )  # fmt: skip
    secret = Message(
        "raised",
        {"type": "ValueError", "message": "x is 0.125", "line": 12, "file": "toy.py"},
    )
    return {
        "multiply": {
            "values": passed(),
            "shape": passed(),
            "inputs": Verdict(
                Status.FAILED,
                Code.INPUT_MODIFIED,
                Owner.STUDENT,
                message=Message("input_modified", {"name": "x", "mismatched": 6, "total": 24}),
                basis=Basis.CLAIM,
                case="square",
            ),
        },
        "normalize": {
            "values": Verdict(
                Status.PARTIAL,
                Code.WRONG_VALUE,
                Owner.STUDENT,
                credit=0.5,
                message=wrong,
                evidence={"abs_diff": float("nan"), "first": [0.1, float("inf")]},
                case="square",
            ),
            "secret": Verdict(
                Status.FAILED,
                Code.RAISED,
                Owner.STUDENT,
                message=secret,
                evidence={"trace": "Traceback:\n  x is 0.125"},
                case="wide",
                hidden=True,
            ),
        },
        "on_gpu": {"values": deferred(Code.NO_DEVICE, Message("no_device", {"cuda": 1}))},
    }


@pytest.fixture
def build(
    assignment: Assignment, submission: SubmissionInfo, record: RunRecord
) -> Callable[[Verdicts], Report]:
    return lambda verdicts: build_report(assignment, submission, verdicts, record)


@pytest.fixture
def report(build: Callable[[Verdicts], Report], verdicts: Verdicts) -> Report:
    return build(verdicts)


@pytest.fixture
def broken(build: Callable[[Verdicts], Report], verdicts: Verdicts) -> Report:
    """A run in which the sandbox failed on one question and hostile text came back on another."""
    verdicts["multiply"] = dict.fromkeys(
        ("values", "shape", "inputs"),
        fault(
            Code.SANDBOX_FAILED,
            Owner.INFRASTRUCTURE,
            Message("sandbox_failed", {"detail": "fork: out of memory"}),
        ),
    )
    hostile = "[red]<b>hi</b>[/red] \x1b[31m**x**\r\n\u202e=1+1"
    verdicts["normalize"]["values"] = failed(
        Code.RAISED,
        Message("raised", {"type": "E", "message": hostile, "line": 3, "file": "toy.py"}),
    )
    return build(verdicts)
