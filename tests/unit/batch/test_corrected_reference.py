"""The instructor's own solution was wrong, and is corrected once the class is graded."""

from __future__ import annotations

import csv
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from former_journal import as_version_1
from in_process import Here
from observed import seen

from grader.batch.ledger import BatchSettings
from grader.grading import Grader, Options
from grader.report.gradebook import GRADEBOOK_FILE
from grader.run.answers import answers_of
from grader.run.baseline import Baseline
from grader.run.observe import QuestionRun
from grader.store.journal import JOURNAL_FILE
from grader.wire.values import Tensor

BATCH = ("batch", "tiny", "class", "--out", "out", "--seed", 7, "--clock", "off")
THRICE = "def double(x):\n    return x * 3\n\n\ndef negate(x):\n    return -x\n"
FIRST = {"ann": "6", "bob": "6", "cem": "5", "dua": "6", "eli": "0", "fay": "2"}
CORRECTED = {"ann": "2", "bob": "2", "cem": "2", "dua": "2", "eli": "0", "fay": "6"}


@pytest.fixture(autouse=True)
def one_who_was_right_all_along(course: Path) -> None:
    (course / "class" / "fay.py").write_text(THRICE)


def book(course: Path) -> dict[str, str]:
    text = (course / "out" / GRADEBOOK_FILE).read_text()
    return {row["submission"]: row["score"] for row in csv.DictReader(text.splitlines())}


def correct(course: Path, old: str = "x * 2", new: str = "x * 3") -> None:
    path = course / "reference/tiny/tiny.py"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*.json"))}


def forget_answers(course: Path) -> None:
    """Make the journal what an earlier version wrote: no answers, and none that are named."""
    with sqlite3.connect(course / "out" / JOURNAL_FILE) as journal:
        journal.execute("DELETE FROM answered")
        journal.execute("UPDATE graded SET kept = substr(kept, 41) WHERE kept IS NOT NULL")
    journal.close()
    as_version_1(course / "out" / JOURNAL_FILE)


def test_everybody_is_judged_by_the_corrected_reference(
    course: Path, command: Any, capsys: Any
) -> None:
    assert command(*BATCH) == 0
    assert book(course) == FIRST
    correct(course)
    before = contents(course / "out")
    capsys.readouterr()
    assert command("rejudge", "out", "--dry-run") == 0
    assert contents(course / "out") == before
    said = capsys.readouterr().out
    assert "Changed: 5 of 6 submissions. Lose points: 4; gain points: 1." in said
    totals = said[said.index("Total before") :].split()
    assert [name for name in totals if name in FIRST] == ["ann", "bob", "dua", "cem", "fay"]
    assert totals[totals.index("ann") :][:4] == ["ann", "6/6", "2/6", "-4"]
    assert totals[totals.index("fay") :][:4] == ["fay", "2/6", "6/6", "+4"]

    assert command("rejudge", "out") == 0
    assert book(course) == CORRECTED
    assert command("rejudge", "out") == 0
    assert "Changed: 0 of 6 submissions. Lose points: 0; gain points: 0." in capsys.readouterr().out
    assert command("regrade", "out", "--students", "ann") == 0
    assert command(*BATCH, "--resume") == 0
    assert book(course) == CORRECTED
    correct(course, "x * 3", "x * 2")
    assert command("rejudge", "out") == 0
    assert book(course) == FIRST


def test_what_is_not_run_again_is_judged_by_the_corrected_reference(
    course: Path, command: Any
) -> None:
    assert command(*BATCH) == 0
    correct(course)
    assert command("regrade", "out", "--questions", "negate") == 0
    assert book(course) == CORRECTED
    correct(course, "return -x", "return -x * 2")
    assert command("rejudge", "out") == 0
    assert book(course) == {**dict.fromkeys(CORRECTED, "0"), "fay": "4"}


def test_killed_and_begun_under_two_references_each_is_read_with_its_own(
    course: Path, command: Any
) -> None:
    Here.most = 2
    assert command(*BATCH) == 130
    Here.most = 99
    # Not by the grader's leave: only a machine that computes otherwise could bring this about.
    with pytest.MonkeyPatch.context() as patch:
        run = Baseline.prepare

        def otherwise(self: Baseline, *more: Any) -> None:
            run(self, *more)
            self.runs = {name: moved(each, 40) for name, each in self.runs.items()}

        patch.setattr(Baseline, "prepare", otherwise)
        assert command(*BATCH, "--resume") == 0
    assert book(course) == FIRST
    correct(course)
    assert command("rejudge", "out") == 0
    assert book(course) == CORRECTED


def test_a_decision_counts_in_the_totals(course: Path, command: Any, capsys: Any) -> None:
    assert command(*BATCH) == 0
    decided = ("decide", "out", "ann", "double", "--points", 4, "--why", "As the handout says.")
    assert command(*decided) == 0
    correct(course)
    capsys.readouterr()
    assert command("rejudge", "out") == 0
    said = capsys.readouterr().out
    assert "Changed: 5 of 6 submissions. Lose points: 3; gain points: 1." in said
    assert "The grader judges ann double.values otherwise since it was decided" in said
    assert book(course) == {**CORRECTED, "ann": "6"}


@pytest.mark.parametrize("again", [("rejudge", "out"), ("regrade", "out", "--questions", "negate")])
def test_without_the_answers_nothing_is_judged_anew(
    course: Path, command: Any, capsys: Any, again: tuple[str, ...]
) -> None:
    assert command(*BATCH) == 0
    forget_answers(course)
    correct(course)
    assert command(*again) == 2
    said = capsys.readouterr().err
    assert "what the reference answered when this class was graded was not kept" in said
    assert "`grader regrade out --questions double,negate` runs everybody again" in said
    assert book(course) == FIRST
    assert command("regrade", "out", "--questions", "double,negate") == 0
    assert book(course) == CORRECTED
    assert command("rejudge", "out") == 0
    assert book(course) == CORRECTED


