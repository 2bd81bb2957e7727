"""One test for a rule over many files, messages or names: it lists every fault at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

Thing = TypeVar("Thing")


def no_faults(
    things: Mapping[str, Thing], faults_of: Callable[[Thing], Iterable[str]], advice: str
) -> None:
    """Fail with all faults of all things, one a line, and with what to do.

    Looking at nothing fails as well: a folder that moved would let its rule pass for ever.

    Args:
        things: What the rule is for, by the name that a reader finds it under.
        faults_of: Returns what is wrong with one of them.
        advice: How such a fault is mended.
    """
    __tracebackhide__ = True
    assert things, "this rule looked at nothing: what it is for has moved"
    faults = [f"{name}: {fault}" for name, thing in things.items() for fault in faults_of(thing)]
    assert not faults, "\n".join([f"{len(faults)} to mend; {advice}", *faults])
