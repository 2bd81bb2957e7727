"""Gradescope's ``results.json``, made by gradescope-utils' own ``JSONTestRunner``.

A report becomes a unittest suite: one test for each question, and a second test for those of its
checks that have another visibility. Failed tests come first. The runner writes the document. A
post-processor then changes four things:

* Gradescope hides a skipped test and its points. So no test is skipped here: pending points get a
  row of their own, and a line at the top.
* ``execution_time`` is removed. A submission could reveal hidden inputs by how long it works.
* Gradescope hides a leaderboard test that failed. So no check is a leaderboard test.
* Every text is marked as plain ``text``. HTML, Markdown and ANSI sequences of a submission are
  shown, not interpreted.

Students see this file, so it holds only each check's ``student_message``. If the grader itself
failed anywhere, the document has no ``score``, neither at the top nor in a test. Gradescope then
reports a failed autograder instead of a grade.
"""

from __future__ import annotations

import io
import math
import unittest
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradescope_utils.autograder_utils.decorators import number, partial_credit, tags, visibility
from gradescope_utils.autograder_utils.json_test_runner import JSONTestRunner

from grader.report.build import PLACES, question_status
from grader.report.lateness import LateCost
from grader.report.merge import sums
from grader.report.messages.catalogue import current
from grader.report.messages.language import current_language
from grader.report.messages.words import Words
from grader.report.model import (
    CheckResult,
    QuestionResult,
    Report,
    ReportStatus,
    in_language,
    json_bytes,
)
from grader.report.summary import MARKS, amount, notices, told_together, unread, worth
from grader.store.files import write_atomic
from grader.text import inert
from grader.verdict import Status, Visibility

RESULTS_FILE = "results.json"
_MAX_NAME = 200
_TEXT_FIELDS = ("output_format", "test_output_format", "test_name_format")

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _TestRow:
    """Checks of a question that the same people see at the same time.

    Attributes:
        number: Place of the question in the assignment, and of the row in it.
    """

    number: str
    question: QuestionResult
    visibility: Visibility
    checks: tuple[CheckResult, ...]

    @property
    def points(self) -> dict[str, float]:
        counted = (check.max_score for check in self.checks if not check.bonus)
        return sums(round(math.fsum(counted), PLACES), self.checks)

    @property
    def status(self) -> Status:
        return question_status(self.checks, **self.points)


_ORDER = {Status.DEFERRED: 1, Status.ERROR: 1, Status.SKIPPED: 2, Status.PASSED: 3}
"""Of rows, and of lines in them: what failed, what is open, what was not tried, what passed."""


def gradescope_results(report: Report, late: LateCost | None = None) -> Document:
    """Return the document that Gradescope reads.

    Args:
        report: What the work is worth, which is the score.
        late: What lateness takes from that, where there is a policy on it.
    """
    rows = list(_rows(in_language(report, current_language())))
    finished: Document = {}

    def take(document: Document) -> None:
        _finish(document, report, rows, late)
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


def write_results(report: Report, folder: Path, late: LateCost | None = None) -> Path:
    """Write ``results.json`` into a folder, made if absent, and return its path.

    Args:
        report: What the work is worth.
        folder: Where to.
        late: What lateness takes from that.

    Raises:
        UsageError: The folder cannot be made or written.
        InfrastructureError: The disk is full or broken.
    """
    path = folder / RESULTS_FILE
    write_atomic(path, json_bytes(gradescope_results(report, late)))
    return path


def _rows(report: Report) -> list[_TestRow]:
    rows = []
    for major, question in enumerate(report.questions, start=1):
        groups: dict[Visibility, list[CheckResult]] = {}
        for check in question.checks:
            groups.setdefault(check.visibility, []).append(check)
        for minor, (shown, checks) in enumerate(groups.items(), start=1):
            number = f"{major}" if len(groups) == 1 else f"{major}.{minor}"
            rows.append(_TestRow(number, question, shown, tuple(checks)))
    return sorted(rows, key=lambda row: _ORDER.get(row.status, 0))


def _suite(rows: list[_TestRow]) -> unittest.TestSuite:
    methods = {f"test_{index}": _method(row) for index, row in enumerate(rows)}
    case = type("Checks", (unittest.TestCase,), methods)
    return unittest.TestSuite(case(name) for name in methods)