def test_a_journal_without_answers_is_gone_on_with(course: Path, command: Any) -> None:
    (course / "class" / "ann.py").rename(course / "ann.py")
    assert command(*BATCH) == 0
    forget_answers(course)
    (course / "ann.py").rename(course / "class" / "ann.py")
    assert command(*BATCH, "--resume") == 0
    assert book(course) == FIRST
    correct(course)
    assert command("rejudge", "out") == 2


def test_another_support_file_is_no_correction_of_the_reference(
    course: Path, command: Any, capsys: Any
) -> None:
    """What ran beside the submission is not what would: it has to run again."""
    path = course / "assignments/tiny/assignment.yml"
    path.write_text(path.read_text().replace("questions:", "support: [helper.py]\nquestions:", 1))
    helper = course / "assignments/tiny/helper.py"
    helper.write_text("ZERO = 0\n")
    reference = course / "reference/tiny/tiny.py"
    right = reference.read_text().replace("x * 2", "x * 2 + helper.ZERO")
    reference.write_text("import helper\n\n\n" + right)
    assert command(*BATCH) == 0
    helper.write_text("ZERO = 1\n")
    capsys.readouterr()
    assert command("rejudge", "out") == 2
    assert "`grader regrade out --questions double,negate`" in capsys.readouterr().err


def moved(run: QuestionRun, steps: int) -> QuestionRun:
    """Return a run of the reference whose answers are so many floats away from what they were."""
    calls = {}
    for key, each in run.observations.items():
        value = each.claims.value
        assert isinstance(value, Tensor)
        data = (np.frombuffer(value.data, "<i4") + steps).tobytes()
        claims = replace(each.claims, value=replace(value, data=data))
        calls[key] = replace(each, claims=claims)
    return replace(run, observations=calls)


@pytest.mark.parametrize("steps", [1, -1])
def test_a_difference_in_the_last_bit_changes_no_verdict(
    course: Path, command: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    path = course / "assignments/tiny/assignment.yml"
    path.write_text(path.read_text().replace(
        "kind: close, rtol: 1.0e-4, atol: 1.0e-4, points: 2", "kind: exact, points: 2"
    ))  # fmt: skip
    assert command(*BATCH) == 0
    assert book(course) == FIRST
    prepare = Baseline.prepare

    def elsewhere(self: Baseline, *more: Any) -> None:
        prepare(self, *more)
        self.runs = {name: moved(run, steps) for name, run in self.runs.items()}

    monkeypatch.setattr(Baseline, "prepare", elsewhere)
    capsys.readouterr()
    assert command("rejudge", "out") == 0
    assert "Changed: 0 of 6 submissions." in capsys.readouterr().out
    assert book(course) == FIRST


def answered(value: Any) -> dict[str, QuestionRun]:
    return {"f": QuestionRun("f", None, None, {"case": seen(value)})}


def array(dtype: str, values: Any, like: str = "") -> Tensor:
    made = np.asarray(values, like or dtype)
    return Tensor(dtype, made.shape, made.tobytes())


BIT = float(np.nextafter(1.0, 2.0))


@pytest.mark.parametrize(
    ("batch", "today", "steady"),
    [
        (1.0, BIT, 1.0),
        (1.0, 1.1, 1.1),
        (float("inf"), 1.7976931348623157e308, 1.7976931348623157e308),
        (1, 2, 2),
        ((1.0, [2.0, 5]), (BIT, [3.0, 6]), (1.0, [3.0, 6])),
        ({"a": 1.0}, {"a": BIT, "b": 2.0}, {"a": 1.0, "b": 2.0}),
        (array("float64", [1.0, 2.0]), array("float64", [BIT, 3.0]), array("float64", [1.0, 3.0])),
        (array("float64", [1.0]), array("float64", [[BIT]]), array("float64", [[BIT]])),
        (array("int64", [1]), array("int64", [2]), array("int64", [2])),
        (array("bfloat16", [0x3F80], "<i2"), array("bfloat16", [0x3F81], "<i2"),
         array("bfloat16", [0x3F80], "<i2")),
        (array("float32", [0x7F800000, -1, 0], "<i4"), array("float32", [0x7F800001, 0, -1], "<i4"),
         array("float32", [0x7F800001, 0, -1], "<i4")),
    ],
)  # fmt: skip
def test_the_batchs_number_is_taken_where_todays_is_next_to_it(
    batch: Any, today: Any, steady: Any
) -> None:
    found = answers_of(answered(batch)).steadying(answered(today))
    assert found["f"].observations["case"].claims.value == steady


def test_an_answer_that_was_too_large_to_be_kept_is_the_same_as_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("grader.run.answers._MOST", 100)
    runs = answered(array("float64", np.arange(99.0)))
    answers = answers_of(runs)
    assert answers.runs == {}
    assert answers.unpack(answers.pack(runs)) == runs


def test_equal_answers_have_one_key_and_others_another(course: Path, prepare: Any) -> None:
    named = BatchSettings.model_construct(file=str(course / "assignments/tiny/assignment.yml"))
    first, second = (_prepared(prepare, named) for _ in range(2))
    assert first.answers.key == second.answers.key
    moved_ = {name: moved(run, 1) for name, run in first.reference_runs.items()}
    assert answers_of(moved_).key != first.answers.key


def _prepared(prepare: Any, named: BatchSettings) -> Grader:
    with prepare(named, Options(7, "cpu")) as grader:
        return grader
