"""What a guest says that it counted, checked for form, and whether counts grow with a size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grader.checks.base import Probe
from grader.checks.traces import items, mapping, natural
from grader.observation import Observation, Outcome
from grader.wire.values import Value

_RATIO = 1.5
_FEW = 2
_SLOPE = 0.5
_LEAST_STEP = 4


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of one call. Claims, all of them.

    Attributes:
        events: Lines of the hand-in that were run and functions entered.
        lines: Numbers of the lines that were run.
        calls: Torch function → number of calls.
        ops: ATen operation → number.
        under: ATen operation → functions through which it was reached.
        bare: Operations that no Python call asked for.
        escapes: Way out of torch → number.
        work: Multiplications and elements.
        greatest: Bytes of the greatest tensor computed.
        threads: Threads that could not be watched.
    """

    events: int
    lines: frozenset[int]
    calls: Mapping[str, int]
    ops: Mapping[str, int]
    under: Mapping[str, frozenset[str]]
    bare: int
    escapes: Mapping[str, int]
    work: int
    greatest: int
    threads: int


def counts_of(observation: Observation | None) -> Counts | None:
    """Return the counts of a call that was made to be counted; None if it has none to be read."""
    if observation is None or observation.outcome is not Outcome.COMPLETED:
        return None
    told = observation.claims.probes.get(Probe.COUNTING.value)
    if not isinstance(told, dict):
        return None
    try:
        return Counts(
            natural(told["events"]),
            frozenset(natural(line) for line in items(told["lines"])),
            _table(told["calls"]),
            _table(told["ops"]),
            {_word(op): frozenset(map(_word, items(through)))
             for op, through in mapping(told["under"]).items()},
            natural(told["bare"]),
            _table(told["escapes"]),
            natural(told["work"]),
            natural(told["greatest"]),
            natural(told["threads"]),
        )  # fmt: skip
    except (KeyError, TypeError):
        return None


def grows(small: int, large: int, more: int) -> bool:
    """Whether a count grows with a size.

    Args:
        small: The count.
        large: The count where the size is larger.
        more: By how much the size is larger.
    """
    if large >= _RATIO * small + _FEW:
        return True
    # Beside much that does not grow, a loop's turns still show one by one.
    return large - small >= max(_LEAST_STEP, _SLOPE * more)


def _word(value: Value) -> str:
    if not isinstance(value, str):
        raise TypeError(type(value))
    return value


def _table(value: Value) -> dict[str, int]:
    return {_word(name): natural(count) for name, count in mapping(value).items()}
