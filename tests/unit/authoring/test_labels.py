from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader.assignment.cells import LabelledSubmission
from grader.authoring.labels import (
    Label,
    LabelError,
    QuestionLabel,
    read_label,
    untimed,
    waits,
)

HEADER = """\
# Two words.
# expect:
#   score: 3
#   questions:
#     f: {status: partial, checks: {values: wrong_value}}
#     g: {code: raised}
#     "*": {status: passed}

import torch  # not read

f = g = h = gpu = torch.mm
"""


def label_of(tmp_path: Path, text: str) -> Any:
    path = tmp_path / "hand_in.py"
    path.write_text(text)
    return read_label(LabelledSubmission("hand_in", path), [""])


def question(name: str, status: str, **codes: str) -> dict[str, Any]:
    return {
        "id": name,
        "status": status,
        "checks": [{"id": check, "kind": "exact", "code": code} for check, code in codes.items()],
    }


def report(*changes: dict[str, Any]) -> dict[str, Any]:
    questions = {
        "f": question("f", "partial", values="wrong_value", shape="ok"),
        "g": question("g", "failed", values="raised", shape="requirement_not_met"),
        "h": question("h", "passed", values="ok"),
        "gpu": question("gpu", "deferred", values="no_device"),
    } | {change["id"]: change for change in changes}
    return {"score": 3.0, "questions": list(questions.values())}


def test_a_report_that_is_as_the_label_says(tmp_path: Path) -> None:
    label = label_of(tmp_path, HEADER)
    assert label.about == "Two words."
    assert label.misses(report()) == []


def test_a_label_names_other_mistakes_that_it_has(tmp_path: Path) -> None:
    text = HEADER.replace("#   score: 3\n", "#   score: 3\n#   mistakes: [other, third]\n")
    assert label_of(tmp_path, text).mistakes == {"other", "third"}
    assert label_of(tmp_path, HEADER).mistakes == frozenset()


@pytest.mark.parametrize(
    ("points", "misses"),
    [("1.5", []), ("2", ["f: it earns 1.5 points; the label says 2"])],
)
def test_a_label_names_the_points_of_a_question(
    tmp_path: Path, points: str, misses: list[str]
) -> None:
    text = HEADER.replace("values: wrong_value}}", f"values: wrong_value}}, points: {points}}}")
    half = question("f", "partial", values="wrong_value")
    half["checks"][0]["pending"] = 0.0
    assert label_of(tmp_path, text).misses(report({**half, "score": 1.5})) == misses


@pytest.mark.parametrize(("said", "misses"), [("a twin", []), ("another", ["no check says"])])
def test_a_label_names_what_a_student_reads(tmp_path: Path, said: str, misses: list[str]) -> None:
    text = HEADER.replace("values: wrong_value}}", f"values: wrong_value}}, says: {said}}}")
    told = question("f", "partial", values="wrong_value")
    told["checks"][0]["student_message"] = "This is a twin."
    found = label_of(tmp_path, text).misses(report(told))
    assert [miss.partition(": ")[2][: len("no check says")] for miss in found] == misses


def test_a_label_judges_what_it_names_and_others_that_are_there(tmp_path: Path) -> None:
    label = label_of(tmp_path, HEADER.replace("#   score: 3\n", ""))
    assert [name for name in ("f", "h", "absent") if label.judges(name)] == ["f", "h"]
    named = label_of(tmp_path, HEADER.replace("#   score: 3\n", "").replace('"*"', "h"))
    assert [name for name in ("f", "h", "gpu") if named.judges(name)] == ["f", "h"]
    assert label_of(tmp_path, HEADER).judges("absent")  # a score is of all questions


def test_a_label_is_compared_where_what_it_names_is_asked_for(tmp_path: Path) -> None:
    label = label_of(tmp_path, HEADER.replace("#   score: 3\n", "").replace('"*"', "h"))
    asked = {"f": ["f"], "f_on_gpu": ["f"], "other": ["other"], "h": ["h", "H"]}
    questions = [SimpleNamespace(id=name, names=names) for name, names in asked.items()]
    assignment: Any = SimpleNamespace(questions=questions)
    assert label.judged(assignment) == ("f", "f_on_gpu", "h")


