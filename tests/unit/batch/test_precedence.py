"""Whose word on a check counts: the run's, the clock's, another machine's or a person's.

A row is a story: what happened to one submission, step by step, and what its check is worth in the
end. Each step does what the command of that name does with reports.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from former_journal import as_version_1

from grader.batch.changes import with_questions
from grader.batch.decisions import decide, judged_otherwise
from grader.batch.discover import ClassSubmission
from grader.batch.graded import GradedSubmission
from grader.batch.ledger import (
    BatchSettings,
    begin,
    graded_so_far,
    keep,
    record,
    revise,
)
from grader.report.layers import MachineLayer, outdated
from grader.report.merge import Allowed, ConflictError, MergeError, completions
from grader.report.model import Report
from grader.store.journal import JOURNAL_FILE, Journal, open_journal

WORTH = 4.0
Check = dict[str, Any]


def _check(name: str, status: str, code: str, score: float = 0.0, pending: float = 0.0) -> Check:
    return {
        "id": name, "kind": "close", "status": status, "code": code, "score": score,
        "max_score": WORTH, "pending": pending, "message": f"said {code}",
        "student_message": f"said {code}", "needs_gpu": name == "speed",
    }  # fmt: skip


def won(worth: float = WORTH) -> Check:
    """Decided, with all points."""
    return {**_check("speed", "passed", "ok", worth), "max_score": worth}


def lost(worth: float = WORTH) -> Check:
    """Decided, with none."""
    return {**_check("speed", "failed", "too_slow"), "max_score": worth}


def waits(code: str, worth: float = WORTH) -> Check:
    """Open, for a machine or a person."""
    return {**_check("speed", "deferred", code, 0.0, worth), "max_score": worth}


FAULT = _check("speed", "error", "sandbox_failed", 0.0, WORTH)
NOT_RUN = _check("speed", "skipped", "not_run", 0.0, WORTH)
GONE: Check = {**_check("values", "passed", "ok", WORTH), "id": "another"}


def _report(check: Check, tier: str = "full", device: str = "cpu") -> Report:
    """Return a report of two questions; the check is in the first."""
    questions = [
        {
            "id": name, "title": name, "status": each["status"], "checks": [each],
            **{key: each[key] for key in ("score", "max_score", "pending")},
        }
        for name, each in (("f", check), ("g", _check("values", "passed", "ok", WORTH)))
    ]  # fmt: skip
    points = {
        key: sum(each[key] for each in questions) for key in ("score", "max_score", "pending")
    }
    return Report.model_validate(
        {
            "assignment": {"id": "toy", "version": "1"},
            "submission": {"id": "ann"},
            "status": "pending" if check["pending"] else "graded",
            "questions": questions,
            "environment": {
                "torch": "2", "python": "3", "platform": "x", "device": device,
                "isolation": {"tier": tier}, "seed": 1, "grader_version": "0",
            },
            **points,
        }
    )  # fmt: skip


@dataclass
class Story:
    """One submission in a journal."""

    journal: Journal
    out: Path
    allowed: Allowed = field(default_factory=Allowed)

    def now(self) -> GradedSubmission:
        """Return the submission as it is in the journal."""
        (graded,) = graded_so_far(self.journal)
        return graded

    def write(self, report: Report, machines: tuple[MachineLayer, ...] = ()) -> None:
        """Write down that it ran."""
        submission = ClassSubmission("ann", self.out)
        record(self.journal, GradedSubmission.of(submission, report, machines=machines))

    def end(self) -> Report:
        """Return the report as it counts."""
        return self.now().report


Step = Callable[[Story], None]


def run(check: Check) -> Step:
    """``grader batch``."""
    return lambda story: story.write(_report(check))


def timed(check: Check) -> Step:
    """``grader batch --resume``, which times what waits for the clock: it is graded as a whole."""
    return lambda story: story.write(_report(check), story.now().machines)


def rejudged(check: Check) -> Step:
    """``grader rejudge``."""
    return lambda story: revise(story.journal, story.now().with_run(_report(check)))


def regraded(check: Check, *questions: str) -> Step:
    """``grader regrade --questions``."""

    def step(story: Story) -> None:
        now = story.now()
        run = with_questions(now.run, _report(check), questions)
        story.write(run, now.without_machines(questions))

    return step


def run_again(check: Check) -> Step:
    """``grader regrade --students``: a whole submission."""
    return run(check)


def machine(check: Check, tier: str = "full") -> Step:
    """``grader merge`` with a GPU machine's folder."""
    there = _report(check, tier, "cuda ×1")

    def step(story: Story) -> None:
        now = story.now()
        new = completions(now.said, [there], story.allowed)
        revise(story.journal, replace(now, machines=(*now.machines, *new)))

    return step


