"""A class from its first hand-in to its gradebook, gone on with and gone over again."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from in_process import Here

from grader.batch.class_run import ClassRun
from grader.batch.discover import Found, discover
from grader.batch.ledger import BatchSettings, read_grades, write_grades
from grader.batch.rerun import regrade, rejudge, replay
from grader.cli import batch as cli_batch
from grader.cli import class_run as cli_class
from grader.cli.options import IsolationChoice
from grader.errors import InfrastructureError, UsageError
from grader.grading import Grader, Options
from grader.report.gradebook import GRADEBOOK_FILE
from grader.run.plan import plan_digests
from grader.store.journal import JOURNAL_FILE

Prepare = Callable[[BatchSettings, Options], AbstractContextManager[Grader]]


def setup(course: Path, grader: Grader, **more: object) -> BatchSettings:
    return BatchSettings.model_validate(
        {
            "assignment": "tiny", "file": str(course / "assignments/tiny/assignment.yml"),
            "version": "1", "digest": grader.materials.digest, "seed": 7, "device": "cpu",
            "questions": (),
            "isolation": "auto", "clock": False, "plan": plan_digests(grader.plan),
            "grader_version": "0", **more,
        }
    )  # fmt: skip


@pytest.fixture
def grader(course: Path, prepare: Prepare) -> Grader:
    file = str(course / "assignments/tiny/assignment.yml")
    named = BatchSettings.model_construct(file=file)
    with prepare(named, Options(7, "cpu")) as grader:
        return grader


def grade(course: Path, found: Found, grader: Grader, resume: bool = False, most: int = 99) -> Here:
    out = course / "out"
    out.mkdir(exist_ok=True)
    workers = Here(grader, out, most)
    with ClassRun(out, resume) as run:
        run.begin(setup(course, grader), grader.answers)
        try:
            list(run.grade(workers, found.submissions, lambda _: False))
        except KeyboardInterrupt:
            return workers
    write_grades(read_grades(out, None), out)
    return workers


def book(course: Path) -> dict[str, str]:
    text = (course / "out" / GRADEBOOK_FILE).read_text()
    return {row["submission"]: row["score"] for row in csv.DictReader(text.splitlines())}


SCORES = {"ann": "6", "bob": "6", "cem": "5", "dua": "6", "eli": "0"}


def test_a_class_is_graded_and_written_down(course: Path, found: Found, grader: Grader) -> None:
    workers = grade(course, found, grader)
    assert book(course) == SCORES
    assert sorted(workers.graded) == ["ann", "bob", "cem", "eli"] or "dua" in workers.graded
    assert len(workers.graded) == 4
    assert all((course / "out" / name / "results.json").is_file() for name in SCORES)


@pytest.mark.parametrize("most", [0, 1, 3])
def test_resumed_it_is_as_if_nothing_had_been(
    course: Path, found: Found, grader: Grader, most: int
) -> None:
    grade(course, found, grader, most=most)
    written = {grade.submission.name for grade in read_grades(course / "out", None)}
    assert len(written) <= most + 1
    (course / "out" / "ann" / "report.json").unlink(missing_ok=True)
    second = grade(course, found, grader, resume=True)
    assert book(course) == SCORES
    # What cannot be read as it is has no digest to be known by.
    assert not (written & set(second.graded)) - {"eli"}
    assert (course / "out" / "ann" / "report.json").is_file()


def test_what_changed_since_is_graded_again(course: Path, found: Found, grader: Grader) -> None:
    grade(course, found, grader)
    (course / "class" / "bob.py").write_text("def double(x):\n    return x\n")
    assert "bob" in grade(course, found, grader, resume=True).graded
    assert book(course)["bob"] == "0"


def test_it_goes_on_only_as_it_was_begun(course: Path, found: Found, grader: Grader) -> None:
    grade(course, found, grader)
    other = setup(course, grader, digest="another", device="auto")
    with ClassRun(course / "out", resume=True) as run:
        assert run.options(Options(1, "cpu"), None).seed == 7
        with pytest.raises(UsageError, match="its files have changed since; another --device"):
            run.begin(other, grader.answers)


@pytest.mark.parametrize("left", [None, b""])
def test_killed_before_it_had_begun_it_begins(
    course: Path, found: Found, grader: Grader, left: bytes | None
) -> None:
    (course / "out").mkdir()
    if left is not None:
        (course / "out" / JOURNAL_FILE).write_bytes(left)
    grade(course, found, grader, resume=True)
    assert book(course) == SCORES


def edit(course: Path, old: str, new: str) -> None:
    path = course / "assignments/tiny/assignment.yml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_rejudged_no_hand_in_runs(
    course: Path, found: Found, grader: Grader, prepare: Prepare
) -> None:
    grade(course, found, grader)
    edit(course, "rtol: 1.0e-4, atol: 1.0e-4, points: 3", "rtol: 1.0e-6, atol: 1.0e-6, points: 3")
    for name in SCORES:
        (course / "class" / f"{name}.py").unlink()
    before = (course / "out/bob/report.json").read_text()

    dry = rejudge(course / "out", prepare, dry_run=True)
    assert (course / "out/bob/report.json").read_text() == before

    again = rejudge(course / "out", prepare)
    assert again.changes == dry.changes
    assert [(each.submission, each.question, each.check) for each in again.changes] == [
        ("bob", "double", "values"),
        ("bob", "double", "inputs"),
    ]
    write_grades(read_grades(course / "out", None), course / "out")
    assert book(course) == {**SCORES, "bob": "2"}
    assert rejudge(course / "out", prepare).changes == ()


def test_rejudging_refuses_what_was_never_observed(
    course: Path, found: Found, grader: Grader, prepare: Prepare
) -> None:
    grade(course, found, grader)
    edit(course, "dims: {N: [3, 9]}", "dims: {N: [4, 9]}")
    with pytest.raises(UsageError, match="double: asked with other inputs"):
        rejudge(course / "out", prepare)


def test_one_question_is_regraded(
    course: Path, found: Found, grader: Grader, prepare: Prepare
) -> None:
    grade(course, found, grader)
    (course / "class" / "bob.py").write_text("def negate(x):\n    return x\n")
    again = regrade(course / "out", prepare, ["bob"], ["negate"])
    assert [(each.question, each.check) for each in again.changes] == [("negate", "values")]
    write_grades(read_grades(course / "out", None), course / "out")
    assert book(course) == {**SCORES, "bob": "4"}
    with pytest.raises(UsageError, match="no submission of “bib”; did you mean “bob”"):
        regrade(course / "out", prepare, ["bib"], [])


def maxima(course: Path) -> set[float]:
    return {grade.report.max_score for grade in read_grades(course / "out", None)}


def test_nobody_is_regraded_onto_another_scale(
    course: Path, found: Found, grader: Grader, prepare: Prepare
) -> None:
    out = course / "out"
    grade(course, found, grader)
    edit(course, "points: 2\n", "points: 5\n")
    edit(course, "atol: 1.0e-4, points: 2}", "atol: 1.0e-4, points: 5}")
    edit(course, 'version: "1"', 'version: "2"')
    with pytest.raises(UsageError) as refused:
        regrade(out, prepare, ["bob"], [])
    for said in (
        "version 1 then, 2 now; negate is worth 5, was 2",
        "bob alone would stand under it beside rows of another scale",
        f"`grader rejudge {out}` judges the whole class anew",
    ):
        assert said in str(refused.value)
    assert maxima(course) == {6}
    rejudge(out, prepare)
    assert maxima(course) == {9}
    assert not regrade(out, prepare, ["bob"], []).changes


def test_what_never_ran_has_the_new_scale_as_well(
    course: Path, found: Found, grader: Grader, prepare: Prepare
) -> None:
    grade(course, found, grader)
    (course / "class/fay.tar.gz").write_bytes(b"no archive")
    grade(course, discover(course / "class", course / "out"), grader, resume=True)
    before = json.loads((course / "out/fay/report.json").read_text())
    edit(course, "points: 2\n", "points: 5\n")
    edit(course, "atol: 1.0e-4, points: 2}", "atol: 1.0e-4, points: 3}\n"
         "      - {id: form, kind: dtype, points: 2}")  # fmt: skip
    again = rejudge(course / "out", prepare)
    assert again.untouched == {"fay": "nothing of it ran, what was said of it stands"}
    assert maxima(course) == {9}
    after = json.loads((course / "out/fay/report.json").read_text())
    assert (after["score"], after["pending"], after["status"]) == (0, 0, "graded")
    told = {check["message"] for q in after["questions"] for check in q["checks"]}
    assert told == {before["questions"][0]["checks"][0]["message"]}
    assert len(after["questions"][1]["checks"]) == 2


def test_a_question_asked_otherwise_is_regraded_for_everybody_and_the_rest_judged_anew(
    course: Path, found: Found, grader: Grader, prepare: Prepare
) -> None:
    out = course / "out"
    grade(course, found, grader)
    edit(course, "{rand: [4], dtype", "{rand: [5], dtype")
    edit(course, "rtol: 1.0e-4, atol: 1.0e-4, points: 3", "rtol: 1.0e-6, atol: 1.0e-6, points: 3")
    (course / "class/cem.py").write_text("def negate(x):\n    return x\n")
    with pytest.raises(UsageError, match="--questions negate` runs what is asked otherwise"):
        regrade(out, prepare, ["cem"], ["negate"])
    with pytest.raises(
        UsageError, match=r"negate: asked with other inputs.*regrade .*--questions negate`"
    ):
        rejudge(out, prepare)
    with pytest.raises(UsageError, match="--questions double,negate` runs what was changed"):
        regrade(out, prepare, [], ["double"])
    regrade(out, prepare, [], ["negate"])
    write_grades(read_grades(out, None), out)
    # Of double, what was observed then is judged as now; negate ran again.
    assert book(course) == {**SCORES, "bob": "2", "cem": "3"}
    assert rejudge(out, prepare).changes == ()


def test_a_replay_says_whether_it_holds(
    course: Path, found: Found, grader: Grader, prepare: Prepare
) -> None:
    grade(course, found, grader)
    assert replay(course / "out", "cem", prepare) == ()
    edit(
        course, "{id: inputs, kind: unmodified, points: 1}", "{id: inputs, kind: dtype, points: 1}"
    )
    changes = replay(course / "out", "cem", prepare)
    assert [(each.question, each.check) for each in changes] == [("double", "inputs")]
    (course / "class" / "cem.py").write_text("x = 1\n")
    with pytest.raises(UsageError, match="its files have changed since"):
        replay(course / "out", "cem", prepare)


def test_one_that_cannot_be_read_stops_nobody(course: Path, found: Found, grader: Grader) -> None:
    (course / "class" / "ann.py").unlink()
    grade(course, found, grader)
    scores = book(course)
    assert scores["ann"] == ""
    assert {name: score for name, score in scores.items() if name != "ann"} == {
        name: score for name, score in SCORES.items() if name != "ann"
    }
    (course / "class" / "ann.py").write_text((course / "class" / "dua.py").read_text())
    grade(course, found, grader, resume=True)
    assert book(course) == SCORES


POISON = """\
import builtins
import os
import signal

