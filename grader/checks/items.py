"""One item of what a scenario returned: a check with ``item`` sees that item of the dict alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from grader.checks.causes import type_cause
from grader.checks.findings import finding
from grader.checks.trees import describe
from grader.observation import Companions, Observation, Outcome
from grader.verdict import Code, Param, Verdict
from grader.wire.values import Value

_WHOLE = "result"
"""How messages call what was returned."""


class NoItemError(ValueError):
    """What was returned is no dict with that item."""


def item_of(observation: Observation, item: str) -> Observation:
    """Return an observation as if the call had returned one item of its dict.

    Args:
        observation: Of a call that completed.
        item: The item's key; ``log.steps`` is the item ``steps`` of the item ``log``, and never a
            key that is written so: there is one way to an item.

    Raises:
        NoItemError: There is no such item.
    """
    value = observation.claims.value
    found, part = _find(value, item)
    if not found:
        raise NoItemError(f"the scenario returned a {describe(value)}, which has no “{item}”")
    companions = observation.companions
    if companions is not None:
        perturbed = tuple(_of_run(run, item) for run in companions.perturbed)
        companions = Companions(_of_run(companions.wide, item), perturbed)
    claims = replace(observation.claims, value=part)
    return replace(observation, claims=claims, companions=companions)


def _find(value: Value, item: str) -> tuple[bool, Value]:
    for key in item.split("."):
        if not isinstance(value, dict) or key not in value:
            return False, None
        value = value[key]
    return True, value


def _of_run(run: Observation, item: str) -> Observation:
    # A companion that failed says so itself.
    return item_of(run, item) if run.outcome is Outcome.COMPLETED else run


def no_item(submission: Observation, item: str) -> Verdict:
    """Return the verdict on a submission whose result lacks the item."""
    value = submission.claims.value
    params: dict[str, Param] = {
        "actual": describe(value),
        "expected": f"dict with “{item}”",
        "where": _WHOLE,
        **type_cause(value, {}),
    }
    return finding(Code.WRONG_TYPE, "wrong_type", params)


def naming(verdict: Verdict, item: str) -> Verdict:
    """Return a verdict whose message names the item instead of the whole result."""
    told = verdict.message
    if told is None or not isinstance(where := told.params.get("where"), str):
        return verdict
    if not where.startswith(_WHOLE):
        return verdict
    params: Mapping[str, Param] = {**told.params, "where": item + where.removeprefix(_WHOLE)}
    return replace(verdict, message=replace(told, params=params))
