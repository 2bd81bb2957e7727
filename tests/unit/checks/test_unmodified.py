import math

import pytest
from observed import raw, seen, tensor

from grader.checks.arguments import Unmodified
from grader.checks.base import CaseInputs, Probe
from grader.verdict import Basis, Code, Owner, Status

CHECK = Unmodified(id="u", points=1)


def judge(after, *sent, names=("x", "y")):
    case = CaseInputs("case", names, sent)
    return CHECK.judge(case, seen(1, args_after=sent), seen(1, args_after=after))


def test_it_asks_for_the_arguments_after_the_call():
    assert CHECK.needs() == {Probe.ARGS_AFTER}
    assert CHECK.conditional


@pytest.mark.parametrize(
    "value",
    [tensor([1.0, math.nan]), tensor([]), 1, 1.5, math.nan, -0.0, "a", None, True, b"raw",
     [tensor([1.0]), {"k": (1, 2)}]],
)  # fmt: skip
def test_untouched_arguments_pass(value):
    verdict = judge((value,), value)
    assert (verdict.status, verdict.basis) == (Status.PASSED, Basis.CLAIM)


@pytest.mark.parametrize(
    ("after", "sent", "mismatched", "total"),
    [
        (tensor([1.0, 5.0, 3.0]), tensor([1.0, 2.0, 3.0]), 1, 3),
        (tensor([-0.0]), tensor([0.0]), 1, 1),
        (tensor([[1.0]]), tensor([1.0]), 1, 1),
        (tensor([1.0, 2.0], "float64"), tensor([1.0, 2.0]), 2, 2),
        (tensor([1.0, 2.0]), tensor([]), 0, 0),
        (raw("bfloat16", b"ab", b"cd"), raw("bfloat16", b"ab", b"ce"), 1, 2),
    ],
)
def test_any_change_of_a_tensor_is_counted(after, sent, mismatched, total):
    assert _changed(after, sent) == {"name": "y", "mismatched": mismatched, "total": total}


@pytest.mark.parametrize(
    ("after", "sent"),
    [
        ([1.0, 2.0], [1.0]),
        ([2, 1], [1, 2]),
        ([-0.0], [0.0]),
        ([1.0], [1]),
        ([True], [1]),
        ({"a": 1, "b": 2}, {"a": 1}),
        (["a"], ["b"]),
        (None, tensor([1.0])),
    ],
)
def test_any_other_change_is_told_without_a_count(after, sent):
    assert _changed(after, sent) == {"name": "y"}


def _changed(after, sent):
    verdict = judge((0, after), 0, sent)
    assert (verdict.status, verdict.code) == (Status.FAILED, Code.INPUT_MODIFIED)
    assert verdict.basis is Basis.CLAIM
    return verdict.message.params


def test_an_argument_without_a_name_is_looked_at_too():
    verdict = judge((0, 2), 0, 1, names=("x",))
    assert verdict.message.params["name"] == 1


def test_inputs_changed_in_both_processes_are_still_changed():
    """The reference's inputs are no yardstick: the host's own copy is."""
    case = CaseInputs("case", ("x",), (tensor([1.0]),))
    zeroed = seen(1, args_after=(tensor([0.0]),))
    assert CHECK.judge(case, zeroed, zeroed).code is Code.INPUT_MODIFIED


@pytest.mark.parametrize("after", [None, (), (1, 2)])
def test_a_process_that_does_not_report_them_has_broken_the_protocol(after):
    verdict = judge(after, 1)
    assert (verdict.status, verdict.code) == (Status.FAILED, Code.PROTOCOL_VIOLATION)


def test_if_neither_process_was_asked_it_is_the_graders_fault():
    verdict = CHECK.judge(CaseInputs("case", (), ()), seen(1), seen(1))
    assert (verdict.status, verdict.owner) == (Status.ERROR, Owner.INFRASTRUCTURE)
