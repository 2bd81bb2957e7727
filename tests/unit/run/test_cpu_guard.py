"""One submission is graded to an end, whatever its answers do to whoever reads and judges them."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import toy_starter

from grader import grading
from grader.checks.values import Exact
from grader.grading import Grader, Options
from grader.report.model import QuestionResult, Report
from grader.run import answer_budget
from grader.run.answer_budget import bounded
from grader.sandbox.host.processes import Sandbox
from grader.wire import frames

DOUBLE = "def double(x):\n    return x + x\n"


def spins(*_: object, **__: object) -> Any:
    while True:
        pass


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> Grader:
    materials = toy_starter.author(tmp_path_factory.mktemp("toy"))
    grader = Grader(materials, sandbox, Options(1, "cpu", ("double",)))
    grader.prepare()
    return grader


@pytest.fixture
def grader(prepared: Grader, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[Grader]:
    monkeypatch.setattr(answer_budget, "MOST_SECONDS", 0.5)
    monkeypatch.setattr(answer_budget, "_FURTHER_SECONDS", 0.2)
    before = signal.getsignal(signal.SIGPROF)
    yield prepared.with_sandbox(sandbox, bounded())
    assert signal.getsignal(signal.SIGPROF) is before
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def graded(grader: Grader, folder: Path) -> Report:
    (folder / "toy.py").write_text(DOUBLE)
    return grader.grade(folder, "one")


def double(report: Report) -> QuestionResult:
    (found,) = (question for question in report.questions if question.id == "double")
    return found


def codes(report: Report) -> list[str]:
    return [check.code.value for check in double(report).checks]


def pending(report: Report) -> float:
    return sum(check.pending for check in double(report).checks)


def test_an_honest_submission_is_not_touched(grader: Grader, tmp_path: Path) -> None:
    assert codes(graded(grader, tmp_path)) == ["ok", "ok", "ok"]


def test_an_answer_that_is_endless_to_read_breaks_the_protocol(
    grader: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse = frames.parse_header

    def reads(header: memoryview, *rest: Any) -> Any:
        return spins() if b"Reply" in bytes(header) else parse(header, *rest)

    monkeypatch.setattr(frames, "parse_header", reads)
    report = graded(grader, tmp_path)
    assert codes(report) == ["protocol_violation", "requirement_not_met", "requirement_not_met"]
    assert pending(report) == 0


def test_what_is_endless_to_judge_is_pending(
    grader: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grading, "judge_all", spins)
    report = graded(grader, tmp_path)
    assert codes(report) == ["sandbox_failed"] * 3
    assert (report.status.value, pending(report)) == ("incomplete", 4)


def test_each_check_that_is_endless_is_pending_by_itself(
    grader: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Exact, "judge", spins)
    report = graded(grader, tmp_path)
    assert codes(report) == ["sandbox_failed"] * 3
    assert "judging took too long" in (double(report).checks[0].message or "")
