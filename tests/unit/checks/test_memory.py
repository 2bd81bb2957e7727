import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from observed import seen, tensor

from grader.checks.arguments import NotViewOf, ReturnsInput, ViewOf
from grader.checks.base import CaseInputs, Probe
from grader.checks.judge import judge_case
from grader.report.messages.catalogue import ENGLISH, words_in
from grader.verdict import Basis, Code, Owner, Status
from grader.wire.values import Layout

VIEW, COPY = (cls(id="v", points=1, argument="x") for cls in (ViewOf, NotViewOf))
SAME = ReturnsInput(id="s", points=1, argument=0)
CONTENT = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
X = tensor(CONTENT, layout=Layout(0, 0, (3, 1)))
CASE = CaseInputs("case", ("x",), (tensor(CONTENT),))
COLUMN = tensor([2.0, 5.0], layout=Layout(0, 1, (3,)))
ROW = tensor([[4.0, 5.0, 6.0]], layout=Layout(0, 3, (3, 1)))
CLONE = tensor([2.0, 5.0], layout=Layout(1, 0, (1,)))


def judged(check, value, after=(X,), case=CASE):
    return judge_case(check, case, seen(value, args_after=after), seen(value, args_after=after))


@pytest.mark.parametrize("check", [VIEW, COPY, SAME])
def test_memory_is_a_claim_that_must_be_asked_for(check):
    assert check.needs() == {Probe.ARGS_AFTER, Probe.LAYOUT}
    assert check.conditional
    assert judged(check, COLUMN).basis is Basis.CLAIM


@pytest.mark.parametrize(
    "value", [COLUMN, ROW, X, (COLUMN, [ROW]), 3, tensor([], layout=Layout(0, 0, (1,)))]
)
def test_a_view_is_a_view(value):
    assert judged(VIEW, value).status is Status.PASSED


@pytest.mark.parametrize(
    "value",
    [
        CLONE,
        (COLUMN, CLONE),
        tensor([2.0, 5.0]),
        tensor([2.0, 6.0], layout=Layout(0, 1, (3,))),  # numbers that are not there
        tensor([2.0, 5.0], layout=Layout(0, 1, (30,))),  # places that are not there
    ],
)
def test_a_copy_is_no_view_and_a_layout_that_the_numbers_belie_is_none(value):
    verdict = judged(VIEW, value)
    assert (verdict.code, verdict.message.id) == (Code.NOT_A_VIEW, "not_a_view")
    assert verdict.message.params["name"] == "x"


@pytest.mark.parametrize(
    ("shape", "layout", "status"),
    [
        ((2,), Layout(0, 0, (2**62 - 1,)), "failed"),  # wraps round to a place that is there
        ((1,), Layout(0, 2**62 - 1, (1,)), "failed"),
        ((4, 2), Layout(0, 0, (2**61, 1)), "failed"),
        ((1, 2), Layout(0, 0, (2**62 - 1, 1)), "passed"),  # a stride that is never taken
        ((2, 1, 2), Layout(0, 0, (0, 7, 1)), "passed"),
    ],
)
def test_a_layout_beyond_any_memory_is_refused_without_a_look(shape, layout, status):
    count = np.zeros(shape).size
    value = tensor(([1.0, 2.0] * count)[:count], layout=None)
    value = replace(value, shape=shape, layout=layout)
    assert judged(VIEW, value).status.value == status


def test_a_layout_costs_no_more_than_the_numbers_beside_it():
    most = 2**22
    base = tensor(np.zeros(16), "uint8", layout=Layout(0, 0, (1,)))
    spread = tensor(np.zeros(most), "uint8", layout=Layout(0, 0, (0,)))
    tracemalloc.start()
    try:
        assert judged(VIEW, spread, (base,)).status is Status.PASSED
        assert tracemalloc.get_traced_memory()[1] < 3 * most
    finally:
        tracemalloc.stop()


def test_another_reading_of_the_same_memory_is_a_view():
    bits = tensor([0], "int32", layout=Layout(0, 0, (1,)))
    assert judged(VIEW, bits).status is Status.PASSED
    turned = tensor(CONTENT, layout=Layout(0, 0, (1, 2)))
    assert judged(VIEW, COLUMN, (turned,)).status is Status.PASSED


@pytest.mark.parametrize(
    ("value", "status"),
    [(CLONE, "passed"), (COLUMN, "failed"), ((CLONE, ROW), "failed"), (tensor([1.0]), "failed")],
)
def test_not_a_view(value, status):
    verdict = judged(COPY, value)
    assert verdict.status.value == status
    assert verdict.code is (Code.OK if status == "passed" else Code.SHARES_MEMORY)


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (X, "passed"),
        (tensor(CONTENT, layout=Layout(0, 0, (3, 1), 1)), "failed"),  # a view of all of it
        (tensor(CONTENT, layout=Layout(1, 0, (3, 1))), "failed"),
        (tensor(CONTENT), "failed"),
        (ROW, "failed"),
        (tensor([[0.0, 2.0, 3.0], [4.0, 5.0, 6.0]], layout=Layout(0, 0, (3, 1))), "failed"),
        (7, "failed"),
    ],
)
def test_the_input_itself(value, status):
    verdict = judged(SAME, value)
    assert verdict.status.value == status
    assert verdict.code is (Code.OK if status == "passed" else Code.NOT_IN_PLACE)


@pytest.mark.parametrize("check", [VIEW, COPY, SAME])
@pytest.mark.parametrize("after", [None, (), (tensor(CONTENT),), (3,)])
def test_what_is_not_reported_is_not_believed(check, after):
    reference = seen(X, args_after=(X,))
    verdict = check.judge(CASE, reference, seen(X, args_after=after))
    assert verdict.code is Code.PROTOCOL_VIOLATION
    nobody = check.judge(CASE, seen(X), seen(X))
    assert (nobody.code, nobody.owner) == (Code.SANDBOX_FAILED, Owner.INFRASTRUCTURE)


def test_an_argument_named_by_its_position_is_told_by_it():
    told = judged(SAME, CLONE).message
    assert ENGLISH.render(told).startswith("What is returned is not the first argument itself.")
    assert words_in("ko").render(told).startswith("반환한 것이 첫 번째 인자 자체가 아닙니다.")


@pytest.mark.parametrize("cls", [ViewOf, NotViewOf, ReturnsInput])
@pytest.mark.parametrize("argument", ["y", 1])
def test_an_argument_that_the_case_does_not_have(cls, argument):
    verdict = judged(cls(id="v", points=1, argument=argument), X)
    assert verdict.owner is Owner.INSTRUCTOR
