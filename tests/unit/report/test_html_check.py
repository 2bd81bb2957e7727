"""A self-check's result in a notebook: pictures stand below what they are of."""

from __future__ import annotations

from base64 import b64decode
from re import search

import pytest

from grader.report.html.self_check import result_html
from grader.report.messages.language import VARIABLE
from grader.report.model import QuestionResult, Report
from grader.verdict import Code, Status


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "en")


def test_a_picture_is_an_image_in_place_of_lines(report: Report) -> None:
    question = report.questions[0]
    first, second, *_ = (check.id for check in question.checks)
    lines = {first: ("cuda:0  ███···",), second: ("cuda:1 did <nothing>.",)}
    page = result_html(question, details=lines, drawn={first: b"<svg>&</svg>"})
    image = search(
        r'<img style="max-width:100%" alt="([^"]*)" src="data:image/svg[^,]*,([^"]*)">', page
    )
    assert image is not None
    assert image[1] == f"{question.id}, {first}"
    assert b64decode(image[2]) == b"<svg>&</svg>"
    assert "███" not in page
    assert "cuda:1 did &lt;nothing&gt;." in page
    assert "███" in result_html(question, details=lines)


def _all_failed(report: Report, code: Code, message_id: str, text: str) -> QuestionResult:
    changes = {
        "status": Status.FAILED, "code": code, "score": 0.0, "pending": 0.0,
        "message_id": message_id, "student_message": text,
    }  # fmt: skip
    question = report.questions[0]
    checks = tuple(check.model_copy(update=changes) for check in question.checks)
    return question.model_copy(update={"checks": checks, "status": Status.FAILED, "score": 0.0})


def test_a_file_that_cannot_be_loaded_is_told_once_with_its_line(report: Report) -> None:
    question = _all_failed(report, Code.IMPORT_FAILED, "import_failed", "It stopped at line 3.")
    page = result_html(question, details={check.id: ("x = y",) for check in question.checks})
    assert page.count("It stopped at line 3.") == page.count("x = y") == 1


def test_a_hint_is_shown_where_a_terminal_shows_it(report: Report) -> None:
    hints = {"multiply": "Think."}
    wrong = _all_failed(report, Code.WRONG_VALUE, "wrong_value", "Wrong.")
    assert "Hint: Think." in result_html(wrong, hints)
    # Who has no such function needs no hint on how to write it right.
    absent = _all_failed(report, Code.MISSING_FUNCTION, "missing_function", "It has none.")
    assert "Think." not in result_html(absent, hints)
    assert "Think." not in result_html(wrong, {"normalize": "Think."})
