"""A class as a page of Markdown."""

from __future__ import annotations

from grader.report import summary as page
from grader.report.model import Report


def named(report: Report, name: str) -> Report:
    return report.model_copy(
        update={"submission": report.submission.model_copy(update={"id": name})}
    )


def test_every_submission_has_a_row_and_the_class_a_few_lines(report: Report) -> None:
    text = page.summary_page([named(report, "bob"), named(report, "ann")])
    assert text.startswith("## toy: 2 submissions\n")
    assert "| ann | 6 | 15 | 5 | pending |\n| bob | 6 | 15 | 5 | pending |" in text
    assert "- Nobody of 2 who wrote multiply has all its points \\(they have 80% of them\\)" in text


def test_a_name_is_text_and_no_markup(report: Report) -> None:
    text = page.summary_page([named(report, "a|b\n<img src=x>[c](d)")])
    row = text.splitlines()[-1]
    assert row.count(" | ") == 4
    assert "\\<img src=x\\>\\[c\\]\\(d\\)" in row


def test_a_page_is_never_too_large(report: Report) -> None:
    many = [named(report, f"{number:05}") for number in range(page._MOST_ROWS + 3)]
    text = page.summary_page(many)
    assert "and 3 more" in text
    assert len(text.encode()) < 2**20
