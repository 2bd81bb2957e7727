"""What counting shows of a function as its sizes grow: steps, and where the work is done.

A student process says of each operation from which the result descends how much work it was. In a
loop, more turns are more operations, each as large as before. What is done at once is one operation
that grows, and turns that carry its rows to their places are no work.

Does not see: work in the turns from which the result does descend and which changes nothing, such
as a product times nought, where the result was not worked out at once as well. Work is weighed, not
understood.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from grader.checks.base import GROWTH_FACTOR, CaseInputs
from grader.checks.counts import Counts, Works, counts_of
from grader.observation import Observation
from grader.verdict import Param

_RATIO = 1.5
_FEW = 2
_SLOPE = 0.5
_LEAST_STEP = 4


def grows(small: int, large: int, more: int) -> bool:
    """Tell whether a count grows with a size.

    Args:
        small: The count.
        large: The count where the size is larger.
        more: By how much the size is larger.
    """
    if large >= _RATIO * small + _FEW:
        return True
    # Beside much that does not grow, a loop's turns still show one by one.
    return large - small >= max(_LEAST_STEP, _SLOPE * more)


_OF_BUILTINS = frozenset({
    "add", "add_", "unbind", "select", "gt", "lt", "ge", "le", "eq", "ne", "_local_scalar_dense",
    "is_nonzero", "detach", "alias", "lift_fresh", "any", "all",
})  # fmt: skip
"""Operations that ``sum``, ``max`` and the other builtins ask of the tensors they go through."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What counting has shown.

    Attributes:
        planned: Dims whose growth was to be looked at.
        loops: Dims with which work done turn by turn grows.
        by_builtins: Dims with which only what builtins such as ``sum`` do grows.
        stepped: Dims with which lines of the submission grow.
        dwindled: Dims with which lines of the submission, or operations, become fewer, as where
            small inputs alone are looped over.
        idle: Dims with which a loop goes on, though most of the work is done at once.
        elsewhere: Dims with which a loop goes on, and hardly any work was seen, in torch or by
            leaving it more often.
        lines: Lines of the submission that were run in any counted call, each with its file.
        failed: Counted calls that did not end well, by dim.
        escapes: Ways out of torch that were taken.
        evidence: The counts themselves.
    """

    planned: frozenset[str] = frozenset()
    loops: frozenset[str] = frozenset()
    by_builtins: frozenset[str] = frozenset()
    stepped: frozenset[str] = frozenset()
    dwindled: frozenset[str] = frozenset()
    idle: frozenset[str] = frozenset()
    elsewhere: frozenset[str] = frozenset()
    lines: frozenset[tuple[str, int]] = frozenset()
    failed: tuple[str, ...] = ()
    escapes: tuple[str, ...] = ()
    evidence: Mapping[str, Param] = field(default_factory=dict)


def behaviour_of(
    case: CaseInputs, reference: Observation, submission: Observation
) -> Behaviour | None:
    """Return what counting shows; None where no call on this case was to be counted."""
    planned = {name: counts_of(item) for name, item in reference.counted.items()}
    wanted = [name for name, counts in planned.items() if counts is not None]
    if not wanted:
        return None
    counted = {name: counts_of(submission.counted.get(name)) for name in wanted}
    seen = {name: counts for name, counts in counted.items() if counts is not None}
    failed = tuple(name for name in wanted if name not in seen)
    base, reference_base = seen.get(""), planned.get("")
    dims = frozenset(name for name in wanted if name)
    # Without the plain call nothing can be seen to grow.
    if base is None or reference_base is None:
        return Behaviour(planned=dims, failed=failed)
    kinds = ("loops", "by_builtins", "stepped", "dwindled", "idle", "elsewhere")
    sets: dict[str, set[str]] = {name: set() for name in kinds}
    # Of the calls that ended well only: a missing one is in “failed” and proves no growth.
    for name in dims & seen.keys():
        more = case.dims.get(name, 1) * (GROWTH_FACTOR - 1)
        larger = planned[name]
        assert larger is not None
        for group in _groups(base, seen[name], larger, more):
            sets[group].add(name)
    groups = {name: frozenset(group) for name, group in sets.items()}
    return Behaviour(
        dims,
        groups["loops"],
        groups["by_builtins"],
        groups["stepped"],
        groups["dwindled"],
        groups["idle"],
        groups["elsewhere"],
        frozenset().union(*(counts.lines for counts in seen.values())),
        failed,
        tuple(sorted({name for counts in seen.values() for name in counts.escapes})),
        {name or "counts": _numbers(counts) for name, counts in seen.items()},
    )


def _groups(base: Counts, larger: Counts, reference: Counts, more: int) -> Iterator[str]:
    """Yield what a call shows whose one size is larger, as names of ``Behaviour``."""
    if grows(base.events, larger.events, more):
        yield "stepped"
    if larger.events < base.events or _sum(larger.ops) + _FEW < _sum(base.ops):
        yield "dwindled"
    yield from filter(None, (_kind(base, larger, more), _work(base, larger, reference, more)))


def _work(base: Counts, larger: Counts, reference: Counts, more: int) -> str:
    """Return where the work is done as a loop goes on: ``idle``, ``elsewhere``, or nothing said."""
    # Counts of an earlier version do not tell.
    if not reference.descended:
        return ""
    own = (base.descended, base.left), (larger.descended, larger.left)
    size = more // (GROWTH_FACTOR - 1)
    done = done_in_turns(*own, reference.descended, size)
    if done is None:
        return "" if grows(_sum(base.escapes), _sum(larger.escapes), more) else "elsewhere"
    return "" if done else "idle"


def _kind(base: Counts, larger: Counts, more: int) -> str:
    ops = grows(_sum(base.ops), _sum(larger.ops), more)
    calls = grows(_sum(base.calls), _sum(larger.calls), more)
    if grows(base.events, larger.events, more) or grows(base.bare, larger.bare, more):
        return "loops"
    if ops and calls:
        grown = {
            name for name, count in larger.ops.items() if count > base.ops.get(name, 0) + _NOISE
        }
        return "by_builtins" if grown <= _OF_BUILTINS else "loops"
    return ""


_NOISE = 1


def _sum(counts: Mapping[str, int]) -> int:
    return sum(counts.values())


def _numbers(counts: Counts) -> list[Param]:
    return [counts.events, _sum(counts.calls), _sum(counts.ops)]


_MOVES = frozenset({
    "_local_scalar_dense", "_to_copy", "_unsafe_view", "_reshape_alias", "arange", "cat", "clone",
    "constant_pad_nd", "copy", "eye", "fill", "flip", "full", "full_like", "gather", "index",
    "index_add", "index_copy", "index_put", "index_select", "lift_fresh_copy", "masked_fill",
    "masked_scatter", "masked_select", "new_full", "new_ones", "new_zeros", "nonzero", "ones",
    "ones_like", "put", "repeat", "roll", "scalar_tensor", "scatter", "scatter_add",
    "scatter_reduce", "select_scatter", "slice_scatter", "split_with_sizes_copy", "stack", "take",
    "tril", "triu", "unbind_copy", "where", "zero", "zeros", "zeros_like",
})  # fmt: skip
"""Operations that make, fill or carry memory and compute nothing."""

_LITTLE = 8
"""So many times less work than the reference's was done elsewhere."""

