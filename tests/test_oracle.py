"""What the assignments give for the same submissions and inputs, check by check.

A change that is meant to change no grade leaves these files as they are; one that is meant to shows
here what it changes. Left out is what a machine decides: times, environment, versions.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import toy_starter
from labels import ROOT, SUBMISSIONS, TAKES_LONG

from grader.grading import Grader, Options
from grader.report.gradescope import gradescope_results
from grader.report.model import Report
from grader.run.materials import load_materials
from grader.sandbox.host.processes import Sandbox

pytestmark = pytest.mark.heavy

ASSIGNMENTS = [
    pytest.param(name, marks=pytest.mark.release) if name in TAKES_LONG else name
    for name in sorted(path.name for path in (ROOT / "assignments").iterdir())
]
_WITHOUT_SHOWCASE = 2
"""So many wrong submissions stand for an assignment that has no showcase. Where each takes long,
none do: their labels say what they earn."""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with toy_starter.lent() as sandbox:
        yield sandbox


def submissions_of(assignment: str) -> dict[str, Path]:
    """Return the submissions that stand for a class, by name."""
    own = SUBMISSIONS / assignment
    shown = sorted((own / "showcase").glob("*"))
    if not shown and assignment not in TAKES_LONG:
        shown = sorted((own / "wrong").glob("*.py"))[:_WITHOUT_SHOWCASE]
    named = {path.stem: path for path in shown if path.stem not in WAITS}
    return {
        "the_reference": ROOT / "reference" / assignment,
        "the_starter": ROOT / "starter" / assignment,
        **named,
    }


WAITS = {"endless_loop"}
"""Where it is ended follows the machine's speed."""


def lines_of(report: Report) -> Iterator[str]:
    """Yield a line for each check, and one for Gradescope's file."""
    total = f"{report.score:g} of {report.max_score:g}"
    yield f"## {report.submission.id}: {report.status.value}, {total}"
    for question in report.questions:
        for check in question.checks:
            told = _digest(f"{check.message}\n{check.student_message}")
            words = (check.status, check.code, check.owner, check.basis)
            said = " ".join(word.value if word else "nobody" for word in words)
            points = f"{check.score:g}+{check.pending:g}/{check.max_score:g}"
            yield f"{question.id}.{check.id} {said} {points} {told}"
    document = json.dumps(gradescope_results(report), sort_keys=True, ensure_ascii=False)
    yield f"results.json {_digest(document)}"


def _digest(text: str) -> str:
    # Without numbers: another processor rounds the last digits otherwise.
    return hashlib.sha256(re.sub(r"[-+\d.]+(e[-+]?\d+)?", "#", text).encode()).hexdigest()[:8]


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_the_same_submissions_earn_what_they_earned(
    assignment: str, sandbox: Sandbox, golden: Callable[[str, str], None]
) -> None:
    materials = load_materials(ROOT / "assignments" / assignment / "assignment.yml")
    grader = Grader(materials, sandbox, Options(7, "virtual", (), False))
    grader.prepare()
    found = [
        line
        for name, path in submissions_of(assignment).items()
        for line in lines_of(grader.grade(path, name))
    ]
    golden(f"oracle/{assignment}.txt", "\n".join(found) + "\n")
