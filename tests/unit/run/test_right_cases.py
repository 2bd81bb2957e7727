"""A submission that is right in some cases earns a share for these, and nothing without work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from written_course import written_course

from grader.grading import Grader
from grader.report.model import QuestionResult
from grader.run.materials import Materials
from grader.verdict import Code, Status

QUESTION = """\
schema: torchgrade/assignment/v1
id: toy_cases
version: "1"
title: Toy cases
hand_in: [toy_cases.py]
right_cases: 0.5

questions:
  - id: largest
    title: The largest number of each row
    points: 4
    cases:
      - id: written
        args: {x: {tensor: [[1, 2], [4, 3]], dtype: float64}}
      - id: matrix
        repeats: 2
        dims: {N: [3, 5], M: [6, 8]}
        args: {x: {randn: [N, M], dtype: float64}}
      - id: row
        repeats: 2
        dims: {M: [6, 8]}
        args: {x: {randn: [M], dtype: float64}}
    checks:
      - {id: values, kind: close, points: 2, rtol: 1.0e-7, atol: 1.0e-9}
      - {id: unmodified, kind: unmodified, points: 1, requires: [values]}
      - {id: no_max, kind: forbidden_ops, points: 1, ops: [max], requires: [values]}
"""
REFERENCE = """\
import torch


def largest(x):
    # BEGIN SOLUTION
    return x.amax(dim=-1)
    # END SOLUTION
"""
MISTAKES = """\
# %% columns
# says: This is the largest number of each column.
# earns: 0

def largest(x):
    return x.amax(dim=0)
"""
FOR_MATRICES = "return x.amax(dim=1)"


def materials(root: Path, text: str = QUESTION, mistakes: str = "") -> Materials:
    return written_course(root, "toy_cases", text, REFERENCE, mistakes)


def graded(grader: Grader, folder: Path, *body: str) -> QuestionResult:
    path = folder / "toy_cases.py"
    lines = "\n    ".join(body)
    path.write_text(f"import torch\n\n\ndef largest(x):\n    {lines}\n")
    return grader.grade(path, "toy_cases").questions[0]


@pytest.fixture(scope="module")
def grader(
    opened: Callable[[Materials], Grader], tmp_path_factory: pytest.TempPathFactory
) -> Grader:
    return opened(materials(tmp_path_factory.mktemp("cases")))


def test_right_cases_earn_their_share_and_so_do_rules(grader: Grader, tmp_path: Path) -> None:
    question = graded(grader, tmp_path, FOR_MATRICES)

    # Half of what is right in two of four cases.
    assert question.score == 1.0
    assert [check.score for check in question.checks] == [0.5, 0.25, 0.25]
    assert {check.status for check in question.checks} == {Status.PARTIAL}
    assert question.checks[0].code is Code.RAISED
    said = question.checks[0].message
    assert "Right in 2 of 4 cases with drawn values. That earns 0.5 of 2 points." in said
    assert "Right in" not in question.checks[1].message


def test_less_than_half_of_the_cases_earn_nothing(
    opened: Callable[[Materials], Grader], tmp_path: Path
) -> None:
    text = QUESTION.replace("repeats: 2\n        dims: {N", "repeats: 3\n        dims: {N")
    grader = opened(materials(tmp_path, text))

    assert graded(grader, tmp_path, "return x.amax(dim=0)").score == 0
    assert graded(grader, tmp_path, FOR_MATRICES).score == pytest.approx(0.5 * 3 / 5 * 4, abs=1e-4)


def test_a_rule_that_is_broken_stays_broken(grader: Grader, tmp_path: Path) -> None:
    question = graded(grader, tmp_path, "return x.max(dim=1).values")

    assert [check.score for check in question.checks] == [0.5, 0.25, 0]


@pytest.mark.parametrize(
    "body",
    [
        "return x",
        "return torch.zeros(x.shape[:-1], dtype=x.dtype)",
        # The case that is written out alone is right.
        "return torch.tensor([2.0, 4.0], dtype=x.dtype)",
        "return x.amin(dim=-1)",
        "raise NotImplementedError",
        "return None",
    ],
)
def test_nothing_is_earned_where_no_drawn_case_is_right(
    grader: Grader, tmp_path: Path, body: str
) -> None:
    assert graded(grader, tmp_path, body).score == 0


def test_nothing_is_earned_beside_a_case_that_had_to_be_stopped(
    opened: Callable[[Materials], Grader], tmp_path: Path
) -> None:
    grader = opened(materials(tmp_path, QUESTION + "limits: {seconds: 1}\n"))
    body = ["while x.dim() == 1:", "    pass", FOR_MATRICES]

    assert graded(grader, tmp_path, *body).score == 0


def test_an_argument_as_it_came_is_no_work(
    opened: Callable[[Materials], Grader], tmp_path: Path
) -> None:
    # Of matrices with one column the sums are the numbers themselves.
    text = QUESTION.replace("dims: {M: [6, 8]}", "dims: {M: [1, 1], N: [3, 5]}").replace(
        "args: {x: {randn: [M], dtype: float64}}", "args: {x: {randn: [N, M], dtype: float64}}"
    )
    reference = REFERENCE.replace("x.amax(dim=-1)", "x.sum(dim=-1, keepdim=True)")
    made = written_course(tmp_path / "course", "toy_cases", text, reference)

    assert graded(opened(made), tmp_path, "return x").score == 0


@pytest.mark.parametrize("instead", ["", "partial: false\nright_cases: 0.5\n"])
def test_it_is_off_unless_asked_for_and_where_nothing_is_partial(
    opened: Callable[[Materials], Grader], tmp_path: Path, instead: str
) -> None:
    text = QUESTION.replace("right_cases: 0.5\n", instead)
    assert graded(opened(materials(tmp_path, text)), tmp_path, FOR_MATRICES).score == 0


def test_what_an_author_priced_is_worth_that(
    opened: Callable[[Materials], Grader], tmp_path: Path
) -> None:
    # Rows are right by it, and a known mistake that is worth nothing is made.
    grader = opened(materials(tmp_path, QUESTION, MISTAKES))

    question = graded(grader, tmp_path, "return x.amax(dim=0)")

    assert question.score == 0
    assert "each column" in question.checks[0].message


def test_a_slip_is_mended_beside_it_and_the_larger_share_counts(
    opened: Callable[[Materials], Grader], tmp_path: Path
) -> None:
    grader = opened(materials(tmp_path, QUESTION.replace("right_cases", "slip: 0.6\nright_cases")))

    body = ["if x.dim() > 1:", "    return x.amax(-1)", "return -x.amax(-1)"]
    question = graded(grader, tmp_path, *body)

    assert question.score == pytest.approx(0.6 * 4)
    assert "makes all values right. That earns 1.2 of 2" in question.checks[0].message
    assert "Right in" not in question.checks[0].message
