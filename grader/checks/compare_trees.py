"""Two value trees side by side, leaf by leaf, and one item of the dict that a scenario returns.

What sentences call a part of a result is decided here too: an author's words, else its key.

Tuples and lists of one length are the same structure, as are dicts with the same keys. A leaf is
whatever else meets: two tensors, two numbers, or things that do not belong together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import cast

from grader.checks.arrays import to_numpy
from grader.checks.base import AuthorText, CaseInputs
from grader.checks.diagnoses import type_cause, with_cause
from grader.observation import Companions, Observation, Outcome
from grader.verdict import (
    Basis,
    Code,
    Param,
    Status,
    Verdict,
    finding,
    passed,
    plain,
    reference_failed,
)
from grader.wire.values import Device, DType, Opaque, Tensor, Value

_KEY_CAP = 40
_SUBSCRIPT = re.compile(r"\[('(?:[^'\\]|\\.)*'?|\"(?:[^\"\\]|\\.)*\"?|[^\]]*)\]?")
_KEYS_SHOWN = 8
_SEQUENCES = (tuple, list)


@dataclass(frozen=True, slots=True)
class Leaf:
    """Two values at one place.

    Attributes:
        where: The place as Python would write it, such as ``result[1]``.
    """

    where: str
    actual: Value
    expected: Value


LeafRule = Callable[[Leaf], Verdict | None]
"""Judges one leaf whose two values are of one kind; None where nothing is wrong."""


def judge_leaves(
    reference: Observation, submission: Observation, rule: LeafRule, basis: Basis = Basis.FACT
) -> Verdict:
    """Return the verdict on the first leaf at fault, else the least credit of any."""
    return _judged(leaves(submission.claims.value, reference.claims.value), rule, basis)


def judge_numbers(reference: Observation, submission: Observation, rule: LeafRule) -> Verdict:
    """Judge leaves as ``judge_leaves`` does, a number as a number in whatever type it comes.

    A tensor of rank 0 and a number of numpy's serve where a Python number is due, and the other
    way round: their type is for kinds ``type`` and ``dtype`` to judge.
    """
    found = leaves(submission.claims.value, reference.claims.value)
    return _judged(map(_as_numbers, found), rule, Basis.FACT)


def _judged(found_leaves: Iterable[Leaf], rule: LeafRule, basis: Basis) -> Verdict:
    found = passed(basis)
    for leaf in found_leaves:
        verdict = _mismatch(leaf, basis) or rule(leaf)
        if verdict is not None and verdict.status is not Status.PARTIAL:
            return verdict
        if verdict is not None and verdict.credit < found.credit:
            found = verdict
    return found


def _as_numbers(leaf: Leaf) -> Leaf:
    if type(leaf.actual) is type(leaf.expected):
        return leaf
    actual, expected = _number(leaf.actual), _number(leaf.expected)
    # True is no 1: a truth value is compared with truth values.
    if actual is None or expected is None or (type(actual) is bool) != (type(expected) is bool):
        return leaf
    return Leaf(leaf.where, actual, expected)


def _number(value: Value) -> bool | int | float | None:
    if isinstance(value, Opaque):
        return value.number
    if isinstance(value, Tensor):
        scalar = None if value.shape else to_numpy(value).item()
        return scalar if isinstance(scalar, (bool, int, float)) else None
    return value if isinstance(value, (bool, int, float)) else None


def leaves(actual: Value, expected: Value, where: str = "result") -> Iterator[Leaf]:
    """Yield the leaves of two trees, in the order of the expected one."""
    if isinstance(actual, _SEQUENCES) and isinstance(expected, _SEQUENCES):
        if len(actual) == len(expected):
            for index, pair in enumerate(zip(actual, expected, strict=True)):
                yield from leaves(*pair, f"{where}[{index}]")
            return
    elif isinstance(actual, dict) and isinstance(expected, dict):
        # By how they are written, for 1, True and 1.0 are one key to Python and NaN is none.
        found = {repr(key): item for key, item in actual.items()}
        wanted = {repr(key): item for key, item in expected.items()}
        if found.keys() == wanted.keys():
            for key, item in wanted.items():
                yield from leaves(found[key], item, f"{where}[{key[:_KEY_CAP]}]")
            return
    yield Leaf(where, actual, expected)


def value_at(tree: Value, where: str) -> Value:
    """Return the leaf at a place, None where there is none."""
    return next((leaf.actual for leaf in leaves(tree, tree) if leaf.where == where), None)


def wrong_shape(leaf: Leaf, case: CaseInputs) -> Verdict | None:
    """Return the verdict where a leaf's two tensors differ in shape, None for anything else."""
    actual, expected = leaf.actual, leaf.expected
    if not isinstance(actual, Tensor) or not isinstance(expected, Tensor):
        return None
    if actual.shape == expected.shape:
        return None
    params: dict[str, Param] = {
        "actual": list(actual.shape),
        "expected": list(expected.shape),
        "where": leaf.where,
    }
    details = with_cause(params, case, to_numpy(actual), to_numpy(expected))
    return finding(Code.WRONG_SHAPE, "wrong_shape", details)


def kind_of(value: Value) -> str:
    """Return what a value is, coarsely enough that an int may stand where a float was due."""
    return "number" if type(value) in (int, float) else exact_kind(value)


def exact_kind(value: Value) -> str:
    """Return what a value is, whatever it holds."""
    return _NAMES.get(type(value), type(value).__name__)


