"""What a known mistake is worth: a share of the points that its results lose.

Who does in every case what a priced mistake does has done that work. The checks that its results
fail earn its share then. A rule that rests on them is judged by itself, and earns the same share
where it is kept. Inputs are drawn, so that results cannot be had without the work.

Defends against: results that are the same for all inputs, or an argument handed back, earn no
price, whatever a mistake's author wrote.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from grader.assignment.cells import DRAWN_CASES, KnownMistake
from grader.checks.arrays import to_numpy
from grader.checks.base import Check
from grader.checks.compare import equal_but_for_rounding
from grader.checks.judge import reads_results, settle
from grader.observation import Observation, Outcome
from grader.run.observe import Mended, QuestionRun
from grader.run.plan import PlannedCase, PlannedQuestion
from grader.verdict import PRICE, Code, Message, Owner, Param, Status, Verdict, sandbox_failed
from grader.wire.tree import leaves
from grader.wire.values import Tensor, Value

OF_RESULTS = frozenset({
    Code.WRONG_VALUE, Code.WRONG_SHAPE, Code.WRONG_DTYPE, Code.WRONG_TYPE, Code.WRONG_DEVICE,
    Code.NOT_FINITE, Code.INPUT_MODIFIED, Code.NOT_A_VIEW, Code.SHARES_MEMORY,
    Code.REDUCED_PRECISION, Code.RAISED, Code.RETURNED_NOTHING,
})  # fmt: skip
"""Codes that a known mistake explains: those of what came back."""

_CASES, _OF_CASES = "right_cases", "of_cases"
"""Parameters: how many cases are right, of how many."""
_OWN = frozenset({_CASES, _OF_CASES})

TELLING_NUMBERS = 3
"""Different numbers in results that are no accident."""
_LOOKED_AT = 1000
"""Numbers of a tensor that are looked at for how many different ones there are."""

Verdicts = Mapping[str, Verdict]
Results = Mapping[str, Observation]
"""Case key → what came of it."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a submission that makes a known mistake earns.

    Attributes:
        share: Of the points of each check that its results fail, and of the rules on them.
        voids: Checks that mean nothing where it is made.
        unknown: Why it is not known whether the mistake is made; the points wait then.
        lost: Checks that the submission fails by its dtypes, too: there it earns nothing.
    """

    share: float
    voids: frozenset[str] = frozenset()
    unknown: str = ""
    lost: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PartialCredit:
    """What a question earns that is right in part.

    Attributes:
        price: Of the known mistake that the submission makes, if it makes one.
        shares: What rests on several checks earns the share of those that are met.
        right_cases: Share for right results in some cases; 0 where a known mistake says what the
            question earns.
    """

    price: Price | None = None
    shares: bool = False
    right_cases: float = 0.0


@dataclass(frozen=True, slots=True)
class Made:
    """A priced mistake that a submission makes, as what its logs are compared with.

    Attributes:
        files: The solution with the mistake in it.
        run: What it did, logs run again included where a ``Prover`` saw them.
        name: Of the mistake.
    """

    files: Mapping[str, bytes]
    run: QuestionRun
    name: str


def results_alone(check: Check) -> bool:
    """Tell whether a check judges what came back, and nothing that a price is not for."""
    return (
        reads_results(check) and check.speed() is None and not (check.by_person or check.diagnostic)
    )


def of_values(check: Check) -> bool:
    """Tell whether a check judges what came back, and others rest on it."""
    return results_alone(check) and not check.conditional


def with_price(checks: Sequence[Check], verdicts: Verdicts, price: Price) -> dict[str, Verdict]:
    """Return the verdicts on all checks of a question, once a price is paid, by the check's id.

    Args:
        checks: All checks of the question.
        verdicts: The verdict of each over its cases, before anything rests on another.
        price: What the mistake is worth.
    """
    without = settle(checks, verdicts)
    paid = {}
    for check in checks:
        verdict = verdicts[check.id]
        # The clock compares with the reference: a wrong function is not timed.
        if check.id in price.voids or check.speed() is not None:
            verdict = without[check.id]
        elif results_alone(check) and check.id not in price.lost:
            verdict = _paid(verdict, price)
        paid[check.id] = verdict
    settled = settle(checks, paid)
    return {name: _kept(settled[name], without[name], price) for name in settled}


@dataclass(frozen=True, slots=True)
class Credit:
    """What a submission earns of what is right about it.

    Attributes:
        verdicts: On what is right: the submission with its slip mended, or some of its cases;
            settled.
        share: Of what these earn.
        says: Parameters of the first message, which says why.
        kept: Id of the message on a rule.
        marks: Parameters of every message.
    """

    verdicts: Verdicts
    share: float
    says: Mapping[str, Param]
    kept: str
    marks: Mapping[str, Param] = field(default_factory=dict)


def of_slip(slip: Mended, mended: Verdicts) -> Credit:
    """Return what a submission earns that small changes make right.

    Args:
        slip: The change, and what it earns.
        mended: Of the submission with its slip mended, settled.
    """
    told = _told_as(slip)
    says: dict[str, Param] = {f"{told}_line": slip.line}
    # A line that is not there yet has no number; that of the “def” would be a false one.
    if slip.start_of:
        says = {f"{told}_start": slip.start_of}
    return Credit(mended, slip.share, says, "rule_kept_but_for_slip")


def of_cases(right: int, drawn: int, share: float, verdicts: Verdicts) -> Credit:
    """Return what a submission earns that is right in some cases.

    Args:
        right: How many cases with drawn values are right.
        drawn: How many there are.
        share: That right results earn, where others are wrong.
        verdicts: On what is right, settled.
    """
    says = {_OF_CASES: drawn}
    return Credit(verdicts, share * right / drawn, says, "rule_kept_in_part", {_CASES: right})


def with_credit(checks: Sequence[Check], verdicts: Verdicts, earned: Credit) -> dict[str, Verdict]:
    """Return the verdicts on all checks of a question that is right in part.

    What its results lose, and the rules on them, earn a share of what is right.

    Args:
        checks: All checks of the question.
        verdicts: Of the submission, settled.
        earned: What is right about it.
    """
    paid, told = dict(verdicts), False
    for check in checks:
        verdict, better = verdicts[check.id], earned.verdicts[check.id]
        lost = verdict.status.wrong and verdict.code in OF_RESULTS and results_alone(check)
        rests = verdict.code is Code.REQUIREMENT_NOT_MET
        credit = earned.share * better.credit
        # The clock compares with the reference: a wrong function is not timed.
        due = (lost or rests) and better.status.earned and check.speed() is None
        if not due or credit <= verdict.credit or verdict.message is None:
            continue
        before = {key: it for key, it in verdict.message.params.items() if key not in _OWN}
        params = {**before, **earned.marks, PRICE: round(100 * credit)}
        if lost and not told:
            params, told = {**params, **earned.says}, True
        message = Message(verdict.message.id if lost else earned.kept, params)
        paid[check.id] = replace(
            verdict,
            status=Status.PARTIAL,
            owner=Owner.STUDENT,
            credit=credit,
            message=message,
            basis=better.basis,
        )
    return paid


def _told_as(slip: Mended) -> str:
    """Return how the blank begins that takes a slip's place, where it says most."""
    if slip.changes > 1:
        return "twice_mended"
    if slip.earns:
        # Not which: a change may bring it in by itself, and nothing shows that it did not.
        return "then_known"
    return "partly_mended" if slip.others else "mended"


