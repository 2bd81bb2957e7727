"""Two value trees side by side, leaf by leaf.

Tuples and lists of one length are the same structure, as are dicts with the same keys. A leaf is
whatever else meets: two tensors, two numbers, or things that do not belong together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from grader.checks.causes import type_cause
from grader.checks.findings import finding, plain
from grader.observation import Observation
from grader.verdict import Basis, Code, Message, Owner, Param, Status, Verdict, fault, passed
from grader.wire.values import Device, DType, Opaque, Tensor, Value

_KEY_CAP = 40
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


Rule = Callable[[Leaf], Verdict | None]
"""Judges one leaf whose two values are of one kind; None where nothing is wrong."""


def judge_leaves(
    reference: Observation, submission: Observation, rule: Rule, basis: Basis = Basis.FACT
) -> Verdict:
    """Return the verdict on the first leaf at fault, else the least credit of any."""
    found = passed(basis)
    for leaf in leaves(submission.claims.value, reference.claims.value):
        verdict = _mismatch(leaf, basis) or rule(leaf)
        if verdict is not None and verdict.status is not Status.PARTIAL:
            return verdict
        if verdict is not None and verdict.credit < found.credit:
            found = verdict
    return found


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
        return f"{type(value).__name__} of {len(value)}"
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
    if isinstance(expected, Opaque):
        detail = f"{leaf.where} is a {describe(expected)}, which cannot be compared"
        return fault(
            Code.REFERENCE_FAILED, Owner.INSTRUCTOR, Message("reference_failed", {"detail": detail})
        )
    if kind_of(actual) == kind_of(expected) and not isinstance(
        expected,
        (tuple, list, dict),  # met as a leaf only where their lengths or keys differ
    ):
        return None
    params: dict[str, Param] = {
        "actual": describe(actual),
        "expected": describe(expected),
        "where": leaf.where,
        **type_cause(actual, expected),
    }
    return finding(Code.WRONG_TYPE, "wrong_type", params, basis)
