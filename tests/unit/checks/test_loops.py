"""How the two witnesses of loops are weighed: every pairing of what they can say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from grader.checks.base import CaseInputs, Probe
from grader.checks.behaviour import grows
from grader.checks.counts import counts_of
from grader.checks.loops import Loops
from grader.checks.ops import ForbiddenOps
from grader.observation import Claims, Observation, Outcome
from grader.report.messages.catalogue import words_in
from grader.static_analysis.facts import Construct, EntryFacts, Mention, Role, SourcePlace
from grader.verdict import Basis, Code, Status, Verdict

CASE = CaseInputs("case", (), (), dims={"B": 3})
LOOP = Construct("for", Role.LOOP, SourcePlace(5, 1, 6), 1, "f", (6, 6))
SUM = Construct("sum", Role.ITERATES, SourcePlace(5, 1, 5), 0, "f")
CLEAN = EntryFacts(("f",))
LOOPED = EntryFacts(("f",), (LOOP,), 1)
ON_A_BRANCH = EntryFacts(("f",), (replace(LOOP, branch=True),), 1)
HIDDEN = EntryFacts(("f",), opaque=(Mention("builtins.exec", SourcePlace(4, 1, 4), True),))


def told(**changes: Any) -> Observation:
    """Counts of one call."""
    content: dict[Any, Any] = {
        "events": 4, "lines": [4, 5], "capped": False, "calls": {"bmm": 1},
        "escapes": {}, "ops": {"bmm": 1}, "under": {"bmm": ["bmm"]}, "bare": 0,
        "greatest": 64, **changes,
    }  # fmt: skip
    return Observation(Outcome.COMPLETED, claims=Claims(probes={"counting": content}))


def run(base: Observation, large: Observation, source: EntryFacts | None) -> Observation:
    return Observation(Outcome.COMPLETED, counted={"": base, "B": large}, source=source)


REFERENCE = run(told(descended={"mm 10": 100}), told(descended={"mm 10": 400}), None)
FLAT = (told(), told())
RAN_FLAT = (told(lines=[5, 6]), told(lines=[5, 6]))
LINES = (
    told(lines=[5, 6], descended={"mm 10": 100}),
    told(lines=[5, 6], events=40, ops={"mm": 12}, descended={"mm 10": 400}),
)
OPS = (told(), told(calls={"mm": 12}, ops={"mm": 12}))
ADDS = (told(), told(calls={"add": 12}, ops={"bmm": 1, "add": 12}))
BARE = (told(), told(ops={"mm": 12}, bare=12))
AT_ONCE = {"descended": {"bmm 400": 400, "copy_ 5": 60}}
BUSY = (
    told(lines=[5, 6], descended={"bmm 100": 100, "copy_ 5": 15}),
    told(lines=[5, 6], events=40, **AT_ONCE),
)
NOUGHT_TO_ALL = (
    told(lines=[5, 6], descended={"bmm 100": 100, "add 20": 60}),
    told(lines=[5, 6], events=40, work=400, descended={"bmm 400": 400, "add 80": 960}),
)
TIMES_NOUGHT = (
    told(lines=[5, 6], descended={"bmm 100": 100, "mm 34": 102}),
    told(lines=[5, 6], events=40, work=400, descended={"bmm 400": 400, "mm 34": 408}),
)
FEWER_LINES = (told(lines=[5, 6], events=9), told(lines=[5, 6], work=400))
FEWER_OPS = (told(lines=[5, 6], ops={"mm": 4}), told(lines=[5, 6], work=400))
AWAY = (told(lines=[5, 6]), told(lines=[5, 6], events=40))
AWAY_AND_BACK = (told(lines=[5, 6]), told(lines=[5, 6], events=40, escapes={"numpy": 24}))


def judge(mode: str, seen: tuple[Observation, Observation], source: EntryFacts | None) -> Verdict:
    over = ("B",) if mode != "none" else ()
    check = Loops(id="loops", points=1, mode=mode, over=over)  # type: ignore[arg-type]
    return check.judge(CASE, REFERENCE, run(*seen, source))


@pytest.mark.parametrize(
    ("mode", "seen", "source", "code"),
    [
        ("none", FLAT, CLEAN, Code.OK),
        ("none", FLAT, LOOPED, Code.OK),  # a loop that was not run
        ("none", LINES, LOOPED, Code.LOOP_FOUND),
        ("none", RAN_FLAT, LOOPED, Code.LOOP_FOUND),  # a loop of as many turns at any size
        ("none", RAN_FLAT, ON_A_BRANCH, Code.OK),
        ("none", LINES, ON_A_BRANCH, Code.LOOP_FOUND),
        ("none", FEWER_LINES, ON_A_BRANCH, Code.LOOP_FOUND),  # for the smaller size alone
        ("none", FEWER_OPS, ON_A_BRANCH, Code.LOOP_FOUND),
        ("none", LINES, CLEAN, Code.NEEDS_REVIEW),
        ("none", OPS, CLEAN, Code.NEEDS_REVIEW),
        ("none", OPS, LOOPED, Code.NEEDS_REVIEW),
        ("none", BARE, CLEAN, Code.NEEDS_REVIEW),
        ("none", ADDS, CLEAN, Code.NEEDS_REVIEW),
        ("none", ADDS, EntryFacts(("f",), (SUM,)), Code.OK),
        ("none", OPS, EntryFacts(("f",), (SUM,)), Code.NEEDS_REVIEW),
        ("none", FLAT, HIDDEN, Code.OK),
        ("none", FLAT, None, Code.NEEDS_REVIEW),
        ("none", (FLAT[0], Observation(Outcome.TIMED_OUT)), CLEAN, Code.NEEDS_REVIEW),
        ("required", LINES, LOOPED, Code.OK),
        ("required", FLAT, CLEAN, Code.LOOP_MISSING),
        ("required", RAN_FLAT, LOOPED, Code.NEEDS_REVIEW),
        ("required", LINES, CLEAN, Code.NEEDS_REVIEW),
        ("required", BUSY, LOOPED, Code.NEEDS_REVIEW),  # turns in which nothing is done
        ("required", NOUGHT_TO_ALL, LOOPED, Code.NEEDS_REVIEW),
        ("required", TIMES_NOUGHT, LOOPED, Code.NEEDS_REVIEW),
        ("required", AWAY, LOOPED, Code.NEEDS_REVIEW),  # nobody knows where it is done
        ("required", AWAY_AND_BACK, LOOPED, Code.OK),
        ("exactly", LINES, LOOPED, Code.OK),
        ("exactly", BUSY, LOOPED, Code.NEEDS_REVIEW),
        ("exactly", FLAT, CLEAN, Code.LOOP_MISSING),
        ("exactly", LINES, CLEAN, Code.NEEDS_REVIEW),
        ("exactly", LINES, replace(LOOPED, depth=2), Code.NEEDS_REVIEW),
    ],
)
def test_the_witnesses_are_weighed(
    mode: str, seen: tuple[Observation, Observation], source: EntryFacts | None, code: Code
) -> None:
    verdict = judge(mode, seen, source)
    assert verdict.code is code
    assert verdict.basis is Basis.CLAIM
    assert [witness.name for witness in verdict.witnesses] == ["source", "behaviour"]
    if code is Code.NEEDS_REVIEW:
        assert verdict.status is Status.DEFERRED
    if code is Code.LOOP_FOUND:
        assert verdict.message is not None
        assert verdict.message.params["line"] == 5


@pytest.mark.parametrize(("source", "code"), [
    (LOOPED, Code.LOOP_MISSING),
    (replace(LOOPED, opaque=HIDDEN.opaque), Code.NEEDS_REVIEW),  # what is hidden may be the loop
])  # fmt: skip
def test_a_loop_over_something_else_is_not_the_one_asked_for(
    source: EntryFacts, code: Code
) -> None:
    counted = {"": LINES[0], "A": LINES[1], "B": RAN_FLAT[1]}
    seen = Observation(Outcome.COMPLETED, counted=counted, source=source)
    right = Observation(Outcome.COMPLETED, counted={**counted, "B": LINES[1]})
    check = Loops(id="loops", points=1, mode="exactly", over=["B"])
    assert check.judge(CASE, right, seen).code is code


def test_a_case_on_which_nothing_was_to_be_counted_says_nothing() -> None:
    check = Loops(id="loops", points=1, mode="none")
    bare = Observation(Outcome.COMPLETED)
    assert check.judge(CASE, bare, bare).code is Code.OK
    assert Probe.GROWTH in check.needs()


@pytest.mark.parametrize(
    "fields", [{"mode": "none", "over": ["B"]}, {"mode": "exactly"}, {"mode": "some"}]
)
def test_a_mode_that_does_not_fit_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Loops.model_validate({"kind": "loops", "id": "loops", "points": 1, **fields})
    with pytest.raises(ValidationError, match="neither"):
        ForbiddenOps(id="ops", points=1)


@pytest.mark.parametrize(
    ("small", "large", "more", "expected"),
    [(4, 4, 9, False), (4, 5, 9, False), (6, 15, 9, True), (30, 39, 9, True), (100, 103, 9, False),
     (0, 2, 3, True), (50, 53, 3, False)],
)  # fmt: skip
def test_growth_is_told_from_noise(small: int, large: int, more: int, expected: bool) -> None:
    assert grows(small, large, more) is expected


@pytest.mark.parametrize(
    "change",
    [
        {"events": -1}, {"events": True}, {"lines": 3}, {"lines": ["x"]}, {"calls": []},
        {"ops": {"mm": "many"}}, {"ops": {1: 1}}, {"under": {"mm": 3}}, {"greatest": None},
        {"events": 2**63}, {"ops": {"mm": 10**1000}},
    ],
)  # fmt: skip
def test_counts_that_are_none_are_no_counts(change: dict[str, Any]) -> None:
    assert counts_of(told()) is not None
    assert counts_of(told(**change)) is None
    assert counts_of(None) is None
    assert counts_of(Observation(Outcome.COMPLETED)) is None
    assert counts_of(Observation(Outcome.COMPLETED, claims=Claims(probes={"counting": {}}))) is None


OTHER = replace(LOOP, place=SourcePlace(9, 1, 10), repeated=(10, 10))


@pytest.mark.parametrize(
    ("loops", "line"), [((LOOP,), " Line 5: for, the only loop in the text."), ((LOOP, OTHER), "")]
)
def test_on_a_hidden_case_the_only_loop_of_the_text_is_told_by_its_line(
    loops: tuple[Construct, ...], line: str
) -> None:
    seen = run(*LINES, EntryFacts(("f",), loops, 1))
    check = Loops(id="loops", kind="loops", mode="none", points=1)
    verdict = replace(check.judge(CASE, REFERENCE, seen), case="kept_back", hidden=True)
    # Which of several loops ran may depend on a hidden input, and so tell of it.
    assert words_in("en").for_student(verdict) == (
        f"In a hidden case: a loop where none is allowed.{line}"
    )