def describe(value: Value) -> str:
    """Return a value's type for a message, in Python's and torch's words."""
    if isinstance(value, Opaque):
        return plain(value.type)
    if isinstance(value, _SEQUENCES):
        return type(value).__name__
    if isinstance(value, dict):
        keys = [repr(key)[:_KEY_CAP] for key in list(value)[:_KEYS_SHOWN]]
        more = ", …" if len(value) > _KEYS_SHOWN else ""
        return f"dict with keys {', '.join(keys)}{more}" if keys else "empty dict"
    return exact_kind(value)


_NAMES: dict[type, str] = {
    type(None): "None",
    memoryview: "bytes",  # as which bytes come out of a frame
    DType: "torch.dtype",
    Device: "torch.device",
    Tensor: "Tensor",
}


def _mismatch(leaf: Leaf, basis: Basis) -> Verdict | None:
    actual, expected = leaf.actual, leaf.expected
    # Asked of the reference first: what cannot be compared is the instructor's mistake, even if the
    # submission returns the same.
    if isinstance(expected, Opaque):
        detail = f"{leaf.where} is a {describe(expected)}, which cannot be compared"
        return reference_failed(detail)
    if kind_of(actual) == kind_of(expected) and not isinstance(
        expected,
        (tuple, list, dict),  # met as a leaf only where their lengths or keys differ
    ):
        return None
    params: dict[str, Param] = {"where": leaf.where}
    if kind_of(actual) == kind_of(expected) and isinstance(actual, _SEQUENCES):
        # A sequence of the right type is met here for its length alone.
        params |= {"actual": len(actual), "expected": len(cast("tuple[Value, ...]", expected))}
        return finding(Code.WRONG_TYPE, "wrong_length", params, basis)
    params |= {"actual": describe(actual), "expected": describe(expected)}
    return finding(Code.WRONG_TYPE, "wrong_type", {**params, **type_cause(actual, expected)}, basis)


_WHOLE = "result"
"""How messages call what was returned."""


class NoItemError(ValueError):
    """What was returned has no such item."""


def item_of(observation: Observation, item: str) -> Observation:
    """Return an observation as if the call had returned one item of its dict or tuple.

    Args:
        observation: Of a call that completed.
        item: A key of a dict, or a place in a tuple or list from 0. ``log.steps`` is the item
            ``steps`` of the item ``log``, and never a key that is written so: there is one way to
            an item.

    Raises:
        NoItemError: There is no such item.
    """
    value = observation.claims.value
    found, part = _find(value, item)
    if not found:
        raise NoItemError(f"it returned a {describe(value)}, which has no “{item}”")
    companions = observation.companions
    if companions is not None:
        perturbed = tuple(_of_run(run, item) for run in companions.perturbed)
        companions = Companions(_of_run(companions.wide, item), perturbed)
    claims = replace(observation.claims, value=part)
    return replace(observation, claims=claims, companions=companions)


def _find(value: Value, item: str) -> tuple[bool, Value]:
    for key in item.split("."):
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, (tuple, list)) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return False, None
    return True, value


def _of_run(run: Observation, item: str) -> Observation:
    # A companion that failed says so itself.
    return item_of(run, item) if run.outcome is Outcome.COMPLETED else run


def no_item(submission: Observation, item: str) -> Verdict:
    """Return the verdict on a submission whose result lacks the item."""
    value = submission.claims.value
    params: dict[str, Param] = {
        "actual": describe(value),
        "expected": f"tuple with item {item}" if item.isdecimal() else f"dict with “{item}”",
        "where": _WHOLE,
        **type_cause(value, {}),
    }
    return finding(Code.WRONG_TYPE, "wrong_type", params)


def naming(verdict: Verdict, item: str) -> Verdict:
    """Return a verdict whose message names the item instead of the whole result."""
    message = verdict.message
    if message is None or not isinstance(where := message.params.get("where"), str):
        return verdict
    if not where.startswith(_WHOLE):
        return verdict
    name = f"{_WHOLE}[{item}]" if item.isdecimal() else item
    params: Mapping[str, Param] = {**message.params, "where": name + where.removeprefix(_WHOLE)}
    return replace(verdict, message=replace(message, params=params))


def called_params(
    called: Mapping[str, AuthorText], item: str | None, where: object
) -> dict[str, Param]:
    """Return the author's words for a place, and what of the place they leave unsaid.

    Args:
        called: Part of a result → words, as a question has them.
        item: What the check judges.
        where: The place as a message has it, such as ``said[0]``, ``result[1]``.

    Returns:
        Parameters for the message; empty where the author has no words for it.
    """
    if not called or not isinstance(where, str):
        return {}
    whole = _WHOLE if item is None or item.isdecimal() else item
    if not where.startswith(whole):
        return {}
    keys = item.split(".") if item and whole == item else []
    shown = list(keys)
    for match in _SUBSCRIPT.finditer(where, len(whole)):
        text = match.group(1)
        quoted = text[:1] in {"'", '"'}
        keys.append(text.strip(text[0]) if quoted else text)
        shown.append(keys[-1] if quoted else f"[{text}]")
    for length in range(len(keys), 0, -1):
        words = called.get(".".join(keys[:length]))
        if words is not None:
            return {**words.params("called"), "place": ", ".join(shown[length:])}
    return {}
