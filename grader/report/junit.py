"""JUnit XML (pytest's xunit2 family), one test case a check, points as properties.

CI shows it to students, so only visible checks and their ``student_message`` go in; the suite's
points are all of them. Pending points are *skipped*, with the reason; what the grader itself failed
at is an *error*, never a failure. No time is told: how long a submission works can tell of hidden
inputs.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from grader.report.model import CheckResult, QuestionResult, Report
from grader.report.summary import amount, visible
from grader.report.text import inert
from grader.store.files import write_atomic
from grader.verdict import Status

JUNIT_FILE = "junit.xml"
_MAX_NAME = 200
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
    checks = [(q, check) for q in report.questions for check in visible(q)]
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
    suite.extend(_case(report.assignment.id, question, check) for question, check in checks)
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


def _case(assignment: str, question: QuestionResult, check: CheckResult) -> ET.Element:
    case = ET.Element(
        "testcase",
        classname=f"{assignment}.{question.id}",
        name=check.id,
    )
    _properties(case, score=check.score, max_score=check.max_score, pending=check.pending)
    outcome = _OUTCOME.get(check.status)
    if outcome:
        told = inert(check.student_message, _MAX_TEXT, keep="\n\t")
        first = told.partition("\n")[0]
        if check.pending:
            first = f"{amount(check.pending)} of {amount(check.max_score)} points pending. {first}"
        detail = ET.SubElement(case, outcome, message=first)
        if outcome != "skipped":
            detail.set("type", check.code.value)
            detail.text = told
    return case


def _properties(parent: ET.Element, **points: float) -> None:
    properties = ET.SubElement(parent, "properties")
    for name, value in points.items():
        ET.SubElement(properties, "property", name=name, value=amount(value))
