"""A self-check's results on the terminal, in the report's order, as soon as they are there."""

from __future__ import annotations

import io

from rich.console import Console

from grader.report.model import QuestionResult
from grader.report.student import StudentView
from grader.verdict import Status


def result(name: str, score: float = 1.0) -> QuestionResult:
    return QuestionResult(
        id=name,
        title=name.upper(),
        status=Status.PASSED if score else Status.FAILED,
        score=score,
        max_score=1.0,
        pending=0.0,
        checks=(),
    )


def test_a_result_waits_for_those_above_it() -> None:
    out = io.StringIO()
    view = StudentView(Console(file=out), {})
    view.result(result("b"), ["a", "b", "c"])
    assert out.getvalue() == ""
    view.result(result("a"), ["a", "b", "c"])
    assert [line.split()[1] for line in out.getvalue().splitlines()] == ["a", "b"]