def _kept(verdict: Verdict, without: Verdict, price: Price) -> Verdict:
    """Return the verdict on a rule that would not count without the price: its share of it."""
    if without.code is not Code.REQUIREMENT_NOT_MET or PRICE in _params(verdict):
        return verdict
    if verdict.code is Code.NEEDS_REVIEW:
        # Where no log shows it, nobody waits for a person beside a mistake.
        return without
    if not verdict.status.earned:
        return verdict
    params = {**_params(without), PRICE: round(100 * price.share)}
    return replace(
        verdict,
        status=Status.PARTIAL,
        code=Code.REQUIREMENT_NOT_MET,
        owner=Owner.STUDENT,
        credit=price.share * verdict.credit,
        message=Message("rule_kept", params),
    )


def _params(verdict: Verdict) -> Mapping[str, Param]:
    return verdict.message.params if verdict.message is not None else {}


def _paid(verdict: Verdict, price: Price) -> Verdict:
    message = verdict.message
    if not verdict.status.wrong or verdict.code not in OF_RESULTS or message is None:
        return verdict
    if price.unknown:
        return replace(sandbox_failed(price.unknown), case=verdict.case, hidden=verdict.hidden)
    if verdict.credit >= price.share:
        return verdict
    params = {**message.params, PRICE: round(100 * price.share)}
    return replace(
        verdict,
        status=Status.PARTIAL,
        credit=price.share,
        message=Message(message.id, params),
    )


