"""Classroom 50's ``result.json`` (``classroom50/result/v1``).

That format knows whole points only, so points are rounded to the nearest; the exact ones are in
``report.json`` and in the text beside the release. An incomplete report becomes no result: the job
fails instead, which there means that the infrastructure did, and it is run again.
"""

from __future__ import annotations

import datetime as dt
import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader.errors import InfrastructureError
from grader.report.comments import comment_text
from grader.report.messages.catalogue import current
from grader.report.model import CheckResult, Place, Report, ReportStatus, json_bytes
from grader.report.summary import amount, worth
from grader.report.view import Audience, view_of
from grader.store.files import write_atomic
from grader.text import inert
from grader.verdict import Status

RESULT_FILE = "result.json"
BODY_FILE = "release-body.md"
_SCHEMA = "classroom50/result/v1"
_MAX_NAME = 200
_FROM_ENVIRONMENT = {
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "assignment_type": "ASSIGNMENT_TYPE",
    "owner": "OWNER",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
    "review": "REVIEW_URL",
}


def classroom50_result(
    report: Report, environment: Mapping[str, str], now: dt.datetime
) -> dict[str, Any]:
    """Return the document.

    Args:
        report: A complete one.
        environment: The job's variables, which name classroom, assignment and commit.
        now: When it was graded, with its time zone.

    Raises:
        InfrastructureError: The report is incomplete.
    """
    if report.status is ReportStatus.INCOMPLETE:
        raise InfrastructureError(
            f"{report.submission.id}: the report is incomplete, so there is no result to give out; "
            "run the job again"
        )
    shown = view_of(report, Audience()).report
    said = _by_check(shown)
    moment = now.astimezone(dt.timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
    about = {name: environment.get(key, "") for name, key in _FROM_ENVIRONMENT.items()}
    document: dict[str, Any] = {
        "schema": _SCHEMA,
        **about,
        "datetime": moment,
        "graded_at": moment,
        # The grade, of which hidden checks are a part.
        "score": _whole(report.score),
        "max-score": _whole(report.max_score),
        "tests": [
            {
                "test-name": inert(f"{question.title}: {check.id}", _MAX_NAME),
                "passed": check.status is Status.PASSED,
                "score": _whole(check.score),
                "max-score": _whole(check.max_score),
                "output": "\n".join(
                    filter(None, [check.message, *said.get((question.id, check.id), ())])
                ),
            }
            for question in shown.questions
            for check in question.checks
        ],
    }
    if environment.get("USERNAME"):
        document["submitted_by"] = {"username": environment["USERNAME"]}
    return document


def _by_check(report: Report) -> dict[Place, list[str]]:
    """Return people's comments on lines by check; each has to be at one, as tests are all there is.

    Without a check of its own a comment is at the first of its question, or of all.
    """
    said: dict[Place, list[str]] = {}
    places = list(report.by_place())
    for comment in report.comments:
        own = [place for place in places if place[0] == comment.question]
        known = [place for place in own if place[1] == comment.check] or own or places
        for place in known[:1]:
            said.setdefault(place, []).append(comment_text(comment, current()))
    return said


def write_classroom50(
    report: Report, folder: Path, environment: Mapping[str, str], now: dt.datetime
) -> Path:
    """Write ``result.json`` and ``release-body.md`` into a folder, and return the former's path.

    Raises:
        UsageError: The folder cannot be made or written.
        InfrastructureError: The report is incomplete, or the disk is full or broken.
    """
    # First, because it refuses an incomplete report: neither file may then be left behind.
    document = classroom50_result(report, environment, now)
    write_atomic(folder / BODY_FILE, _body(report).encode())
    path = folder / RESULT_FILE
    write_atomic(path, json_bytes(document))
    return path


def _whole(points: float) -> int:
    # Not round(): that gives 2 for 2.5, and 4 for 3.5.
    return math.floor(points + 0.5)


def _body(report: Report) -> str:
    label = current().label
    # The whole grade is given out beside this, so it stands on top; the table has what is shown.
    whole, shown = view_of(report, Audience(released=None)), view_of(report, Audience())
    head = [label(name) for name in ("question", "distribution", "open_points")]
    lines = [f"**{label('points', score=amount(report.score), max=worth(report))}**", ""]
    hidden = [label("whole_note")] if shown.withheld[""] else []
    above = [*whole.notices, *hidden, *report.submission.notes]
    lines += [f"{line}\n" for line in above]
    lines += [f"| {' | '.join(head)} |", "| --- | --- | --- |"]
    for each in shown.report.questions:
        points = label("points", score=amount(each.score), max=worth(each, label("bonus")))
        lines.append(f"| `{each.id}` | {points} | {amount(each.pending)} |")
    return "\n".join(lines) + "\n"


JUNIT_FILE = "junit.xml"
_MAX_TEXT = 20_000
_OUTCOME = {
    Status.FAILED: "failure",
    Status.PARTIAL: "failure",
    Status.SKIPPED: "skipped",
    Status.DEFERRED: "skipped",
    Status.ERROR: "error",
}


def junit(report: Report) -> bytes:
    """Return the document, as UTF-8."""
    report = view_of(report, Audience()).report
    checks = list(report.checks())
    outcomes = [_OUTCOME.get(check.status) for _, check in checks]
    suite = ET.Element(
        "testsuite",
        name=inert(report.submission.id, _MAX_NAME),
        tests=str(len(checks)),
        failures=str(outcomes.count("failure")),
        errors=str(outcomes.count("error")),
        skipped=str(outcomes.count("skipped")),
    )
    _properties(suite, score=report.score, max_score=report.max_score, pending=report.pending)
    suite.extend(_case(f"{report.assignment.id}.{question}", check) for question, check in checks)
    root = ET.Element("testsuites", name=report.assignment.id)
    root.append(suite)
    ET.indent(root)
    document: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def write_junit(report: Report, folder: Path) -> Path:
    """Write ``junit.xml`` into a folder, made if absent, and return its path.

    Raises:
        UsageError: The folder cannot be made or written.
        InfrastructureError: The disk is full or broken.
    """
    path = folder / JUNIT_FILE
    write_atomic(path, junit(report))
    return path


def _case(place: str, check: CheckResult) -> ET.Element:
    case = ET.Element("testcase", classname=place, name=check.id)
    _properties(case, score=check.score, max_score=check.max_score, pending=check.pending)
    outcome = _OUTCOME.get(check.status)
    if outcome:
        message = inert(check.message, _MAX_TEXT, keep="\n\t")
        first = message.partition("\n")[0]
        if check.pending:
            label = current().label
            part = {"score": amount(check.pending), "max": amount(check.max_score)}
            first = f"{label('deferred')}: {label('points', **part)}. {first}"
        detail = ET.SubElement(case, outcome, message=first)
        if outcome != "skipped":
            detail.set("type", check.code.value)
            detail.text = message
    return case


def _properties(parent: ET.Element, **points: float) -> None:
    properties = ET.SubElement(parent, "properties")
    for name, value in points.items():
        ET.SubElement(properties, "property", name=name, value=amount(value))