def person(points: float) -> Step:
    """``grader decide``."""

    def step(story: Story) -> None:
        for made in decide(story.now().said, "f.speed", points, "Read it.", "sam"):
            story.journal.say([("decided", "ann", made.place, made.model_dump_json())])

    return step


def undone(story: Story) -> None:
    """``grader decide --undo``."""
    story.journal.say([("decided", "ann", "f.speed", None)])


def no_gpu(story: Story) -> None:
    """``grader count --without gpu``."""
    keep(story.journal, story.out, gpu="none")


def a_gpu(story: Story) -> None:
    """``grader count --with gpu``."""
    keep(story.journal, story.out, gpu="real")


def accepting(**allowed: bool) -> Step:
    """Options of ``grader merge``."""

    def step(story: Story) -> None:
        story.allowed = replace(story.allowed, **allowed)

    return step


NO_GPU, CLOCK, UNSURE, REVIEW = "no_device", "not_timed", "inconclusive", "needs_review"

STORIES: dict[str, tuple[Sequence[Step], tuple[str, float, float]]] = {
    # A machine fills what is open, and nothing else.
    "a machine fills what waits for a GPU": ([run(waits(NO_GPU)), machine(won())], ("ok", 4, 0)),
    "a machine fills what waits for the clock": (
        [run(waits(CLOCK)), machine(lost())], ("too_slow", 0, 0),
    ),
    "a machine fills what the grader failed at": ([run(FAULT), machine(won())], ("ok", 4, 0)),
    "a machine fills what did not run": ([run(NOT_RUN), machine(won())], ("ok", 4, 0)),
    "a machine fills even what waits for a person": (
        [run(waits(REVIEW)), machine(won())], ("ok", 4, 0),
    ),
    "a machine that agrees changes nothing": ([run(won()), machine(won())], ("ok", 4, 0)),
    "a machine's doubt says more than that there was no GPU": (
        [run(waits(NO_GPU)), machine(waits(REVIEW))], (REVIEW, 0, 4),
    ),
    "a machine's doubt does not replace another doubt": (
        [run(waits(UNSURE)), machine(waits(REVIEW))], (UNSURE, 0, 4),
    ),
    "a machine without a GPU has nothing to say": (
        [run(waits(REVIEW)), machine(waits(NO_GPU))], (REVIEW, 0, 4),
    ),
    "a dispute that is let be leaves the first word": (
        [accepting(conflicts=True), run(won()), machine(lost())], ("ok", 4, 0),
    ),
    "the first machine's word stays where a second one disputes it": (
        [accepting(conflicts=True), run(waits(NO_GPU)), machine(lost()), machine(won())],
        ("too_slow", 0, 0),
    ),
    "an unwalled machine counts where that is accepted": (
        [accepting(unwalled=True), run(waits(NO_GPU)), machine(won(), "none")], ("ok", 4, 0),
    ),
    # What a machine said stays while the run leaves the check open and its worth is the same.
    "the own clock settles what was open": ([run(waits(CLOCK)), timed(lost())], ("too_slow", 0, 0)),
    "the own clock replaces a machine's word": (
        [run(waits(CLOCK)), machine(won()), timed(lost())], ("too_slow", 0, 0),
    ),
    "an own clock that settles nothing leaves a machine's word": (
        [run(waits(CLOCK)), machine(won()), timed(waits(UNSURE))], ("ok", 4, 0),
    ),
    "a machine's word outlasts rejudging": (
        [run(waits(NO_GPU)), machine(won()), rejudged(waits(NO_GPU))], ("ok", 4, 0),
    ),
    "a machine's doubt outlasts rejudging": (
        [run(waits(NO_GPU)), machine(waits(REVIEW)), rejudged(waits(NO_GPU))], (REVIEW, 0, 4),
    ),
    "a machine's word comes back with the worth of its check": (
        [run(waits(NO_GPU)), machine(won()), rejudged(waits(NO_GPU, 3)), rejudged(waits(NO_GPU))],
        ("ok", 4, 0),
    ),
    "a machine's word comes back where the verdict above it is taken back": (
        [run(waits(NO_GPU)), machine(won()), rejudged(lost()), rejudged(waits(NO_GPU))],
        ("ok", 4, 0),
    ),
    "a verdict on what was observed replaces a machine's word": (
        [run(waits(NO_GPU)), machine(won()), rejudged(lost())], ("too_slow", 0, 0),
    ),
    "a machine's word on another worth is outdated": (
        [run(waits(NO_GPU)), machine(won()), rejudged(waits(NO_GPU, 3))], (NO_GPU, 0, 3),
    ),
    "a machine's word is dropped where its question runs again": (
        [run(waits(NO_GPU)), machine(won()), regraded(waits(NO_GPU), "f")], (NO_GPU, 0, 4),
    ),
    "a machine's word stays where another question runs again": (
        [run(waits(NO_GPU)), machine(won()), regraded(waits(NO_GPU), "g")], ("ok", 4, 0),
    ),
    "a machine's word is dropped where the submission runs again": (
        [run(waits(NO_GPU)), machine(won()), run_again(waits(NO_GPU))], (NO_GPU, 0, 4),
    ),
    "a dropped word can be merged again": (
        [run(waits(NO_GPU)), machine(won()), regraded(waits(NO_GPU), "f"), machine(lost())],
        ("too_slow", 0, 0),
    ),
    # A person is above all of them, whatever comes before or after.
    "a person settles what waits for one": ([run(waits(REVIEW)), person(3)], ("decided", 3, 0)),
    "a person is above the run": ([run(won()), person(0)], ("decided", 0, 0)),
    "a person settles what the grader failed at": ([run(FAULT), person(4)], ("decided", 4, 0)),
    "a person is above a machine": (
        [run(waits(NO_GPU)), machine(lost()), person(3)], ("decided", 3, 0),
    ),
    "a person stays above a machine that comes later": (
        [run(waits(NO_GPU)), person(3), machine(lost())], ("decided", 3, 0),
    ),
    "a person stays above the clock": (
        [run(waits(CLOCK)), person(3), timed(lost())], ("decided", 3, 0),
    ),
    "a person stays above rejudging": (
        [run(waits(REVIEW)), person(3), rejudged(won())], ("decided", 3, 0),
    ),
    "a person stays where the question runs again": (
        [run(won()), person(3), regraded(lost(), "f")], ("decided", 3, 0),
    ),
    "a person stays where the submission runs again": (
        [run(won()), person(3), run_again(lost())], ("decided", 3, 0),
    ),
    "a person's last word counts": ([run(won()), person(3), person(1)], ("decided", 1, 0)),
    "a word taken back leaves the run's": ([run(won()), person(3), undone], ("ok", 4, 0)),
    "a word taken back leaves a machine's that came later": (
        [run(waits(NO_GPU)), person(3), machine(lost()), undone], ("too_slow", 0, 0),
    ),
    # A person's word is outdated with its check, and comes back with it.
    "a word on another worth is outdated": (
        [run(waits(REVIEW)), person(3), rejudged(waits(REVIEW, 3))], (REVIEW, 0, 3),
    ),
    "a word on another worth is outdated, and the verdict counts": (
        [run(waits(REVIEW)), person(3), rejudged(won(5))], ("ok", 5, 0),
    ),
    "a word counts again once the worth is back": (
        [run(waits(REVIEW)), person(3), rejudged(won(5)), rejudged(won())], ("decided", 3, 0),
    ),
    "a word on a check that is back counts": (
        [run(waits(REVIEW)), person(3), rejudged(GONE), rejudged(won())], ("decided", 3, 0),
    ),
    # A course without a GPU is laid over the run and machines, and beneath persons.
    "a course without a GPU counts no such check": (
        [run(waits(NO_GPU)), no_gpu], ("not_counted", 0, 0),
    ),
    "a course without a GPU counts no machine's word": (
        [run(waits(NO_GPU)), machine(won()), no_gpu], ("not_counted", 0, 0),
    ),
    "a course without a GPU outdates a person's word": (
        [run(waits(NO_GPU)), person(3), no_gpu], ("not_counted", 0, 0),
    ),
    "with a GPU again everything is back": (
        [run(waits(NO_GPU)), machine(won()), person(3), no_gpu, a_gpu], ("decided", 3, 0),
    ),
    "with a GPU again a machine's word is back": (
        [run(waits(NO_GPU)), machine(won()), no_gpu, a_gpu], ("ok", 4, 0),
    ),
}  # fmt: skip