def is_priced(verdicts: Verdicts) -> bool:
    """Tell whether a price was given for any of the results of a question."""
    paid = [each for each in verdicts.values() if each.code in OF_RESULTS]
    return any(PRICE in (params := _params(each)) and _CASES not in params for each in paid)


def priced(mistakes: Collection[KnownMistake], question: str) -> list[KnownMistake]:
    """Return the mistakes of a question that earn something."""
    return [each for each in mistakes if each.earns and question in each.questions]


def best(mistakes: Sequence[KnownMistake]) -> KnownMistake:
    """Return the mistake that counts of several that fit: the one that earns most."""
    return max(mistakes, key=lambda each: (each.earns or 0.0, -len(each.voids)))


def why_unpaid(planned: PlannedQuestion, results: Results, right: Results) -> str:
    """Return why the results of a mistake earn no price; empty where they do.

    Args:
        planned: Its question, with inputs.
        results: What the mistake did with them.
        right: What the reference did.
    """
    drawn = [
        (case.inputs.args, results[case.key], right[case.key])
        for case in planned.cases
        if case.case.varies and case.key in results
    ]
    ended = [each for each in drawn if each[1].outcome is Outcome.COMPLETED]
    if len(ended) < DRAWN_CASES:
        return f"it returns in fewer than {DRAWN_CASES} cases with drawn values"
    values = [seen.claims.value for _, seen, _ in ended]
    if all(equal_but_for_rounding(one, other) for one, other in combinations(values, 2)):
        return "it returns the same in all cases with drawn values"
    if all(hands_back(args, seen, expected) for args, seen, expected in ended):
        return "what is wrong is an argument as it came, in all cases with drawn values"
    return ""


def hands_back(args: Sequence[Value], seen: Observation, expected: Observation) -> bool:
    """Tell whether a wrong result, or a wrong part of it, is an argument as it came."""
    after = seen.claims.args_after
    # Written to in place, it is handed back as it became.
    if after is not None and not equal_but_for_rounding(tuple(args), after):
        return False
    right = parts_of(expected.claims.value)
    return any(
        not (name in right and equal_but_for_rounding(part, right[name]))
        and any(equal_but_for_rounding(part, arg) for arg in args)
        for name, part in parts_of(seen.claims.value).items()
    )


def parts_of(value: Value) -> dict[object, Value]:
    """Return the parts of a result that has some, by key or place; else the whole."""
    if isinstance(value, dict):
        return {key: item for key, item in value.items()}  # noqa: C416  the keys are of another type
    if isinstance(value, (tuple, list)):
        return dict(enumerate(value))
    return {"": value}


def shows_work(cases: Sequence[PlannedCase], results: Results) -> bool:
    """Tell whether right results in some cases with drawn values are more than luck or a constant.

    Args:
        cases: Those with drawn values that came out right.
        results: What came of each.
    """
    values = [results[case.key].claims.value for case in cases if not _is_argument(case, results)]
    numbers = [numbers_in(value) for value in values]
    return (
        len(frozenset[complex]().union(*numbers)) >= TELLING_NUMBERS or len(frozenset(numbers)) > 1
    )


def _is_argument(case: PlannedCase, results: Results) -> bool:
    """Tell whether a result, or a part of it, is an argument as it came."""
    # A scenario hands on what it likes of its arguments.
    return case.case.scenario is None and any(
        equal_but_for_rounding(part, arg)
        for part in parts_of(results[case.key].claims.value).values()
        for arg in case.inputs.args
    )


def numbers_in(value: Value) -> frozenset[complex]:
    """Return the different numbers of a value, as far as it is looked at."""
    found: set[complex] = set()
    for leaf in leaves(value):
        if isinstance(leaf, Tensor):
            found.update(np.unique(to_numpy(leaf).reshape(-1)[:_LOOKED_AT]).tolist())
        elif isinstance(leaf, (bool, int, float)):
            found.add(float(leaf))
    return frozenset(found)
