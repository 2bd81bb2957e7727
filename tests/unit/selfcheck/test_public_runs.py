"""The filter between what the reference did and what students are given: field by field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import pytest
import toy_starter
from observed import seen, tensor

from grader.observation import (
    Claims,
    Companions,
    FunctionTiming,
    HostFacts,
    Observation,
    Outcome,
    Proof,
)
from grader.run.observe import Mended, QuestionRun
from grader.run.plan import PlannedQuestion
from grader.selfcheck.public import blank, has_numbers, public_runs
from grader.static_analysis.facts import EntryFacts
from grader.wire.messages import Fault, Loaded
from grader.wire.tree import map_tensors
from grader.wire.values import Value

COUNTS = {
    "events": 7771, "lines": [7772], "calls": {"callhidden": 1}, "ops": {"aten::ophidden": 1},
    "under": {"underhidden": ["throughhidden"]}, "bare": 7773, "escapes": {"escapehidden": 1},
    "greatest": 41,
}  # fmt: skip
RUN = QuestionRun(
    "double",
    Loaded(("namehidden",)),
    Observation(Outcome.CRASHED, detail="loadhidden"),
    {},
    777.5,
)
WHOLE = Observation(
    Outcome.COMPLETED,
    HostFacts(wall_seconds=777.25, cpu_seconds=777.125),
    Claims(
        tensor([2.0, 4.0]),
        (tensor([7.5]),),
        Fault("FaultHidden", "texthidden"),
        {"told": "probeshown"},
    ),
    detail="detailhidden",
    companions=Companions(seen(tensor([2.0], "float64")), (seen(tensor([2.5], "float64")),)),
    counted={"N": Observation(Outcome.COMPLETED, claims=Claims(probes={"counting": COUNTS}))},
    source=EntryFacts(("functionhidden",)),
    proof=Proof(why="proofhidden", ops=("aten::proofhidden",)),
    shown=("shownhidden",),
)  # fmt: skip
LET_THROUGH = {"claims", "companions", "counted", "outcome", "shown"}
"""Fields of an observation of which something is public."""


def planned(question: str) -> PlannedQuestion:
    plan = toy_starter.made()[2].public.plan
    return next(item for item in plan if item.question.id == question)


def filtered(question: str, whole: Observation = WHOLE, **run: Any) -> QuestionRun:
    one = planned(question)
    observations = {case.key: whole for case in one.cases}
    made = public_runs([one], {question: replace(RUN, observations=observations, **run)})
    assert list(made) == [question]
    return made[question]


def test_no_word_of_the_way_is_let_through() -> None:
    run = filtered("mean_of")
    text = repr(run)
    assert "hidden" in repr(WHOLE)
    assert "hidden" not in text.lower()
    assert "777" not in text
    assert "probeshown" in text
    assert run == QuestionRun("double", None, None, run.observations)


@pytest.mark.parametrize("name", sorted({item.name for item in fields(Observation)} - LET_THROUGH))
def test_a_field_is_public_only_where_the_filter_says_so(name: str) -> None:
    """A field that is added to observations stays behind until somebody lets it through."""
    empty = getattr(Observation(Outcome.COMPLETED), name)
    assert getattr(WHOLE, name) != empty, "say above what stands in it"
    for each in filtered("mean_of").observations.values():
        assert getattr(each, name) == empty


def test_a_mended_run_and_its_times_stay_behind() -> None:
    timing = FunctionTiming(detail="timehidden")
    timed = replace(WHOLE, facts=replace(WHOLE.facts, timing=timing))
    mended = Mended(7, 0.5, RUN, voids=("mendhidden",))
    assert "hidden" not in repr(filtered("double", timed, mended=mended)).lower()


def test_of_counts_one_number_is_let_through() -> None:
    for each in filtered("mean_of").observations.values():
        (counted,) = each.counted.values()
        counts = counted.claims.probes["counting"]
        assert isinstance(counts, Mapping)
        assert {name: item for name, item in counts.items() if item} == {"greatest": 41}


def test_of_runs_in_another_precision_the_farthest_is_let_through() -> None:
    apart = (seen(tensor([2.5], "float64")), seen(tensor([1.0], "float64")))
    whole = replace(WHOLE, companions=Companions(seen(tensor([2.0], "float64")), apart))
    companions = filtered("mean_of", whole).observations["made#1"].companions
    assert companions is not None
    assert companions.perturbed == (seen(tensor([3.0], "float64")),)


def test_inputs_after_a_call_are_told_by_being_there() -> None:
    for each in filtered("double").observations.values():
        assert each.claims.args_after == ()
    without = replace(WHOLE, claims=replace(WHOLE.claims, args_after=None))
    for each in filtered("double", without).observations.values():
        assert each.claims.args_after is None


@pytest.mark.parametrize(
    ("question", "case", "value"),
    [
        ("double", "example", tensor([2.0, 4.0])),
        # Its only public check looks at the shape.
        ("mean_of", "large", tensor([0.0, 0.0])),
    ],
)
def test_numbers_that_no_public_check_looks_at_are_zeros(
    question: str, case: str, value: object
) -> None:
    assert filtered(question).observations[case].claims.value == value


HERE, GONE = tensor([1.0, 2.0]), tensor([0.0, 0.0])
DICT: dict[Value, Value] = {"a": HERE, "b": [HERE, {"c": HERE, 0: HERE}], "d.e": HERE, "n": 1.5}


@pytest.mark.parametrize(
    ("value", "beside", "left"),
    [
        (HERE, (), GONE),
        (HERE, ("",), HERE),
        (DICT, ("",), DICT),
        (DICT, (), {"a": GONE, "b": [GONE, {"c": GONE, 0: GONE}], "d.e": GONE, "n": 1.5}),
        (DICT, ("a",), {"a": HERE, "b": [GONE, {"c": GONE, 0: GONE}], "d.e": GONE, "n": 1.5}),
        (DICT, ("b",), {"a": GONE, "b": [HERE, {"c": HERE, 0: HERE}], "d.e": GONE, "n": 1.5}),
        (DICT, ("b.0", "a"), {"a": HERE, "b": [HERE, {"c": GONE, 0: GONE}], "d.e": GONE, "n": 1.5}),
        (DICT, ("b.1.c",), {"a": GONE, "b": [GONE, {"c": HERE, 0: GONE}], "d.e": GONE, "n": 1.5}),
        # No item is called so: a point goes down a level.
        (DICT, ("d.e", "z"), {"a": GONE, "b": [GONE, {"c": GONE, 0: GONE}], "d.e": GONE, "n": 1.5}),
        ((HERE, HERE), ("1",), (GONE, HERE)),
    ],
)  # fmt: skip
def test_items_that_no_check_looks_at_are_zeros(
    value: Value, beside: tuple[str, ...], left: Value
) -> None:
    # Each tensor is an object of its own, as it is when it has come over the wire.
    assert blank(map_tensors(replace, value), beside) == left


@pytest.mark.parametrize(
    ("looked_at", "item", "known"),
    [
        ((), "", False),
        ((None,), "", True),
        ((None,), "a", True),
        (("a",), "", False),
        (("a",), "a", True),
        (("a",), "a.b", True),
        (("a.b",), "a", False),
        (("a",), "ab", False),
        (("a", None), "c", True),
    ],
)
def test_a_number_is_told_only_where_it_is_public(
    looked_at: tuple[str | None, ...], item: str, known: bool
) -> None:
    one = planned("double")
    whole = one.question.checks[0]
    checks = tuple(whole.model_copy(update={"item": each}) for each in looked_at)
    shape = (
        planned("mean_of")
        .question.checks[1]
        .model_copy(update={"item": item or None, "cases": None})
    )
    question = one.question.model_copy(update={"checks": (*checks, shape)})
    assert has_numbers(replace(one, question=question), one.cases[0], item) is known


def test_a_case_that_is_not_public_is_left_behind() -> None:
    one = planned("double")
    whole = {case.key: WHOLE for case in one.cases} | {"kept_back": seen("valuehidden")}
    runs = {"double": replace(RUN, observations=whole), "unseen": RUN}
    made = public_runs([one], runs)
    assert list(made) == ["double"]
    assert set(made["double"].observations) == {case.key for case in one.cases}
