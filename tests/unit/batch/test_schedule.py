"""Who is graded when: each content once, what is timed last, and nobody twice after a kill."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

import pytest

from grader.batch.discover import ClassSubmission
from grader.batch.graded import GradedSubmission
from grader.batch.schedule import Answer, WorkItem, WorkKind, grade_all
from grader.report.model import CheckResult, QuestionResult, Report
from grader.verdict import Code, Status


def report(name: str, score: float = 1.0) -> Report:
    return Report.model_validate(
        {
            "assignment": {"id": "toy", "version": "1"},
            "submission": {"id": name},
            "score": score, "max_score": 5, "pending": 0, "status": "graded", "questions": [],
            "environment": {
                "torch": "2", "python": "3", "platform": "x", "device": "cpu",
                "isolation": {"tier": "full"}, "seed": 1, "grader_version": "0",
            },
        }
    )  # fmt: skip


class Bench:
    """Workers that do everything at once; the digest of a hand-in is its path's name."""

    def __init__(self) -> None:
        self.log: list[tuple[str, str, bool]] = []
        self.closed: bool | None = None

    def submit(self, work: WorkItem) -> Future[Answer]:
        name, digest = work.submission.name, Path(str(work.submission.path)).name
        if work.kind is not WorkKind.READ:
            self.log.append((work.kind.value, name, work.clock))
        future: Future[Answer] = Future()
        score = 2.0 if work.clock else 1.0
        made = report(name, score)
        if work.first is not None:
            made = work.first.run.model_copy(update={"submission": made.submission})
        kept = b"kept" if work.kind is WorkKind.GRADE else None
        graded = GradedSubmission.of(work.submission, made, digest=digest, observations=kept)
        future.set_result(digest if work.kind is WorkKind.READ else graded)
        return future

    def close(self, finished: bool) -> None:
        self.closed = finished


def submission(name: str, content: str) -> ClassSubmission:
    return ClassSubmission(name, Path(content))


def run(
    submissions: list[ClassSubmission], slow: bool = False, **more: object
) -> tuple[Bench, list[GradedSubmission]]:
    bench = Bench()
    awaits = (lambda made: made.score == 1.0) if slow else (lambda _: False)
    return bench, list(grade_all(bench, submissions, awaits, **more))  # type: ignore[arg-type]


CLASS = [
    submission("ann", "x"),
    submission("bob", "y"),
    submission("cem", "x"),
    submission("dua", "x"),
]


def test_identical_ones_run_once() -> None:
    bench, graded = run(CLASS)
    kinds = sorted((kind, name) for kind, name, _ in bench.log)
    assert [kind for kind, _ in kinds] == ["copy", "copy", "grade", "grade"]
    assert sorted(each.report.submission.id for each in graded) == ["ann", "bob", "cem", "dua"]
    assert all(each.observations == b"kept" for each in graded)
    assert bench.closed is True


def test_each_for_itself_if_asked() -> None:
    bench, graded = run(CLASS, once=False)
    assert [kind for kind, *_ in bench.log] == ["grade"] * 4
    assert len(graded) == 4


def test_what_is_timed_comes_last_and_again() -> None:
    bench, graded = run(CLASS, slow=True)
    clocks = [clock for kind, _, clock in bench.log if kind == "grade"]
    assert clocks == [False, False, True, True]
    last = {each.submission.name: each for each in graded}
    assert all(each.timed and each.report.score == 2.0 for each in last.values())
    assert len(graded) == 8


def test_what_was_done_is_not_done_again() -> None:
    done = {
        "ann": GradedSubmission.of(CLASS[0], report("ann", 4.0), digest="x"),
        "bob": GradedSubmission.of(CLASS[1], report("bob", 4.0), digest="changed since"),
    }
    bench, graded = run(CLASS, done=done)
    assert ("grade", "bob", False) in bench.log
    assert not any(kind == "grade" and name != "bob" for kind, name, _ in bench.log)
    scores = {each.submission.name: each.report.score for each in graded}
    assert scores == {"ann": 4.0, "bob": 1.0, "cem": 4.0, "dua": 4.0}


def test_what_was_killed_before_its_timing_is_timed() -> None:
    done = {
        name: GradedSubmission.of(each, report(name), digest="x", timed=False)
        for each in CLASS
        for name in [each.name]
        if str(each.path) == "x"
    }
    bench, graded = run(CLASS, slow=True, done=done)
    assert [kind for kind, name, clock in bench.log if clock and name != "bob"].count("grade") == 1
    last = {each.submission.name: each for each in graded}
    assert {name: each.report.score for name, each in last.items()} == {
        "ann": 2.0, "bob": 2.0, "cem": 2.0, "dua": 2.0,
    }  # fmt: skip


def test_who_stops_early_ends_the_workers() -> None:
    bench = Bench()
    results = grade_all(bench, CLASS, lambda _: False)
    next(results)
    results.close()
    assert bench.closed is False


def test_a_hand_in_without_digest_is_never_like_another() -> None:
    bench, _ = run([submission("ann", ""), submission("bob", "")])
    assert [kind for kind, *_ in bench.log] == ["grade", "grade"]


@pytest.mark.parametrize("count", [1, 2, 30])
def test_everybody_is_graded(count: int) -> None:
    submissions = [submission(f"s{number}", f"c{number % 7}") for number in range(count)]
    _, graded = run(submissions)
    assert {each.submission.name for each in graded} == {each.name for each in submissions}
    assert len(graded) == count


class Starved(Bench):
    """Workers whose sandbox fails so many times for each submission."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.left: dict[str, int] = {}
        self.times = times

    def submit(self, work: WorkItem) -> Future[Answer]:
        name = work.submission.name
        left = self.left.setdefault(name, self.times)
        if work.kind is not WorkKind.GRADE or not left:
            return super().submit(work)
        self.left[name] -= 1
        self.log.append((work.kind.value, name, work.clock))
        future: Future[Answer] = Future()
        digest = Path(str(work.submission.path)).name
        future.set_result(GradedSubmission.of(work.submission, failed(name), digest=digest))
        return future


def failed(name: str) -> Report:
    check = CheckResult(
        id="values", kind="close", status=Status.ERROR, code=Code.SANDBOX_FAILED, score=0,
        max_score=5, pending=5,
    )  # fmt: skip
    question = QuestionResult(
        id="q", title="Q", score=0, max_score=5, pending=5, status=Status.ERROR, checks=(check,)
    )
    return report(name, 0.0).model_copy(update={"questions": (question,), "pending": 5.0})


def test_a_starved_sandbox_is_tried_again_alone_at_the_end() -> None:
    bench = Starved(1)
    graded = list(grade_all(bench, CLASS, lambda _: False))
    assert [name for kind, name, _ in bench.log if kind == "grade"] == ["ann", "bob", "ann", "bob"]
    last = {each.submission.name: each.report.score for each in graded}
    assert last == {"ann": 2.0, "bob": 2.0, "cem": 2.0, "dua": 2.0}


def test_a_machine_that_fails_at_everybody_is_not_tried_for_ever() -> None:
    bench = Starved(99)
    everybody = [submission(f"s{number}", f"{number}") for number in range(9)]
    list(grade_all(bench, everybody, lambda _: False))
    assert len(bench.log) == 9 + 3