import torch

torch.Tensor.__mul__ = lambda *_: torch.zeros(())
torch.equal = torch.allclose = lambda *_, **__: True
builtins.isinstance = builtins.len = lambda *_: True
for name in list(os.environ):
    os.environ[name] = "poisoned"


def double(x):
    return x


def negate(x):
    for victim in (os.getppid(), 1, 0, -1):
        try:
            os.kill(victim, signal.SIGKILL)
        except OSError:
            pass
    os._exit(0)
"""


def test_one_that_poisons_its_process_harms_nobody(course: Path, grader: Grader) -> None:
    # First, so that everybody else comes after it in the same sandbox.
    (course / "class" / "aaa.py").write_text(POISON)
    grade(course, discover(course / "class", course / "out"), grader)
    scores = book(course)
    assert scores.pop("aaa") in ("0", "1")
    assert scores == SCORES


def test_a_course_may_ask_for_less_than_the_machine_gives_by_itself(
    course: Path, command: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*_: object) -> None:
        raise InfrastructureError("no walls here")

    asked: list[str] = []
    there = cli_class.make_sandbox

    def made(isolation: IsolationChoice, *rest: Any) -> Any:
        asked.append(isolation.value)
        return there(isolation, *rest)

    monkeypatch.setattr(cli_batch, "open_early", refused)
    monkeypatch.setattr(cli_class, "make_sandbox", made)
    course_file = course / "course.yml"
    course_file.write_text("schema: torchgrade/course/v1\nbatch: {isolation: none}\n")
    assert command("batch", "tiny", "class", "--out", "out", "--clock", "off") == 0
    assert asked == ["none"]
    # Where the course has no other word, what was refused is said.
    course_file.unlink()
    monkeypatch.setattr(cli_class, "make_sandbox", refused)
    assert command("batch", "tiny", "class", "--out", "other", "--clock", "off") != 0
    assert "no walls here" in capsys.readouterr().err
