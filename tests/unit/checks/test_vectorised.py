"""``vectorised`` and time as the third witness on loops, on injected samples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from observed import CASE, ended, seen, tensor
from pydantic import ValidationError
from timings import run, screen

from grader.checks.base import CaseInputs
from grader.checks.behaviour import Behaviour
from grader.checks.loops import ask_time
from grader.checks.speed import Vectorised
from grader.observation import FunctionTiming, HostFacts, Observation, Outcome
from grader.report.messages.catalogue import ENGLISH
from grader.speed_statistics.sampling import Run
from grader.static_analysis.facts import Construct, EntryFacts, Mention, Role, SourcePlace
from grader.verdict import Basis, Code, Message, Owner, Status, Verdict, Witness, passed, review

STRICT = replace(ENGLISH, strict=True)
REFERENCE = seen(tensor([1.0]))


def check(**fields: Any) -> Vectorised:
    return Vectorised(id="fast", points=1, **fields)


def timed(*runs: Run, **fields: Any) -> FunctionTiming:
    return FunctionTiming(runs, {"B": 512}, outputs=300, **fields)


def judge(timing: FunctionTiming | None, **fields: Any) -> Verdict:
    submission = replace(seen(tensor([1.0])), facts=HostFacts(timing=timing))
    verdict = check(**fields).judge(CASE, REFERENCE, submission)
    if verdict.message is not None:
        STRICT.render(verdict.message)
    return verdict


@pytest.mark.parametrize(
    ("student", "status", "code", "owner"),
    [
        (1.0, Status.PASSED, Code.OK, None),
        (0.5, Status.PASSED, Code.OK, None),
        (64.0, Status.FAILED, Code.TOO_SLOW, Owner.STUDENT),
        (9.0, Status.DEFERRED, Code.INCONCLUSIVE, Owner.INFRASTRUCTURE),
    ],
)
def test_a_verdict_is_for_against_or_open(
    student: float, status: Status, code: Code, owner: Owner | None
) -> None:
    verdict = judge(timed(*[run(student)] * 9))
    assert (verdict.status, verdict.code, verdict.owner) == (status, code, owner)
    assert verdict.basis is Basis.FACT
    assert verdict.evidence["sets"] == 9
    assert verdict.evidence["wall_over_cpu"] == 2


def test_it_says_how_much_slower() -> None:
    verdict = judge(timed(*[run(32.0)] * 3))
    assert verdict.message is not None
    text = STRICT.render(verdict.message)
    assert "32 times as long as the vectorised reference; a loop takes 64 times" in text
    assert "B = 512" in text


def in_passing(*times: float) -> FunctionTiming:
    return FunctionTiming(
        dims={"B": 512}, outputs=300, screens=tuple(screen([each] * 4) for each in times)
    )


@pytest.mark.parametrize(
    ("times", "code"),
    [
        ((1.0,), Code.OK),
        ((64.0, 60.0), Code.TOO_SLOW),
        ((64.0,), Code.NOT_TIMED),
        ((64.0, 1.0), Code.NOT_TIMED),
        ((8.0,), Code.NOT_TIMED),
    ],
)
def test_what_was_timed_in_passing_counts_where_it_is_clear(
    times: tuple[float, ...], code: Code
) -> None:
    verdict = judge(in_passing(*times))
    assert verdict.code is code
    assert verdict.basis is Basis.FACT
    if code is Code.TOO_SLOW:
        assert verdict.message is not None
        text = STRICT.render(verdict.message)
        assert "62 times as long as the vectorised reference; a loop takes 64 times" in text


@pytest.mark.parametrize(
    ("source", "times", "alone", "code"),
    [
        (EntryFacts(), 16.0, None, Code.OK),
        (EntryFacts(), 16.0, 64.0, Code.NEEDS_REVIEW),
        (EntryFacts(), 32.0, None, Code.TOO_SLOW),
        (None, 16.0, None, Code.TOO_SLOW),
    ],
)
def test_who_lists_rows_is_not_too_slow(
    source: EntryFacts | None, times: float, alone: float | None, code: Code
) -> None:
    screens = (screen([times] * 4, alone),) * 2
    timing = FunctionTiming(dims={"B": 512}, outputs=300, screens=screens)
    submission = replace(seen(tensor([1.0])), facts=HostFacts(timing=timing), source=source)
    assert check().judge(CASE, REFERENCE, submission).code is code


def test_another_limit_may_unsettle_what_was_timed_in_passing() -> None:
    assert judge(in_passing(4.0)).code is Code.OK
    assert judge(in_passing(4.0), threshold=0.2).code is Code.NOT_TIMED


def test_credit_may_be_partial() -> None:
    credit = {"steps": [{"within": 0.3, "credit": 1}, {"within": 0.6, "credit": 0.5}]}
    verdict = judge(timed(*[run(8.0)] * 3), credit=credit)
    assert (verdict.status, verdict.credit, verdict.code) == (Status.PARTIAL, 0.5, Code.TOO_SLOW)
    line = {"linear": [{"at": 0.25, "credit": 1}, {"at": 0.75, "credit": 0}]}
    assert judge(timed(*[run(8.0)] * 3), credit=line).credit == pytest.approx(0.5)


def test_one_scale_only() -> None:
    with pytest.raises(ValidationError, match="keep the one that is meant"):
        check(threshold=0.4, credit={"steps": [{"within": 0.3, "credit": 1}]})


def test_what_was_not_timed_is_pending_with_what_to_do() -> None:
    no_clock = FunctionTiming(skipped="no_clock", detail="no such clock")
    for timing in (None, no_clock, FunctionTiming(skipped="no_reading")):
        verdict = judge(timing)
        assert (verdict.status, verdict.code) == (Status.DEFERRED, Code.NOT_TIMED)
        assert verdict.message is not None
        assert "The points stay pending" in STRICT.render(verdict.message)
    verdict = judge(FunctionTiming(skipped="timing_failed", detail="the reference died"))
    assert (verdict.status, verdict.owner) == (Status.ERROR, Owner.INFRASTRUCTURE)


def test_a_timed_output_that_is_wrong_fails_however_fast_it_was() -> None:
    wrong = seen(tensor([1.0, 2.0])), seen(tensor([1.0, 3.0]))
    verdict = judge(timed(run(1.0), wrong=wrong))
    assert (verdict.status, verdict.code) == (Status.FAILED, Code.WRONG_VALUE)
    assert verdict.message is not None
    assert "Numbers that differ: 1 of 2." in STRICT.render(verdict.message)
    shapes = seen(tensor([1.0, 2.0])), seen(tensor([1.0]))
    assert judge(timed(run(1.0), wrong=shapes)).code is Code.WRONG_SHAPE


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (Outcome.TIMED_OUT, Code.TIMED_OUT),
        (Outcome.CRASHED, Code.CRASHED),
        (Outcome.PROTOCOL_VIOLATION, Code.PROTOCOL_VIOLATION),
        (Outcome.RAISED, Code.RAISED),
    ],
)
def test_a_timed_call_that_does_not_return_ends_as_any_other(outcome: Outcome, code: Code) -> None:
    assert judge(timed(failed=ended(outcome, "x"))).code is code


def test_work_between_calls_is_for_a_person() -> None:
    assert judge(timed(*[run(1.0)] * 3, idle=0.4)).code is Code.OK
    assert judge(timed(*[run(1.0)] * 3, idle=0.6)).code is Code.NEEDS_REVIEW


@pytest.mark.parametrize(
    ("lone", "code"),
    [(1.0, Code.OK), (2.0, Code.OK), (30.0, Code.NEEDS_REVIEW), (64.0, Code.NEEDS_REVIEW)],
)
def test_work_that_calls_share_is_for_a_person(lone: float, code: Code) -> None:
    verdict = judge(timed(*[run(1.0, lone=lone)] * 3))
    assert (verdict.code, verdict.basis) == (code, Basis.FACT)
    assert ask_time(DOUBT, TEXT, GROWS, timed(*[run(1.0, lone=64.0)] * 3)).code is Code.NEEDS_REVIEW


def test_a_loop_that_is_no_slower_is_the_assignments_fault() -> None:
    verdict = judge(timed(*[run(1.0, loop=0.9)] * 3))
    assert (verdict.code, verdict.owner) == (Code.REFERENCE_FAILED, Owner.INSTRUCTOR)


DOUBT = replace(review(Message("loops_grows", {})), witnesses=(Witness("source", "x", Basis.FACT),))
TEXT = EntryFacts()
GROWS = Behaviour(planned=frozenset({"B"}), loops=frozenset({"B"}))


@pytest.mark.parametrize(
    ("times", "behaviour", "code", "says"),
    [
        # Steps that grew at other sizes stay: the function may choose its way by the size.
        (1.0, GROWS, Code.NEEDS_REVIEW, "no_loop"),
        (60.0, GROWS, Code.LOOP_FOUND, "loop"),
        (60.0, Behaviour(), Code.LOOP_FOUND, "loop"),
        (9.0, GROWS, Code.NEEDS_REVIEW, "unclear"),
        (1000.0, GROWS, Code.NEEDS_REVIEW, "unclear"),  # far more work than a loop has
        (1.0, Behaviour(loops=frozenset({"N"})), Code.NEEDS_REVIEW, "no_loop"),  # too few turns
        (1.0, Behaviour(failed=("B",)), Code.NEEDS_REVIEW, "no_loop"),
    ],
)
def test_time_settles_a_doubt_where_it_is_clear(
    times: float, behaviour: Behaviour, code: Code, says: str
) -> None:
    timing = FunctionTiming((run(times),) * 3, {"B": 512, "N": 2})
    verdict = ask_time(DOUBT, TEXT, behaviour, timing)
    assert verdict.code is code
    assert [witness.name for witness in verdict.witnesses] == ["source", "time"]
    assert verdict.witnesses[1].says == says
    if code is not Code.NEEDS_REVIEW:
        assert verdict.basis is Basis.FACT


@pytest.mark.parametrize(
    ("times", "code", "says"),
    [
        ((1.0,), Code.NEEDS_REVIEW, "no_loop"),
        ((60.0, 60.0), Code.LOOP_FOUND, "loop"),
        ((60.0, 1000.0), Code.NEEDS_REVIEW, "unclear"),
        ((8.0,), Code.NEEDS_REVIEW, "unclear"),
    ],
)
def test_time_in_passing_settles_it_too(times: tuple[float, ...], code: Code, says: str) -> None:
    verdict = ask_time(DOUBT, TEXT, GROWS, in_passing(*times))
    assert (verdict.code, verdict.witnesses[1].says) == (code, says)


BY_WORD = replace(passed(Basis.CLAIM), witnesses=DOUBT.witnesses)
FLAT = Behaviour(planned=frozenset({"B"}))
HERE = SourcePlace(3, 1, 3)
HIDES = EntryFacts(opaque=(Mention("exec", HERE, True),))
COLLECTS = EntryFacts(opaque=(Mention("gc.collect", HERE, True),))
IDLE_LOOP = EntryFacts(constructs=(Construct("for", Role.LOOP, HERE, 1, "f"),))


@pytest.mark.parametrize(
    ("times", "source", "behaviour", "code", "basis"),
    [
        ((1.0,), HIDES, FLAT, Code.OK, Basis.FACT),
        ((1.0,), TEXT, FLAT, Code.OK, Basis.FACT),
        ((1.0,), HIDES, Behaviour(planned=frozenset({"B", "N"})), Code.OK, Basis.CLAIM),
        ((60.0, 60.0), HIDES, FLAT, Code.NEEDS_REVIEW, Basis.FACT),
        ((60.0, 60.0), IDLE_LOOP, FLAT, Code.NEEDS_REVIEW, Basis.FACT),
        ((60.0, 1000.0), HIDES, FLAT, Code.OK, Basis.CLAIM),
        # Nobody's text is doubted for being slow.
        ((60.0, 60.0), TEXT, FLAT, Code.OK, Basis.CLAIM),
        ((60.0, 60.0), COLLECTS, FLAT, Code.OK, Basis.CLAIM),
        ((8.0,), HIDES, FLAT, Code.OK, Basis.CLAIM),
    ],
)
def test_time_backs_what_passed_by_word_or_asks_a_person(
    times: tuple[float, ...],
    source: EntryFacts,
    behaviour: Behaviour,
    code: Code,
    basis: Basis,
) -> None:
    verdict = ask_time(BY_WORD, source, behaviour, in_passing(*times))
    assert (verdict.code, verdict.basis) == (code, basis)
    assert verdict.witnesses[-1].name == "time"
    if verdict.message is not None:
        STRICT.render(verdict.message)


@pytest.mark.parametrize("source", [HIDES, IDLE_LOOP])
@pytest.mark.parametrize(
    "fields",
    [
        {"failed": ended(Outcome.RAISED, "no process may be started")},
        {"wrong": (seen(1), seen(2))},
        {"idle": 0.9},
    ],
)
def test_what_does_not_let_itself_be_timed_is_for_a_person(
    source: EntryFacts, fields: dict[str, Any]
) -> None:
    verdict = ask_time(BY_WORD, source, FLAT, timed(run(1.0), **fields))
    assert (verdict.code, verdict.basis) == (Code.NEEDS_REVIEW, Basis.FACT)
    assert verdict.witnesses == BY_WORD.witnesses
    assert verdict.message is not None
    assert "when it was timed" in STRICT.render(verdict.message)


def test_a_sandbox_that_failed_casts_no_doubt() -> None:
    failed = timed(failed=ended(Outcome.SANDBOX_FAILED, "too busy"))
    assert ask_time(BY_WORD, IDLE_LOOP, FLAT, failed) == BY_WORD


@pytest.mark.parametrize(
    ("source", "times", "code"),
    [
        (EntryFacts(), 9.0, Code.OK),
        (EntryFacts(), 16.0, Code.OK),
        (EntryFacts(), 32.0, Code.TOO_SLOW),
        (IDLE_LOOP, 16.0, Code.TOO_SLOW),
        (HIDES, 16.0, Code.TOO_SLOW),
        (IDLE_LOOP, 9.0, Code.INCONCLUSIVE),
        (HIDES, 9.0, Code.INCONCLUSIVE),
        (None, 9.0, Code.INCONCLUSIVE),
    ],
)
def test_text_without_a_loop_decides_on_the_threshold(
    source: EntryFacts | None, times: float, code: Code
) -> None:
    facts = HostFacts(timing=timed(*[run(times)] * 9))
    submission = replace(seen(tensor([1.0])), facts=facts, source=source)
    assert check().judge(CASE, REFERENCE, submission).code is code
    credit = {"linear": [{"at": 0.25, "credit": 1}, {"at": 0.75, "credit": 0}]}
    noisy = timed(*[run(4.0), run(16.0)] * 5)
    between = replace(submission, facts=HostFacts(timing=noisy))
    assert check(credit=credit).judge(CASE, REFERENCE, between).code is Code.INCONCLUSIVE


def test_a_loop_that_was_found_stays_found() -> None:
    found = replace(BY_WORD, status=Status.FAILED, code=Code.LOOP_FOUND)
    assert ask_time(found, TEXT, GROWS, in_passing(1.0)).code is Code.LOOP_FOUND


def test_without_a_timing_to_go_by_the_doubt_stays() -> None:
    wrong = seen(1), seen(2)
    for timing in (None, FunctionTiming(), timed(run(1.0), wrong=wrong), timed(run(1.0), idle=0.9)):
        assert ask_time(DOUBT, TEXT, GROWS, timing) is DOUBT
    flat = timed(*[run(1.0, loop=0.9)] * 3)
    assert ask_time(DOUBT, TEXT, GROWS, flat) is DOUBT


def test_the_judge_reads_nothing_but_what_it_is_given() -> None:
    case = CaseInputs("other", (), ())
    observation = Observation(Outcome.COMPLETED, HostFacts(timing=timed(*[run(1.0)] * 3)))
    assert check().judge(case, REFERENCE, observation) == judge(timed(*[run(1.0)] * 3))
