"""What an instructor reads of a class: each thing that calls for a hand, and only then."""

from __future__ import annotations

from typing import Any

import pytest

from grader.report.model import Report
from grader.report.summary import Mistake, NobodySolved, mistakes_in, sentences, summarise

RIGHT = {"status": "passed", "code": "ok", "score": 2.0, "pending": 0.0}
WRONG = {"status": "failed", "code": "wrong_value", "owner": "student", "score": 0, "pending": 0}


def made(name: str, seconds: float = 1.0, **questions: dict[str, Any]) -> Report:
    """Return a report of questions with one check of two points each."""
    results = []
    for question, outcome in questions.items():
        check = {"id": "values", "kind": "close", "max_score": 2.0, **RIGHT, **outcome}
        points = {key: check[key] for key in ("score", "max_score", "pending")}
        results.append(
            {"id": question, "title": question, "status": check["status"], "checks": [check]}
            | points
        )
    statuses = [each["status"] for each in results]
    status = "incomplete" if "error" in statuses else "pending"
    return Report.model_validate(
        {
            "assignment": {"id": "toy", "version": "1"},
            "submission": {"id": name},
            "score": sum(each["score"] for each in results),
            "max_score": sum(each["max_score"] for each in results),
            "pending": sum(each["pending"] for each in results),
            "status": status if any(each["pending"] for each in results) else "graded",
            "questions": results,
            "environment": {
                "torch": "2", "python": "3", "platform": "x", "device": "cpu",
                "isolation": {"tier": "full"}, "seed": 1, "grader_version": "0",
            },
            "timing": {"seconds": seconds},
        }
    )  # fmt: skip


def pending(code: str, status: str = "deferred") -> dict[str, Any]:
    return {
        "status": status, "code": code, "owner": "infrastructure", "score": 0, "pending": 2.0,
    }  # fmt: skip


def test_a_class_without_anything_to_tell() -> None:
    told = sentences(summarise([made("ann", f={}), made("bob", 2.5, f={})]))
    assert told == [
        "Scores: median 2 of 2, from 2 to 2",
        "Slowest: bob 2.5 s, ann 1.0 s",
    ]


def test_hand_ins_that_cannot_be_run_are_named_and_drown_no_mistake() -> None:
    lost = WRONG | {"code": "missing_file"}
    reports = [made(name, f=lost, g=lost) for name in ("ann", "bob")]
    told = sentences(summarise([*reports, made("cyd", f=WRONG, g={})]))
    assert "Could not be run (missing_file): ann, bob" in told
    assert [line for line in told if "×" in line] == ["1 × f: wrong_value"]


def test_a_file_that_one_function_did_not_write_is_a_mistake_like_others() -> None:
    told = sentences(summarise([made("ann", f=WRONG | {"code": "missing_file"}, g={})]))
    assert not [line for line in told if "Could not be run" in line]
    assert "1 × f: missing_file" in told


def test_nobody_at_all() -> None:
    assert sentences(summarise([])) == []


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (
            pending("sandbox_failed", "error"),
            "Incomplete, run again with --resume (sandbox_failed): bob",
        ),
        (pending("needs_review"), "To be looked at by a person (`grader review`): bob"),
        (pending("no_device"), "Pending (no_device): bob"),
        ({**WRONG, "code": "crashed"}, "Crashed, hung or broke off: bob"),
        ({**WRONG, "code": "timed_out"}, "Crashed, hung or broke off: bob"),
        (WRONG, "1 × f: wrong_value"),
    ],
)  # fmt: skip
def test_each_thing_is_told_with_the_name(outcome: dict[str, Any], told: str) -> None:
    lines = sentences(summarise([made("ann", f={}), made("bob", f=outcome)]))
    assert told in lines
    assert sum("ann" in line for line in lines) == 1, "ann is among the slowest alone"


def test_the_most_urgent_comes_first() -> None:
    lines = sentences(
        summarise(
            [
                made("ann", f=pending("no_device")),
                made("bob", f={**WRONG, "code": "crashed"}),
                made("cem", f=pending("needs_review")),
                made("dua", f=pending("sandbox_failed", "error")),
            ]
        )
    )
    assert [line.split()[0] for line in lines[:4]] == ["Incomplete,", "To", "Crashed,", "Pending"]


