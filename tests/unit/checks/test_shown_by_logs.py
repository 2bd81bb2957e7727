"""Rules read off logs that were run again: of arguments, of brackets, of loops by their work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import pytest
from observed import CASE, seen, tensor

from grader.checks.arguments import NotViewOf, ReturnsInput, Unmodified, ViewOf
from grader.checks.base import CaseInputs, Check
from grader.checks.judge import judge_case
from grader.checks.loops import Loops
from grader.checks.ops import ForbiddenOps, MaxCalls
from grader.observation import Claims, Observation, Outcome, Proof
from grader.static_analysis.facts import EntryFacts
from grader.verdict import Basis, Code, Message, Verdict, review
from grader.wire.values import Layout, Value

X = tensor([1.0, 2.0, 3.0])
ARGUMENTS = replace(CASE, args=(X, X))


def judged(check: Check, case: CaseInputs, right: Observation, own: Observation) -> Verdict:
    return judge_case(check, case, right, own)


# -- arguments -------------------------------------------------------------------------------------


def left(after: Any, proof: Proof | None) -> Observation:
    """A call of a case that is counted."""
    counted = {"": replace(seen(1), proof=proof)}
    return replace(seen(1, args_after=after), proof=proof, counted=counted)


@pytest.mark.parametrize(
    ("proof", "basis"),
    [
        (Proof(), Basis.FACT),
        (Proof("it could not be run"), Basis.CLAIM),
        (None, Basis.CLAIM),
    ],
)
def test_arguments_that_no_log_writes_to_are_unmodified_as_a_fact(
    proof: Proof | None, basis: Basis
) -> None:
    own, right = left((X, X), proof), left((X, X), Proof())
    verdict = judged(Unmodified(id="u", points=1), ARGUMENTS, right, own)
    assert (verdict.code, verdict.basis) == (Code.OK, basis)


@pytest.mark.parametrize(("changed", "code"), [((), Code.OK), ((1,), Code.NEEDS_REVIEW)])
def test_a_log_that_changes_an_argument_contradicts_the_process(
    changed: tuple[int, ...], code: Code
) -> None:
    own = left((X, X), Proof(written=(1,), changed=changed))
    verdict = judged(Unmodified(id="u", points=1), ARGUMENTS, left((X, X), Proof()), own)
    assert (verdict.code, verdict.basis) == (code, Basis.CLAIM)


@pytest.mark.parametrize(
    ("argument", "code", "basis"),
    [(None, Code.INPUT_MODIFIED, Basis.CLAIM), ("x", Code.OK, Basis.FACT)],
)
def test_one_argument_may_be_the_only_one_that_is_left_as_it_was(
    argument: str | None, code: Code, basis: Basis
) -> None:
    case = replace(CASE, names=("x", "y"), args=(X, X))
    proof = Proof(written=(1,), changed=(1,))
    own, right = left((X, tensor([0.0, 2.0, 3.0])), proof), left((X, X), Proof())
    verdict = judged(Unmodified(id="u", points=1, argument=argument), case, right, own)
    assert (verdict.code, verdict.basis) == (code, basis)


def test_an_argument_that_a_log_writes_to_is_not_the_one_that_it_leaves() -> None:
    case = replace(CASE, names=("x", "y"), args=(X, X))
    own = right = left((X, X), Proof(written=(1,)))
    verdict = judged(Unmodified(id="u", points=1, argument="y"), case, right, own)
    assert verdict.basis is Basis.CLAIM


def test_a_log_names_an_item_of_a_dict_as_the_check_does() -> None:
    result: Value = {"new": replace(X, layout=Layout(0, 0, (1,)))}
    proof = Proof(inside={"output[new]": 0}, same=("output[new]",))
    after = (replace(X, layout=Layout(0, 0, (1,))), X)
    own = replace(left(after, proof), claims=Claims(result, args_after=after))
    verdict = judged(ViewOf(id="v", points=1, argument=0), ARGUMENTS, own, own)
    assert (verdict.code, verdict.basis) == (Code.OK, Basis.FACT)


def test_no_log_speaks_for_arguments_that_changed() -> None:
    own, right = left((X, tensor([0.0])), Proof()), left((X, X), Proof())
    verdict = judged(Unmodified(id="u", points=1), ARGUMENTS, right, own)
    assert verdict.code is Code.INPUT_MODIFIED


def test_no_log_speaks_for_arguments_that_nobody_reported() -> None:
    own = right = replace(seen(1), proof=Proof())
    verdict = judged(Unmodified(id="u", points=1), ARGUMENTS, right, own)
    assert verdict.code is Code.SANDBOX_FAILED


def test_no_log_speaks_for_lists_of_numbers() -> None:
    own = right = left(([1, 2],), Proof())
    case = CaseInputs("case", ("x",), ([1, 2],))
    verdict = judged(Unmodified(id="u", points=1), case, right, own)
    assert (verdict.code, verdict.basis) == (Code.OK, Basis.CLAIM)


AT = tuple(replace(X, layout=Layout(storage, 0, (1,))) for storage in range(3))


@pytest.mark.parametrize(
    ("check", "result", "proof", "basis"),
    [
        (ViewOf, AT[1], Proof(inside={"output": 1}), Basis.FACT),
        (ViewOf, AT[1], Proof(inside={"output": 0}), Basis.CLAIM),
        (ViewOf, AT[1], Proof(apart=("output",)), Basis.CLAIM),
        (ViewOf, AT[1], Proof("why", inside={"output": 1}), Basis.CLAIM),
        (NotViewOf, AT[2], Proof(apart=("output",)), Basis.FACT),
        (NotViewOf, AT[2], Proof(inside={"output": 0}), Basis.FACT),
        (NotViewOf, AT[2], Proof(inside={"output": 1}), Basis.CLAIM),
        (NotViewOf, AT[2], Proof(), Basis.CLAIM),
        (ReturnsInput, AT[1], Proof(inside={"output": 1}, same=("output",)), Basis.FACT),
        (ReturnsInput, AT[1], Proof(inside={"output": 1}), Basis.CLAIM),
        (ReturnsInput, AT[1], Proof(inside={"output": 0}, same=("output",)), Basis.CLAIM),
    ],
)
def test_where_an_output_lies_is_read_off_the_log(
    check: Any, result: Value, proof: Proof, basis: Basis
) -> None:
    own = replace(seen(result, args_after=AT[:2]), proof=proof)
    right = seen(result, args_after=AT[:2])
    verdict = judged(check(id="v", points=1, argument="y"), ARGUMENTS, right, own)
    assert (verdict.code, verdict.basis) == (Code.OK, basis)


def test_an_item_is_looked_up_by_the_name_that_the_log_gives_it() -> None:
    value: Value = {"a": (AT[1],), "b": AT[2]}
    own = replace(seen(value, args_after=AT[:2]), proof=Proof(inside={"output[a][0]": 1}))
    check = ViewOf(id="v", points=1, argument="y", item="a")
    verdict = judged(check, ARGUMENTS, seen(value, args_after=AT[:2]), own)
    assert (verdict.code, verdict.basis) == (Code.OK, Basis.FACT)


def test_places_after_a_list_of_tensors_are_not_relied_on() -> None:
    own = replace(seen(AT[1], args_after=([AT[0]], AT[1])), proof=Proof(inside={"output": 1}))
    case = replace(CASE, args=([X], X))
    verdict = judged(ViewOf(id="v", points=1, argument="y"), case, own, own)
    assert (verdict.code, verdict.basis) == (Code.OK, Basis.CLAIM)


# -- counted calls ---------------------------------------------------------------------------------


def counts(works: Mapping[str, int], **more: Any) -> dict[str, Value]:
    told: dict[str, Any] = {
        "events": 1, "lines": [], "calls": {}, "ops": {}, "under": {}, "bare": 0, "escapes": {},
        "greatest": 1, "descended": dict(works), "left": dict(works),
    }  # fmt: skip
    return {"counting": {**told, **more}}


def counted(proof: Proof | None, **more: Any) -> Observation:
    return Observation(
        Outcome.COMPLETED, claims=Claims(1, probes=counts(proof.works if proof else {}, **more)),
        proof=proof,
    )  # fmt: skip


BRACKETS = Proof(
    indexings=2, needed_indexings=2, needed_array_indexings=1, assignments=2, needed_assignments=1
)
Of = Literal["indexing", "array_indexing", "slice_assignment"]


@pytest.mark.parametrize(
    ("of", "most", "least", "proof", "code"),
    [
        ("indexing", 2, 2, BRACKETS, Code.OK),
        ("indexing", 1, 1, BRACKETS, Code.OK),
        ("indexing", 2, 2, replace(BRACKETS, needed_indexings=1), Code.NEEDS_REVIEW),
        ("indexing", 2, 2, replace(BRACKETS, unnamed=1), Code.OK),
        ("array_indexing", 2, 1, BRACKETS, Code.OK),
        ("array_indexing", 2, 1, replace(BRACKETS, needed_array_indexings=0), Code.NEEDS_REVIEW),
        ("slice_assignment", 2, 1, BRACKETS, Code.OK),
        ("slice_assignment", 1, 1, BRACKETS, Code.OK),
        ("slice_assignment", 2, 1, replace(BRACKETS, needed_assignments=0), Code.NEEDS_REVIEW),
    ],
)
def test_brackets_are_read_off_the_log(
    of: Of, most: int, least: int, proof: Proof, code: Code
) -> None:
    calls = {"__getitem__": most, "__setitem__": most}
    needed = Proof(
        indexings=least, needed_indexings=least, needed_array_indexings=least, assignments=least,
        needed_assignments=least,
    )  # fmt: skip
    right = Observation(
        Outcome.COMPLETED,
        claims=Claims(1),
        counted={"": counted(needed, ops={"index": 1}, calls=calls)},
    )
    own = replace(right, counted={"": counted(proof, ops={"index": 1}, calls=calls)})
    verdict = judged(MaxCalls(id="m", points=1, of=of, most=most, least=least), CASE, right, own)
    assert verdict.code is code
    found = proof.assignments if of == "slice_assignment" else proof.indexings
    # More of them than are allowed may be of something else: the process's word decides.
    shown = found <= most and not proof.unnamed
    assert (verdict.basis is Basis.FACT) is (code is Code.OK and shown)


# -- loops -----------------------------------------------------------------------------------------

SIZES = replace(CASE, dims={"B": 4, "N": 3})
TURNS = ({"mm 10": 40}, {"mm 10": 160})
AT_ONCE = ({"bmm 40": 40}, {"bmm 160": 160})
A_LITTLE = ({"bmm 40": 40, "add 1": 4}, {"bmm 160": 160, "add 1": 16})
TWICE = ({"mm 10": 120}, {"mm 10": 480})
WHOLE = (TWICE[0] | {"bmm 20": 20}, TWICE[1] | {"bmm 80": 80})
LACKS_A_SIZE = TWICE[1] | {"bmm 20": 20}
BESIDE = ({"mm 10": 70}, {"mm 10": 190})


def logs(base: Mapping[str, int], **grown: tuple[Mapping[str, int], int]) -> Observation:
    of_base = Proof(works=base, entries=10)
    larger = {name: Proof(works=works, entries=n) for name, (works, n) in grown.items()}
    return Observation(
        Outcome.COMPLETED,
        claims=Claims(1),
        counted={name: counted(proof) for name, proof in {"": of_base, **larger}.items()},
        source=EntryFacts(),
    )


Mode = Literal["required", "exactly"]


@pytest.mark.parametrize(
    ("mode", "over", "own", "shown"),
    [
        ("required", ("B",), logs(TURNS[0], B=(TURNS[1], 40)), True),
        ("required", (), logs(TURNS[0], B=(TURNS[1], 40)), True),
        # Entries grow, too, where each row is carried to its place.
        ("required", ("B",), logs(AT_ONCE[0], B=(AT_ONCE[1], 40)), False),
        ("required", (), logs(AT_ONCE[0], B=(AT_ONCE[1], 40)), False),
        ("required", ("B",), logs({}, B=({}, 40)), False),
        # Turns that do a little, beside an operation that does nearly all.
        ("required", ("B",), logs(A_LITTLE[0], B=(A_LITTLE[1], 40)), False),
        ("exactly", ("B",), logs(TURNS[0], B=(TURNS[1], 40), N=(TURNS[0], 10)), True),
        ("exactly", ("B",), logs(TURNS[0], B=(TURNS[1], 40), N=(TURNS[0], 11)), False),
        ("exactly", ("B",), logs(TURNS[0], B=(TURNS[1], 40), N=(TURNS[1], 40)), False),
        ("exactly", ("B", "N"), logs(TWICE[0], B=(TWICE[1], 40), N=(TWICE[1], 40)), True),
        ("exactly", ("B", "N"), logs(TURNS[0], B=(TURNS[1], 40), N=(TURNS[0], 10)), False),
        # Loops for show beside an operation on the whole problem; what is prepared lacks a size.
        ("exactly", ("B", "N"), logs(WHOLE[0], B=(WHOLE[1], 40), N=(WHOLE[1], 40)), False),
        ("exactly", ("B", "N"), logs(WHOLE[0], B=(WHOLE[1], 40), N=(LACKS_A_SIZE, 40)), True),
        # One loop after the other: only one of them has more turns.
        ("exactly", ("B", "N"), logs({"mm 10": 70}, B=(BESIDE[1], 40), N=(BESIDE[1], 40)), False),
    ],
)
def test_a_loop_is_shown_by_work_that_is_done_in_turns(
    mode: Mode, over: tuple[str, ...], own: Observation, shown: bool
) -> None:
    right = logs(TURNS[0], **{name: (TURNS[1], 40) for name in own.counted if name})
    check = Loops(id="loop", points=1, mode=mode, over=over)
    assert (check.shown(SIZES, right, own) is not None) is shown


def test_a_loop_beside_the_one_asked_for_is_told_by_the_text() -> None:
    own = logs(TURNS[0], B=(TURNS[1], 40))
    check = Loops(id="loop", points=1, mode="exactly", over=("B",), alone=True)
    assert check.shown(SIZES, own, own) is not None
    assert check.shown(SIZES, own, replace(own, source=None)) is None


def test_a_case_whose_sizes_do_not_grow_says_nothing_of_loops() -> None:
    check = Loops(id="loop", points=1, mode="required", over=("B",))
    assert check.shown(SIZES, logs(TURNS[0]), logs(TURNS[0])) == {}


def test_a_log_that_is_not_proved_shows_no_loop() -> None:
    own = logs(TURNS[0], B=(TURNS[1], 40))
    broken = replace(
        own, counted={**own.counted, "B": replace(own.counted["B"], proof=Proof("no"))}
    )
    check = Loops(id="loop", points=1, mode="required", over=("B",))
    assert check.shown(SIZES, own, broken) is None


# -- what contradicts the counts -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entries", "ops", "code"),
    [
        (10, {"mm": 1}, Code.OK),
        (14, {"mm": 1}, Code.NEEDS_REVIEW),
        # As the counts say: one call that torch itself does in many operations.
        (14, {"mm": 5}, Code.OK),
    ],
)
def test_a_log_that_grows_where_the_counts_do_not_contradicts_them(
    entries: int, ops: dict[str, int], code: Code
) -> None:
    def run(entries: int, ops: dict[str, int]) -> Observation:
        made = {"": (10, {"mm": 1}), "B": (entries, ops)}
        return Observation(
            Outcome.COMPLETED,
            claims=Claims(1),
            counted={name: counted(Proof(entries=n), ops=said) for name, (n, said) in made.items()},
            source=EntryFacts(),
        )

    check = Loops(id="loop", points=1, mode="none")
    assert judged(check, SIZES, run(10, {"mm": 1}), run(entries, ops)).code is code


@pytest.mark.parametrize(("ops", "code"), [({"bmm": 1}, Code.OK), ({}, Code.NEEDS_REVIEW)])
def test_a_forbidden_name_in_the_log_of_which_the_counts_say_nothing_is_for_a_person(
    ops: dict[str, int], code: Code
) -> None:
    def run(proof: Proof, ops: dict[str, int]) -> Observation:
        seen = counted(proof, ops=ops)
        return Observation(
            Outcome.COMPLETED, claims=Claims(1), counted={"": seen}, source=EntryFacts()
        )

    right, own = run(Proof(ops=("mm",)), {"mm": 1}), run(Proof(ops=("bmm",)), ops)
    # ``x @ y`` of three dimensions comes to the operation, and calls no function of that name.
    verdict = judged(ForbiddenOps(id="no_bmm", points=1, calls=("bmm",)), CASE, right, own)
    assert (verdict.code, verdict.basis) == (code, Basis.CLAIM)


@pytest.mark.parametrize(("basis", "code"), [
    (Basis.FACT, Code.NEEDS_REVIEW),  # the clock's
    (Basis.CLAIM, Code.OK),
])  # fmt: skip
def test_a_log_ends_no_doubt_of_the_clock(
    basis: Basis, code: Code, monkeypatch: pytest.MonkeyPatch
) -> None:
    doubt = review(Message("loops_slow"), basis)
    monkeypatch.setattr(Loops, "judge", lambda *_: doubt)
    own = logs({}, B=({}, 10))
    check = Loops(id="loop", points=1, mode="none")
    right = replace(
        own,
        counted={
            name: replace(each, proof=Proof(entries=10)) for name, each in own.counted.items()
        },
    )
    assert judged(check, SIZES, right, right).code is code
