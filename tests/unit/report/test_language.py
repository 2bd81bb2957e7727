"""Titles that an author translated, wherever a report is shown in that language."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from grader.assignment.translation import LANGUAGES as OTHERS
from grader.report.gradescope import gradescope_results
from grader.report.html.class_page import ClassRow, class_page, class_view
from grader.report.html.render import Labels
from grader.report.html.submission_page import staff_page, student_page
from grader.report.messages.catalogue import LANGUAGES, VARIABLE
from grader.report.model import Report, in_language
from grader.report.terminal import print_report

KOREAN = "두 묶음의 곱"


@pytest.fixture
def translated(report: Report) -> Report:
    first, *rest = report.questions
    named = first.model_copy(update={"titles": {"ko": KOREAN}})
    about = report.assignment.model_copy(update={"titles": {"ko": "장난감"}})
    return report.model_copy(update={"assignment": about, "questions": (named, *rest)})


def shown(report: Report, language: str) -> list[str]:
    labels, console = Labels(language), Console(width=100, record=True, file=io.StringIO())
    print_report(report, console)
    view = class_view([ClassRow(report, "a.html", "b.html")], labels)
    gradescope = " ".join(test["name"] for test in gradescope_results(report)["tests"])
    pages = [staff_page(report, labels), student_page(report, labels), class_page(view, labels)]
    return [*pages, console.export_text(), gradescope]


def test_pages_terminal_and_gradescope_show_the_title_of_their_language(
    translated: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    for language, there, absent in (
        ("en", "Multiply two batches", KOREAN),
        ("ko", KOREAN, "Multiply two batches"),
    ):
        monkeypatch.setenv(VARIABLE, language)
        for text in shown(translated, language):
            assert there in text
            assert absent not in text
            # What the author has not translated keeps its title.
            assert "Normalize columns" in text


def test_gradescope_says_in_korean_what_is_wrong(
    translated: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    english = gradescope_results(translated)
    monkeypatch.setenv(VARIABLE, "ko")
    korean = gradescope_results(translated)
    assert korean["score"] == english["score"]
    assert korean["tests"][0]["output"] != english["tests"][0]["output"]
    assert "Pending points" in english["output"]
    assert "보류 중" in korean["output"]
    assert "pending" not in korean["output"]


def test_english_leaves_a_report_as_it_is(translated: Report) -> None:
    assert in_language(translated, "en") == translated
    assert in_language(translated, "ko").assignment.title == "장난감"


def test_assignments_can_be_translated_to_what_messages_are_in() -> None:
    assert ("en", *OTHERS) == LANGUAGES