@pytest.fixture
def story(tmp_path: Path) -> Story:
    setup = BatchSettings(
        assignment="toy", file="toy", version="1", digest="", seed=1, device="cpu",
        questions=(), isolation="auto", clock=False, grader_version="0",
    )  # fmt: skip
    return Story(begin(tmp_path, setup), tmp_path)


@pytest.mark.parametrize("name", STORIES)
def test_whose_word_counts(name: str, story: Story) -> None:
    steps, expected = STORIES[name]
    with story.journal:
        for step in steps:
            step(story)
        report = story.end()
    (check,) = report.questions[0].checks
    assert (check.code.value, check.score, check.pending) == expected
    # The sums follow, whoever spoke last.
    assert report.score == check.score + WORTH
    assert report.pending == check.pending
    assert report.max_score == (WORTH if check.uncounted else check.max_score + WORTH)


@pytest.mark.parametrize("name", STORIES)
def test_a_journal_of_an_earlier_version_says_the_same(name: str, story: Story) -> None:
    steps, _ = STORIES[name]
    with story.journal:
        for step in steps:
            step(story)
        report, said = story.end(), story.now().said
    path = story.out / JOURNAL_FILE
    as_version_1(path)
    with open_journal(path) as story.journal:
        assert story.now().said == said
        assert story.end() == report
        # And so it is once it was written by this version.
        revise(story.journal, story.now())
        assert story.end() == report


