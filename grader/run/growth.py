"""Calls that are made only to be counted: on a case's inputs, and on larger ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.assignment.types import Case, Question
from grader.checks.base import GROWTH_FACTOR, Check, Probe
from grader.wire.values import Value


@dataclass(frozen=True, slots=True)
class CountedCall:
    """Inputs of a call that is made to be counted.

    Attributes:
        grown: Name of the dim that is larger than in the case; empty for the case's own inputs.
        args: Positional arguments.
        kwargs: Keyword arguments.
    """

    grown: str
    args: tuple[Value, ...]
    kwargs: dict[str, Value]


def scales(question: Question, case: Case) -> Iterator[dict[str, int]]:
    """Yield how the sizes of a case are multiplied for each call that its checks want counted.

    Growth is looked at in one case a question, the one with the most dims: what a function does
    as a size grows does not depend on which numbers it gets.
    """
    wanted = {probe for check in _checks_on(question, case) for probe in check.needs()}
    if not wanted & {Probe.COUNTING, Probe.GROWTH}:
        return
    yield {}
    if Probe.GROWTH in wanted and case is _growing_case(question):
        for name in sorted(case.dims):
            yield {name: GROWTH_FACTOR}


def _checks_on(question: Question, case: Case) -> Sequence[Check]:
    return [check for check in question.checks if check.cases is None or case.id in check.cases]


def _growing_case(question: Question) -> Case:
    asked = [
        case
        for case in question.cases
        if any(Probe.GROWTH in check.needs() for check in _checks_on(question, case))
    ]
    return max(asked, key=lambda case: (len(case.dims), case.scenario is None))