_SLACK = 2
"""A turn may do so many times what the largest operation is at the smaller size: turns that take
several items at once may take fewer there."""


def done_in_turns(
    small: tuple[Works, Works], large: tuple[Works, Works], reference: Works, size: int
) -> bool | None:
    """Tell whether the work is split over the turns of a loop: half of it at least.

    What is done at once may be half of the reference's work, too, and not more.

    Args:
        small: What the result descends from, and with that what left torch on the way.
        large: The same where the size that the loop goes over is larger.
        reference: What the reference's result descends from there.
        size: The smaller size: no operation of a turn is a greater share of all than one of it.

    Returns:
        None where hardly any work was seen.
    """
    wanted = sum(_computed(reference).values())
    for before, after in zip(small, large, strict=True):
        # What the result descends from by itself comes first: numbers that left torch may be
        # decoys, and count where nothing else explains the result.
        total = sum(_computed(after).values())
        if total and total * _LITTLE >= wanted:
            split = _split(before, after, size, total)
            # Whoever works all of it out at once has nothing left to do in turns.
            return 2 * split >= total and 2 * (total - split) <= wanted
    return None


_WHOLE = 8
"""An operation on the whole problem may do so small a share of the reference's work."""


def worked_out_at_once(base: Works, larger: Sequence[Works], reference: Works) -> bool:
    """Tell whether operations on the whole problem do enough work to find the result.

    Their work grows with each size, and they become no more. What a loop prepares at once, such as
    the length of each row, lacks a size.

    Args:
        base: What the result descends from.
        larger: The same for each size, where that one is larger. With a single size nobody knows.
        reference: What the reference's result descends from at the sizes of ``base``.
    """
    if len(larger) < 2:
        return False
    grown = [{(name, one): all_ // one for name, one, all_ in _that_compute(works) if one}
             for works in larger]  # fmt: skip
    whole = sum(
        all_
        for name, one, all_ in _that_compute(base)
        if one and all(each.get((name, GROWTH_FACTOR * one)) == all_ // one for each in grown)
    )
    return _WHOLE * whole >= sum(_computed(reference).values()) > 0


def _split(small: Works, large: Works, size: int, total: int) -> int:
    """Return how much of the work is done by operations that are no larger for larger inputs."""
    known: dict[str, int] = {}
    for name, one, _ in _that_compute(small):
        known[name] = max(one, known.get(name, 0))
    any_name = max(known.values(), default=0)
    return sum(
        all_
        for name, one, all_ in _that_compute(large)
        if one <= _SLACK * known.get(name, any_name) and one * size <= total
    )


def turns(small: Works, large: Works) -> tuple[int, int]:
    """Return how many operations compute something, none of them far larger than a turn of a loop.

    Args:
        small: What a result descends from.
        large: The same where a size is larger.
    """
    before, now = _computed(small), _computed(large)
    most = _SLACK * max(before, default=0)
    first, second = (
        sum(all_ // one for one, all_ in works.items() if 0 < one <= most)
        for works in (before, now)
    )
    return first, second


def computing(works: Works) -> Counter[str]:
    """Return how often which operation computes something; those that carry it elsewhere do not."""
    found: Counter[str] = Counter()
    for name, one, all_ in _that_compute(works):
        found[name] += all_ // one if one else 0
    return found


def _computed(works: Works) -> Counter[int]:
    """Return the work of one operation → that of all such, of those that compute."""
    found: Counter[int] = Counter()
    for _, one, all_ in _that_compute(works):
        found[one] += all_
    return found


def _that_compute(works: Works) -> Iterator[tuple[str, int, int]]:
    """Yield name, work of one and that of all such, of the operations that compute something."""
    for operation, work in works.items():
        name, _, one = operation.rpartition(" ")
        if name.split(".", 1)[0].rstrip("_") not in _MOVES | {""}:
            yield name, int(one), work
