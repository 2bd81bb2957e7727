"""Whatever a process answers, its submission has a verdict of its own and the class goes on.

Submissions are graded by the real workers of a batch; only their processes are not real.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hostile_process import HostileSandbox, answers_of

from grader.assignment.types import Question
from grader.batch import local
from grader.batch.discover import ClassSubmission
from grader.batch.graded import GradedSubmission
from grader.batch.local import LocalWorkers
from grader.batch.schedule import Answer, WorkItem, grade_all, perform
from grader.checks import judge
from grader.grading import Grader, Options
from grader.report.model import CheckResult, Report, ReportStatus
from grader.run.materials import Materials, load_materials
from grader.sandbox.host.open import open_sandbox
from grader.verdict import Code, Owner, Status

ASSIGNMENT = Path(__file__).parents[2] / "assignments/pytorch101/assignment.yml"
SECONDS = 2.0
"""Deadline of a call: each answer that never comes takes as long."""

JOBS = 12
"""Workers of the batch: more than there are cores, since most of the time they wait."""

MOST_MEMORY = 300 * 2**20
_BUSY = "the machine was too busy"
"""Promised to a submission that got no core: its points wait, whatever it would have answered."""

UNDECIDED = {Code.NEEDS_REVIEW, Code.NOT_TIMED, Code.NO_DEVICE}
"""Codes that leave points pending although nothing went wrong: for a person, or for a clock."""


def _with_every_kind(materials: Materials) -> tuple[Question, ...]:
    """Return the fewest first questions that have every kind of check of the assignment."""
    known: set[str] = set()
    chosen = []
    for question in materials.assignment.questions:
        kinds = {check.kind for check in question.checks}  # type: ignore[attr-defined]
        if kinds - known:
            chosen.append(question)
            known |= kinds
    return tuple(chosen)


@pytest.fixture(scope="module")
def grader() -> Grader:
    # Known mistakes would be run by these processes, too, and prices would wait for them.
    materials = replace(load_materials(ASSIGNMENT), mistakes=())
    hasty = materials.assignment.limits.model_copy(update={"seconds": SECONDS})
    chosen = {
        question.id: question.model_copy(update={"limits": hasty})
        for question in _with_every_kind(materials)
    }
    options = Options(3, "virtual", tuple(chosen))
    with open_sandbox("auto") as sandbox:
        reference = Grader(materials, sandbox, options)
        reference.prepare()
        changed = materials.assignment.model_copy(
            update={
                "questions": tuple(
                    chosen.get(question.id, question) for question in materials.assignment.questions
                )
            }
        )
        grader = Grader(replace(materials, assignment=changed), sandbox, options)
        plan = [replace(each, question=chosen[each.question.id]) for each in reference.plan]
        grader.adopt(plan, reference.reference_runs)
    return grader


@pytest.mark.parametrize(
    ("replies", "stalls"),
    [(60, 0.01), pytest.param(150, 0.01, marks=pytest.mark.heavy)],
)
def test_hostile_replies_cost_their_submission_and_nobody_else(
    grader: Grader,
    replies: int,
    stalls: float,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Two processes at least for each question: one dies over a visible case, one over a hidden one.
    submissions = replies // (2 * len(grader.plan)) + 1
    answers = answers_of(grader.plan, grader.reference_runs)
    before = _peak()

    def measured(grader: Grader, work: WorkItem, out: Path) -> Answer:
        begun = time.process_time()
        answer = perform(grader, work, out)
        if isinstance(answer, GradedSubmission):
            told = (work.submission.name, time.process_time() - begun, _peak() - before)
            ended = answer.run.status != ReportStatus.INCOMPLETE
            with (tmp_path / "measured").open("a") as file:
                file.write(json.dumps([*told, ended]) + "\n")
        return answer

    monkeypatch.setattr(local, "perform", measured)
    # A check that waits for another one hides what its own judge came to: here, none may raise.
    monkeypatch.setattr(judge, "_judge", lambda check, *seen: check.judge(*seen))
    hand_ins = []
    for number in range(submissions):
        path = tmp_path / f"s{number}" / "pytorch101.py"
        path.parent.mkdir()
        path.write_text(f"seed = {number}\n")
        hand_ins.append(ClassSubmission(path.parent.name, path))
    workers = LocalWorkers(
        grader, lambda: HostileSandbox(answers, stalls), tmp_path / "out", jobs=JOBS
    )
    graded = list(grade_all(workers, hand_ins, lambda _: False))

    assert {each.submission.name for each in graded} == {each.name for each in hand_ins}
    checks = [
        check
        for each in graded
        for question in each.report.questions
        if question.id in grader.reference_runs
        for check in question.checks
    ]
    assert not [check for check in checks if not _is_the_submissions(check)]
    assert Code.PROTOCOL_VIOLATION in {check.code for check in checks}
    incomplete = [each for each in graded if each.report.status is ReportStatus.INCOMPLETE]
    assert not [each for each in incomplete if not _starved(each.report)]
    lines = [json.loads(line) for line in (tmp_path / "measured").read_text().splitlines()]
    # No worker died: each submission was graded once, but for what got no core and was run again.
    assert {name for name, *_ in lines} == {each.name for each in hand_ins}
    assert max(Counter(name for name, *_, ended in lines if ended).values()) == 1
    allowed = SECONDS * sum(len(planned.cases) for planned in grader.plan)
    assert max(seconds for _, seconds, *_ in lines) < allowed
    assert max(grown for *_, grown, _ in lines) < MOST_MEMORY


def _is_the_submissions(check: CheckResult) -> bool:
    if check.status is Status.DEFERRED:
        return check.code in UNDECIDED
    if check.code is Code.SANDBOX_FAILED and _BUSY in check.message:
        return True
    return check.status is not Status.ERROR and check.owner in (None, Owner.STUDENT)


def _starved(report: Report) -> bool:
    """Tell whether a submission got no core: it is run again, and nothing of it is lost."""
    failed = [check for _, check in report.checks() if check.code is Code.SANDBOX_FAILED]
    return bool(failed) and all(_BUSY in check.message for check in failed)


def _peak() -> int:
    """Return the most memory that this process had at a time, in bytes."""
    status = Path("/proc/self/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024