def _method(row: _TestRow) -> Callable[..., None]:
    def test(_: unittest.TestCase, set_score: Callable[[float], None]) -> None:
        set_score(row.points["score"])

    extra = f" ({current().label('bonus')})" if row.question.bonus else ""
    # The runner takes the first line of the docstring as the test's name.
    test.__doc__ = inert(f"{row.question.id}: {row.question.title}{extra}", _MAX_NAME)
    codes = dict.fromkeys(check.code.value for check in row.checks)
    devices = dict.fromkeys(tag for check in row.checks for tag in _device_tag(check))
    for decorator in (
        partial_credit(row.points["max_score"]),
        number(row.number),
        visibility(row.visibility.value),
        tags(row.question.id, *codes, *devices),
    ):
        test = decorator(test)
    return test


def _device_tag(check: CheckResult) -> tuple[str, ...]:
    return ("virtual_gpu",) if check.device.startswith("virtual") else ()


def _finish(
    document: Document, report: Report, rows: list[_TestRow], late: LateCost | None
) -> None:
    complete = report.status is not ReportStatus.INCOMPLETE
    for test, row in zip(document["tests"], rows, strict=True):
        _finish_test(test, row, complete)
    # Always empty, as no check is a leaderboard test; an empty one would be shown as a page.
    del document["leaderboard"]
    document.update(dict.fromkeys(_TEXT_FIELDS, "text"))
    del document["execution_time"]
    lost = unread(report)
    # Of a file that cannot be read every row says the same: it stands on top as well.
    top = [lost.student_message] if lost is not None else []
    words = current()
    lines = [*top, *notices(report, words), *report.submission.notes, *_late(report, late, words)]
    document["output"] = "\n".join(filter(None, lines))
    document["extra_data"] = {
        "report_schema_version": report.schema_version,
        "status": report.status.value,
        "pending": report.pending,
    } | ({"lateness": late.as_json} if late else {})
    document["score"] = report.score
    if not complete:
        # Gradescope then reports a failed autograder, and a student sees no zero that the grader
        # caused.
        del document["score"]


def _late(report: Report, late: LateCost | None, words: Words) -> list[str]:
    if late is None:
        return []
    # What counts would tell the points of checks that students are not to see, or not yet.
    whole = all(check.visibility is Visibility.VISIBLE for _, check in report.checks())
    return late.lines(report, whole, words)


def _finish_test(test: Document, row: _TestRow, complete: bool) -> None:
    test["name_format"] = test["output_format"] = "text"
    test["output"] = "\n".join(_lines(row))
    pending = row.points["pending"]
    test["extra_data"] = {"status": row.status.value, "pending": pending}
    if pending or row.status.open:
        # Neither passed nor failed; the field is optional.
        del test["status"]
        test["name"] = f"[{current().label('deferred')}] {test['name']}"
        test["tags"] = [*test["tags"], "pending"]
    elif row.status is Status.SKIPPED:
        # Not judged, so not failed either: what is required of it failed, in a row of its own.
        del test["status"]
    else:
        # Checks worth nothing lose no points, which the runner takes for a pass.
        test["status"] = "passed" if row.status is Status.PASSED else "failed"
    if not complete:
        del test["score"]


def _lines(row: _TestRow) -> Iterator[str]:
    """Yield a line for each check, or for several with one message; what failed comes first."""
    ordered = sorted(row.checks, key=lambda check: _ORDER.get(check.status, 0))
    for group in told_together(ordered):
        first = group[0]
        message = f": {first.student_message}" if first.student_message else ""
        # What the grader failed at waits for another run, as what is deferred does.
        mark = MARKS[Status.DEFERRED if first.status is Status.ERROR else first.status]
        yield f"{mark} {', '.join(map(_with_points, group))}{message}"


def _with_points(check: CheckResult) -> str:
    words = current()
    points = f"{amount(check.score)}/{worth(check, words.label('bonus'))}"
    if check.pending:
        points = f"{points}, {amount(check.pending)} {words.label('deferred')}"
    return f"{check.id} ({points})" if check.max_score else check.id
