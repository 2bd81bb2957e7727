"""Where a returned tensor is wrong, as a picture: found again from the kept observations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from grader.checks.arrays import Array, to_numpy
from grader.checks.base import Check
from grader.checks.bounded import Bounded
from grader.checks.inputs import UnfitCaseError
from grader.checks.items import NoItemError, item_of
from grader.checks.trees import leaves
from grader.observation import Observation, Outcome
from grader.report.heat import Heat
from grader.report.model import CheckResult, QuestionResult
from grader.run.observe import QuestionRun
from grader.run.plan import PlannedCase
from grader.selfcheck.folder import Workplace
from grader.verdict import Code
from grader.wire.values import Tensor

_PICTURED = (Code.WRONG_VALUE, Code.NOT_FINITE)


def pictures(
    question: QuestionResult, place: Workplace, seen: Mapping[str, QuestionRun]
) -> dict[str, Heat]:
    """Return check → picture, for the checks of a question that found wrong numbers.

    Args:
        question: As it was reported.
        place: With the public cases.
        seen: What the submission did, by question id.
    """
    public = place.public
    planned = next((item for item in public.plan if item.question.id == question.id), None)
    if planned is None or question.id not in seen:
        return {}
    checks = {check.id: check for check in planned.question.checks}
    found = {}
    for result in question.checks:
        if result.code not in _PICTURED:
            continue
        for case in (item for item in planned.cases if item.case.id == result.case):
            reference = public.reference[question.id].observations[case.key]
            own = seen[question.id].observations.get(case.key)
            heat = own and _heat(checks[result.id], result, case, (reference, own))
            if heat:
                found[result.id] = heat
                break
    return found


def _heat(
    check: Check, result: CheckResult, case: PlannedCase, pair: tuple[Observation, Observation]
) -> Heat | None:
    """Return the picture of one case; None where nothing in it can be shown to be wrong."""
    if pair[1].outcome is not Outcome.COMPLETED:
        return None
    where = str(result.params.get("where", "result"))
    try:
        if check.item is not None:
            pair = item_of(pair[0], check.item), item_of(pair[1], check.item)
            where = "result" + where.removeprefix(check.item)
        arrays = _arrays(check, case, pair, where)
    except (UnfitCaseError, NoItemError):
        return None
    if arrays is None or arrays[0].shape != arrays[1].shape or not arrays[0].size:
        return None
    actual, expected, allowed = (_wide(array) for array in arrays)
    with np.errstate(all="ignore"):
        wrong = ~(np.abs(actual - expected) <= allowed)
        wrong &= ~(np.isnan(actual) & np.isnan(expected)) & (actual != expected)
    return Heat(case.case.id, where, actual, expected, wrong) if wrong.any() else None


def _arrays(
    check: Check, case: PlannedCase, pair: tuple[Observation, Observation], where: str
) -> tuple[Array, Array, Array] | None:
    """Return what was returned, what is right, and by how much they may differ."""
    reference, own = pair
    leaf = next(
        (leaf for leaf in leaves(own.claims.value, reference.claims.value) if leaf.where == where),
        None,
    )
    if leaf is None or not isinstance(leaf.actual, Tensor):
        return None
    actual = to_numpy(leaf.actual)
    if isinstance(check, Bounded):
        bound = check.bounds(case.inputs, reference).get(where)
        return None if bound is None else (actual, bound.value, bound.scale * bound.gates[0])
    if not isinstance(leaf.expected, Tensor) or not check.numbers:
        return None
    expected = to_numpy(leaf.expected)
    rtol, atol = (float(getattr(check, name, 0.0)) for name in ("rtol", "atol"))
    return actual, expected, atol + rtol * np.abs(_wide(expected))


def _wide(array: Any) -> Array:
    wide: Array = np.abs(array) if np.iscomplexobj(array) else np.asarray(array, np.float64)
    return wide
