"""What sentences call parts of a result."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from grader.assignment.types import Assignment, Question
from grader.checks.base import AuthorText
from grader.checks.compare_trees import called_params
from grader.report.build import RunRecord, build_report
from grader.report.messages.catalogue import words_in
from grader.report.model import SubmissionInfo
from grader.verdict import Code, Message, failed

CALLED = {
    "said": AuthorText(en="what step returned", ko="step의 반환값"),
    "file.steps": AuthorText(en="the steps", ko="단계"),
    "0": AuthorText(en="the loss"),
}


@pytest.mark.parametrize(
    ("item", "where", "called", "place"),
    [
        ("said", "said", "what step returned", ""),
        ("said", "said[0]['1.weight'][2]", "what step returned", "[0], 1.weight, [2]"),
        ("said", "said['it\\'s [odd]'][2]", "what step returned", "it\\'s [odd], [2]"),
        ("said", "said['a key that was cut off", "what step returned", "a key that was cut off"),
        ("said.more", "said.more[1]", "what step returned", "more, [1]"),
        ("file.steps", "file.steps[1]", "the steps", "[1]"),
        ("file", "file['steps'][1]", "the steps", "[1]"),
        ("0", "result[0]", "the loss", ""),
        (None, "result[0][3]", "the loss", "[3]"),
        (None, "result['said']", "what step returned", ""),
    ],
)
def test_the_longest_name_that_fits_is_taken(
    item: str | None, where: str, called: str, place: str
) -> None:
    params = called_params(CALLED, item, where)
    assert (params["called_en"], params["place"]) == (called, place)


@pytest.mark.parametrize(
    ("item", "where"),
    [(None, "result"), ("file", "file"), ("1", "result[1]"), ("said", "result"), ("said", None)],
)
def test_what_has_no_name_keeps_its_own(item: str | None, where: str | None) -> None:
    assert called_params(CALLED, item, where) == {}


LONGER = {"actual": 7, "expected": 9, "where": "said[0]", "place": "[0]"}


@pytest.mark.parametrize(
    ("language", "message", "text"),
    [
        (
            "en",
            Message("wrong_length", {**LONGER, **CALLED["said"].params("called")}),
            "Length of what step returned ([0]) is 7, expected 9.",
        ),
        (
            "en",
            Message("another_word", {**LONGER, **CALLED["said"].params("called")}),
            "What step returned ([0]): 7, expected 9.",
        ),
        (
            "ko",
            Message("wrong_length", {**LONGER, **CALLED["said"].params("called")}),
            "step의 반환값 ([0])의 길이: 7, 맞는 길이: 9.",
        ),
        (
            "ko",
            Message("not_equal", {**LONGER, "place": "", **CALLED["0"].params("called")}),
            "The loss: 7, 맞는 값: 9. 정확히 같아야 합니다.",
        ),
    ],
)
def test_sentences_use_the_name(language: str, message: Message, text: str) -> None:
    assert words_in(language).render(message) == text


def test_a_report_uses_the_authors_names(
    assignment: Assignment, submission: SubmissionInfo, record: RunRecord
) -> None:
    questions = [
        question.model_copy(update={"called": {"1": CALLED["said"]}})
        for question in assignment.questions
    ]
    named = assignment.model_copy(update={"questions": tuple(questions)})
    wrong = failed(
        Code.WRONG_TYPE,
        Message("wrong_length", {"actual": 7, "expected": 9, "where": "result[1]"}),
    )
    report = build_report(named, submission, {"multiply": {"values": wrong}}, record)
    (check, *_) = report.questions[0].checks
    assert check.student_message == "Length of what step returned is 7, expected 9."
    assert check.params["where"] == "result[1]"


def test_a_name_for_nothing_is_refused(assignment: Assignment) -> None:
    fields = assignment.questions[0].model_dump(exclude_unset=True)
    fields["checks"] = [{**check, "item": "said.first"} for check in fields["checks"]]
    Question.model_validate({**fields, "called": {"said": "what step returned"}})
    with pytest.raises(ValidationError, match="names “siad”, and no check has such an item"):
        Question.model_validate({**fields, "called": {"siad": "what step returned"}})