def test_a_question_that_nobody_solved_is_suspected() -> None:
    class_ = [made("ann", f=WRONG, g={}), made("bob", f={**WRONG, "score": 1.0}, g=WRONG)]
    summary = summarise(class_)
    assert summary.nobody == {"f": NobodySolved(2, 0.25)}
    told = "Nobody of 2 who wrote f has all its points (they have 25% of them): is the question"
    assert told in "\n".join(sentences(summary))


@pytest.mark.parametrize("code", ["not_implemented", "missing_function"])
def test_a_question_that_nobody_wrote_is_not_suspected(code: str) -> None:
    unwritten = {**WRONG, "code": code}
    class_ = [made(name, f=unwritten, g={}) for name in ("ann", "bob", "cem")]
    assert summarise(class_).nobody == {}
    # One who wrote it and failed is no sign, either.
    assert summarise([*class_, made("dua", f=WRONG, g={})]).nobody == {}
    two = [made(name, f={**WRONG, "score": 1.0}, g={}) for name in ("dua", "eva")]
    assert summarise([*class_, *two]).nobody == {"f": NobodySolved(2, 0.5)}


def test_what_could_not_be_run_does_not_suspect_a_question() -> None:
    lost = {**WRONG, "code": "syntax_error"}
    assert summarise([made(name, f=lost) for name in ("ann", "bob")]).nobody == {}


def several(*checks: dict[str, Any]) -> Report:
    """Return a report of one question with several checks."""
    report = made("ann", f={})
    like = report.questions[0].checks[0].model_dump()
    found = [like | check | {"id": f"check {number}"} for number, check in enumerate(checks)]
    question = report.questions[0].model_copy(update={"checks": ()}).model_dump()
    return Report.model_validate(
        {**report.model_dump(), "questions": [{**question, "checks": found}]}
    )


def test_a_mistake_counts_once_however_many_checks_show_it() -> None:
    other = {**WRONG, "code": "wrong_dtype"}
    skipped = {**WRONG, "status": "skipped", "code": "requirement_not_met"}
    found = mistakes_in(several(WRONG, WRONG, other, skipped, {**WRONG, "code": "not_implemented"}))
    assert {mistake: [check.id for check in checks] for mistake, checks in found.items()} == {
        Mistake("f", "wrong_value"): ["check 0", "check 1"],
        Mistake("f", "wrong_dtype"): ["check 2"],
    }


def test_a_known_mistake_takes_the_checks_with_it_that_do_not_name_it() -> None:
    named = {**WRONG, "params": {"cause": "known_mistake", "mistake": "by_rows"}}
    found = mistakes_in(several(WRONG, named, {**WRONG, "code": "wrong_dtype"}))
    assert list(found) == [Mistake("f", "wrong_value", "by_rows"), Mistake("f", "wrong_dtype")]
    assert "1 × f: wrong_value (by_rows)" in sentences(summarise([several(named)]))


@pytest.mark.parametrize("saved_by", [{}, pending("no_device")])
def test_one_who_solved_it_or_may_have_clears_the_question(saved_by: dict[str, Any]) -> None:
    assert summarise([made("ann", f=WRONG), made("bob", f=saved_by)]).nobody == {}


def test_one_hand_in_says_nothing_of_a_question() -> None:
    assert summarise([made("ann", f=WRONG)]).nobody == {}


def test_what_the_grader_failed_at_counts_for_no_score() -> None:
    summary = summarise([made("ann", f={}), made("bob", f=pending("not_run", "error"))])
    assert summary.scores == (2.0,)
    assert summary.incomplete == {"not_run": ("bob",)}
    assert summary.pending == {}


def test_frequent_mistakes_come_first_and_many_names_are_cut() -> None:
    class_ = [made("first", f={**WRONG, "code": "raised"}, g={})]
    class_ += [made(f"s{n:02}", f=WRONG, g={}) for n in range(12)]
    class_ += [made("x", f={**WRONG, "code": "crashed"}, g={})]
    summary = summarise(class_)
    assert list(summary.mistakes.items()) == [
        (Mistake("f", "wrong_value"), 12),
        (Mistake("f", "raised"), 1),
        (Mistake("f", "crashed"), 1),
    ]
    many = summarise([made(f"s{n:02}", f=pending("no_device")) for n in range(12)])
    assert sentences(many)[0].endswith("s07 and 4 more")


def test_a_name_cannot_write_a_line_of_its_own() -> None:
    lines = sentences(summarise([made("a\nScores: median 2 of 2", f=pending("needs_review"))]))
    assert all("\n" not in line for line in lines)
