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

Students see this file, so it is made from what a platform may show them (``grader.report.view``).
If the grader itself failed anywhere, the document has no ``score``, neither at the top nor in a
test. Gradescope then reports a failed autograder instead of a grade.
"""

from __future__ import annotations

import io
import unittest
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gradescope_utils.autograder_utils.decorators import number, partial_credit, tags, visibility
from gradescope_utils.autograder_utils.json_test_runner import JSONTestRunner

from grader.report.comments import comment_text
from grader.report.lateness import LateCost
from grader.report.messages.catalogue import current
from grader.report.model import CheckResult, LineComment, Report, ReportStatus, json_bytes
from grader.report.summary import MARKS, amount, worth
from grader.report.view import Audience, ReportView, ViewRow, view_of
from grader.store.files import write_atomic
from grader.text import inert
from grader.verdict import Status

RESULTS_FILE = "results.json"
_MAX_NAME = 200
_TEXT_FIELDS = ("output_format", "test_output_format", "test_name_format")

Document = dict[str, Any]


def gradescope_results(report: Report, late: LateCost | None = None) -> Document:
    """Return the document that Gradescope reads.

    Args:
        report: What the work is worth, which is the score.
        late: What lateness takes from that, where there is a policy on it.
    """
    view = view_of(report, Audience(released=None), late)
    finished: Document = {}

    def take(document: Document) -> None:
        _finish(document, view, late)
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
    runner.run(_suite(view.rows))
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


def _suite(rows: Sequence[ViewRow]) -> unittest.TestSuite:
    methods = {f"test_{index}": _method(row) for index, row in enumerate(rows)}
    case = type("Checks", (unittest.TestCase,), methods)
    return unittest.TestSuite(case(name) for name in methods)


def _method(row: ViewRow) -> Callable[..., None]:
    def test(_: unittest.TestCase, set_score: Callable[[float], None]) -> None:
        set_score(row.question.score)

    extra = f" ({current().label('bonus')})" if row.question.bonus else ""
    # The runner takes the first line of the docstring as the test's name.
    test.__doc__ = inert(f"{row.question.id}: {row.question.title}{extra}", _MAX_NAME)
    codes = dict.fromkeys(check.code.value for check in row.question.checks)
    virtual = any(check.device.startswith("virtual") for check in row.question.checks)
    for decorator in (
        partial_credit(row.question.max_score),
        number(row.number),
        visibility(row.visibility.value),
        tags(row.question.id, *codes, *(["virtual_gpu"] if virtual else [])),
    ):
        test = decorator(test)
    return test


def _finish(document: Document, view: ReportView, late: LateCost | None) -> None:
    report = view.report
    complete = report.status is not ReportStatus.INCOMPLETE
    for test, row in zip(document["tests"], view.rows, strict=True):
        _finish_test(test, row, complete)
    # Always empty, as no check is a leaderboard test; an empty one would be shown as a page.
    del document["leaderboard"]
    document.update(dict.fromkeys(_TEXT_FIELDS, "text"))
    del document["execution_time"]
    # Of a file that cannot be read every row says the same: it stands on top as well.
    top = [view.next_step] if view.one_message else []
    lines = [*top, *view.notices, *report.submission.notes, *_said(view.comments)]
    document["output"] = "\n".join(filter(None, lines))
    document["extra_data"] = {
        "report_schema_version": report.schema_version,
        "status": report.status.value,
        "pending": report.pending,
    } | ({"lateness": asdict(late)} if late else {})
    document["score"] = report.score
    if not complete:
        # Gradescope then reports a failed autograder, and a student sees no zero that the grader
        # caused.
        del document["score"]


def _finish_test(test: Document, row: ViewRow, complete: bool) -> None:
    status, pending = row.question.status, row.question.pending
    test["name_format"] = test["output_format"] = "text"
    test["output"] = "\n".join([*map(_line, row.groups), *_said(row.comments)])
    test["extra_data"] = {"status": status.value, "pending": pending}
    if pending or status.open:
        # Neither passed nor failed; the field is optional.
        del test["status"]
        test["name"] = f"[{current().label('deferred')}] {test['name']}"
        test["tags"] = [*test["tags"], "pending"]
    elif status is Status.SKIPPED:
        # Not judged, so not failed either: what is required of it failed, in a row of its own.
        del test["status"]
    else:
        # Checks worth nothing lose no points, which the runner takes for a pass.
        test["status"] = "passed" if status is Status.PASSED else "failed"
    if not complete:
        del test["score"]


def _said(comments: Iterable[LineComment]) -> Iterator[str]:
    return (comment_text(each, current()) for each in comments)


def _line(group: Sequence[CheckResult]) -> str:
    first = group[0]
    message = f": {first.message}" if first.message else ""
    # What the grader failed at waits for another run, as what is deferred does.
    mark = MARKS[Status.DEFERRED if first.status is Status.ERROR else first.status]
    return f"{mark} {', '.join(map(_with_points, group))}{message}"


def _with_points(check: CheckResult) -> str:
    words = current()
    points = f"{amount(check.score)}/{worth(check, words.label('bonus'))}"
    if check.pending:
        points = f"{points}, {amount(check.pending)} {words.label('deferred')}"
    return f"{check.id} ({points})" if check.max_score else check.id
