"""Relations between an array of a wrong shape and the right one that betray a common mistake."""

from __future__ import annotations

from grader.checks.relations import Pair, Told, alike, first, telling, transposed


def by_shape(pair: Pair) -> Told | None:
    """Return the cause where the shapes differ."""
    return first(_RECOGNISERS, pair)


def _extra_axis(pair: Pair) -> Told | None:
    actual, expected = pair.actual, pair.expected
    if actual.size != expected.size or not alike(actual.squeeze(), expected.squeeze()):
        return None
    if actual.ndim == expected.ndim:
        return None
    return {"cause": "extra_axis" if actual.ndim > expected.ndim else "missing_axis"}


def _ends(pair: Pair) -> Told | None:
    actual, expected = pair.actual, pair.expected
    if not actual.ndim or not expected.ndim or actual.shape[1:] != expected.shape[1:]:
        return None
    if len(actual) == len(expected) - 1:
        if alike(actual, expected[:-1]):
            return {"cause": "exclusive_end"}
        return {"cause": "exclusive_start"} if alike(actual, expected[1:]) else None
    if len(actual) == len(expected) + 1 and alike(actual[:-1], expected):
        return {"cause": "one_too_many"}
    return None


def _single_item(pair: Pair) -> Told | None:
    actual, expected = pair.actual, pair.expected
    if expected.ndim != actual.ndim + 1 or len(expected) < 2 or not telling(expected):
        return None
    if alike(actual, expected[-1]):
        return {"cause": "only_last"}
    return {"cause": "only_first"} if alike(actual, expected[0]) else None


def _other_reduction(pair: Pair) -> Told | None:
    """Recognise the shapes of a reduction along another axis."""
    for shape in pair.inputs:
        reduced = [shape[:axis] + shape[axis + 1 :] for axis in range(len(shape))]
        kept = [(*shape[:axis], 1, *shape[axis + 1 :]) for axis in range(len(shape))]
        for shapes in (reduced, kept):
            if pair.actual.shape in shapes and pair.expected.shape in shapes and len(shape) > 1:
                return {"cause": "wrong_axis"}
    return None


_RECOGNISERS = (transposed, _extra_axis, _ends, _single_item, _other_reduction)