@pytest.mark.parametrize(
    ("change", "miss"),
    [
        (
            question("f", "failed", values="wrong_value"),
            "f: status is failed (values: wrong_value); the label says partial",
        ),
        (
            question("f", "partial", values="ok"),
            "f: check values says ok; the label says wrong_value",
        ),
        (question("f", "partial", shape="ok"), "f: no check “values”"),
        (question("g", "failed", values="raised", shape="crashed"), "g: its checks say "),
        (question("g", "passed", values="ok"), "g: its checks say "),
        (
            question("h", "failed", values="raised"),
            "h: status is failed (values: raised); the",
        ),
        (
            question("gpu", "failed", values="raised"),
            "gpu: status is failed (values: raised); the",
        ),
    ],
)
def test_every_difference_is_a_miss(tmp_path: Path, change: dict[str, Any], miss: str) -> None:
    (found,) = label_of(tmp_path, HEADER).misses(report(change))
    assert found.startswith(miss)


def test_a_star_leaves_out_what_the_hand_in_does_not_hold(tmp_path: Path) -> None:
    missing = question("h", "failed", values="missing_function")
    without = HEADER.replace("h = gpu", "h2 = gpu")
    assert label_of(tmp_path, without).misses(report(missing)) == []
    assert label_of(tmp_path, HEADER).misses(report(missing)) != []


def test_a_wrong_score_and_an_unknown_question_are_misses(tmp_path: Path) -> None:
    label = label_of(tmp_path, HEADER.replace("     g:", "     typo:"))
    assert label.misses({**report(), "score": 4.0})[:2] == [
        "no question “typo”",
        "the score is 4; the label says 3",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import torch\n", "no comment “# expect:”"),
        ("# expect:\n#   3\n", "3 where mistakes, questions, score were expected"),
        ("# expect:\n#   question: {}\n", "did you mean “questions”"),
        ("# expect:\n#   score: 3\n", "must map questions"),
        ("# expect:\n#   score: x\n#   questions: {f: {}}\n", "'x', not a number"),
        ("# expect:\n#   questions: {f: {status: pased}}\n", "did you mean “passed”"),
        ("# expect:\n#   questions: {f: {code: wrong_values}}\n", "did you mean “wrong_value”"),
        ("# expect:\n#   questions: {f: {checks: {v: okay}}}\n", "“okay” is unknown"),
        ("# expect:\n#   questions: {f: {checks: [v]}}\n", "checks must map"),
        ("# expect:\n#   questions: {\n", "is not YAML"),
    ],
)
def test_a_bad_label_is_refused_with_its_file(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(LabelError, match=words) as caught:
        label_of(tmp_path, text)
    assert "hand_in.py" in str(caught.value)


def _of(code: str, kind: str, pending: float) -> dict[str, Any]:
    return {"id": kind, "kind": kind, "code": code, "pending": pending}


@pytest.mark.parametrize(
    ("checks", "points", "waiting"),
    [
        ([_of("ok", "exact", 0), _of("not_timed", "vectorised", 2)], 2, False),
        ([_of("ok", "exact", 0), _of("no_device", "speedup", 1)], 0, False),
        ([_of("no_device", "exact", 3), _of("no_device", "speedup", 1)], 0, True),
    ],
)
def test_points_of_a_clock_are_told_from_a_question_that_did_not_run(
    checks: list[dict[str, Any]], points: float, waiting: bool
) -> None:
    pending = sum(check["pending"] for check in checks)
    question = {"id": "f", "status": "deferred", "checks": checks, "pending": pending}
    question |= {"score": 1, "max_score": 1 + pending}
    assert (untimed(question), waits(question)) == (points, waiting)
    status = "deferred" if waiting else "passed"
    assert (
        Label("", None, {"f": QuestionLabel(status)}).misses({"score": 1, "questions": [question]})
        == []
    )
