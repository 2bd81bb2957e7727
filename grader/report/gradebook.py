"""``gradebook.csv``: one row a submission, one column a question.

A cell is empty where there is no number that may stand for a grade: a question whose points are
all pending, the score of an incomplete report. An empty cell is asked about; a 0 is believed.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.report.model import QuestionResult, Report, ReportStatus
from grader.report.summary import amount
from grader.store.files import write_atomic

GRADEBOOK_FILE = "gradebook.csv"
NOTHING = "nothing handed in"
"""Status of a student without a submission."""
# The wide forms too: some spreadsheets fold them to the plain ones on import.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


Columns = Mapping[str, str]
"""Heading → cell."""


def gradebook(
    reports: Sequence[Report], who: Sequence[Columns] = (), late: Sequence[Columns] = ()
) -> str:
    """Return the table as CSV (RFC 4180), in the order of ``reports``.

    Args:
        reports: One a row.
        who: Further columns of each row, after the submission's name: whose it is. Rows beyond
            those of the reports are of students who handed in nothing.
        late: Further columns of each row, at its end: what lateness took.
    """
    questions = list(dict.fromkeys(q.id for report in reports for q in report.questions))
    out = io.StringIO()
    writer = csv.writer(out)
    header = [
        "submission", *_names(who), *questions, "score", "max_score", "pending", "status",
        *_names(late),
    ]  # fmt: skip
    writer.writerow([cell(name) for name in header])
    for number, report in enumerate(reports):
        name, *points = _row(report, questions)
        writer.writerow([name, *_cells(who, number), *points, *_cells(late, number)])
    for number in range(len(reports), len(who)):
        empty = [""] * (len(questions) + 3)
        writer.writerow(["", *_cells(who, number), *empty, NOTHING, *[""] * len(_names(late))])
    return out.getvalue()


def write_gradebook(
    reports: Sequence[Report],
    folder: Path,
    who: Sequence[Columns] = (),
    late: Sequence[Columns] = (),
) -> Path:
    """Write ``gradebook`` as ``gradebook.csv`` into a folder, made if absent; return its path.

    Raises:
        UsageError: The folder cannot be made or written.
        InfrastructureError: The disk is full or broken.
    """
    path = folder / GRADEBOOK_FILE
    write_atomic(path, gradebook(reports, who, late).encode())
    return path


def _names(columns: Sequence[Columns]) -> list[str]:
    return list(columns[0]) if columns else []


def _cells(columns: Sequence[Columns], number: int) -> list[str]:
    return [cell(text) for text in columns[number].values()] if columns else []


def _row(report: Report, questions: Sequence[str]) -> list[str]:
    results = {question.id: question for question in report.questions}
    incomplete = report.status is ReportStatus.INCOMPLETE
    return [
        cell(report.submission.id),
        *(_score(results.get(name)) for name in questions),
        "" if incomplete else amount(report.score),
        amount(report.max_score),
        amount(report.pending),
        report.status.value,
    ]


def _score(question: QuestionResult | None) -> str:
    if question is None or (question.pending and not question.score):
        return ""
    return amount(question.score)


def cell(text: str) -> str:
    """Return text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
