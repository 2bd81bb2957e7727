"""A self-check's result in a notebook: pictures stand below what they are of."""

from __future__ import annotations

from base64 import b64decode
from re import search

import pytest

from grader.report.html.self_check import result_html
from grader.report.messages.language import VARIABLE
from grader.report.model import Report


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
