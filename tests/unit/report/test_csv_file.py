from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from grader.report.gradebook import gradebook, write_gradebook
from grader.report.model import Report

TOTALS = ["score", "max_score", "pending", "status"]


def _named(report: Report, name: str) -> Report:
    submission = report.submission.model_copy(update={"id": name})
    return report.model_copy(update={"submission": submission})


def _rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def test_one_row_a_hand_in(report: Report) -> None:
    assert _rows(gradebook([report])) == [
        [
            "submission",
            "multiply",
            "normalize",
            "on_gpu",
            "score",
            "max_score",
            "pending",
            "status",
        ],
        ["team-7", "4", "2", "", "6", "15", "5", "pending"],
    ]


def test_an_incomplete_report_has_no_score(broken: Report) -> None:
    assert _rows(gradebook([broken]))[1] == ["team-7", "", "0", "", "", "15", "10", "incomplete"]


@pytest.mark.parametrize(
    "name", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx", "＝1", "－1", "=cmd|'/c calc'!A1"]
)
def test_formulas_are_neutralised(report: Report, name: str) -> None:
    assert _rows(gradebook([_named(report, name)]))[1][0] == f"'{name}"


@pytest.mark.parametrize("name", ['a,b"c', "two\nlines", "naïve Ω", "plain"])
def test_other_names_come_back_as_they_were(report: Report, name: str) -> None:
    assert _rows(gradebook([_named(report, name)]))[1][0] == name


def test_questions_of_all_reports_are_columns(report: Report) -> None:
    first = report.model_copy(update={"questions": report.questions[:1]})
    second = report.model_copy(update={"questions": report.questions[1:]})
    rows = _rows(gradebook([first, second]))
    assert rows[0][1:4] == ["multiply", "normalize", "on_gpu"]
    assert rows[1][1:4] == ["4", "", ""]


def test_no_reports_make_a_header(tmp_path: Path) -> None:
    path = write_gradebook([], tmp_path)
    assert path.read_bytes() == b"submission,score,max_score,pending,status\r\n"
