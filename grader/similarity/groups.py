"""Groups of submissions that are nearly the same throughout, whatever names and layout are.

What many wrote is common: the obvious answer to a question. But if the same people share nearly all
they wrote, they are no independent witnesses that it is obvious. Such a group counts once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from grader.similarity.texts import Script

_NEARLY = 0.8
"""Of the longer one's own tokens that stand in definitions which both have."""
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
        found[tuple(sorted(definitions(script)))].append(index)
    return [indices for indices in found.values() if len(indices) > 1]


def _small(number: Sequence[int]) -> list[int]:
    """Take a group apart that is most of the class."""
    count = Counter(number)
    return [
        index if count[each] > _MOST * len(number) else each for index, each in enumerate(number)
    ]
