"""Titles that an author translated, wherever a report is shown in that language."""

from __future__ import annotations

import datetime as dt
import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from grader.assignment.translation import LANGUAGES as OTHERS
from grader.report.ci import BODY_FILE, junit, write_classroom50
from grader.report.gradescope import gradescope_results
from grader.report.html.class_page import ClassRow, class_page, class_view
from grader.report.html.render import Labels
from grader.report.html.submission_page import staff_page, student_page
from grader.report.messages.catalogue import ENGLISH
from grader.report.messages.language import LANGUAGES, VARIABLE
from grader.report.model import Report, ReportStatus, in_language
from grader.report.terminal import print_report
from grader.sandbox.host.processes import Tier

KOREAN = "두 묶음의 곱"
NOW = dt.datetime(2026, 10, 1, tzinfo=dt.timezone.utc)


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


def test_no_sentence_of_the_graders_own_is_left_in_english(
    translated: Report, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, "ko")
    bare = translated.environment.isolation.model_copy(update={"tier": Tier.NONE})
    unofficial = translated.model_copy(
        update={"environment": translated.environment.model_copy(update={"isolation": bare})}
    )
    broken = translated.model_copy(update={"status": ReportStatus.INCOMPLETE})
    told = []
    for report in (broken, translated, unofficial):
        document = gradescope_results(report)
        told += [document["output"], *(test["name"] for test in document["tests"])]
        told.append(junit(report).decode())
    write_classroom50(unofficial, tmp_path, {}, NOW)
    told.append((tmp_path / BODY_FILE).read_text())
    english = {
        word
        for name in ("incomplete_note", "pending_note", "unofficial_note", "deferred", "bonus")
        for word in re.findall(r"[A-Za-z]{5,}", ENGLISH.labels[name])
    }
    # Names of fields, which nobody reads as sentences.
    fields = re.compile(r'"[a-z_]+"|<[^>]*>')
    for text in told:
        assert not english & set(re.findall(r"[A-Za-z]{5,}", fields.sub("", text))), text


def test_english_leaves_a_report_as_it_is(translated: Report) -> None:
    assert in_language(translated, "en") == translated
    assert in_language(translated, "ko").assignment.title == "장난감"


def test_assignments_can_be_translated_to_what_messages_are_in() -> None:
    assert ("en", *OTHERS) == LANGUAGES
