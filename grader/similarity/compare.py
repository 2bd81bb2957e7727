"""Compare every submission of a class with every other.

A fingerprint is a run of ``LENGTH`` tokens (Schleimer, Wilkerson, Aiken: Winnowing, SIGMOD 2003).
Every run is kept, not a sample: classes are small, and which would be sampled depends on Python's
hashes, which differ from process to process.

Fingerprints that do not count: those of the starter, and those that more than a tenth of the class
has, ten submissions at least. The second is what MOSS does (``-m``): what many wrote, nobody copied
from one other. But if the same people share most of what they wrote, they are no independent
witnesses that it is obvious: such a group counts once (``groups``). So a ring of copiers does not
hide itself by its size.
"""

from __future__ import annotations

import io
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from grader.similarity.texts import Compared, Script

if TYPE_CHECKING:
    from copydetect import CodeFingerprint

_NEARLY = 0.55
"""Of the longer one's own tokens that stand in definitions which both have.

Two who took three quarters of the same source share a little more than half."""
_MOST = 0.5
"""Of the class: what even more people share throughout is the task, not a group."""


def groups(scripts: Sequence[Script], given: Iterable[Script]) -> list[int]:
    """Return the number of the group of each script; a script by itself is a group.

    Args:
        scripts: Of a class.
        given: What everybody got; its definitions are nobody's own.
    """
    starter = {chunk for script in given for chunk in definitions(script)}
    own = [Counter(definitions(script)) for script in scripts]
    for chunks in own:
        for chunk in starter & chunks.keys():
            del chunks[chunk]
    sizes = np.array([sum(len(chunk) * n for chunk, n in chunks.items()) for chunks in own])
    holders: dict[str, list[int]] = defaultdict(list)
    for index, chunks in enumerate(own):
        for chunk in chunks:
            holders[chunk].append(index)
    rows = {chunk: np.array(indices) for chunk, indices in holders.items()}
    number = list(range(len(scripts)))
    for index, chunks in enumerate(own):
        shared = np.zeros(len(scripts))
        for chunk in chunks:
            shared[rows[chunk]] += len(chunk)
        # At least 1: two scripts with nothing of their own share all of it, and would be one group.
        near = shared >= _NEARLY * np.maximum(np.maximum(sizes, sizes[index]), 1)
        # A chain of copies is one group: all take the least number among them.
        met = {number[other] for other in np.flatnonzero(near)} | {number[index]}
        number = [min(met) if each in met else each for each in number]
    return _small(number)


def definitions(script: Script) -> list[str]:
    """Return the tokens of each top-level statement, in no order that says anything."""
    tokens, source = script.tokens, script.source
    begins = [
        place
        for place, start in enumerate(tokens.starts)
        if start == 0 or source[start - 1] == "\n"
    ]
    ends = [*begins[1:], len(tokens.document)]
    return [tokens.document[begin:end] for begin, end in zip(begins, ends, strict=True)]


def same_throughout(scripts: Sequence[Script]) -> list[list[int]]:
    """Return the sets of scripts that differ in names, comments, layout and order alone."""
    found: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, script in enumerate(scripts):
        found[tuple(sorted(script.tokens.forms or definitions(script)))].append(index)
    return [indices for indices in found.values() if len(indices) > 1]


def _small(number: Sequence[int]) -> list[int]:
    """Take a group apart that is most of the class."""
    count = Counter(number)
    return [
        index if count[each] > _MOST * len(number) else each for index, each in enumerate(number)
    ]


LENGTH = 12
"""Tokens of a fingerprint: about two short statements."""
LEAST_OWN = 60
"""Tokens that a submission must have of its own to be compared."""
_COMMON_SHARE = 0.1
_COMMON_LEAST = 10
_CLOSEST = 3
"""Pairs of each submission that are looked at in any case: its closest by common fingerprints."""
_WORTH_A_LOOK = 0.3
"""Of the threshold: pairs with a smaller share of fingerprints in common are left."""


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of one submission that the other has too.

    Attributes:
        spans: First character and the one behind the last, in its source: code alone, line by line.
        partner: Index of the other side's region that it matches best.
    """

    spans: tuple[tuple[int, int], ...]
    partner: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Two submissions that have something in common.

    Attributes:
        first: A submission.
        second: Another.
        shares: Of what each has of its own, the share that the other has too.
        tokens: That they have in common, on the side that has more.
        regions: Where, on each side.
    """

    first: Compared
    second: Compared
    shares: tuple[float, float]
    tokens: int
    regions: tuple[tuple[Region, ...], tuple[Region, ...]]

    @property
    def score(self) -> float:
        """The larger share: who adds to a copy makes only the other one smaller."""
        return max(self.shares)


