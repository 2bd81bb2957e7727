"""Walks through a value tree: a tuple, list or dict of values, and of such trees.

A leaf is what is none of the three. Containers count by exact type: a named tuple or a
``torch.Size`` is a leaf, as it is for the codec. Where a place has a name, it is the one that a log
gives: ``output[0][loss]``, without marks around a key.

Values from the wire are never deeper than its codec allows, so that walks may recurse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from grader.wire.values import Tensor, Value

Tree = TypeVar("Tree")


class UnlikeError(ValueError):
    """Two trees have another form."""


def _never(_: Value) -> bool:
    return False


def leaves(value: Any) -> Iterator[Any]:
    """Yield the leaves, in order."""
    left = [value]
    while left:
        item = left.pop()
        kind = type(item)
        if kind is tuple or kind is list:
            left += reversed(item)
        elif kind is dict:
            left += reversed(item.values())
        else:
            yield item


def tensors(value: Value) -> Iterator[Tensor]:
    """Yield the leaves that are tensors, in order."""
    return (leaf for leaf in leaves(value) if isinstance(leaf, Tensor))


def places(value: Value, name: str) -> Iterator[tuple[str, Value]]:
    """Yield the name of each leaf's place, and the leaf.

    Args:
        value: A tree.
        name: Of the tree itself, such as ``output``.
    """
    if type(value) is tuple or type(value) is list:
        for index, item in enumerate(value):
            yield from places(item, f"{name}[{index}]")
    elif type(value) is dict:
        for key, item in value.items():
            yield from places(item, f"{name}[{key!s}]")
    else:
        yield name, value


def map_leaves(
    change: Callable[[Any], Any], value: Tree, whole: Callable[[Any], bool] = _never
) -> Tree:
    """Return a tree of the same form with other leaves.

    Args:
        change: Returns the leaf in the place of another.
        value: A tree.
        whole: Tells which containers are leaves, too.
    """
    mapped: Tree = _mapped(change, value, whole)
    return mapped


def _mapped(change: Callable[[Any], Any], value: Any, whole: Callable[[Any], bool]) -> Any:
    kind = type(value)
    if kind not in _CONTAINERS or whole(value):
        return change(value)
    if kind is dict:
        return {key: _mapped(change, item, whole) for key, item in value.items()}
    return kind(_mapped(change, item, whole) for item in value)


def map_tensors(change: Callable[[Tensor], Value], value: Tree) -> Tree:
    """Return a tree of the same form with other values in the place of its tensors."""
    return map_leaves(lambda leaf: change(leaf) if isinstance(leaf, Tensor) else leaf, value)


_CONTAINERS = frozenset({tuple, list, dict})


def combine(
    change: Callable[..., Any],
    value: Any,
    *others: Any,
    unlike: Callable[..., Any] | None = None,
) -> Any:
    """Return a tree of the form of several, each leaf made of those at one place.

    Args:
        change: Gets the leaves at a place, one of each tree, and returns the new one.
        value: The tree whose form counts.
        others: Beside it.
        unlike: Gets what stands at a place where a container differs in type, length or keys, and
            returns what to put there.

    Raises:
        UnlikeError: There is such a place, and nothing to put there.
    """
    kind = type(value)
    if kind not in _CONTAINERS:
        return change(value, *others)
    if not all(_is_like(value, other) for other in others):
        if unlike is None:
            raise UnlikeError("values of another form")
        return unlike(value, *others)
    made = [combine(change, *row, unlike=unlike) for row in _rows(value, *others)]
    return dict(zip(value, made, strict=True)) if kind is dict else kind(made)


def _is_like(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    return bool(one.keys() == other.keys() if type(one) is dict else len(one) == len(other))


def _rows(value: Any, *others: Any) -> Iterable[tuple[Any, ...]]:
    """Return what stands at each place of containers of one form."""
    if type(value) is dict:
        return ((item, *(other[key] for other in others)) for key, item in value.items())
    return zip(value, *others, strict=True)


def agree(
    rule: Callable[[Any, Any], bool],
    one: Any,
    other: Any,
    whole: Callable[[Any], bool] = _never,
) -> bool:
    """Tell whether two trees have one form, and a rule holds for the leaves at each place.

    Args:
        rule: Compares two leaves of one type.
        one: A tree.
        other: Beside it.
        whole: Tells which containers are leaves, too.
    """
    # By type: to Python True equals 1, and 1 equals 1.0.
    if type(one) is not type(other):
        # Bytes come out of a frame as a view.
        return {type(one), type(other)} == {bytes, memoryview} and bool(one == other)
    if type(one) not in _CONTAINERS or (whole(one) and whole(other)):
        return rule(one, other)
    if not _is_like(one, other):
        return False
    return all(agree(rule, left, right, whole) for left, right in _rows(one, other))
