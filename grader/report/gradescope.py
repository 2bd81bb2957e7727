"""Gradescope's ``results.json``, made by gradescope-utils' own ``JSONTestRunner``.

A report becomes a unittest suite, one test a check, decorated as any Gradescope suite is; the
runner makes the document and a post-processor closes what it leaves open:

* a skipped test vanishes there, points and all: here no test is skipped, and points that are
  pending get a row and a line on top that say so;
* ``execution_time`` is told there: here it is left out, for a submission could tell of hidden
  inputs by how long it works on them;
* a leaderboard test that fails is invisible there: here a check is never a leaderboard test;
* how text is to be read is left open there: here all of it is ``text``, so that HTML, Markdown
  and ANSI sequences from a hand-in stay what they are.

Students see this file, so of a check only ``student_message`` goes in. If the grader itself failed
anywhere, no ``score`` is in the document, neither on top nor in a test: Gradescope then reports a
failed autograder instead of a grade.
"""

from __future__ import annotations

import io
import unittest
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gradescope_utils.autograder_utils.decorators import number, partial_credit, tags, visibility
from gradescope_utils.autograder_utils.json_test_runner import JSONTestRunner

from grader.report.json_file import json_bytes
from grader.report.model import CheckResult, QuestionResult, Report, ReportStatus
from grader.report.summary import amount, notices
from grader.report.text import inert
from grader.store.atomic import write_atomic
from grader.verdict import Status

RESULTS_FILE = "results.json"
_MAX_NAME = 200
_TEXT_FIELDS = ("output_format", "test_output_format", "test_name_format")

Document = dict[str, Any]
_Row = tuple[str, QuestionResult, CheckResult]


def gradescope_results(report: Report) -> Document:
    """Return the document that Gradescope reads."""
    rows = list(_rows(report))
    finished: Document = {}

    def take(document: Document) -> None:
        _finish(document, report, rows)
        finished.update(document)
        # The runner would write it out, slowly, and it would have to be read again.
        document.clear()

    runner = JSONTestRunner(
        stream=io.StringIO(),
        # Nothing is printed in these tests, and swapping sys.stdout would not be thread-safe.
        buffer=False,
        stdout_visibility="hidden",
        post_processor=take,
    )
    runner.run(_suite(rows))
    return finished


def write_results(report: Report, folder: Path) -> Path:
    """Write ``results.json`` into a folder, made if absent, and return its path.

    Raises:
        UsageError: The folder cannot be made or written.
        InfrastructureError: The disk is full or broken.
    """
    path = folder / RESULTS_FILE
    write_atomic(path, json_bytes(gradescope_results(report)))
    return path


def _rows(report: Report) -> Iterator[_Row]:
    for major, question in enumerate(report.questions, start=1):
        for minor, check in enumerate(question.checks, start=1):
            yield f"{major}.{minor}", question, check


def _suite(rows: list[_Row]) -> unittest.TestSuite:
    methods = {f"test_{index}": _method(row) for index, row in enumerate(rows)}
    case = type("Checks", (unittest.TestCase,), methods)
    return unittest.TestSuite(case(name) for name in methods)


def _method(row: _Row) -> Callable[..., None]:
    position, question, check = row

    def test(_: unittest.TestCase, set_score: Callable[[float], None]) -> None:
        set_score(check.score)

    # The runner takes the first line of the docstring as the test's name.
    test.__doc__ = inert(f"{question.title}: {check.id}", _MAX_NAME)
    for decorator in (
        partial_credit(check.max_score),
        number(position),
        visibility(check.visibility.value),
        tags(question.id, check.kind, check.code.value, *_device_tag(check)),
    ):
        test = decorator(test)
    return test


def _device_tag(check: CheckResult) -> tuple[str, ...]:
    return ("virtual_gpu",) if check.device.startswith("virtual") else ()


def _finish(document: Document, report: Report, rows: list[_Row]) -> None:
    complete = report.status is not ReportStatus.INCOMPLETE
    for test, (_, _, check) in zip(document["tests"], rows, strict=True):
        _finish_test(test, check, complete)
    # Always empty, as no check is a leaderboard test; an empty one would be shown as a page.
    del document["leaderboard"]
    document.update(dict.fromkeys(_TEXT_FIELDS, "text"))
    del document["execution_time"]
    document["output"] = "\n".join(notices(report))
    document["extra_data"] = {
        "report_schema_version": report.schema_version,
        "status": report.status.value,
        "pending": report.pending,
    }
    document["score"] = report.score
    if not complete:
        del document["score"]


def _finish_test(test: Document, check: CheckResult, complete: bool) -> None:
    test["name_format"] = test["output_format"] = "text"
    test["output"] = _output(check)
    test["extra_data"] = {"status": check.status.value, "pending": check.pending}
    if check.pending or check.status in (Status.DEFERRED, Status.ERROR):
        # Neither passed nor failed; the field is optional.
        del test["status"]
        test["name"] = f"[pending] {test['name']}"
        test["tags"] = [*test["tags"], "pending"]
    elif check.status is not Status.PASSED:
        # A check worth nothing loses no points, which the runner takes for a pass.
        test["status"] = "failed"
    if not complete:
        del test["score"]


def _output(check: CheckResult) -> str:
    if not check.pending:
        return check.student_message
    head = f"Pending: {amount(check.pending)} of {amount(check.max_score)} points."
    return f"{head} {check.student_message}".strip()
