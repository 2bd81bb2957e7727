"""A hidden case tells what its inputs have that no case that passed has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from observed import seen, tensor

from grader.checks import KINDS
from grader.checks.base import CaseInputs
from grader.checks.hidden_case import with_inputs_told
from grader.checks.judge import combine
from grader.report.messages.catalogue import ENGLISH
from grader.verdict import Code, Message, Verdict, failed, passed
from grader.wire.values import Value

RAISED = failed(Code.RAISED, Message("raised", {"type": "RuntimeError", "message": "0.125"}))


def told(right: list[Value], wrong: list[Value], hidden: bool = True) -> str:
    """Return what a student reads where the last inputs fail in a hidden case."""
    judged: list[tuple[CaseInputs, Verdict]] = [
        (CaseInputs(f"right{number}", ("x",), (x,)), passed()) for number, x in enumerate(right)
    ]
    for number, x in enumerate(wrong):
        case = CaseInputs(f"wrong{number}", ("x",), (x,), hidden=hidden)
        judged.append((case, replace(RAISED, case=case.id, hidden=hidden)))
    return ENGLISH.for_student(
        with_inputs_told(judged, combine([verdict for _, verdict in judged]))
    )


def of_shape(*shape: int) -> Value:
    return tensor(np.ones(shape))


@pytest.mark.parametrize(
    ("right", "wrong", "sentence"),
    [
        ([tensor([1.0], "float64")], [tensor([1.0])],
         "In a hidden case, with float32 inputs: RuntimeError."),
        ([of_shape(3)], [of_shape(0)],
         "In a hidden case, with an input that has no elements: RuntimeError."),
        ([of_shape(3, 3)], [of_shape(3, 1)],
         "In a hidden case, with an axis of size 1: RuntimeError."),
        ([of_shape(3, 3)], [of_shape(3, 2)],
         "In a hidden case, with a matrix that is not square: RuntimeError."),
        ([of_shape(3)], [of_shape(2, 2, 2)],
         "In a hidden case, with an input of 3 axes: RuntimeError."),
        # What a case that passed has, too, is not it; nor what another failure lacks.
        ([of_shape(3, 2)], [of_shape(4, 2)], "In a hidden case: RuntimeError."),
        ([of_shape(3, 3)], [of_shape(3, 1), of_shape(3, 3)], "In a hidden case: RuntimeError."),
        ([], [of_shape(3, 1)], "In a hidden case: RuntimeError."),
        ([of_shape(3)], [3], "In a hidden case: RuntimeError."),
    ],
)  # fmt: skip
def test_what_sets_its_inputs_apart_is_told(
    right: list[Value], wrong: list[Value], sentence: str
) -> None:
    assert told(right, wrong) == sentence


def test_a_visible_case_is_told_in_full_anyway() -> None:
    assert "inputs" not in told([of_shape(3, 3)], [of_shape(3, 1)], hidden=False)


def test_of_a_figure_its_bar_is_told_and_not_what_was_reached() -> None:
    bars = [{"at_least": 0.92, "credit": 1}, {"at_least": 0.8, "credit": 0.5}]
    check = KINDS["figure"](id="accuracy", points=6, steps=bars)
    case = CaseInputs("new_rows", (), (), hidden=True)
    verdict = replace(check.judge(case, seen(0.95), seen(0.4125)), case=case.id, hidden=True)
    said = ENGLISH.for_student(verdict)
    assert said == "In a hidden case: wrong values; 0.92 is the bar for all points."