@dataclass(frozen=True, slots=True)
class Findings:
    """What a comparison found.

    Attributes:
        pairs: At or above the threshold, closest first.
        closest: Name → greatest score with any other.
        thin: Names of those with too little of their own.
        common: Fingerprints left out because many have them.
        limit: Submissions from which on a fingerprint counts as common.
        copies: Sets of submissions that are the same, or differ in names, comments, layout and
            order alone; by name, the largest set first.
    """

    pairs: tuple[Pair, ...]
    closest: dict[str, float]
    thin: tuple[str, ...]
    common: int
    limit: int
    copies: tuple[tuple[str, ...], ...] = ()


def compare(
    submissions: Sequence[Compared],
    given: Iterable[Script],
    threshold: float,
    apart: Callable[[str, str], bool] = lambda one, two: one != two,
) -> Findings:
    """Compare every submission with every other.

    Args:
        submissions: No two identical.
        given: What everybody got: starter code.
        threshold: Least score of a pair that is listed, from 0 to 1.
        apart: Whether two submissions, by their names, are of different people.
    """
    given, scripts = list(given), [each.script for each in submissions]
    prints = [_print_of(script) for script in scripts]
    group = groups(scripts, given)
    limit = max(_COMMON_LEAST, int(_COMMON_SHARE * len(set(group))))
    counts = Counter(number for _, number in _held(group, prints))
    common = {number for number, count in counts.items() if count > limit}
    starter = {number for script in given for number in _print_of(script).hashes}
    for each in prints:
        _leave_out(each, common | starter)
    kept = [index for index, each in enumerate(prints) if each.token_coverage >= LEAST_OWN]
    copies = same_throughout(scripts)
    shown = {index: alike[0] for alike in copies for index in alike}
    pairs = [
        _pair((submissions[one], submissions[two]), (prints[one], prints[two]))
        for one, two in _candidates(prints, kept, threshold)
        if apart(submissions[one].name, submissions[two].name)
        # Of a set of copies each stands beside the first: all with all would fill the list.
        if shown.get(one, one) != shown.get(two, two) or one == shown[one]
    ]
    closest = dict.fromkeys((submissions[index].name for index in kept), 0.0)
    for pair in pairs:
        for side in (pair.first, pair.second):
            closest[side.name] = max(closest[side.name], pair.score)
    listed = [pair for pair in pairs if pair.score >= threshold]
    listed.sort(key=lambda pair: (-pair.score, -pair.tokens, pair.first.name, pair.second.name))
    thin = [each.name for each in submissions if each.name not in closest]
    # Starter code that is handed in untouched is no copy of anybody's.
    blank = {script.tokens.document for script in given}
    return Findings(
        tuple(listed), closest, tuple(thin), len(common - starter), limit,
        tuple(_copies(submissions, copies, blank, apart)),
    )  # fmt: skip


def _copies(
    submissions: Sequence[Compared],
    copies: Iterable[Sequence[int]],
    blank: Collection[str],
    apart: Callable[[str, str], bool],
) -> list[tuple[str, ...]]:
    """Return sets of copies of different people that hold more than what everybody was given."""
    alone = {index for alike in copies for index in alike}
    sets = [*copies, *([index] for index in range(len(submissions)) if index not in alone)]
    found = [
        tuple(sorted(name for index in alike for name in submissions[index].names))
        for alike in sets
        if (document := submissions[alike[0]].script.tokens.document) and document not in blank
    ]
    found = [names for names in found if any(apart(names[0], other) for other in names[1:])]
    return sorted(found, key=lambda names: (-len(names), names))


def _held(group: Sequence[int], prints: Sequence[CodeFingerprint]) -> set[tuple[int, int]]:
    """Return which group has which fingerprint."""
    return {
        (each, number) for each, found in zip(group, prints, strict=True) for number in found.hashes
    }


