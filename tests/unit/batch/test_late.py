"""What lateness costs, to the second."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.batch.discover import ClassSubmission, Student
from grader.batch.grades import Lateness, LatePolicy, read_policy
from grader.errors import UsageError
from grader.report.html.render import Labels
from grader.report.lateness import LateCost
from grader.report.model import Report

DUE = dt.datetime(2026, 10, 1, 14, 59, tzinfo=dt.timezone.utc)
MINA = Student("Mina Park", "mina@example.edu", "0042")


def submission(**late: float) -> ClassSubmission:
    return ClassSubmission("submission_1", Path("x"), (MINA,), DUE + dt.timedelta(**late))


def policy(**more: Any) -> LatePolicy:
    content = {"due": DUE, "grace_minutes": 10, "per_day": 0.1, "most": 0.25, **more}
    return LatePolicy.model_validate(content)


@pytest.mark.parametrize(
    ("late", "penalty"),
    [
        ({"days": -3}, 0.0),
        ({"minutes": 10}, 0.0),
        ({"minutes": 10, "seconds": 1}, 0.1),
        ({"days": 1}, 0.1),
        ({"days": 1, "seconds": 1}, 0.2),
        ({"days": 2, "seconds": 1}, 0.25),
        ({"days": 300}, 0.25),
    ],
)
def test_each_day_begun(late: dict[str, float], penalty: float) -> None:
    assert policy().lateness(submission(**late)).penalty == pytest.approx(penalty)


def test_what_comes_after_it_closed_earns_nothing() -> None:
    closing = policy(closes=DUE + dt.timedelta(days=2))
    assert closing.lateness(submission(days=2)).penalty == pytest.approx(0.2)
    assert closing.lateness(submission(days=2, seconds=1)).penalty == 1.0


def test_what_was_received_counts_whatever_the_platform_tells() -> None:
    told = policy(received={"MINA@example.edu": DUE + dt.timedelta(days=1, seconds=1)})
    unknown = replace(submission(), created_at=None, late=True)
    assert policy().lateness(unknown).penalty is None
    assert told.lateness(unknown).penalty == pytest.approx(0.2)
    assert told.lateness(submission(days=-3)).penalty == pytest.approx(0.2)
    other = replace(unknown, name="submission_2", students=())
    assert told.lateness(other).penalty is None
    told.refuse_strangers([submission()])
    with pytest.raises(UsageError, match="received for mína"):
        policy(received={"mína": DUE}).refuse_strangers([submission()])


@pytest.mark.parametrize("name", ["mina@example.edu", "MINA@example.edu", "0042", "submission_1"])
def test_an_extension_by_any_name(name: str) -> None:
    longer = policy(extensions={name: DUE + dt.timedelta(days=9)}, closes=DUE)
    assert longer.lateness(submission(days=9)) == Lateness(0.0, 0.0)
    assert longer.lateness(submission(days=10)).penalty == 1.0
    longer.refuse_strangers([submission()])
    with pytest.raises(UsageError, match="extensions for Mína"):
        policy(extensions={"Mína": DUE}).refuse_strangers([submission()])


def test_what_nobody_knows_is_left_to_a_person() -> None:
    assert policy().lateness(ClassSubmission("a", Path("a"))) == Lateness(None, None)
    assert policy().lateness(ClassSubmission("a", Path("a"), late=True)) == Lateness(None, None)
    assert policy().lateness(ClassSubmission("a", Path("a"), late=False)) == Lateness(None, 0.0)


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "late.yml"
    path.write_text("due: 2026-10-01T23:59:00+09:00\ngrace_minutes: 10\nper_day: 0.1\nmost: 0.25\n")
    assert read_policy(path) == policy()


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("due: 2026-10-01 23:59:00", "due: .*with their zone"),
        ("due: soon", "due: .*with their zone"),
        ("due: 2026-10-01T23:59:00Z\nper_day: 10", "per_day"),
        ("due: 2026-10-01T23:59:00Z\nper_week: 0.1", "per_week"),
        ("[", "no YAML"),
        (
            "due: 2026-10-01T23:59:00+09:00\nextensions: {a: 2025-10-03T00:00:00Z}",
            "extension of a, .* is before due",
        ),
        ("due: 2026-10-01T23:59:00+09:00\ncloses: 2026-09-01T00:00:00Z", "closes .* before due"),
        ("", "the file"),
    ],
)
def test_a_wrong_file_is_named_with_its_field(tmp_path: Path, content: str, word: str) -> None:
    path = tmp_path / "late.yml"
    path.write_text(content)
    with pytest.raises(UsageError, match=word):
        read_policy(path)


@pytest.mark.parametrize(
    ("attempts", "days", "penalty"),
    [(None, 0, 0.0), (3, 0, 0.0), (5, 0, 0.4), (5, 0.5, 0.5), (99, 0, 1.0)],
)
def test_further_attempts_cost_what_the_policy_says(
    attempts: int | None, days: float, penalty: float
) -> None:
    each = replace(submission(days=days), attempts=attempts)
    late = policy(attempts=3, per_attempt=0.2, grace_minutes=0).lateness(each)
    assert late.penalty == pytest.approx(penalty)
    assert policy(per_attempt=0.2).lateness(replace(submission(), attempts=9)).penalty == 0


def test_attempts_do_not_decide_what_nobody_knows() -> None:
    unknown = ClassSubmission("a", Path("a"), attempts=9)
    assert policy(attempts=3, per_attempt=0.2).lateness(unknown).penalty is None


@pytest.mark.parametrize(
    ("days", "attempts", "penalty", "final", "said"),
    [
        (None, 0, None, None, "When this was handed in is not known yet, so what lateness"),
        (0.0, 0, 0.0, 8.0, ""),
        (-2.0, 0, 0.0, 8.0, ""),
        (0.0, 2, 0.1, 7.2, "Attempts beyond the free ones: 2. That takes 10 % of the score."),
        (1.504, 0, 0.0, 8.0, "Days late: 1.5. That costs nothing."),
        (1.0, 0, 0.2, None, "Days late: 1. That takes 20 % of the score."),
    ],
)  # fmt: skip
def test_what_a_student_reads_of_it(
    days: float | None, attempts: int, penalty: float | None, final: float | None, said: str
) -> None:
    worth = Report.model_construct(max_score=10.0)
    for language in ("en", "ko"):
        told = LateCost(days, attempts, penalty, final).lines(worth, True, Labels(language).words)
        assert bool(told) == bool(said)
        if told and language == "en":
            assert told[0].startswith(said)
