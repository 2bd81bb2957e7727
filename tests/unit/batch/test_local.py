"""Workers that die: what it costs, whom, and that the class goes on."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from test_schedule import report

from grader.batch import local
from grader.batch.discover import ClassSubmission
from grader.batch.graded import GradedSubmission
from grader.batch.local import LocalWorkers
from grader.batch.schedule import Answer, WorkItem, WorkKind, grade_all
from grader.errors import InfrastructureError
from grader.grading import Examined, Options
from grader.report.model import Report
from grader.run.answer_budget import NO_GUARD, CpuGuard
from grader.verdict import Code

CLASS = [ClassSubmission(name, Path(name)) for name in ("ann", "bob", "bomb", "cem", "dua")]


@dataclass(frozen=True)
class Stub:
    """Stands for a grader."""

    guard: CpuGuard = NO_GUARD
    options: Options = field(default_factory=lambda: Options(0))

    def with_sandbox(self, _: object, guard: CpuGuard) -> Stub:
        return Stub(guard)

    def not_read(self, name: str, reason: str) -> Examined:
        return Examined(told(name, Code.SANDBOX_FAILED, reason), {})

    def not_readable(self, name: str, digest: str) -> Examined:
        return Examined(told(name, Code.PROTOCOL_VIOLATION, digest), {})


def told(name: str, code: Code, reason: str) -> Report:
    """A report that carries a code and words where they can be found again."""
    made = report(name)
    environment = made.environment.model_copy(update={"platform": f"{code.value}: {reason}"})
    return made.model_copy(update={"environment": environment})


def words(graded: GradedSubmission) -> str:
    return graded.report.environment.platform


Act = Callable[[Stub, WorkItem], None]
Grade = Callable[..., dict[str, GradedSubmission]]


@pytest.fixture
def grade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Grade:
    def run(act: Act, jobs: int = 2, **more: object) -> dict[str, GradedSubmission]:
        def perform(grader: Stub, work: WorkItem, _: Path) -> Answer:
            digest = work.submission.name
            if work.kind is WorkKind.READ:
                return digest
            with (tmp_path / "log").open("a") as log:
                log.write(f"{digest}\n")
            act(grader, work)
            return GradedSubmission.of(
                work.submission, report(digest), digest=digest, observations=b"kept"
            )

        # Before the first work forks the workers.
        monkeypatch.setattr(local, "perform", perform)
        workers = LocalWorkers(Stub(), nullcontext, tmp_path / "out", jobs)  # type: ignore[arg-type]
        results = grade_all(workers, CLASS, lambda _: False, **more)  # type: ignore[arg-type]
        return {graded.submission.name: graded for graded in results}

    return run


def begun(folder: Path, name: str) -> int:
    return (folder / "log").read_text().split().count(name)


def dies(phase: str) -> Act:
    def act(grader: Stub, work: WorkItem) -> None:
        if work.submission.name == "bomb":
            with getattr(grader.guard, phase)() if phase else nullcontext():
                os.kill(os.getpid(), signal.SIGKILL)

    return act


@pytest.mark.parametrize(
    ("phase", "expected"),
    [
        ("reading", "protocol_violation: bomb"),
        ("judging", "sandbox_failed: two worker processes ended while it was judged, the second"),
        ("", "sandbox_failed: two worker processes ended while it was graded, the second"),
    ],
)
def test_a_death_costs_one_submission_and_the_class_goes_on(
    grade: Grade, tmp_path: Path, phase: str, expected: str
) -> None:
    graded = grade(dies(phase))

    assert set(graded) == {each.name for each in CLASS}
    assert words(graded["bomb"]).startswith(expected)
    assert all(words(graded[name]) == "x" for name in ("ann", "bob", "cem", "dua"))
    assert begun(tmp_path, "bomb") == 2
    assert (tmp_path / "out/bomb/report.json").is_file()


def test_who_goes_on_later_does_not_repeat_it(grade: Grade, tmp_path: Path) -> None:
    done = grade(dies("reading"))
    again = grade(dies("reading"), done=done)
    assert words(again["bomb"]) == "protocol_violation: bomb"
    assert begun(tmp_path, "bomb") == 2


def test_a_death_that_does_not_come_again_costs_nothing(grade: Grade, tmp_path: Path) -> None:
    def act(grader: Stub, work: WorkItem) -> None:
        if begun(tmp_path, "bomb") == 1:
            dies("reading")(grader, work)

    assert words(grade(act)["bomb"]) == "x"
    assert begun(tmp_path, "bomb") == 2


def test_the_second_try_has_nothing_beside_it(grade: Grade, tmp_path: Path) -> None:
    def act(_: Stub, work: WorkItem) -> None:
        mark = tmp_path / f"{work.submission.name}.at"
        mark.touch()
        if work.submission.name != "bomb":
            time.sleep(0.4)
        elif begun(tmp_path, "bomb") == 1:
            mark.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        else:
            (tmp_path / "beside").write_text(str(sorted(p.name for p in tmp_path.glob("*.at"))))
        mark.unlink()

    grade(act, jobs=4)
    assert (tmp_path / "beside").read_text() == "['bomb.at']"


def test_endless_judging_is_ended(grade: Grade, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "MOST_SECONDS", 0.2)

    def act(grader: Stub, work: WorkItem) -> None:
        with grader.guard.judging():
            while work.submission.name == "bomb":
                pass

    assert "while it was judged" in words(grade(act)["bomb"])


def test_a_fault_of_the_graders_is_recorded_and_stops_nobody(grade: Grade) -> None:
    def act(_: Stub, work: WorkItem) -> None:
        if work.submission.name == "bomb":
            raise KeyError("of ours")

    graded = grade(act)
    assert "sandbox_failed: the grader failed: KeyError: 'of ours'" in words(graded["bomb"])
    assert len(graded) == len(CLASS)


def test_who_stops_early_leaves_no_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def perform(_: Stub, work: WorkItem, __: Path) -> Answer:
        (tmp_path / f"{os.getpid()}.pid").write_text(work.submission.name)
        time.sleep(600)
        return ""

    monkeypatch.setattr(local, "perform", perform)
    workers = LocalWorkers(Stub(), nullcontext, tmp_path, 2)  # type: ignore[arg-type]
    results = grade_all(workers, CLASS, lambda _: False)

    def wait() -> None:
        with suppress(InfrastructureError):
            next(results)

    threading.Thread(target=wait, daemon=True).start()
    while len(list(tmp_path.glob("*.pid"))) < 2:
        time.sleep(0.01)
    workers.close(finished=False)

    for path in tmp_path.glob("*.pid"):
        while _alive(int(path.stem)):
            time.sleep(0.01)


def _alive(pid: int) -> bool:
    try:
        return "Z (zombie)" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