def _print_of(script: Script) -> CodeFingerprint:
    # It imports matplotlib, for half a second; pages of what was found have no use for it.
    from copydetect import CodeFingerprint  # noqa: PLC0415

    # The document is made of tokens already: the library's own filter is for text.
    document = io.StringIO(script.tokens.document, newline="")
    return CodeFingerprint("", LENGTH, 1, filter=False, fp=document)


def _leave_out(found: CodeFingerprint, numbers: set[int]) -> None:
    """Take fingerprints away. The library's own way expects that none comes twice in a file."""
    from copydetect.utils import get_token_coverage  # noqa: PLC0415  as above

    for number in found.hashes & numbers:
        del found.hash_idx[number]
    found.hashes -= numbers
    found.token_coverage = get_token_coverage(found.hash_idx, LENGTH, len(found.filtered_code))


def _candidates(
    prints: Sequence[CodeFingerprint], kept: Sequence[int], threshold: float
) -> list[tuple[int, int]]:
    """Return the pairs worth comparing, by the number of fingerprints in common."""
    holders: dict[int, list[int]] = defaultdict(list)
    for index in kept:
        for number in prints[index].hashes:
            holders[number].append(index)
    rows = {number: np.array(indices) for number, indices in holders.items()}
    sizes = np.array([max(len(each.hashes), 1) for each in prints])
    found: set[tuple[int, int]] = set()
    for index in kept:
        everybody = np.concatenate([rows[number] for number in prints[index].hashes])
        in_common = np.bincount(everybody, minlength=len(prints))
        # Each has most in common with itself.
        in_common[index] = 0
        # By the smaller one: who adds to a copy must not hide it.
        shares = in_common / np.minimum(sizes, sizes[index])
        near = np.flatnonzero((shares >= _WORTH_A_LOOK * threshold) & (in_common > 0))
        closest = [other for other in np.argsort(-shares)[:_CLOSEST] if in_common[other]]
        found |= {(min(index, int(other)), max(index, int(other))) for other in [*near, *closest]}
    return sorted(found)


def _pair(
    submissions: tuple[Compared, Compared], prints: tuple[CodeFingerprint, CodeFingerprint]
) -> Pair:
    from copydetect import compare_files  # noqa: PLC0415  as above

    tokens, shares, slices = compare_files(*prints)
    partners = _partners(prints, slices)
    regions = tuple(
        _regions(each.script, side, partner)
        for each, side, partner in zip(submissions, slices, partners, strict=True)
    )
    return Pair(
        *submissions, (float(shares[0]), float(shares[1])), int(tokens), (regions[0], regions[1])
    )


def _partners(
    prints: tuple[CodeFingerprint, CodeFingerprint], slices: tuple[NDArray[np.int_], ...]
) -> tuple[dict[int, int], dict[int, int]]:
    """Return for each side: index of a region → index of the other side's that it matches best."""
    begins = [side[0].tolist() for side in slices]
    votes: tuple[dict[int, Counter[int]], ...] = (defaultdict(Counter), defaultdict(Counter))
    for number in prints[0].hashes & prints[1].hashes:
        # Counted first: in a table of numbers one fingerprint may stand at each of 50,000 places.
        here, there = (
            Counter(bisect_right(begin, place) - 1 for place in each.hash_idx[number])
            for each, begin in zip(prints, begins, strict=True)
        )
        for (one, count), (two, other) in product(here.items(), there.items()):
            votes[0][one][two] += count * other
            votes[1][two][one] += count * other
    best = [
        {region: count.most_common(1)[0][0] for region, count in side.items()} for side in votes
    ]
    return best[0], best[1]


def _regions(
    script: Script, slices: NDArray[np.int_], partners: dict[int, int]
) -> tuple[Region, ...]:
    return tuple(
        Region(tuple(_spans(script, int(begin), int(end))), partners[index])
        for index, (begin, end) in enumerate(slices.T)
    )


def _spans(script: Script, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield what a run of tokens covers, without the comments and line ends between them."""
    tokens, source = script.tokens, script.source
    start, stop = tokens.starts[begin], tokens.ends[begin]
    for index in range(begin + 1, end):
        between = source[stop : tokens.starts[index]]
        if "\n" in between or between.strip():
            yield start, stop
            start = tokens.starts[index]
        stop = tokens.ends[index]
    yield start, stop
