"""With the clock on: what hides a loop is found by its time, what is odd and fast is nobody's work.

On a busy machine a screen may leave a doubt as it was; it is graded again then.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import toy_starter
from labels import read_label

from grader.grading import Grader, Options
from grader.report.model import report_bytes
from grader.run.materials import load_materials
from grader.sandbox.host.processes import Sandbox
from grader.verdict import Basis
from loops.lab import FILES, LOOP, REFERENCE, TIMED, grade, grader, timed_label

ROOT = Path(__file__).parents[2]
SUBMISSIONS = sorted((ROOT / "tests" / "submissions").glob("*/timed/*.py"))
_TRIES = 5

pytestmark = [pytest.mark.heavy, pytest.mark.alone]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with toy_starter.lent_where_clocks_are_read() as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def ready(sandbox: Sandbox) -> Grader:
    return grader(sandbox, REFERENCE + LOOP, clock=True, timed=TIMED)


@pytest.fixture(scope="module")
def ready_for(sandbox: Sandbox) -> Callable[[str], Grader]:
    graders: dict[str, Grader] = {}

    def of(assignment: str) -> Grader:
        if assignment not in graders:
            materials = load_materials(ROOT / "assignments" / assignment / "assignment.yml")
            timed = tuple(q.id for q in materials.assignment.questions if q.timed is not None)
            graders[assignment] = Grader(materials, sandbox, Options(5, "virtual", timed, True))
            graders[assignment].prepare()
        return graders[assignment]

    return of


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if timed_label(path)],
    ids=lambda path: f"{path.parent.name}/{path.stem}",
)
def test_time_settles_what_text_and_behaviour_leave_open(path: Path, ready: Grader) -> None:
    for _ in range(_TRIES):
        found = grade(ready, path).loops
        if found.code.value == timed_label(path):
            break
    assert found.code.value == timed_label(path), (found.message, found.witnesses)
    if found.code.value == "loop_found":
        assert found.basis is Basis.FACT
        assert [item["says"] for item in found.witnesses][2] == "loop"


@pytest.mark.parametrize(
    "path", SUBMISSIONS, ids=lambda path: f"{path.parents[1].name}/{path.stem}"
)
def test_a_submission_that_is_timed_gets_what_its_label_says(
    path: Path, ready_for: Callable[[str], Grader]
) -> None:
    label = read_label(path)
    misses: set[str] | None = None
    settled: set[str] = set()
    for _ in range(_TRIES):
        report: dict[str, Any] = json.loads(
            report_bytes(ready_for(path.parents[1].name).grade(path, path.stem))
        )
        found = set(label.misses(report))
        # A question may be left open, and settled the next time; it is never settled wrongly.
        assert all("no_loops says needs_review" in miss for miss in found), found
        settled |= _settled_by_time(report)
        misses = found if misses is None else misses & found
        if not misses:
            return
    # One may stay open on a busy machine, where time has settled others of the same file.
    assert misses is not None
    assert len(misses) == 1, misses
    assert settled, misses
    pytest.skip(f"left open in each of {_TRIES} tries: {misses}; time settled {sorted(settled)}")


def _settled_by_time(report: dict[str, Any]) -> set[str]:
    return {
        f"{question['id']}.{check['id']}"
        for question in report["questions"]
        for check in question["checks"]
        for witness in check.get("witnesses") or ()
        if witness["name"] == "time" and check["code"] != "needs_review"
    }