def test_a_machine_is_beneath_what_is_judged_anew_in_a_journal_of_an_earlier_version(
    story: Story,
) -> None:
    with story.journal:
        for step in (run(waits(NO_GPU)), machine(won())):
            step(story)
    as_version_1(story.out / JOURNAL_FILE)
    with open_journal(story.out / JOURNAL_FILE) as story.journal:
        for last, (code, names) in (
            (rejudged(waits(NO_GPU)), ("ok", [("f.speed",)])),
            (rejudged(lost()), ("too_slow", [])),
            (rejudged(waits(NO_GPU)), ("ok", [("f.speed",)])),
            (regraded(waits(NO_GPU), "f"), (NO_GPU, [])),
        ):
            last(story)
            report = story.end()
            assert report.questions[0].checks[0].code.value == code
            assert [each.checks for each in report.merged] == names


@pytest.mark.parametrize(
    ("steps", "error"),
    [
        ([run(won()), machine(lost())], ConflictError),
        ([run(lost()), machine(won())], ConflictError),
        ([run(waits(NO_GPU)), machine(won()), machine(lost())], ConflictError),
        ([run(waits(NO_GPU)), machine(won(), "none")], MergeError),
    ],
)
def test_what_nobody_may_settle_by_merging(
    steps: Sequence[Step], error: type[Exception], story: Story
) -> None:
    *before, last = steps
    with story.journal:
        for step in before:
            step(story)
        left = story.end()
        with pytest.raises(error):
            last(story)
        assert story.end() == left


@pytest.mark.parametrize(
    ("after", "is_outdated", "is_otherwise"),
    [
        (waits(REVIEW), False, False),
        (won(), False, True),
        (lost(), False, True),
        (waits(NO_GPU), False, True),
        (waits(REVIEW, 3), True, False),
        (won(5), True, True),
        (GONE, True, False),
    ],
)
def test_what_is_told_of_a_decision_once_the_check_has_changed(
    after: Check, is_outdated: bool, is_otherwise: bool, story: Story
) -> None:
    with story.journal:
        for step in (run(waits(REVIEW)), person(3), rejudged(after)):
            step(story)
        (made,) = story.now().decisions
        found = story.now().said
        assert (outdated(found, made), judged_otherwise(found, made)) == (is_outdated, is_otherwise)
        assert ("decided" in json.dumps(story.end().model_dump(mode="json"))) != is_outdated


def test_a_report_says_which_checks_another_machine_filled(story: Story) -> None:
    filled = [run(waits(NO_GPU)), machine(won())]
    for last, names in (
        (rejudged(waits(NO_GPU)), [("f.speed",)]),
        (rejudged(lost()), []),
        (rejudged(waits(NO_GPU, 3)), []),
        (regraded(waits(NO_GPU), "f"), []),
        (regraded(waits(NO_GPU), "g"), [("f.speed",)]),
        (person(3), [("f.speed",)]),
    ):
        for step in (*filled, last):
            step(story)
        assert [each.checks for each in story.end().merged] == names
    story.journal.close()
